import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Engine } from '../../src/engine/engine.js';
import { AbortError, InputError } from '../../src/errors.js';
import type { BothHyper } from '../../src/fit/ascent/bound.js';
import type { RankingCheckpoint } from '../../src/fit/ascent/loop.js';
import { fit } from '../../src/fit/fit.js';
import { foldGraph, foldIn, matchRows } from '../../src/fit/fold-in/fold-in.js';
import { poissonFold } from '../../src/fit/fold-in/member-fold.js';
import { type Model, meanTable, modelHyper, type Ranker, type RankerMember } from '../../src/fit/model.js';
import type { FitOptions, RankingFitOptions } from '../../src/fit/options.js';
import { fitRanking } from '../../src/fit/ranking/fit-ranking.js';
import { cutFolds, reorderRows, usersWithout } from '../../src/fit/ranking/folds.js';
import { countEdges } from '../../src/fit/ranking/recency.js';
import { startCrossFit } from '../../src/fit/ranking/sweep.js';
import { unfinishedFit } from '../../src/fit/unfinished.js';
import { buildGraph } from '../../src/graph/build.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { randomStream } from '../../src/math/random.js';
import { ENGINES } from '../engine/engines.js';

const K = 6;
const hyper: BothHyper = {
  users: { sigma: 0.1, tau: 1, shape: 0.1, rate: 0.1, size: 0 },
  items: { sigma: 0.1, tau: 1, shape: 0.1, rate: 0.1, size: 0 },
};

/** Three groups of users who like three groups of items, and a little noise. Every vertex has an edge. */
function grouped(users = 60, items = 45, multigraph = false, seed = 3): [number, number, number][] {
  const random = randomStream(seed);
  const edges: [number, number, number][] = [];
  for (let u = 0; u < users; u++) {
    for (let i = 0; i < items; i++) {
      const same = u % 3 === i % 3;
      if (random.uniform() < (same ? 0.45 : 0.04) || i === u % items || u === i % users) {
        edges.push([u, i, multigraph ? 1 + random.below(4) : 1]);
      }
    }
  }
  return edges;
}

function graphOf(
  edges: readonly (readonly number[])[],
  users = 60,
  items = 45,
  multigraph = false,
): BipartiteGraph {
  return buildGraph({
    users: edges.map((e) => e[0]),
    items: edges.map((e) => e[1]),
    counts: edges.map((e) => e[2]),
    userCount: users,
    itemCount: items,
    multigraph,
  });
}

describe('folds', () => {
  test('every vertex is in one fold, and folds have equal sizes', () => {
    const folds = cutFolds(47, 5, randomStream(1));
    expect(Array.from(folds.order).sort((a, b) => a - b)).toEqual(Array.from({ length: 47 }, (_, v) => v));
    const sizes = Array.from({ length: 5 }, (_, f) => folds.bounds[f + 1] - folds.bounds[f]);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
  });

  test('more folds than vertices, or fewer than two, is an InputError', () => {
    expect(() => cutFolds(3, 4, randomStream(1))).toThrow(InputError);
    expect(() => cutFolds(3, 1, randomStream(1))).toThrow(/folds: 1/);
    expect(() => cutFolds(3, 4, randomStream(1))).toThrow(
      /3 items, too few for a ranking fit with folds 4; use more data, or fewer folds/,
    );
  });

  test('rows without a fold keep counts that are fractions: those of edges weighed by age', () => {
    const graph = graphOf(grouped(), 60, 45, false);
    const weights = Float32Array.from({ length: graph.edges }, (_, e) => 1 - (e % 7) / 16);
    const folds = cutFolds(45, 3, randomStream(2));
    const rows = usersWithout({ ...graph.users, counts: weights }, folds, 1);
    const inFold = new Set(folds.order.subarray(folds.bounds[1], folds.bounds[2]));
    expect(rows.counts).toEqual(weights.filter((_, e) => !inFold.has(graph.users.neighbors[e])));
  });

  test.each([false, true])('rows without a fold have the other edges, by place (multigraph: %s)', (multi) => {
    const graph = graphOf(grouped(60, 45, multi), 60, 45, multi);
    const folds = cutFolds(45, 4, randomStream(2));
    const place = new Map(Array.from(folds.order, (v, p) => [v, p]));
    for (const without of [0, 1, 3]) {
      const rows = usersWithout(graph.users, folds, without);
      for (let u = 0; u < 60; u++) {
        const wanted: [number, number][] = [];
        for (let e = graph.users.offsets[u]; e < graph.users.offsets[u + 1]; e++) {
          const p = place.get(graph.users.neighbors[e])!;
          const inFold = p >= folds.bounds[without] && p < folds.bounds[without + 1];
          if (!inFold) wanted.push([p, graph.users.counts?.[e] ?? 1]);
        }
        const got: [number, number][] = [];
        for (let e = rows.offsets[u]; e < rows.offsets[u + 1]; e++) {
          got.push([rows.neighbors[e], rows.counts?.[e] ?? 1]);
        }
        expect(got).toEqual(wanted);
      }
    }
    const items = reorderRows(graph.items, folds);
    for (let p = 0; p < 45; p++) {
      const v = folds.order[p];
      expect(items.ids.at(p)).toBe(graph.items.ids.at(v));
      expect(items.neighbors.slice(items.offsets[p], items.offsets[p + 1])).toEqual(
        graph.items.neighbors.slice(graph.items.offsets[v], graph.items.offsets[v + 1]),
      );
    }
  });
});

// Tiny windows, tiles and tasks change no operation: test/engine compares each with the reference.
describe.each(ENGINES.filter(({ name }) => !name.includes('tiny')))('cross-fit on $name', ({ create }) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await create();
  });
  afterAll(async () => engine?.close());

  test("a fold's items never influence the user state they are updated from", async () => {
    const edges = grouped();
    const folds = cutFolds(45, 3, randomStream(7));
    const fold = 1;
    const inFold = new Set(folds.order.subarray(folds.bounds[fold], folds.bounds[fold + 1]));
    // Give one edge of the fold to another user: nothing outside the fold changes, not even the number of edges.
    const known = new Set(edges.map(([u, i]) => `${u} ${i}`));
    const moved = edges.findIndex(([u, i]) => inFold.has(i) && !known.has(`${(u + 1) % 60} ${i}`));
    const changed = edges.map((e, n) => (n === moved ? [(e[0] + 1) % 60, e[1], e[2]] : e));
    const states = async (list: readonly (readonly number[])[]) => {
      const cross = await startCrossFit(engine, graphOf(list), folds, hyper, K, 5);
      const users: string[] = [];
      for (const f of [0, 1, 2]) {
        const table = await cross.usersWithout(f);
        users.push(JSON.stringify(await engine.foldFresh.means(table)));
      }
      await cross.sweep();
      const items = JSON.stringify(await cross.readItems());
      cross.free();
      return { users, items };
    };
    const one = await states(edges);
    const other = await states(changed);
    for (const f of [0, 1, 2]) expect(one.users[f] === other.users[f], `state ${f}`).toBe(f === fold);
    // … and items changed: so the change matters.
    expect(one.items).not.toBe(other.items);
  });

  test('continues from its item table and the masses of its folds, to the last bit', async () => {
    const graph = graphOf(grouped());
    const folds = cutFolds(45, 4, randomStream(2));
    const whole = await startCrossFit(engine, graph, folds, hyper, K, 5);
    for (let s = 0; s < 2; s++) await whole.sweep();
    const state = { sweeps: 2, items: await whole.readItems(), foldMass: whole.foldMass() };
    const rest = await startCrossFit(engine, graph, folds, hyper, K, 5, state);
    for (let s = 0; s < 2; s++) expect(await rest.sweep()).toBe(await whole.sweep());
    expect(await rest.readItems()).toEqual(await whole.readItems());
    expect(rest.foldMass()).toEqual(whole.foldMass());
    for (const cross of [whole, rest]) cross.free();
  });

  test('the likelihood of items given users who never saw them rises', async () => {
    const folds = cutFolds(45, 5, randomStream(1));
    const cross = await startCrossFit(engine, graphOf(grouped()), folds, hyper, K, 1);
    const values: number[] = [];
    for (let s = 0; s < 10; s++) values.push(await cross.sweep());
    expect(values.at(-1)!).toBeGreaterThan(values[0] + 20);
  });
});

describe('a ranking fit', () => {
  const options = { method: 'ranking', features: K, iterations: 25, engine: 'cpu' } as const;
  const graph = graphOf(grouped());

  test('is the same to the last bit on any number of threads', async () => {
    const one = await fit(graph, { ...options, threads: 1 });
    const two = await fit(graph, { ...options, threads: 2 });
    expect(membersOf(two.model)).toEqual(membersOf(one.model));
  });

  test('engines agree', async () => {
    const cpu = await fit(graph, options);
    const reference = await fit(graph, { ...options, engine: 'reference' });
    const a = membersOf(cpu.model)[0].items;
    const b = membersOf(reference.model)[0].items;
    const largest = b.reduce((m, x) => Math.max(m, x), 0);
    for (let n = 0; n < a.length; n++) expect(Math.abs(a[n] - b[n])).toBeLessThan(2e-3 * largest);
  });

  test('has no bound, keeps ids and seen items in the order of the graph, and finds the groups', async () => {
    const { model, checkpoint } = await fit(graph, options);
    expect(model).toMatchObject({ type: 'ranker', method: 'ranking' });
    expect(model).not.toHaveProperty('bound');
    expect(checkpoint).toBeUndefined();
    expect(model.seen!.neighbors).toBe(graph.users.neighbors);
    expect(groupShare(model)).toBeGreaterThan(0.9);
  });

  test('multigraph counts are used', async () => {
    const multi = graphOf(grouped(60, 45, true), 60, 45, true);
    const plain = graphOf(
      grouped(60, 45, true).map(([u, i]) => [u, i, 1]),
      60,
      45,
      true,
    );
    const [a, b] = [await fit(multi, options), await fit(plain, options)];
    expect(a.model.multigraph).toBe(true);
    expect(membersOf(a.model)[0].items).not.toEqual(membersOf(b.model)[0].items);
  });

  test('known users equal the fold-in of their items, one by one or in a batch', async () => {
    const { model } = await fit(graph, options);
    const [member] = membersOf(model);
    const { foldOne } = foldOf(member);
    const prior = modelHyper(model)!.users;
    const fixed = { count: model.items.count, means: member.items };
    const base = { features: K, multigraph: true, prior, fixed };
    const steps = { iterations: 3, activity: 'mean' } as const;
    const folded = await foldGraph(base, matchRows(countEdges(graph), 'users', model.items.ids), {
      engine: 'cpu',
      ...steps,
    });
    const means = meanTable({ ...folded, count: graph.users.count }, K);
    for (let at = 0; at < means.length; at++) {
      expect(Math.abs(means[at] / member.users![at] - 1)).toBeLessThan(1e-5);
    }
    const [first, last] = [graph.users.offsets[4], graph.users.offsets[5]];
    const one = foldOne({ items: graph.users.neighbors.subarray(first, last) });
    for (let k = 0; k < K; k++) {
      const mean = ((one.weightShape / one.weightRate) * one.featureShape[k]) / one.featureRate[k];
      expect(mean).toBeCloseTo(means[4 * K + k], 3);
    }
  });

  test('has no Gammas: functions that need them refuse it', async () => {
    const { model } = await fit(graph, options);
    await expect(foldIn(model as never, graph)).rejects.toThrow(/need a posterior.*ranker \(ranking\)/);
  });

  test('average: members are the fits of the following seeds', async () => {
    const { model } = await fit(graph, { ...options, average: 3, seed: 5 });
    const members = membersOf(model);
    expect(members.map(({ seed }) => seed)).toEqual([5, 6, 7]);
    const third = await fit(graph, { ...options, seed: 7 });
    expect(members[2].items).toEqual(membersOf(third.model)[0].items);
    expect(members[1].items).not.toEqual(members[0].items);
  });

  test('every option has an effect', async () => {
    const base = (await fit(graph, options)).model;
    for (const other of [
      { features: 5 },
      { model: 'dense' },
      { folds: 5 },
      { iterations: 3 },
      { tolerance: 1e-9 },
      { seed: 2 },
      { users: { shape: 0.3 } },
      { users: { rate: 0.3 } },
      { users: { tau: 3 } },
      { items: { sigma: 0.4 } },
      { items: { shape: 0.3 } },
    ] as const) {
      const { model } = await fit(graph, { ...options, ...other });
      expect(membersOf(model)[0].items, JSON.stringify(other)).not.toEqual(membersOf(base)[0].items);
    }
  });

  test('options of the evidence fit are refused with the reason', async () => {
    for (const [wrong, says] of [
      [{ restarts: 2 }, /restarts does not go with method ranking.*average/],
      [{ learn: ['sigma'] }, /learn .*bound/],
      [{ start: 'cold' }, /start /],
      [{ sizes: 'paper' }, /sizes /],
      [{ users: { size: 3 } }, /users\.size does not go with method ranking/],
      [{ folds: 1 }, /folds/],
      [{ folds: 50 }, /45 items, too few for a ranking fit with folds 50/],
    ] as const) {
      const attempt = fit(graph, { ...options, ...wrong } as never);
      await expect(attempt).rejects.toThrow(InputError);
      await expect(attempt).rejects.toThrow(says);
    }
    await expect(fit(graph, { method: 'fame' as never })).rejects.toThrow(/method "fame"/);
  });

  /** The fit, stopped after this number of sweeps of all its members. */
  async function stoppedAt(sweeps: number, more: Omit<RankingFitOptions, 'method'>) {
    const controller = new AbortController();
    if (sweeps === 0) controller.abort();
    let seen = 0;
    // One after the other: members.test.ts tests concurrent ones.
    const error = await fitRanking(
      graph,
      {
        ...more,
        signal: controller.signal,
        onProgress: ({ stage }) => stage.startsWith('fitting') && ++seen === sweeps && controller.abort(),
      },
      1,
    ).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AbortError);
    return unfinishedFit(error)!;
  }

  /** A fitted model without its times. */
  function numbers(model: Model): unknown {
    const { provenance, ...rest } = model;
    return { ...rest, provenance: { ...provenance, seconds: 0 } };
  }

  test.each([
    // Stops within 3 × 17 sweeps: at the start, within a fit, at its end, at the start of the next, and when the last one
    // begins.
    { engine: 'cpu', stops: [0, 1, 9, 16, 17, 20, 34, 40] },
    { engine: 'reference', stops: [5, 17, 18, 50] },
  ] as const)('stopped and resumed it ends with the same numbers, on $engine', async ({ engine, stops }) => {
    const several = { ...options, engine, iterations: 17, tolerance: 1e-12, average: 3, seed: 4 } as const;
    const whole = await fit(graph, several);
    expect(membersOf(whole.model).map(({ iterations }) => iterations)).toEqual([17, 17, 17]);
    for (const sweeps of stops) {
      const part = await stoppedAt(sweeps, several);
      const { state, done } = part.checkpoint as RankingCheckpoint;
      expect(done.length * 17 + state.iteration, `stopped at ${sweeps}`).toBe(sweeps);
      // What is left can be used as it is.
      expect(membersOf(part.model)).toHaveLength(done.length + 1);
      const rest = await fit(graph, { ...several, resume: part.checkpoint });
      expect(rest.stopped).toBe('iterations');
      expect(rest.checkpoint).toBeUndefined();
      expect(numbers(rest.model), `stopped at ${sweeps}`).toEqual(numbers(whole.model));
    }
  });

  test('stopped twice, with members that converge, it ends with the same numbers', async () => {
    const settled = { ...options, iterations: 60, average: 2 };
    const whole = await fit(graph, settled);
    expect(whole.stopped).toBe('converged');
    const once = await stoppedAt(4, settled);
    const twice = await stoppedAt(8, { ...settled, resume: once.checkpoint! });
    expect(twice.checkpoint!.state.iteration).toBe(12);
    const rest = await fit(graph, { ...settled, resume: twice.checkpoint! });
    expect(rest.stopped).toBe('converged');
    expect(numbers(rest.model)).toEqual(numbers(whole.model));
  });

  test('resumes only with the options of its start', async () => {
    const several = { ...options, average: 3 };
    const { checkpoint } = await stoppedAt(20, several);
    expect((checkpoint as RankingCheckpoint).done.length).toBeGreaterThan(0);
    for (const [other, says] of [
      [{ features: 5 }, /features 6 \(not 5\)/],
      [{ folds: 4 }, /folds 3 \(not 4\)/],
      [{ seed: 2 }, /seed 1 \(not 2\)/],
      [{ items: { shape: 0.3 } }, /items\.shape estimated \(not 0\.3\)/],
      [{ average: 1 }, /the saved fit already has 2 f/],
      [{ method: 'ascent', average: undefined }, /method ranking \(not ascent\)/],
    ] as const) {
      const attempt = fit(graph, { ...several, ...other, resume: checkpoint! } as FitOptions);
      await expect(attempt, JSON.stringify(other)).rejects.toThrow(InputError);
      await expect(attempt, JSON.stringify(other)).rejects.toThrow(says);
    }
    const evidence = await fit(graph, { features: K, iterations: 10, engine: 'cpu' });
    await expect(fit(graph, { ...options, resume: evidence.checkpoint! })).rejects.toThrow(
      /method ascent \(not ranking\)/,
    );
  });
});

/** The cross-fitted members, without the blend. */
function membersOf(model: Model): readonly RankerMember[] {
  const { scores } = model as Ranker;
  if (scores.kind !== 'factors') throw new Error('not a ranker by factors');
  return scores.members.filter(({ share }) => share === undefined);
}

function foldOf({ fold, ...member }: RankerMember): ReturnType<typeof poissonFold> {
  if (fold.kind !== 'poisson') throw new Error('not a fold-in by Poisson');
  return poissonFold({ ...member, fold }, false);
}

/** Share of the users whose ten best items are mostly of their own group. */
function groupShare(model: Awaited<ReturnType<typeof fit>>['model']): number {
  const { users = new Float32Array(0), items, features } = membersOf(model)[0];
  let good = 0;
  for (let u = 0; u < model.users.count; u++) {
    const scores = Array.from({ length: model.items.count }, (_, i) => {
      let score = 0;
      for (let k = 0; k < features; k++) {
        score += users[u * features + k] * items[i * features + k];
      }
      return [score, i] as const;
    }).sort((a, b) => b[0] - a[0]);
    if (scores.slice(0, 10).filter(([, i]) => i % 3 === u % 3).length > 7) good++;
  }
  return good / model.users.count;
}
