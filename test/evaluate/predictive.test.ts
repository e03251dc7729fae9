import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkPredictive, checkStatistic } from '../../src/evaluate/predictive.js';
import { buildGraph } from '../../src/graph/build.js';
import { randomStream } from '../../src/math/random.js';
import { createDrawer, graphStatistics } from '../../src/predict/draw/draw-graph.js';
import { drawPlan } from '../../src/predict/draw/draw-plan.js';
import { NO_UNSEEN, SPARSE, smallModel } from '../predict/draw-model.js';

const statistics = (multigraph: boolean, n: number, hyper = SPARSE) => {
  const { model, folded, split } = smallModel(3, { users: hyper, items: hyper }, { multigraph });
  const draw = createDrawer(drawPlan(model, folded, split, 'unconditional').plan);
  return Array.from(
    { length: n },
    (_, i) => draw(randomStream(41, i), { sizes: 'posterior', keep: false }).statistics,
  );
};

describe('one statistic', () => {
  const hundred = Array.from({ length: 101 }, (_, i) => i); // 0 … 100

  test('mean and central 90 % of the draws', () => {
    // The 0.05·102nd of the values is 4.1, between the fifth and the sixth.
    const { mean, low, high, pValue } = checkStatistic(hundred, 50);
    expect([mean, pValue]).toEqual([50, 1]);
    expect(low).toBeCloseTo(4.1, 12);
    expect(high).toBeCloseTo(95.9, 12);
    expect(checkStatistic([3, 1], 2)).toMatchObject({ mean: 2, low: 1, high: 3 });
  });

  test('the p-value counts draws at or beyond the observed one, on both sides, and is never 0', () => {
    expect(checkStatistic(hundred, -1).pValue).toBeCloseTo(2 / 102, 12);
    expect(checkStatistic(hundred, 101).pValue).toBeCloseTo(2 / 102, 12);
    expect(checkStatistic(hundred, 2).pValue).toBeCloseTo((2 * 4) / 102, 12);
    expect(checkStatistic(hundred, 97.5).pValue).toBeCloseTo((2 * 4) / 102, 12);
    expect(checkStatistic([7, 7, 7], 7).pValue).toBe(1);
  });

  test('does not depend on the order of the draws; a mirror image has the same p-value', () => {
    const values = fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(values, fc.integer({ min: -60, max: 60 }), (draws, observed) => {
        const check = checkStatistic(draws, observed);
        expect(checkStatistic([...draws].reverse(), observed)).toEqual(check);
        const mirrored = checkStatistic(
          draws.map((x) => -x),
          -observed,
        );
        expect(mirrored.pValue).toBe(check.pValue);
        expect(mirrored.low).toBeCloseTo(-check.high, 10);
        expect(check.low).toBeLessThanOrEqual(check.high);
        expect(check.pValue).toBeGreaterThan(0);
      }),
    );
  });
});

describe('checkPredictive', () => {
  test('observed values are those of the graph; counts are compared in multigraphs only', () => {
    const graph = buildGraph({
      users: [0, 0, 1, 2, 2],
      items: [0, 1, 1, 0, 0],
      counts: [1, 4, 1, 1, 2],
      userCount: 3,
      itemCount: 2,
      multigraph: true,
    });
    const simple = buildGraph({ users: [0, 0, 1], items: [0, 1, 1], userCount: 2, itemCount: 2 });
    const check = checkPredictive(statistics(true, 20), graph);
    expect(check.observed).toMatchObject({ users: 3, items: 2, edges: 4, total: 9 });
    expect(check.observed.sigmaUsers).toBeCloseTo(Math.log2(3 / (0.75 + 0.5 + 0.5)), 12);
    expect(check.count).toBe(20);
    expect(Object.keys(check.draws)).toEqual(Object.keys(check.observed));
    expect(Object.keys(checkPredictive(statistics(false, 20), simple).draws)).toEqual([
      'users',
      'items',
      'edges',
      'sigmaUsers',
      'sigmaItems',
    ]);
  });

  test('degree bins hold every vertex once, small degrees on their own, bands in order', () => {
    const draws = statistics(false, 40);
    const observed = draws[0];
    const { degrees } = checkPredictive(draws.slice(1), observed);
    for (const side of ['users', 'items'] as const) {
      const bins = degrees[side];
      expect(bins[0]).toMatchObject({ from: 1, to: 1 });
      expect(bins[1]).toMatchObject({ from: 2, to: 2 });
      for (let b = 1; b < bins.length; b++) expect(bins[b].from).toBe(bins[b - 1].to + 1);
      expect(bins.reduce((sum, bin) => sum + bin.observed, 0)).toBe(observed[side]);
      for (const bin of bins) {
        expect(bin.low).toBeLessThanOrEqual(bin.median);
        expect(bin.median).toBeLessThanOrEqual(bin.high);
      }
      const largest = Math.max(...draws.map((draw) => draw.degrees[side].degree.at(-1)!));
      expect(bins.at(-1)!.to).toBeGreaterThanOrEqual(largest);
      expect(bins.at(-1)!.from).toBeLessThanOrEqual(largest);
    }
  });

  test('a draw lies in the 90 % interval of other draws nine times out of ten', () => {
    const draws = statistics(false, 400);
    for (const name of ['users', 'items', 'edges', 'sigmaUsers', 'sigmaItems'] as const) {
      let inside = 0;
      let small = 0;
      for (let i = 0; i < draws.length; i += 2) {
        const rest = draws.filter((_, j) => j !== i);
        const { low, high, pValue } = checkStatistic(
          rest.map((draw) => draw[name]),
          draws[i][name],
        );
        if (draws[i][name] >= low && draws[i][name] <= high) inside++;
        if (pValue < 0.1) small++;
      }
      expect(inside / 200, name).toBeGreaterThan(0.84);
      expect(inside / 200, name).toBeLessThan(0.97);
      expect(small / 200, name).toBeLessThan(0.16);
    }
  });

  test('a model without unseen vertices is caught by a test graph that has them', () => {
    const sparse = statistics(false, 60, { ...SPARSE, size: 40 });
    const dense = statistics(false, 60, NO_UNSEEN);
    const median = [...sparse].sort((a, b) => a.users - b.users)[30];
    expect(checkPredictive(sparse, median).draws.users!.pValue).toBeGreaterThan(0.5);
    expect(checkPredictive(dense, median).draws.users!.pValue).toBeLessThan(0.05);
  });

  test('needs a draw; takes a graph or its statistics', () => {
    const [draw] = statistics(false, 1);
    expect(() => checkPredictive([], draw)).toThrow(/at least one draw/);
    const graph = buildGraph({ users: [0], items: [0], userCount: 1, itemCount: 1 });
    expect(checkPredictive([draw], graph)).toEqual(checkPredictive([draw], graphStatistics(graph)));
  });
});
