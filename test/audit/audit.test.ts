import { beforeAll, describe, expect, it } from 'vitest';
import { type AuditOptions, auditSplit } from '../../src/audit/audit.js';
import type { CheckName } from '../../src/audit/checks.js';
import { decideAcrossSplits } from '../../src/audit/decision.js';
import { AbortError } from '../../src/errors.js';
import type { SplitTables } from '../../src/evaluate/table-task.js';
import { buildGraph } from '../../src/graph/build.js';
import { type BipartiteGraph, degrees } from '../../src/graph/graph.js';
import { selectEdges, selectVertices } from '../../src/graph/subgraph.js';
import { randomStream } from '../../src/math/random.js';
import { simulate } from '../../src/process/poisson-model.js';
import { auditWords } from '../../src/report/words/audit.js';
import { split } from '../../src/sample/split.js';
import { USERS_AND_ITEMS } from '../../src/text/sides.js';

let graph: BipartiteGraph;
beforeAll(async () => {
  const side = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 90 };
  graph = (await simulate({ users: side, items: side, features: 6, seed: 2 })).graph;
});
const look = async (parts: SplitTables, name: CheckName, options: AuditOptions = {}) => {
  const { checks, verdict } = await auditSplit(parts, { control: false, ...options });
  return { found: checks.filter((check) => check.name === name), checks, verdict };
};

describe('a clean split', () => {
  it('by random draws is fine in every respect, with and without its assignment', async () => {
    for (const seed of [1, 2, 3]) {
      const parts = split(graph, { seed });
      for (const options of [{}, { assignment: parts.assignment }]) {
        const { verdict, checks, separateUsers } = await auditSplit(parts, { ...options, threads: 1 });
        expect(checks.filter((check) => check.verdict !== 'fine')).toEqual([]);
        expect(verdict).toBe('fine');
        expect(separateUsers).toBe(true);
        expect(checks.map(({ name }) => name)).toContain('negativeControl');
      }
    }
  });

  it('that holds out none of a side is audited by its parts, also with its assignment', async () => {
    const { train, test, assignment } = split(graph, { method: 'new-items', testItems: 0.2, seed: 1 });
    const given = await look({ train, test }, 'degreeBias', { assignment });
    const known = await look({ train, test }, 'degreeBias');
    expect(given.found[0]).toEqual(known.found[0]);
    expect(given.found[0]).toMatchObject({ side: 'users', value: expect.closeTo(1, 0) });
    expect(given.found[1].figures).toMatchObject({ fromAssignment: 1 });
  });

  it('by time is fine: later pairs were truly absent during training', async () => {
    const times = Float64Array.from({ length: graph.edges }, (_, e) => 1e12 + e);
    const order = randomStream(1);
    for (let i = times.length - 1; i > 0; i--) {
      const j = order.below(i + 1);
      [times[i], times[j]] = [times[j], times[i]];
    }
    const late = Uint8Array.from(times, (time) => (time - 1e12 > 0.8 * graph.edges ? 1 : 0));
    const parts = { train: selectEdges(graph, late, 0), test: selectEdges(graph, late, 1) };
    const own = (label: number) => times.filter((_, e) => late[e] === label);
    const clean = await look(parts, 'timeWithin', { times: { train: own(0), test: own(1) } });
    expect(clean.verdict).toBe('fine');
    expect(clean.checks.find(({ name }) => name === 'falseZeros')!.value).toBeGreaterThan(0.5);
    // The same split with all times reversed.
    const back = await look(parts, 'timeWithin', {
      times: { train: own(0).map((t) => -t), test: own(1).map((t) => -t) },
    });
    expect(back.found[0]).toMatchObject({ verdict: 'broken' });
    expect(back.checks.find(({ name }) => name === 'timeAcross')).toMatchObject({
      value: 1,
      verdict: 'look',
    });
    expect(back.verdict).toBe('broken');
  });
});

describe('the methods of split', () => {
  const random = randomStream(4);
  const timesOf = () => Float64Array.from({ length: graph.edges }, () => 1e12 + random.below(1e9));

  it('last: the figures that follow from it are no faults; training after the test pairs is named', async () => {
    const { method, train, test, times } = split(graph, { method: 'last', times: timesOf() });
    const ofParts = { times: { train: times!.train, test: times!.test } };
    const known = await look({ train, test }, 'degreeBias', { ...ofParts, method });
    expect(known.found.map(({ verdict }) => verdict)).toEqual(['fine', 'fine']);
    const faults = known.checks.filter(({ verdict }) => verdict !== 'fine').map(({ name }) => name);
    expect([known.verdict, faults]).toEqual(['look', ['timeAcross']]);
    const names = USERS_AND_ITEMS;
    expect(auditWords({ ...known, method }, names).answer).toMatch(
      /continues histories that it knows\. It says nothing about new users, and it is no forecast/,
    );
    // Without the method, or if the times contradict it, the same figures are faults.
    expect((await look({ train, test }, 'falseZeros', ofParts)).verdict).toBe('broken');
    const back = { train: times!.train.map((t) => -t), test: times!.test.map((t) => -t) };
    expect((await look({ train, test }, 'falseZeros', { times: back, method })).found[0].verdict).toBe(
      'broken',
    );
  });

  it('last with many pairs of each user is no sample of candidates', async () => {
    const users = Uint32Array.from({ length: 4000 }, (_, e) => Math.floor(e / 40));
    const items = Uint32Array.from({ length: 4000 }, (_, e) => (e % 40) * 3 + (Math.floor(e / 40) % 3));
    const even = buildGraph({ users, items, userCount: 100, itemCount: 120 });
    const { method, train, test, times } = split(even, {
      method: 'last',
      last: 20,
      times: Float64Array.from({ length: 4000 }, () => random.below(1e9)),
    });
    const ofParts = { times: { train: times!.train, test: times!.test } };
    const known = await look({ train, test }, 'sampledCandidates', { ...ofParts, method });
    expect(known.found[0]).toMatchObject({ verdict: 'fine', figures: { byDesign: 1, length: 20 } });
    expect((await look({ train, test }, 'sampledCandidates', ofParts)).found[0].verdict).toBe('broken');
  });

  it('new-items: its test pairs are lost by design, and active users have more of them', async () => {
    const { method, train, test, assignment } = split(graph, {
      method: 'new-items',
      testItems: 0.2,
      seed: 1,
    });
    const known = await look({ train, test }, 'lost', { assignment, method });
    expect(known.found[0]).toMatchObject({ value: 1, verdict: 'fine' });
    expect(known.verdict).toBe('fine');
    expect((await look({ train, test }, 'lost', { assignment })).verdict).toBe('broken');
    const { answer } = auditWords({ ...known, method }, USERS_AND_ITEMS);
    expect(answer).toMatch(/how well attributes rank items that training has not seen/);
  });

  it('edges: its faults stay, and the answer says what it is for', async () => {
    const { method, train, test } = split(graph, { method: 'edges', seed: 1 });
    const known = await look({ train, test }, 'degreeBias', { method });
    expect(known.verdict).toBe('broken');
    const { answer } = auditWords({ ...known, method }, USERS_AND_ITEMS);
    expect(answer).toMatch(/biased.* It holds out pairs at random, which favours active users/);
  });
});

describe('planted faults', () => {
  it('pairs in training and test, counted exactly', async () => {
    const { train, test } = split(graph, { method: 'edges', testUsers: 0.2, seed: 1 });
    const twice = { train: graph, test };
    const { found } = await look(twice, 'overlap');
    expect(found[0]).toMatchObject({ value: 1, verdict: 'broken', figures: { train: test.edges } });
    const validated = await look({ train, test, validation: test }, 'overlap');
    expect(validated.found[0].figures).toMatchObject({ train: 0, validation: test.edges });
    expect((await look({ train, test }, 'overlap')).found[0]).toMatchObject({ value: 0, verdict: 'fine' });
  });

  it('pairs held out at random favour vertices with many edges, and give false zeros', async () => {
    const parts = split(graph, { method: 'edges', testUsers: 0.2, seed: 1 });
    const bias = await look({ train: parts.train, test: parts.test }, 'degreeBias');
    expect(bias.found.map(({ side, verdict }) => `${side} ${verdict}`)).toEqual([
      'users broken',
      'items broken',
    ]);
    const [{ value, high, figures }] = bias.found;
    expect(value).toBeGreaterThan(high!);
    const degree = degrees(graph.users);
    const mean = graph.edges / degree.length;
    const squares = degree.reduce((sum, d) => sum + d * d, 0) / degree.length;
    expect(figures.byEdges).toBeCloseTo(squares / mean ** 2, 8);
    const zeros = (await look({ train: parts.train, test: parts.test }, 'falseZeros')).found[0];
    // By brute force: pairs whose user and item are both in training.
    let count = 0;
    for (let u = 0; u < parts.test.users.count; u++) {
      if (parts.train.users.ids.find(parts.test.users.ids.at(u)) < 0) continue;
      for (let e = parts.test.users.offsets[u]; e < parts.test.users.offsets[u + 1]; e++) {
        if (parts.train.items.ids.find(parts.test.items.ids.at(parts.test.users.neighbors[e])) >= 0) count++;
      }
    }
    expect(zeros.figures.zeros).toBe(count);
    expect(zeros.verdict).toBe('broken');
  });

  it('test users without a history', async () => {
    const { train, test } = split(graph, { seed: 1 });
    const { found } = await look({ train, test }, 'lost');
    expect(found[0]).toMatchObject({ value: 1, verdict: 'broken' });
  });

  it('a minimum degree', async () => {
    let core = graph;
    for (let before = 0; before !== core.edges; ) {
      before = core.edges;
      const keep = (side: 'users' | 'items') => Uint8Array.from(degrees(core[side]), (d) => (d >= 5 ? 1 : 0));
      core = selectVertices(core, keep('users'), keep('items'));
    }
    const { found } = await look(split(core, { seed: 1 }), 'filtering');
    expect(found.map(({ verdict, value }) => [verdict, value])).toEqual([
      ['look', 5],
      ['look', 5],
    ]);
    expect(found[0].figures.missing).toBeGreaterThan(10);
  });

  it('candidates that were sampled', async () => {
    const { train } = split(graph, { method: 'edges', testUsers: 0.2, seed: 1 });
    const random = randomStream(3);
    const rows: [number, number][] = [];
    for (let u = 0; u < 50; u++) {
      const chosen = new Set<number>();
      while (chosen.size < 100) chosen.add(random.below(graph.items.count));
      for (const item of chosen) rows.push([u, item]);
    }
    const test = buildGraph({
      users: rows.map((row) => row[0]),
      items: rows.map((row) => row[1]),
      userCount: 50,
      itemCount: graph.items.count,
      itemIds: graph.items.ids,
    });
    const { found } = await look({ train, test }, 'sampledCandidates');
    expect(found[0]).toMatchObject({ verdict: 'broken', value: 1, figures: { length: 100 } });
  });

  it('a leak is found in rewired pairs, which keep only the degrees', async () => {
    const { train, foldIn, test } = split(graph, { seed: 1 });
    const clean = await auditSplit({ train, foldIn, test }, { threads: 1 });
    expect(clean.checks.find(({ name }) => name === 'negativeControl')!.value).toBeLessThan(0);
    const leaking = await auditSplit({ train: graph, test }, { threads: 1 });
    expect(leaking.checks.find(({ name }) => name === 'negativeControl')).toMatchObject({
      verdict: 'broken',
    });
  });
});

it('lets timers and signals run while it draws vertices again', async () => {
  const rows = Array.from({ length: 30_000 }, (_, user) => user);
  const all = buildGraph({
    users: rows,
    items: rows.map((user) => user % 97),
    userCount: rows.length,
    itemCount: 97,
  });
  const { train, test } = split(all, { method: 'edges', testUsers: 0.4, seed: 1 });
  let fired = false;
  setTimeout(() => {
    fired = true;
  });
  await auditSplit({ train, test }, { control: false });
  expect(fired).toBe(true);
  const stopped = new AbortController();
  setTimeout(() => stopped.abort());
  await expect(auditSplit({ train, test }, { control: false, signal: stopped.signal })).rejects.toThrow(
    AbortError,
  );
});

it('methods are not compared on a split by time if no pair is older than its test part', async () => {
  const few = (await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 })).graph;
  const times = new Float64Array(few.edges).fill(1e12);
  const { leaderboards } = await decideAcrossSplits(few, { trials: 1, times, threads: 1 });
  expect(leaderboards.map((one) => one.split)).toEqual(['pq', 'edges']);
});

it('refuses empty parts, and times that are not those of the part', async () => {
  const empty = buildGraph({ users: [], items: [], userCount: 0, itemCount: 0 });
  const { train, test } = split(graph, { seed: 1 });
  await expect(auditSplit({ train: empty, test })).rejects.toThrow('the train part is empty');
  await expect(auditSplit({ train, test: empty })).rejects.toThrow('the test part is empty');
  const times = { train: new Float64Array(3), test: new Float64Array(test.edges) };
  await expect(auditSplit({ train, test }, { times })).rejects.toThrow(/times of train: 3 for \d+ edges/);
});
