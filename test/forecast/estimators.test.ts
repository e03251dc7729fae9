import { describe, expect, it } from 'vitest';
import { fitDegreeModel, growthUntil, newVertices, unseenForEver } from '../../src/forecast/degree-model.js';
import { ESTIMATORS, type EstimatorName, servesAt } from '../../src/forecast/estimators.js';
import { lgamma } from '../../src/math/special.js';
import { countDegrees, type DegreeCounts, expectedSurvivors } from '../../src/sparsity/degree-counts.js';

const DEGREES = [1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 7, 9, 12];
const counts = countDegrees(DEGREES);
const at = (name: EstimatorName, t: number, samples = 40) => ESTIMATORS[name].curve({ counts, samples })(t);
const phi = (i: number) => DEGREES.filter((d) => d === i).length;

/** Degrees of a side whose counts are exactly those of the distribution, down to fractions of a vertex. */
function exactCounts(sigma: number, mass: number, scale: number, top = 4000): DegreeCounts {
  const degree = Float64Array.from({ length: top }, (_, i) => i + 1);
  const logR = Math.log(mass / (1 + mass));
  const vertices = degree.map(
    (n) => scale * Math.exp(lgamma(n - sigma) - lgamma(1 - sigma) - lgamma(n + 1) + n * logR),
  );
  const count = vertices.reduce((a, b) => a + b, 0);
  return { degree, vertices, count, sum: vertices.reduce((a, v, i) => a + v * (i + 1), 0) };
}

describe('Good–Toulmin', () => {
  it('is the alternating sum, and the density curve continued beyond 1', () => {
    for (const t of [0.2, 0.5, 1]) {
      const direct = DEGREES.reduce((sum, d) => sum - (-t) ** d, DEGREES.length);
      expect(at('goodToulmin', t)).toBeCloseTo(direct, 10);
    }
    // On average, thinning to one half and doubling again gives the same graph: the curve at p and at 1 + t is one function.
    const curve = (p: number) => DEGREES.reduce((sum, d) => sum + 1 - (1 - p) ** d, 0);
    expect(curve(0.5)).toBeCloseTo(expectedSurvivors(counts, 0.5), 10);
    expect(at('goodToulmin', 0.7)).toBeCloseTo(curve(1.7), 10);
  });

  it('has no value beyond twice the data; the smoothed ones have none below', () => {
    expect(servesAt('goodToulmin', 1)).toBe(true);
    expect(servesAt('goodToulmin', 1.2)).toBe(false);
    for (const name of ['efronThisted', 'smoothedBinomial', 'smoothedPoisson'] as const) {
      expect(servesAt(name, 1)).toBe(false);
      expect(servesAt(name, 4)).toBe(true);
    }
  });
});

describe('smoothed Good–Toulmin', () => {
  const n = DEGREES.reduce((a, b) => a + b, 0);
  /** The mean, over the random L, of the series that is cut after L terms. */
  const average = (t: number, probability: (l: number) => number) => {
    let sum = 0;
    for (let l = 0; l < 200; l++) {
      let cut = 0;
      for (let i = 1; i <= Math.min(l, 12); i++) cut -= (-t) ** i * phi(i);
      sum += probability(l) * cut;
    }
    return DEGREES.length + sum;
  };
  const binomial = (k: number, q: number) => (l: number) =>
    l > k
      ? 0
      : Math.exp(
          lgamma(k + 1) - lgamma(l + 1) - lgamma(k - l + 1) + l * Math.log(q) + (k - l) * Math.log1p(-q),
        );

  it.each([1.5, 4, 9])(
    'at t = %s is the average of series cut at random, with the constants of the paper',
    (t) => {
      const spread = (n * t * t) / (t - 1);
      expect(at('efronThisted', t)).toBeCloseTo(
        average(t, binomial(Math.floor(0.5 * Math.log2(spread)), 1 / (1 + t))),
        7,
      );
      expect(at('smoothedBinomial', t)).toBeCloseTo(
        average(t, binomial(Math.floor((0.5 * Math.log(spread)) / Math.log(3)), 2 / (2 + t))),
        7,
      );
      const r = Math.log((n * (t + 1) ** 2) / (t - 1)) / (2 * t);
      expect(at('smoothedPoisson', t)).toBeCloseTo(
        average(t, (l) => Math.exp(-r + l * Math.log(r) - lgamma(l + 1))),
        6,
      );
    },
  );
});

describe('the bracket', () => {
  it('Chao2 ends at (n−1)/n · Φ1²/(2Φ2) unseen vertices, and rises to it', () => {
    const unseen = (39 / 40) * (phi(1) ** 2 / (2 * phi(2)));
    expect(at('chao2', 0)).toBe(DEGREES.length);
    expect(at('chao2', 1e6)).toBeCloseTo(DEGREES.length + unseen, 8);
    expect(at('chao2', 1)).toBeGreaterThan(DEGREES.length);
    expect(at('chao2', 1)).toBeLessThan(at('chao2', 2));
  });

  it('Chao2 without vertices of two edges takes Φ1(Φ1−1)/2', () => {
    const few = countDegrees([1, 1, 1, 5]);
    expect(ESTIMATORS.chao2.curve({ counts: few, samples: 2 })(1e9)).toBeCloseTo(4 + 0.5 * 3, 8);
  });

  it('the power law grows by (1+t)^σ̂', () => {
    const sigma = Math.log2(DEGREES.length / expectedSurvivors(counts, 0.5));
    expect(at('power', 3)).toBeCloseTo(DEGREES.length * 4 ** sigma, 8);
  });
});

describe('the low-degree model', () => {
  it.each([
    [0.5, 300, 1000],
    [0.2, 40, 5000],
    [-0.7, 20, 3000],
    [-2, 5, 10_000],
  ])('at σ = %s finds the distribution of the degrees and predicts from it', (sigma, mass, scale) => {
    const exact = exactCounts(sigma, mass, scale);
    const fitted = fitDegreeModel(exact)!;
    expect(fitted.sigma).toBeCloseTo(sigma, 1);
    for (const t of [0.5, 1, 4]) {
      // The number of vertices of the same distribution with (1 + t) times the mass.
      const size = scale / (1 + mass) ** sigma;
      const seen = (m: number) => (size * ((1 + m) ** sigma - 1)) / sigma;
      const grown = seen((1 + t) * mass);
      expect(ESTIMATORS.lowDegrees.curve({ counts: exact, samples: 1 })(t) / grown).toBeCloseTo(1, 2);
    }
  });

  it('has a limit if σ < 0, and says when it is reached', () => {
    const fitted = { sigma: -0.5, mass: 10, scale: 200, upTo: 5 };
    expect(unseenForEver(fitted)).toBe(400);
    expect(newVertices(fitted, 1e12)).toBeCloseTo(400, 2);
    expect(newVertices(fitted, growthUntil(fitted, 100))).toBeCloseTo(100, 8);
    expect(growthUntil(fitted, 401)).toBe(Number.POSITIVE_INFINITY);
    expect(unseenForEver({ ...fitted, sigma: 0.1 })).toBe(Number.POSITIVE_INFINITY);
  });

  it('every edge brings a new vertex if all vertices have one edge; none does if no vertex has few', () => {
    const ones = countDegrees([1, 1, 1]);
    expect(ESTIMATORS.lowDegrees.curve({ counts: ones, samples: 3 })(2)).toBe(9);
    const many = countDegrees([500, 600, 700]);
    expect(ESTIMATORS.lowDegrees.curve({ counts: many, samples: 3 })(2)).toBe(3);
  });
});
