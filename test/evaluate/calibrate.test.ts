import { describe, expect, test } from 'vitest';
import { correctedInterval, replicaCount } from '../../src/evaluate/calibrate.js';
import { evaluateModel } from '../../src/evaluate/evaluate.js';
import { fit } from '../../src/fit/fit.js';
import { normal } from '../../src/math/distributions.js';
import { randomStream } from '../../src/math/random.js';
import { simulate } from '../../src/process/poisson-model.js';
import { split } from '../../src/sample/split.js';

const draws = Array.from({ length: 101 }, (_, i) => 1000 + (i - 50) / Math.sqrt(850)); // spread 1.0050
const place = (deviation: number) => ({ deviation, inside: Math.abs(deviation) < 1.645 });

describe('a corrected interval', () => {
  test('moves by the mean deviation of the replicas and widens with their spread', () => {
    const places = [1, 2, 3, 4, 5].map(place);
    const { low, high, held, pValue } = correctedInterval(draws, 1003, places)!;
    // Deviations 3 ± 1.5811; Student's 2.1318 at 4 degrees of freedom; a new one spreads by √(1 + 1/5) of that.
    const reach = 2.13185 * Math.sqrt(2.5) * Math.sqrt(1.2);
    const spread = Math.sqrt(draws.reduce((s, x) => s + (x - 1000) ** 2, 0) / 100);
    expect(low).toBeCloseTo(1000 + (3 - reach) * spread, 3);
    expect(high).toBeCloseTo(1000 + (3 + reach) * spread, 3);
    expect(held).toBe(1);
    expect(pValue).toBeGreaterThan(0.98);
    expect(correctedInterval(draws, low, places)!.pValue).toBeCloseTo(0.1, 6);
    expect(correctedInterval(draws, high, places)!.pValue).toBeCloseTo(0.1, 6);
  });

  test('contains the truth nine times in ten, although the draws are biased and too narrow', () => {
    const random = randomStream(3);
    // The draws have spread 1 and mean 1000; the truth of the data and of each replica is 1 off and spreads by 2.
    const deviation = () => 1 + 2 * normal(random);
    let held = 0;
    const rounds = 4000;
    for (let round = 0; round < rounds; round++) {
      const places = Array.from({ length: 10 }, () => place(deviation()));
      const observed = 1000 + 1.005 * deviation();
      const { low, high } = correctedInterval(draws, observed, places)!;
      if (observed >= low && observed <= high) held++;
    }
    expect(Math.abs(held / rounds - 0.9)).toBeLessThan(4 * Math.sqrt(0.09 / rounds));
  });

  test('does not exist for a constant, or if the replicas do not vary', () => {
    expect(
      correctedInterval(
        draws.map(() => 7),
        7,
        [1, 2, 3, 4, 5].map(place),
      ),
    ).toBeUndefined();
    expect(correctedInterval(draws, 1000, [Number.NaN, 1, 2, 3, 4].map(place))).toBeUndefined();
    expect(correctedInterval(draws, 1000, [1, 1, 1, 1, 1].map(place))).toBeUndefined();
  });
});

test('fewer than five replicas are refused', () => {
  expect(replicaCount(0)).toBe(0);
  expect(replicaCount(5)).toBe(5);
  expect(() => replicaCount(3)).toThrow(/5 or more, or 0/);
});

test('replicas of a model are fitted as it was, the same on any number of threads', async () => {
  const side = { sigma: 0.3, tau: 1, shape: 0.3, rate: 0.3, size: 30 };
  const { graph } = await simulate({ users: side, items: side, features: 3, seed: 4, threads: 1 });
  const parts = split(graph, { seed: 4 });
  const given = { shape: 0.3, rate: 0.3 };
  const { model } = await fit(parts.train, {
    features: 3,
    users: given,
    items: given,
    iterations: 40,
    engine: 'cpu',
    threads: 1,
  });
  const stages: string[] = [];
  const one = await evaluateModel(model, parts, {
    draws: 30,
    calibrate: 5,
    threads: 1,
    onProgress: ({ stage }) => stages.push(stage),
  });
  const two = await evaluateModel(model, parts, { draws: 30, calibrate: 5, threads: 2 });
  expect(two.predictive).toEqual(one.predictive);
  expect(stages.filter((stage) => stage === 'calibrating')).toHaveLength(6);
  const { replicas, statistics } = one.predictive!.calibration!;
  expect(replicas).toBe(5);
  for (const name of ['users', 'items', 'edges', 'sigmaUsers', 'sigmaItems'] as const) {
    const { low, high, held, pValue } = statistics[name]!;
    expect(low, name).toBeLessThan(high);
    expect(held, name).toBeLessThanOrEqual(5);
    expect(pValue, name).toBeGreaterThan(0);
    const observed = one.predictive!.observed[name]!;
    expect(observed >= low && observed <= high, name).toBe(pValue >= 0.1);
  }
  await expect(evaluateModel(model, parts, { draws: 0, calibrate: 5 })).rejects.toThrow(
    'no intervals to correct, since no draws were asked for',
  );
  const closed = { ...model, items: { ...model.items, hyper: { ...model.items.hyper, size: 0 } } };
  await expect(evaluateModel(closed, parts, { draws: 30, calibrate: 5 })).rejects.toThrow(
    /expects no unseen items, .* calibrate the sparse model/,
  );
  await expect(evaluateModel(model, parts, { draws: 30, calibrate: 5, drawsGiven: 'paper' })).rejects.toThrow(
    'omit vertices by design',
  );
  const none = await evaluateModel(model, parts, { draws: 30, threads: 1, correct: false });
  expect(none.predictive!.calibration).toBeUndefined();
  expect(none.predictive!.draws).toEqual(one.predictive!.draws);
}, 60_000);

test('replicas that are too small to split and fit are named as such', async () => {
  const side = { sigma: 0, tau: 1, shape: 1, rate: 1, size: 8 };
  const { graph } = await simulate({ users: side, items: side, features: 1, seed: 8, threads: 1 });
  const parts = split(graph, { seed: 1, testUsers: 0.5, testItems: 0.5 });
  const { model } = await fit(parts.train, { features: 1, iterations: 5, threads: 1 });
  // A model of next to no activity has next to no edges in its replicas.
  const faint = (name: 'users' | 'items') => ({
    ...model[name],
    weightShape: model[name].weightShape.map((x) => x * 1e-9),
    featureShape: model[name].featureShape.map((x) => x * 1e-9),
    unseenMass: new Float64Array(1),
    hyper: { ...model[name].hyper, size: 1e-12 },
  });
  const failing = { ...model, users: faint('users'), items: faint('items') };
  await expect(evaluateModel(failing, parts, { draws: 5, calibrate: 5, threads: 1 })).rejects.toThrow(
    /replica 1 of 5 cannot be split and fitted .*leave it out/,
  );
});
