import { describe, expect, it } from 'vitest';
import { unseenMass } from '../../src/math/quadrature.js';
import { randomStream } from '../../src/math/random.js';
import { atomsAbove, massVariance, meanMass, sampleAtoms } from '../../src/process/ggp.js';
import { chooseCut, missingMass, reachOfMass, sampleTiltedAtoms } from '../../src/process/unseen.js';
import { laplaceExponent, levyDensity, massBelow } from './ggp-formulas.js';
import { expectMean, integrateLog } from './statistics.js';

const SIGMAS = [-300, -12, -1, -0.3, 0, 0.2, 0.5, 0.8];
/** Sizes at which a draw has a handful of atoms that matter. */
const CASES = SIGMAS.flatMap((sigma) =>
  [1, 3].map((tau) => ({ sigma, tau, size: sigma < -0.5 ? -4 * sigma * tau ** -sigma : 4 })),
);

/** No cut where the draw is exact; otherwise a cut below which e^(−tw) is nearly linear. */
const cutFor = (sigma: number) => (sigma < 0 ? 0 : sigma < 0.6 ? 1e-5 : 1e-4);
const sum = (values: Float64Array) => values.reduce((a, b) => a + b, 0);

describe.each(CASES)('GGP of sigma $sigma, tau $tau', (ggp) => {
  const cut = cutFor(ggp.sigma);
  const draws = Array.from({ length: 3000 }, (_, i) =>
    sampleAtoms(randomStream(1, ggp.sigma * 10, ggp.tau, i), ggp, cut),
  );
  const masses = draws.map((atoms) => sum(atoms) + massBelow(ggp, cut));

  it('has the mean and variance of mass of Campbell’s theorem', () => {
    const mean = meanMass(ggp);
    expectMean(masses, mean, 'mean');
    expectMean(
      masses.map((mass) => (mass - mean) ** 2),
      massVariance(ggp) - integrateLog((w) => w * w * levyDensity(ggp, w), 1e-12, Math.max(cut, 2e-12)),
      'variance',
    );
  });

  it.each([0.1, 0.4, 1.5])('has the Laplace transform of its exponent at t = %d', (t) => {
    expectMean(
      masses.map((mass) => Math.exp(-t * mass)),
      Math.exp(-ggp.size * laplaceExponent(ggp, t)),
    );
  });

  it.each([1e-3, 0.1, 1, 5])('has as many atoms above %d as the integral says', (threshold) => {
    const wanted = atomsAbove(ggp, threshold);
    expect(integrateLog((w) => levyDensity(ggp, w), threshold, 2000) / wanted).toBeCloseTo(1, 5);
    let total = 0;
    for (const atoms of draws) for (const w of atoms) if (w > threshold) total++;
    const mean = wanted * draws.length;
    expect(Math.abs(total - mean) / Math.sqrt(Math.max(mean, 1)), `${total}, wanted ${mean}`).toBeLessThan(
      4.5,
    );
  });

  it('keeps all atoms above the cut and none below, in random order', () => {
    const counts = draws.map((atoms) => atoms.length);
    expectMean(counts, atomsAbove(ggp, cut));
    expect(draws.every((atoms) => atoms.every((w) => w > cut || w === 2 ** -1022))).toBe(true);
    // In random order the first half of the atoms carries half of the mass.
    const halves = draws.map((atoms) => {
      const half = atoms.length >> 1;
      return sum(atoms.subarray(0, half)) - sum(atoms.subarray(half, 2 * half));
    });
    expectMean(halves, 0);
  });
});

describe('closed forms', () => {
  it('the mass below a cut is its integral, and at most the power law’s', () => {
    for (const ggp of CASES.filter(({ sigma }) => sigma > -20 && sigma < 0.7)) {
      const below = massBelow(ggp, 0.3);
      expect(integrateLog((w) => w * levyDensity(ggp, w), 1e-40, 0.3) / below).toBeCloseTo(1, 4);
    }
  });

  it('the Laplace exponent passes smoothly through sigma 0', () => {
    const at = (sigma: number) => laplaceExponent({ sigma, tau: 2 }, 3);
    expect(at(0)).toBeCloseTo(Math.log(2.5), 14);
    expect(at(1e-9)).toBeCloseTo(at(0), 8);
    expect(at(-1e-9)).toBeCloseTo(at(0), 8);
    expect(at(0.5)).toBeCloseTo((Math.sqrt(5) - Math.sqrt(2)) / 0.5, 14);
  });
});

describe('tilted atoms', () => {
  it.each([-0.5, 0, 0.4])('an exponential tilt of sigma %d is the process with a larger tau', (sigma) => {
    const ggp = { sigma, tau: 1, size: 3 };
    const tilted = { ...ggp, tau: 3.5 };
    const cut = sigma < 0 ? 0 : 1e-3;
    const counts = [0.01, 0.3, 1].map(() => [] as number[]);
    for (let i = 0; i < 4000; i++) {
      const atoms = sampleAtoms(randomStream(2, sigma * 10, i), ggp, cut, (w) => -2.5 * w);
      [0.01, 0.3, 1].forEach((threshold, at) => {
        counts[at].push(atoms.filter((w) => w > threshold).length);
      });
    }
    [0.01, 0.3, 1].forEach((threshold, at) => {
      expectMean(counts[at], atomsAbove(tilted, threshold), `above ${threshold}`);
    });
  });

  it.each([-1.5, -0.3, 0, 0.3, 0.6])('carry the unseen mass at sigma %d', (sigma) => {
    const hyper = { sigma, tau: 1, shape: 0.3, rate: 0.4, size: 3 };
    const otherMass = Float64Array.of(0.5, 6, 40);
    const cut = sigma < 0 ? 0 : 1e-3;
    const drawn = Array.from({ length: 4000 }, (_, i) =>
      sampleTiltedAtoms(randomStream(3, sigma * 10, i), { hyper, otherMass, cut }),
    );
    const leftover = unseenMass(hyper, otherMass);
    for (let k = 0; k < 3; k++) {
      const masses = drawn.map(({ weights, features, missing }) =>
        weights.reduce((total, w, i) => total + w * features[3 * i + k], missing[k]),
      );
      expectMean(masses, leftover[k], `feature ${k}`);
    }
    // Features and weights together: E Σ (1 − e^(−w θ·R)) = size·(E ψ(θ·(M + R)) − E ψ(θ·M)) tests their joint distribution. So
    // does the number of atoms that meet no mass at all, which the quadrature gives exactly.
    const meets = (w: number, theta: Float64Array) =>
      1 - Math.exp(-w * (2 * theta[0] + theta[1] + 3 * theta[2]));
    const met = drawn.map(({ weights, features }) =>
      weights.reduce((total, w, i) => total + meets(w, features.subarray(3 * i, 3 * i + 3)), 0),
    );
    const product = (w: number, mass: readonly number[]) =>
      mass.reduce((p, m) => p * (hyper.rate / (hyper.rate + w * m)) ** hyper.shape, 1);
    const wanted = integrateLog(
      (w) => levyDensity(hyper, w) * (product(w, [0.5, 6, 40]) - product(w, [2.5, 7, 43])),
      Math.max(cut, 1e-9),
      200,
    );
    expectMean(met, wanted, 'atoms that meet the mass');
  });

  it('report the mass below the cut, with and without a tilt', () => {
    const hyper = { sigma: 0.3, tau: 1.5, shape: 0.2, rate: 0.5, size: 7 };
    const untilted = missingMass(hyper, new Float64Array(2), 0.01);
    expect(untilted[0] / (massBelow(hyper, 0.01) * 0.4)).toBeCloseTo(1, 10);
    expect(missingMass(hyper, new Float64Array(2), 0)).toEqual(new Float64Array(2));
    for (const sigma of [-0.5, 0.3, 0.9]) {
      const prior = { ...hyper, sigma };
      const mass = [300, 5];
      const missing = missingMass(prior, mass, 0.05);
      mass.forEach((m, k) => {
        const product = (w: number) => mass.reduce((p, other) => p * (0.5 / (0.5 + w * other)) ** 0.2, 1);
        const f = (w: number) => (w * levyDensity(prior, w) * product(w) * 0.2) / (0.5 + w * m);
        expect(integrateLog(f, 1e-150, 0.05, 200_000) / missing[k]).toBeCloseTo(1, 7);
      });
    }
    // A cut above every atom leaves the whole unseen mass.
    const all = missingMass(hyper, [300, 5], 1e4);
    unseenMass(hyper, [300, 5]).forEach((value, k) => {
      expect(all[k] / value).toBeCloseTo(1, 8);
    });
  });

  it('there are none if the size is 0', () => {
    const hyper = { sigma: 0.3, tau: 1, shape: 1, rate: 1, size: 0 };
    const { weights, missing } = sampleTiltedAtoms(randomStream(4), { hyper, otherMass: [1], cut: 0.1 });
    expect([weights.length, missing[0]]).toEqual([0, 0]);
  });
});

describe('the cut', () => {
  it('is 0 if the process is finite, else it follows from the stated error', () => {
    const prior = { sigma: 0.2, tau: 1, shape: 0.1, rate: 0.1, size: 100 };
    const reach = reachOfMass(new Float64Array(30).fill(100));
    expect(chooseCut({ ...prior, sigma: -0.2 }, reach, 1e-4)).toBe(0);
    const cut = chooseCut(prior, reach, 1e-4);
    const finer = chooseCut(prior, reach, 1e-4 * 2 ** -1.8);
    expect(finer / cut).toBeCloseTo(0.5, 10);
    // Just below 0 the exact process has too many atoms to draw.
    const nearly = chooseCut({ ...prior, sigma: -1e-6 }, reach, 1e-4);
    expect(nearly).toBeGreaterThan(0);
  });
});
