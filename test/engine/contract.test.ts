// What every engine promises in addition to the numbers of a half-step: that its two halves give the same, that operations take
// effect in order, and that tables can be written. Run on all engines, the reference too.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type CountingEngine,
  countScale,
  type Engine,
  type Table,
  type TableValues,
} from '../../src/engine/engine.js';
import { mixedValues, mixTable } from '../../src/engine/mix-features.js';
import { FitError } from '../../src/errors.js';
import { buildGraph } from '../../src/graph/build.js';
import type { GraphSide } from '../../src/graph/graph.js';
import { randomStream } from '../../src/math/random.js';
import { COUNTING_ENGINES, ENGINES } from './engines.js';
import { type Problem, randomProblem, randomValues } from './random-problem.js';

const FIELDS = ['weightShape', 'weightRate', 'featureShape', 'featureRate'] as const;

function difference(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  let scale = 0;
  for (let i = 0; i < expected.length; i++) scale += Math.abs(expected[i]) / expected.length;
  let worst = 0;
  for (let i = 0; i < expected.length; i++) {
    const d = Math.abs(actual[i] - expected[i]) / Math.max(Math.abs(expected[i]), scale, 1e-300);
    worst = Math.max(worst, Number.isNaN(d) ? Infinity : d);
  }
  return worst;
}

async function expectSame(engine: Engine, actual: Table, expected: Table, tolerance = engine.tolerance) {
  const [a, e] = [await engine.read(actual), await engine.read(expected)];
  for (const field of FIELDS) expect(difference(a[field], e[field]), field).toBeLessThan(tolerance);
  const [at, et] = [await engine.totals(actual), await engine.totals(expected)];
  for (const field of ['mass', 'unseenMass', 'unseenMassAt'] as const) {
    expect(difference(at[field], et[field]), field).toBeLessThan(tolerance);
  }
}

const strength = (side: GraphSide) => {
  let largest = 0;
  for (let i = 0; i < side.count; i++) {
    let sum = 0;
    for (let e = side.offsets[i]; e < side.offsets[i + 1]; e++) sum += side.counts?.[e] ?? 1;
    largest = Math.max(largest, sum);
  }
  return largest;
};

/** The graph's users cut in parts: the items' rows over each part's users, and the users' values. */
function shards({ graph, start, features }: Problem, cuts: readonly number[]) {
  return cuts.slice(1).map((last, s) => {
    const first = cuts[s];
    const { offsets, neighbors, counts } = graph.users;
    const users: number[] = [];
    for (let i = first; i < last; i++)
      for (let e = offsets[i]; e < offsets[i + 1]; e++) users.push(i - first);
    const part = buildGraph({
      users,
      items: neighbors.subarray(offsets[first], offsets[last]),
      counts: counts?.subarray(offsets[first], offsets[last]),
      userCount: last - first,
      itemCount: graph.items.count,
      multigraph: graph.multigraph,
    });
    const rows = (values: TableValues[keyof TableValues], width: number) =>
      values.slice(first * width, last * width);
    const values: TableValues = {
      weightShape: rows(start.users.weightShape, 1),
      weightRate: rows(start.users.weightRate, 1),
      featureShape: rows(start.users.featureShape, features),
      featureRate: rows(start.users.featureRate, features),
    };
    return { items: part.items, values };
  });
}

test('the scale of counts follows from the data alone and leaves room', () => {
  expect(countScale(1)).toBe(2 ** 40);
  expect(countScale(2 ** 14)).toBe(2 ** 40);
  expect(countScale(2 ** 20)).toBe(2 ** 34);
  expect(countScale(2 ** 20 + 1)).toBe(2 ** 33);
});

async function open(engine: Engine, { graph, features, start }: Problem) {
  return {
    users: await engine.createTable(features, start.users, 'geometric', true),
    items: await engine.createTable(features, start.items, 'geometric'),
    again: await engine.createTable(features, start.items, 'geometric'),
    byItem: await engine.createIndex(graph.items, { side: 'other', rows: graph.users.count }),
  };
}

// Two numbers of features serve most tests: a software GPU takes more than a second to compile the kernels of each.
describe.each(COUNTING_ENGINES)('the two halves of a half-step on $name', (engineCase) => {
  const isTiny = engineCase.name === 'gpu, tiny tasks';
  let engine: CountingEngine;
  beforeAll(async () => {
    engine = await engineCase.create();
  });
  afterAll(async () => engine?.close());

  test.each(
    [
      { features: 6, multigraph: false, users: 40, items: 30, edges: 400 },
      { features: 6, multigraph: true, users: 40, items: 30, edges: 400 },
      { features: 33, multigraph: false, users: 50, items: 2, edges: 3000 },
      { features: 1, multigraph: true, users: 1000, items: 5, edges: 1000 },
    ].filter(({ features }) => features === 6 || !isTiny),
  )('counting and finishing is updating: %o', async (shape) => {
    const problem = randomProblem(shape, 11);
    const { graph, hyper } = problem;
    const { users, items, again, byItem } = await open(engine, problem);
    const otherMass = Float64Array.from({ length: shape.features }, (_, k) => 3 + k);
    const options = { hyper: hyper.items, activity: 'geometric', otherMass, relaxation: 0.5 } as const;
    const counts = await engine.createCounts(again, strength(graph.items));
    for (let t = 0; t < 3; t++) {
      const term = await engine.update(items, byItem, users, { ...options, edgeTerm: true });
      await engine.clearCounts(counts);
      const same = await engine.count(again, byItem, users, counts, { edgeTerm: true });
      expect(Math.abs(same! / term! - 1)).toBeLessThan(1e-6);
      expect(await engine.count(again, byItem, users, await engine.createCounts(again, 1e4))).toBeUndefined();
      await engine.finish(again, counts, options);
    }
    await expectSame(engine, again, items);
  });

  test('a range of rows is counted and finished alone', async () => {
    const problem = randomProblem({ features: 6, multigraph: false, users: 20, items: 25, edges: 300 }, 12);
    const { users, items, again, byItem } = await open(engine, problem);
    const rows = { first: 4, last: 19 };
    const otherMass = new Float64Array(6).fill(2);
    const options = { hyper: problem.hyper.items, activity: 'mean', otherMass, rows } as const;
    await engine.update(items, byItem, users, options);
    const counts = await engine.createCounts(again, strength(problem.graph.items));
    await engine.count(again, byItem, users, counts, { rows });
    const [before, after] = [
      await engine.readCounts(counts, { first: 0, last: 4 }),
      await engine.readCounts(counts),
    ];
    expect(before.every((count) => count === 0n)).toBe(true);
    expect(after.subarray(4 * 6, 19 * 6).every((count) => count > 0n)).toBe(true);
    expect(after.subarray(19 * 6).every((count) => count === 0n)).toBe(true);
    await engine.finish(again, counts, options);
    await expectSame(engine, again, items);
  });

  test('counts of shards add up to the same bits in any order, also when they are exchanged as numbers', async () => {
    const problem = randomProblem({ features: 6, multigraph: true, users: 60, items: 20, edges: 900 }, 13);
    const { graph, hyper, features } = problem;
    const { users, items, again, byItem } = await open(engine, problem);
    const otherMass = new Float64Array(features).fill(5);
    const options = { hyper: hyper.items, activity: 'geometric', otherMass } as const;
    const largest = strength(graph.items);
    const parts = await Promise.all(
      shards(problem, [0, 7, 30, 31, 60]).map(async ({ items: rows, values }) => ({
        table: await engine.createTable(features, values, 'geometric'),
        index: await engine.createIndex(rows),
      })),
    );
    const added = async (order: readonly number[]) => {
      const counts = await engine.createCounts(again, largest);
      for (const s of order) await engine.count(again, parts[s].index, parts[s].table, counts);
      return counts;
    };
    const whole = await added([0, 1, 2, 3]);
    const values = await engine.readCounts(whole);
    expect(values).toHaveLength(20 * features);
    expect(await engine.readCounts(await added([2, 0, 3, 1]))).toEqual(values);
    // Every shard is counted separately and the counts are added up elsewhere, as between machines.
    const sum = new BigInt64Array(values.length);
    for (const s of [3, 1, 0, 2]) {
      const part = await engine.readCounts(await added([s]));
      for (let i = 0; i < sum.length; i++) sum[i] += part[i];
    }
    expect(sum).toEqual(values);
    const exchanged = await engine.createCounts(again, largest);
    await engine.writeCounts(exchanged, sum.subarray(0, 6 * features));
    await engine.writeCounts(exchanged, sum.subarray(6 * features), 6);
    expect(await engine.readCounts(exchanged)).toEqual(values);
    await engine.finish(again, exchanged, options);
    await engine.update(items, byItem, users, options);
    await expectSame(engine, again, items);
  });

  test('counts too large for fixed point are reported, not wrapped', async () => {
    const problem = randomProblem({ features: 6, multigraph: true, users: 8, items: 8, edges: 30 }, 14);
    const { users, again } = await open(engine, problem);
    const counts = await engine.createCounts(again, 1);
    const offsets = Uint32Array.from([0, 0, 1, 1, 1, 1, 1, 1, 1]);
    const edges = { offsets, neighbors: Uint32Array.of(2), counts: Uint32Array.of(4e9) };
    const index = await engine.createIndex(edges, { side: 'other', rows: 8 });
    const failed = await (async () => {
      for (let t = 0; t < 3; t++) await engine.count(again, index, users, counts);
      await engine.readCounts(counts);
    })().catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(FitError);
    expect((failed as Error).message).toMatch(/^row 1: its expected counts are/);
  });
});

describe.each(ENGINES)('$name', (engineCase) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await engineCase.create();
  });
  afterAll(async () => engine?.close());

  test.each([true, false])('features of a table are mixed row by row (split: %s)', async (split) => {
    const values = randomValues(23, 7, randomStream(31));
    const table = await engine.createTable(7, values, 'geometric', split);
    const before = await engine.read(table);
    const mix = {
      features: 6,
      into: Uint16Array.of(0, 1, 2, 3, 1, 4, 5),
      weights: Float64Array.of(1, 0.3, 1, 2, 0.7, 1, 1),
      rate: 1.25,
    };
    const mixed = await mixTable(engine, table, mix, 'mean');
    expect(mixed).toMatchObject({ rows: 23, features: 6 });
    // The same number as a table that is created with the mixed values.
    await expectSame(
      engine,
      mixed,
      await engine.createTable(6, mixedValues(before, mix), 'mean', split),
      1e-12,
    );
  });

  test('all operations take effect in order, also those that are not awaited', async () => {
    const problem = randomProblem({ features: 6, multigraph: false, users: 40, items: 30, edges: 400 }, 16);
    const { graph, hyper, features, start } = problem;
    const play = async (patient: boolean) => {
      const users = await engine.createTable(features, start.users, 'geometric', true);
      const items = await engine.createTable(features, start.items, 'geometric');
      const rows = graph.users.count;
      const byUser = await engine.createIndex(graph.users, { side: 'own', rows });
      const byItem = await engine.createIndex(graph.items, { side: 'other', rows });
      const among = graph.items.neighbors.map((user) => user % graph.items.count);
      const plain = await engine.createIndex({ ...graph.items, neighbors: among });
      const counting = 'count' in engine ? (engine as CountingEngine) : undefined;
      const counts = await counting?.createCounts(items, strength(graph.items));
      const forUsers = { hyper: hyper.users, activity: 'geometric' } as const;
      const forItems = { hyper: hyper.items, activity: 'geometric' } as const;
      const [mass, leftover, at] = [3, 0.5, 2].map((value) => new Float64Array(features).fill(value));
      const rest = new Float64Array(features).fill(4);
      const answers: Promise<unknown>[] = [];
      const steps: (() => Promise<unknown>)[] = [
        () => engine.update(users, byUser, items, { ...forUsers, edgeTerm: true }),
        () => engine.setMass(users, mass),
        () => engine.totals(users),
        () => engine.update(items, byItem, users, forItems),
        () => engine.setUnseenMass(users, leftover, at),
        () => engine.update(items, byItem, users, { ...forItems, edgeTerm: true }),
        () => engine.totals(items),
        () => engine.write(users, { weightShape: 2, weightRate: 3, featureShape: 1, featureRate: 4 }, 'mean'),
        () => engine.free(byUser),
        async () => counting?.count(items, byItem, users, counts!, { edgeTerm: true }),
        () => engine.scale(users, 2, 'geometric'),
        async () => counting?.finish(items, counts!, { ...forItems, otherMass: rest }),
        async () => counting?.clearCounts(counts!),
        () => engine.free(users),
        () => engine.edgeTerm(items, plain, items),
        () => engine.rowTerms(items, hyper.items),
        () => engine.read(items),
      ];
      for (const step of steps) {
        answers.push(step());
        if (patient) await answers.at(-1);
      }
      // Engines keep no reference to the caller's arrays, so the caller may change them.
      for (const array of [mass, leftover, at, rest]) array.fill(100);
      const result = await Promise.all(answers);
      for (const handle of [items, byItem, plain]) await engine.free(handle);
      if (counts) await engine.free(counts);
      return result;
    };
    expect(await play(false)).toEqual(await play(true));
  });

  test('a failed operation rejects its own promise, and later ones run', async () => {
    const problem = randomProblem({ features: 6, multigraph: false, users: 6, items: 6, edges: 20 }, 17);
    const { users, items, byItem } = await open(engine, problem);
    const { again } = await open(engine, problem);
    const broken = await engine.createTable(problem.features, problem.start.users, 'geometric', true);
    void engine.write(broken, { weightShape: NaN, weightRate: 1, featureShape: 1, featureRate: 1 }, 'mean');
    const options = { hyper: problem.hyper.items, activity: 'geometric' } as const;
    // A GPU reports it when its totals are read.
    const bad = engine.update(again, byItem, broken, options).then(() => engine.totals(again));
    const good = engine.update(items, byItem, users, options);
    await expect(bad).rejects.toThrow(FitError);
    await good;
  });

  test('a written table equals a newly created one', async () => {
    const problem = randomProblem({ features: 6, multigraph: false, users: 20, items: 25, edges: 200 }, 18);
    const { users, items, again, byItem } = await open(engine, problem);
    await engine.update(items, byItem, users, { hyper: problem.hyper.items, activity: 'geometric' });
    await engine.write(items, problem.start.items, 'geometric');
    await expectSame(engine, items, again, 1e-12);
    const uniform = { weightShape: 0.7, weightRate: 2, featureShape: 3, featureRate: 5 };
    await engine.write(items, uniform, 'mean');
    const rows = (value: number, width: number) => new Float64Array(25 * width).fill(value);
    const spelledOut = {
      ...{ weightShape: rows(0.7, 1), weightRate: rows(2, 1) },
      ...{ featureShape: rows(3, 6), featureRate: rows(5, 6) },
    };
    await engine.write(again, spelledOut, 'mean');
    await expectSame(engine, items, again, 1e-12);
    const options = { hyper: problem.hyper.items, activity: 'geometric' } as const;
    for (const table of [items, again]) await engine.update(table, byItem, users, options);
    await expectSame(engine, items, again, 1e-12);
  });
});
