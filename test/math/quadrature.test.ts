import { describe, expect, it } from 'vitest';
import { gamma } from '../../src/math/distributions.js';
import { expectedLaplace, type UnseenHyper, unseenMass } from '../../src/math/quadrature.js';
import { randomStream } from '../../src/math/random.js';
import { lgamma } from '../../src/math/special.js';

/** Both integrals by the trapezoid rule without the bend: several times finer, and as wide as float64 allows. */
function plainRule(hyper: UnseenHyper, mass: Float64Array): { unseen: Float64Array; laplace: number } {
  const { sigma, tau, shape, rate } = hyper;
  const step = 0.05;
  const scale = Math.max(tau, (Math.max(...mass) / rate) * Math.max(1, shape * mass.length));
  const first = -Math.log(scale) - 3 - 36 / (1 - sigma);
  const last = Math.log(60 / tau) + 2;
  const unseen = new Float64Array(mass.length);
  let laplace = 0;
  for (let x = first; x < last; x += step) {
    const t = Math.exp(x);
    let log = 0;
    for (const m of mass) log += Math.log1p((t * m) / rate);
    const common = (1 - sigma) * x - tau * t - lgamma(1 - sigma);
    const weight = step * Math.exp(common - shape * log);
    for (let l = 0; l < mass.length; l++) unseen[l] += (weight * shape) / (rate + t * mass[l]);
    if (log > 0) laplace += step * Math.exp(common - x + Math.log(-Math.expm1(-shape * log)));
  }
  return { unseen, laplace };
}

const SIGMAS = [-2, -1, -0.3, 0, 0.2, 0.5, 0.8, 0.95];
const MASSES = {
  tiny: () => 1e-6,
  middling: (u: number) => 100 * u,
  huge: (u: number) => 1e9 * u,
  mixed: (u: number) => 10 ** (15 * u - 6),
};

describe('the integrals over unseen vertices', () => {
  for (const features of [1, 30, 200]) {
    for (const [name, massOf] of Object.entries(MASSES)) {
      it(`agree to 1e-10 with a much finer rule: ${features} features, ${name} masses, every sigma`, () => {
        const random = randomStream(1, features);
        const mass = Float64Array.from({ length: features }, () => massOf(random.uniform()));
        for (const sigma of SIGMAS) {
          const hyper = { sigma, tau: features === 30 ? 0.05 : 1, shape: 0.1, rate: 0.2, size: 1 };
          const fine = plainRule(hyper, mass);
          const unseen = unseenMass(hyper, mass);
          for (let l = 0; l < features; l++) {
            expect(Math.abs(unseen[l] / fine.unseen[l] - 1), `sigma ${sigma}, feature ${l}`).toBeLessThan(
              1e-10,
            );
          }
          expect(Math.abs(expectedLaplace(hyper, mass) / fine.laplace - 1), `sigma ${sigma}`).toBeLessThan(
            1e-10,
          );
        }
      });
    }
  }

  it.each([-0.1, 0.2, 0.5])('agree with Monte Carlo within four standard errors at sigma %d', (sigma) => {
    const hyper = { sigma, tau: 1, shape: 0.1, rate: 0.1, size: 3 };
    const mass = Float64Array.of(0.5, 4, 30, 2);
    const random = randomStream(2, sigma * 10);
    const draws = 300_000;
    const sums = new Float64Array(5);
    const squares = new Float64Array(5);
    const theta = new Float64Array(4);
    for (let i = 0; i < draws; i++) {
      let dot = 0;
      for (let k = 0; k < 4; k++) dot += mass[k] * (theta[k] = gamma(random, hyper.shape) / hyper.rate);
      const power = (hyper.tau + dot) ** (sigma - 1);
      for (let k = 0; k < 5; k++) {
        const value =
          k < 4 ? 3 * theta[k] * power : ((hyper.tau + dot) ** sigma - hyper.tau ** sigma) / sigma;
        sums[k] += value;
        squares[k] += value * value;
      }
    }
    const exact = [...unseenMass(hyper, mass), expectedLaplace(hyper, mass)];
    for (let k = 0; k < 5; k++) {
      const mean = sums[k] / draws;
      const error = Math.sqrt((squares[k] / draws - mean * mean) / draws);
      expect(Math.abs(mean - exact[k]) / error, `${k}: ${mean}, wanted ${exact[k]}`).toBeLessThan(4);
    }
  });

  it('have their closed form without other mass, and scale with the size', () => {
    const hyper = { sigma: 0.3, tau: 2, shape: 0.4, rate: 0.5, size: 7 };
    const unseen = unseenMass(hyper, new Float64Array(3));
    for (const value of unseen) expect(value).toBeCloseTo(7 * (0.4 / 0.5) * 2 ** -0.7, 11);
    expect(expectedLaplace(hyper, new Float64Array(3))).toBe(0);
    const mass = Float64Array.of(1, 2, 3);
    const twice = unseenMass({ ...hyper, size: 14 }, mass);
    unseenMass(hyper, mass).forEach((value, l) => {
      expect(twice[l]).toBeCloseTo(2 * value, 12);
    });
    expect(unseenMass({ ...hyper, size: 0 }, mass)).toEqual(new Float64Array(3));
  });

  it('the unseen mass is the derivative of the Laplace exponent', () => {
    const hyper = { sigma: 0.35, tau: 1.5, shape: 0.2, rate: 0.3, size: 1 };
    const mass = Float64Array.of(10, 0.1, 300);
    const unseen = unseenMass(hyper, mass);
    for (let l = 0; l < 3; l++) {
      const h = 1e-4 * mass[l];
      const up = expectedLaplace(
        hyper,
        mass.map((m, k) => (k === l ? m + h : m)),
      );
      const down = expectedLaplace(
        hyper,
        mass.map((m, k) => (k === l ? m - h : m)),
      );
      expect((up - down) / (2 * h) / unseen[l]).toBeCloseTo(1, 7);
    }
  });

  it('refuse parameters without a finite integral instead of looping', () => {
    const hyper = { sigma: 0.3, tau: 1, shape: 1, rate: 1, size: 1 };
    expect(() => unseenMass(hyper, [1, Number.NaN])).toThrow(/feature 1 is NaN/);
    expect(() => unseenMass(hyper, [Number.POSITIVE_INFINITY])).toThrow(/Infinity/);
    expect(() => expectedLaplace({ ...hyper, sigma: 1 }, [1])).toThrow(/sigma < 1/);
    expect(() => expectedLaplace({ ...hyper, tau: 0 }, [1])).toThrow(/tau/);
  });
});
