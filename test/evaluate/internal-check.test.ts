import { beforeAll, describe, expect, test } from 'vitest';
import { evaluateModel } from '../../src/evaluate/evaluate.js';
import { deviations, drawsOfPart, posteriorShift } from '../../src/evaluate/internal-check.js';
import type { Statistic } from '../../src/evaluate/predictive.js';
import { fit } from '../../src/fit/fit.js';
import type { Model } from '../../src/fit/model.js';
import { selectVertices } from '../../src/graph/subgraph.js';
import { testItems } from '../../src/predict/draw/draw-plan.js';
import { simulate } from '../../src/process/poisson-model.js';
import { split } from '../../src/sample/split.js';
import type { Split } from '../../src/sample/split-types.js';

const COMPARED = ['users', 'items', 'edges', 'sigmaUsers', 'sigmaItems'] as const satisfies Statistic[];
const draws = { draws: 40, seed: 1 };
let parts: Split;
let sparse: Model;
/** The check of the whole test part, in one thread. */
let honest: ReturnType<typeof evaluateModel>;

beforeAll(async () => {
  // Nearly all users were seen, so a sparse prior expects users who do not exist.
  const users = { sigma: -2, tau: 1, shape: 0.5, rate: 0.5, size: 800 };
  const items = { sigma: 0.3, tau: 1, shape: 0.5, rate: 0.5, size: 10 };
  const { graph } = await simulate({ users, items, features: 4, seed: 2 });
  parts = split(graph, { seed: 3 });
  sparse = (await fit(parts.train, { features: 4, model: 'sparse', engine: 'cpu' })).model;
  honest = evaluateModel(sparse, parts, { ...draws, correct: true, threads: 1 });
});

describe('what is expected of one more deviation', () => {
  test('is the bias of many deviations, and a part of it if there are few', () => {
    const many = posteriorShift(Array.from({ length: 400 }, (_, i) => 2 + (i % 2 === 0 ? 1 : -1)));
    expect(many.mean).toBeCloseTo(2, 2);
    expect(many.scale).toBeCloseTo(1, 1);
    const few = posteriorShift([3, 1]);
    expect(few.mean).toBeGreaterThan(1);
    expect(few.mean).toBeLessThan(2);
    expect(few.scale).toBeGreaterThan(many.scale);
    expect(few.degrees).toBeLessThan(many.degrees);
  });

  test('is 0 without a bias, and spreads as the deviations do', () => {
    expect(posteriorShift([-1, 1]).mean).toBe(0);
    expect(posteriorShift([-2, 1]).mean).toBeCloseTo(-posteriorShift([2, -1]).mean, 12);
    expect(posteriorShift([-4, 4, -4, 4]).scale).toBeGreaterThan(2 * posteriorShift([-1, 1, -1, 1]).scale);
  });
});

describe('draws of a part of the known data', () => {
  test('are as many as requested over all parts, and fewer if edges are many, but enough to estimate a mean', () => {
    expect(drawsOfPart(4, 40_000, 200)).toBe(50);
    expect(drawsOfPart(4, 40_000, 20)).toBe(24);
    expect(drawsOfPart(4, 625_000, 200)).toBe(16);
    expect(drawsOfPart(4, 1e9, 200)).toBe(8);
    expect(drawsOfPart(1, 0, 100)).toBe(100);
  });

  test('estimate the spread of their part if they are many, and the pooled spread of all parts if they are few', () => {
    const narrow = [-1, 1];
    const wide = [-7, 7];
    const many = (values: number[]) => Array.from({ length: 24 }, (_, i) => values[i % 2]);
    const own = deviations([many(narrow), many(wide)], [2, 2]);
    expect(own[0] / own[1]).toBeCloseTo(7, 9);
    const together = deviations([narrow, wide], [2, 3]);
    // Variances 2 and 98: 50 on average.
    expect(together).toEqual([2 / Math.sqrt(50), 3 / Math.sqrt(50)]);
  });

  test('that are all equal make any other value one standard deviation', () => {
    expect(
      deviations(
        [
          [4, 4, 4],
          [5, 5, 5],
        ],
        [3, 5],
      ),
    ).toEqual([-1, 0]);
  });
});

describe('the internal check', () => {
  test('finds the error on the test items, and moves the means towards the test graph', async () => {
    if (sparse.type !== 'posterior') throw new Error('no posterior');
    const isTest = testItems(sparse, parts);
    const weightShape = sparse.items.weightShape.map((shape, j) => (isTest[j] ? 0.7 * shape : shape));
    const wrong = { ...sparse, items: { ...sparse.items, weightShape } };
    const raw = (await evaluateModel(wrong, parts, { ...draws, correct: false })).predictive!;
    const corrected = (await evaluateModel(wrong, parts, { ...draws, correct: true })).predictive!;
    expect(raw.internal).toBeUndefined();
    expect(corrected.internal!.parts).toEqual({ users: 4, items: 4 });
    const inside = (check: typeof raw, s: Statistic) =>
      check.observed[s]! >= check.draws[s]!.low && check.observed[s]! <= check.draws[s]!.high;
    expect(inside(raw, 'edges')).toBe(false);
    expect(inside(corrected, 'edges')).toBe(true);
    const error = (check: typeof raw, s: Statistic) => Math.abs(check.draws[s]!.mean - check.observed[s]!);
    expect(error(corrected, 'edges')).toBeLessThan(error(raw, 'edges') / 2);
    for (const s of COMPARED) {
      // The uncorrected draws are reported too.
      expect(corrected.internal!.statistics[s]!.drawn).toEqual(raw.draws[s]);
      const { low, mean, high, pValue } = corrected.draws[s]!;
      expect(low).toBeLessThanOrEqual(mean);
      expect(mean).toBeLessThanOrEqual(high);
      const { observed } = corrected;
      expect(pValue < 0.1).toBe(observed[s]! < low || observed[s]! > high);
    }
  });

  test('is the same on any number of threads', async () => {
    const one = await honest;
    const two = await evaluateModel(sparse, parts, { ...draws, correct: true, threads: 2 });
    expect(two.predictive).toEqual(one.predictive);
  });

  test('does not look at the test part', async () => {
    const half = Uint8Array.from({ length: parts.test.users.count }, (_, u) => u % 2);
    const less = selectVertices(parts.test, half, new Uint8Array(parts.test.items.count).fill(1));
    const other = await evaluateModel(sparse, { ...parts, test: less }, { ...draws, correct: true });
    for (const s of COMPARED) {
      const { low, mean, high } = (await honest).predictive!.draws[s]!;
      expect(other.predictive!.draws[s]).toMatchObject({ low, mean, high });
    }
  });

  test('is made for auto models unless they are calibrated or correction is off, and never for one without unseen vertices', async () => {
    const auto = (await fit(parts.train, { features: 4, engine: 'cpu', iterations: 60 })).model;
    const internal = async (model: Model, options = {}) =>
      (await evaluateModel(model, parts, { draws: 8, seed: 1, ...options })).predictive!.internal;
    expect(await internal(auto)).toBeDefined();
    expect(await internal(auto, { correct: false })).toBeUndefined();
    expect(await internal(auto, { drawsGiven: 'paper' })).toBeUndefined();
    expect(await internal(sparse)).toBeUndefined();
    const dense = (await fit(parts.train, { features: 4, model: 'dense', engine: 'cpu', iterations: 60 }))
      .model;
    expect(await internal(dense)).toBeUndefined();
    await expect(internal(dense, { correct: true })).rejects.toThrow(/^correct: the model expects no unseen/);
  });
});
