// Re-initialised rows with several half-steps: they equal those of the reference, and have the same bits on any number of
// threads.

import { describe, expect, test } from 'vitest';
import { type CpuOptions, createCpuEngine } from '../../src/engine/cpu/cpu-engine.js';
import type { Engine, TableValues } from '../../src/engine/engine.js';
import { createReferenceEngine } from '../../src/engine/reference/reference-engine.js';
import { createWebgpuEngine } from '../../src/engine/webgpu/webgpu-engine.js';
import { FitError } from '../../src/errors.js';
import { type Problem, randomProblem } from './random-problem.js';
import { createAlone } from './ranks.js';
import { findTestGpu, skipReason } from './swiftshader.js';

const gpu = await findTestGpu();
if (!gpu.available) console.warn(skipReason(gpu));

const STEPS = 3;
const START = { weight: 0.3, feature: 1.2 };

const means = ({ weightShape, weightRate, featureShape, featureRate }: TableValues, K: number) =>
  Float64Array.from(featureShape, (shape, at) => {
    const row = Math.floor(at / K);
    return ((weightShape[row] / weightRate[row]) * shape) / featureRate[at];
  });

const massOf = (problem: Problem) =>
  Float64Array.from({ length: problem.features }, (_, k) => 2 + ((7 * k) % 5));

/** Users from the items as they start, and the items from these users. */
async function onReference({ graph, hyper, features, start }: Problem, weights?: Float32Array) {
  const engine = createReferenceEngine();
  const users = await engine.createTable(features, start.users, 'mean');
  const items = await engine.createTable(features, start.items, 'mean');
  const byUser = await engine.createIndex(graph.users);
  const otherMass = massOf({ graph, hyper, features, start });
  const ones = { weightRate: 1, featureRate: 1 };
  if (weights) {
    const all = (value: number, length: number) => new Float64Array(length).fill(value);
    const rates = { weightRate: all(1, weights.length), featureRate: all(1, weights.length * features) };
    const featureShape = all(START.feature, weights.length * features);
    await engine.write(users, { weightShape: weights, featureShape, ...rates }, 'mean');
  } else {
    const values = { weightShape: START.weight, featureShape: START.feature, ...ones };
    await engine.write(users, values, 'mean');
  }
  const options = { hyper: { ...hyper.users, size: 0 }, activity: 'mean', otherMass } as const;
  for (let step = 0; step < STEPS; step++) await engine.update(users, byUser, items, options);
  const made = { means: means(await engine.read(users), features), mass: (await engine.totals(users)).mass };
  const byItem = await engine.createIndex(graph.items);
  await engine.update(items, byItem, users, { hyper: hyper.items, activity: 'mean' });
  return { ...made, items: means(await engine.read(items), features) };
}

async function onEngine(
  engine: Engine,
  { graph, hyper, features, start }: Problem,
  weight: number | Float32Array = START.weight,
) {
  const fresh = engine.foldFresh;
  const users = await fresh.createTable(graph.users.count, features);
  const items = await engine.createTable(features, start.items, 'mean');
  const byUser = await engine.createIndex(graph.users);
  const otherMass = massOf({ graph, hyper, features, start });
  const options = { hyper: hyper.users, otherMass, start: { ...START, weight }, steps: STEPS };
  // Runs twice: the second result must not depend on the first.
  await fresh.fold(users, byUser, items, { ...options, steps: 1 });
  await fresh.fold(users, byUser, items, options);
  const single = await fresh.means(users);
  // Where all of the table is kept, it has more digits.
  const whole = engine.name === 'reference' && means(await engine.read(users), features);
  if (whole) expect(single).toEqual(Float32Array.from(whole));
  const made = { means: whole || Float64Array.from(single), mass: (await engine.totals(users)).mass };
  const byItem = await engine.createIndex(graph.items);
  await engine.update(items, byItem, users, { hyper: hyper.items, activity: 'mean' });
  return { ...made, items: means(await engine.read(items), features) };
}

/** The worst difference, relative to the value or, where that is small, to the mean. */
function gap(actual: Float64Array, expected: Float64Array): number {
  const mean = expected.reduce((sum, value) => sum + value, 0) / expected.length;
  return actual.reduce((worst, value, i) => {
    const off = Math.abs(value - expected[i]) / Math.max(expected[i], mean);
    return Math.max(worst, Number.isNaN(off) ? Infinity : off);
  }, 0);
}

const LAYOUTS: Readonly<Record<string, CpuOptions>> = {
  'as it is': { threads: 2 },
  'long rows in pieces': { threads: 2, limits: { edges: 8, rows: 5 } },
  'tables beyond the cache': {
    threads: 2,
    tiles: { near: 0, few: 0, cache: 0, tile: 512, least: 1, sums: 20_000 },
  },
};

const ON_GPU = 'on a GPU';
const ENGINES: Readonly<Record<string, () => Promise<Engine>>> = {
  ...Object.fromEntries(
    Object.entries(LAYOUTS).map(([name, layout]) => [name, () => createCpuEngine(layout)]),
  ),
  'by composition': async () => createReferenceEngine(),
  'by composition, over shards': () => createAlone(createReferenceEngine()),
  ...(gpu.available && { [ON_GPU]: () => createWebgpuEngine() }),
};

describe.each(Object.entries(ENGINES))('%s', (name, create) => {
  test.each([
    { features: 1, multigraph: true, users: 30, items: 20, edges: 300 },
    { features: 13, multigraph: false, users: 100, items: 60, edges: 2500 },
    { features: 32, multigraph: true, users: 53, items: 40, edges: 900 },
    // Rows that read more than fits in the cache.
    { features: 512, multigraph: false, users: 40, items: 300, edges: 4000 },
  ])('re-initialised rows equal those of the reference: %o', async (shape) => {
    // A software GPU is slow and does not depend on caches.
    if (name === ON_GPU && shape.features > 100) return;
    const problem = randomProblem(shape, 5);
    const engine = await create();
    for (const weight of [
      undefined,
      Float32Array.from({ length: shape.users }, (_, i) => 0.1 + (i % 7) / 10),
    ]) {
      const [actual, expected] = [
        await onEngine(engine, problem, weight),
        await onReference(problem, weight),
      ];
      for (const what of ['means', 'mass', 'items'] as const) {
        expect(gap(actual[what], expected[what]), what).toBeLessThan(engine.tolerance);
      }
    }
    await engine.close();
  });
});

test('1, 2 and 5 threads make the same bits', async () => {
  const problem = randomProblem(
    { users: 900, items: 300, edges: 30_000, features: 24, multigraph: false },
    3,
  );
  const run = async (threads: number) => {
    const engine = await createCpuEngine({ threads, limits: { edges: 256, rows: 64 } });
    const made = await onEngine(engine, problem);
    await engine.close();
    return made;
  };
  const one = await run(1);
  for (const threads of [2, 5]) expect(await run(threads)).toEqual(one);
});

/** A few users to fold in from a few items. */
async function small() {
  const shape = { users: 20, items: 10, edges: 80, features: 4, multigraph: false };
  const { graph, features, start, hyper } = randomProblem(shape, 1);
  const engine = await createCpuEngine({ threads: 1 });
  const users = await engine.foldFresh.createTable(shape.users, features);
  const items = await engine.createTable(features, start.items, 'mean');
  return { engine, users, items, byUser: await engine.createIndex(graph.users), features, start, hyper };
}

test('a weight that is not a number stops it, with the row', async () => {
  const { engine, users, items, byUser, features, hyper } = await small();
  const weight = Float32Array.from({ length: 20 }, (_, i) => (i === 7 ? Number.NaN : 1));
  const otherMass = new Float64Array(features).fill(1);
  const options = { hyper: hyper.users, otherMass, start: { weight, feature: 1 }, steps: STEPS };
  const failed = engine.foldFresh.fold(users, byUser, items, options);
  await expect(failed).rejects.toThrow(FitError);
  await expect(failed).rejects.toThrow('row 7');
  await engine.close();
});

test('a table of means alone cannot be read, written to or updated', async () => {
  const { engine, users, items, byUser, start, hyper } = await small();
  await expect(engine.read(users)).rejects.toThrow('holds only means');
  await expect(engine.write(users, start.users, 'mean')).rejects.toThrow('holds only means');
  const update = engine.update(users, byUser, items, { hyper: hyper.users, activity: 'mean' });
  await expect(update).rejects.toThrow('holds only means');
  await engine.close();
});
