import { describe, expect, test } from 'vitest';
import { randomStream } from '../../src/math/random.js';
import {
  createEdgeSampler,
  createVertexSampler,
  type KnownVertices,
} from '../../src/predict/draw/draw-vertex.js';
import { activityMoments } from './activity-moments.js';

function vertex(weightShape: number, featureShape: number[], otherMass: number[]): KnownVertices {
  return {
    count: 1,
    weightShape: Float32Array.of(weightShape),
    weightRate: Float32Array.of(3),
    featureShape: Float32Array.from(featureShape),
    featureRate: new Float32Array(featureShape.length).fill(2),
    tau: 1.3,
    rate: 0.4,
    otherMass: Float64Array.from(otherMass),
  };
}

describe('weight and features drawn together', () => {
  const cases: [string, KnownVertices][] = [
    ['a vertex of one edge', vertex(0.8, [0.1, 1.05, 0.15], [20, 35, 3])],
    ['almost no evidence', vertex(0.05, [0.3, 0.3], [4, 0.2])],
    ['a vertex of many edges', vertex(400, [150, 250.3, 0.2], [50, 60, 70])],
    ['mass so small that the weight is its prior', vertex(2.5, [1, 2], [1e-6, 1e-7])],
    ['mass so large that only the product is known', vertex(1.8, [0.6, 1.7], [1e6, 2e6])],
  ];
  test.each(cases)('%s: first two moments of each activity and the chance of no edge', (_name, known) => {
    const K = known.otherMass.length;
    const sample = createVertexSampler(known, K);
    const random = randomStream(11);
    const n = 200_000;
    const out = new Float64Array(K);
    const sums = new Float64Array(2 * K + 1);
    const squares = new Float64Array(2 * K + 1);
    // A mass that the vertex misses about as often as not.
    const met = known.otherMass.map((mass) => mass / known.weightShape[0]);
    const expected = activityMoments(known, 0, met);
    for (let i = 0; i < n; i++) {
      sample(0, random, out);
      let rate = 0;
      for (let k = 0; k < K; k++) {
        rate += out[k] * met[k];
        sums[k] += out[k];
        squares[k] += out[k] ** 2;
        sums[K + k] += out[k] ** 2;
        squares[K + k] += out[k] ** 4;
      }
      sums[2 * K] += Math.exp(-rate);
      squares[2 * K] += Math.exp(-2 * rate);
    }
    const wanted = [...expected.mean, ...expected.square, expected.none];
    wanted.forEach((value, i) => {
      const mean = sums[i] / n;
      const error = Math.sqrt(Math.max(0, squares[i] / n - mean * mean) / n);
      expect(Math.abs(mean - value), `moment ${i}: ${mean} against ${value}`).toBeLessThan(
        5 * error + 1e-6 * Math.abs(value),
      );
    });
  });

  // Masses on either side of where jumps are left for Gammas.
  test.each(cases.flatMap(([name, known]) => [0.3, 3].map((times) => [name, times, known] as const)))(
    '%s: edges by feature where it meets %d times that mass',
    (_name, times, known) => {
      const K = known.otherMass.length;
      const sample = createEdgeSampler(known, K);
      const random = randomStream(12);
      const n = 200_000;
      const met = known.otherMass.map((mass) => (times * mass) / known.weightShape[0]);
      const { mean, square, none } = activityMoments(known, 0, met);
      const out = new Uint32Array(K);
      // Per feature E[n] and E[n(n − 1)], which are those of the activity times the mass; and how often there is no edge.
      const wanted = [
        ...mean.map((value, k) => value * met[k]),
        ...square.map((value, k) => value * met[k] ** 2),
        none,
      ];
      let total = 0;
      const sums = new Float64Array(wanted.length);
      const squares = new Float64Array(wanted.length);
      for (let i = 0; i < n; i++) {
        const edges = sample(0, random, met, out);
        total += edges - out.reduce((a, b) => a + b, 0);
        for (let k = 0; k < K; k++) {
          const pairs = out[k] * (out[k] - 1);
          sums[k] += out[k];
          squares[k] += out[k] ** 2;
          sums[K + k] += pairs;
          squares[K + k] += pairs ** 2;
        }
        if (edges === 0) {
          sums[2 * K]++;
          squares[2 * K]++;
        }
      }
      expect(total).toBe(0);
      wanted.forEach((value, i) => {
        const average = sums[i] / n;
        const error = Math.sqrt(Math.max(0, squares[i] / n - average * average) / n);
        expect(Math.abs(average - value), `moment ${i}: ${average} against ${value}`).toBeLessThan(
          5 * error + 1e-5 * Math.abs(value) + 5e-5,
        );
      });
    },
  );

  test('the product spreads less than independent draws of its factors would', () => {
    const known = vertex(0.8, [0.1, 1.05, 0.15], [20, 35, 3]);
    const { mean, square } = activityMoments(known, 0, known.otherMass);
    const relative = square[1] / mean[1] ** 2;
    const apart = (1 + 1 / 0.8) * (1 + 1 / 1.05);
    expect(relative).toBeLessThan(0.8 * apart);
  });

  test('draws depend on the stream alone, not on which vertices were drawn before', () => {
    const known: KnownVertices = {
      ...vertex(0.8, [0.1, 1.05], [20, 35]),
      count: 2,
      weightShape: Float32Array.of(0.8, 5),
      weightRate: Float32Array.of(3, 3),
      featureShape: Float32Array.of(0.1, 1.05, 2, 3),
    };
    const draw = (order: number[]) => {
      const sample = createVertexSampler(known, 2);
      const out = new Float64Array(2);
      for (const v of order) sample(v, randomStream(5, v), out);
      return Array.from(out);
    };
    expect(draw([0, 0, 1])).toEqual(draw([1]));
  });
});
