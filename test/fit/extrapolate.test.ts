// Jumps in the slow end of coordinate ascent: where each parameter's last two changes lead.

import { describe, expect, test } from 'vitest';
import { createCpuEngine } from '../../src/engine/cpu/engine.js';
import type { Engine, Table } from '../../src/engine/engine.js';
import { createReferenceEngine } from '../../src/engine/reference/engine.js';
import { logCountFactorials } from '../../src/fit/ascent/bound.js';
import { factsOf } from '../../src/fit/ascent/data-facts.js';
import { extrapolated, mayExtrapolate } from '../../src/fit/ascent/extrapolate.js';
import { firstHyper, learned, tausToMatch } from '../../src/fit/ascent/hyper.js';
import { RELAXATION, runLoop } from '../../src/fit/ascent/loop.js';
import { startValues } from '../../src/fit/ascent/start.js';
import { fit } from '../../src/fit/fit.js';
import { fitSettings } from '../../src/fit/options.js';
import { unfinishedFit } from '../../src/fit/unfinished.js';
import { buildGraph } from '../../src/graph/build.js';
import { randomStream } from '../../src/math/random.js';
import { simulate } from '../../src/process/poisson-model.js';
import type { Progress } from '../../src/progress.js';
import { modelFileFromBytes, modelToBytes } from '../../src/store/model-bytes.js';

const side = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 45 };
const { graph } = await simulate({ users: side, items: side, features: 4, seed: 3 });

describe('where three values lead', () => {
  test('is the limit of a geometric approach', () => {
    const at = (n: number) => Float64Array.of(5 + 2 * 0.5 ** n, 5 - 0.7 ** n);
    const [up, down] = extrapolated(at(0), at(1), at(2), 0.1);
    expect(up).toBeCloseTo(5, 12);
    expect(down).toBeCloseTo(5, 12);
  });

  test('is no farther than four steps ahead, and no more than a factor of e', () => {
    expect([...extrapolated([1, 0.2], [2, 1.2], Float64Array.of(2.9, 2.2), 0)]).toEqual([
      expect.closeTo(2.9 + 4 * 0.9, 12),
      expect.closeTo(2.2 * Math.E, 12),
    ]);
  });

  test('is where they are, once they turn or stand still; the prior is no part of what moves', () => {
    expect([...extrapolated([1, 3, 2], [2, 3, 3], Float64Array.of(1.5, 3, 3), 0)]).toEqual([1.5, 3, 3]);
    const [low] = extrapolated([0.4], [0.2], Float64Array.of(0.15), 0.1);
    expect(low).toBeGreaterThanOrEqual(0.1 + 0.05 / Math.E - 1e-12);
  });
});

test('with jumps a fit gets to the same bound in fewer sweeps', async () => {
  const settings = fitSettings({ features: 4, seed: 2, model: 'sparse', iterations: 400, tolerance: 1e-7 });
  const facts = factsOf(graph);
  const hyper = await firstHyper(facts, settings, undefined);
  const moving = { learn: learned(settings, hyper), tilts: tausToMatch(facts, settings, hyper) };
  const run = async (jumps: boolean) => {
    const engine = createReferenceEngine();
    const values = startValues(graph, hyper, settings, 2);
    const tables = {
      users: await engine.createTable(4, values.users, 'mean'),
      items: await engine.createTable(4, values.items, 'mean'),
    };
    const first = { iteration: 0, warmSweeps: undefined, bounds: [], likelihood: undefined };
    return runLoop(
      engine,
      { ...graph, factorials: logCountFactorials(graph.users.counts) },
      tables,
      { ...first, relaxation: RELAXATION, hyper },
      { ...settings, jumps },
      moving,
      {},
    );
  };
  const [plain, jumping] = [await run(false), await run(true)];
  expect(jumping.bound!).toBeGreaterThan(plain.bound! - 1e-5 * Math.abs(plain.bound!));
  expect(jumping.state.iteration).toBeLessThan(plain.state.iteration);
});

describe('a fit that jumps', async () => {
  const options = { features: 4, engine: 'cpu', levels: 1, iterations: 100, tolerance: 0, seed: 2 } as const;
  // Two groups on either side, and many edges for each vertex: others do not jump.
  const random = randomStream(7);
  const pairs = Array.from({ length: 160 * 160 }, (_, p) => [p % 160, Math.floor(p / 160)]).filter(
    ([user, item]) => random.uniform() < (user % 2 === item % 2 ? 0.9 : 0.5),
  );
  const graph = buildGraph({
    users: Uint32Array.from(pairs, ([user]) => user),
    items: Uint32Array.from(pairs, ([, item]) => item),
    userCount: 160,
    itemCount: 160,
  });
  const whole = await fit(graph, { ...options, threads: 1 });

  test('has the same bits on any number of threads', async () => {
    // A jump is judged every three iterations.
    expect(whole.model.provenance.bounds.some(([iteration]) => iteration % 5 !== 0)).toBe(true);
    const { model } = await fit(graph, { ...options, threads: 3 });
    expect(model.bound).toBe(whole.model.bound);
    expect(model.items.featureShape).toEqual(whole.model.items.featureShape);
  });

  // The first report is of the last warm leg, then come three plain ones: before the first jump, between its legs, after it.
  test.each([4, 5, 6, 7, 8])('stopped at report %d and saved, goes on to the same bits', async (reports) => {
    const controller = new AbortController();
    let seen = 0;
    const error = await fit(graph, {
      ...options,
      threads: 1,
      signal: controller.signal,
      onProgress: ({ stage }: Progress) => {
        if (stage === 'fitting' && ++seen === reports) controller.abort();
      },
    }).catch((reason) => reason);
    const left = unfinishedFit(error);
    const bytes = modelToBytes(left!.model, { checkpoint: left!.checkpoint });
    const resume = (await modelFileFromBytes(bytes)).checkpoint;
    const { model } = (await fit(graph, { resume, threads: 1 })) as typeof whole;
    expect(model.bound).toBe(whole.model.bound);
    expect(model.users.featureRate).toEqual(whole.model.users.featureRate);
  });
});

describe('copies that a jump is made from', async () => {
  const settings = fitSettings({ features: 4, seed: 2, model: 'sparse', iterations: 100, tolerance: 0 });
  const facts = factsOf(graph);
  const hyper = await firstHyper(facts, settings, undefined);
  const moving = { learn: learned(settings, hyper), tilts: tausToMatch(facts, settings, hyper) };

  /** Runs a loop that jumps at once and ends as `onLeg` has it; resolves to the copies that were made and those still there. */
  async function copies(onLeg: (copies: number, stop: () => void) => void) {
    const inner = await createCpuEngine({ threads: 1 });
    const [made, there] = [[] as Table[], new Set<unknown>()];
    const ahead = {
      ...inner.extrapolator!,
      keep: async (table: Table) => {
        const copy = await inner.extrapolator!.keep(table);
        made.push(copy);
        there.add(copy);
        return copy;
      },
    };
    const free: Engine['free'] = async (handle) => {
      there.delete(handle);
      return inner.free(handle);
    };
    const controller = new AbortController();
    const update: Engine['update'] = async (...step) => {
      onLeg(made.length, () => controller.abort());
      return inner.update(...step);
    };
    const engine: Engine = { ...inner, extrapolator: ahead, free, update };
    const values = startValues(graph, hyper, settings, 2);
    const tables = {
      users: await engine.createTable(4, values.users, 'exact'),
      items: await engine.createTable(4, values.items, 'exact'),
    };
    const first = { iteration: 15, warmSweeps: 0, bounds: [], likelihood: undefined };
    const data = { ...graph, factorials: logCountFactorials(graph.users.counts) };
    const state = { ...first, relaxation: RELAXATION, hyper };
    const signal = controller.signal;
    const end = await runLoop(engine, data, tables, state, { ...settings, jumps: true }, moving, {
      signal,
    }).then(
      ({ stopped }) => stopped,
      (error: Error) => error.message,
    );
    await inner.close();
    return { end, made: made.length, left: there.size };
  }

  // Two are of the state before the first leg, two of the one after it.
  test.each([2, 4])('are given back by a fit that is stopped when it has %d of them', async (wanted) => {
    const ended = await copies((made, stop) => made === wanted && stop());
    expect(ended).toEqual({ end: 'aborted', made: expect.any(Number), left: 0 });
    expect(ended.made).toBeGreaterThanOrEqual(wanted);
  });

  test.each([2, 4])('are given back by a fit that fails when it has %d of them', async (wanted) => {
    const ended = await copies((made) => {
      if (made === wanted) throw new Error('no more memory');
    });
    expect(ended).toEqual({ end: expect.stringContaining('no more memory'), made: wanted, left: 0 });
  });

  test('are given back by a fit whose iterations end', async () => {
    const { end, made, left } = await copies(() => {});
    expect(end).toBe('iterations');
    expect(made).toBeGreaterThan(4);
    expect(left).toBe(0);
  });
});

test('large tables, few edges and GPUs do not: copies would cost more than they save', () => {
  const size = { vertices: 70_000, edges: 8e6, features: 30 };
  expect(mayExtrapolate({ name: 'cpu' }, size)).toBe(true);
  expect(mayExtrapolate({ name: 'reference' }, size)).toBe(true);
  expect(mayExtrapolate({ name: 'gpu' }, size)).toBe(false);
  expect(mayExtrapolate({ name: 'cpu' }, { ...size, edges: 7e5 })).toBe(false);
  expect(mayExtrapolate({ name: 'cpu' }, { vertices: 1_400_000, edges: 1e8, features: 32 })).toBe(false);
});
