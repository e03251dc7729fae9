import { describe, expect, test } from 'vitest';
import { evaluateModel } from '../../src/evaluate/evaluate.js';
import { ascend } from '../../src/fit/ascent/ascent.js';
import { fit } from '../../src/fit/fit.js';
import { eligibleMass } from '../../src/fit/fold-in/fold-in.js';
import { gibbsPosterior } from '../../src/fit/gibbs/gibbs.js';
import type { PosteriorModel } from '../../src/fit/model.js';
import { rateInterval } from '../../src/predict/rate-interval.js';
import { simulate } from '../../src/process/poisson-model.js';
import { posteriorRows, posteriorWords } from '../../src/report/terminal/posterior.js';
import { split } from '../../src/sample/split.js';
import { modelFileFromBytes, modelToBytes } from '../../src/store/model-bytes.js';
import { USERS_AND_ITEMS } from '../../src/text/sides.js';

const side = { sigma: 0.2, tau: 1, shape: 0.5, rate: 0.5, size: 12 };
const simulated = simulate({ users: side, items: side, features: 3, seed: 4 });

describe('the exact sampler', () => {
  test('the number of threads changes nothing, and chains mix', async () => {
    const { graph } = await simulated;
    const start = await ascend(graph, { features: 3, engine: 'cpu', users: side, items: side, threads: 1 });
    const options = {
      features: 3,
      hyper: start.checkpoint.state.hyper,
      start: start.checkpoint.tables,
      chains: 3,
      warmup: 300,
      draws: 1500,
    };
    const few = { ...options, warmup: 20, draws: 60 };
    const one = await gibbsPosterior(graph, { ...few, threads: 1 });
    const two = await gibbsPosterior(graph, { ...few, threads: 2 });
    expect(two.traces).toEqual(one.traces);
    expect(two.users).toEqual(one.users);
    const many = await gibbsPosterior(graph, { ...options, threads: 2 });
    for (const [name, { splitRHat, effectiveSamples }] of Object.entries(many.scalars)) {
      expect(splitRHat, name).toBeLessThan(1.05);
      // Of 4,500 draws.
      expect(effectiveSamples, name).toBeGreaterThan(250);
    }
    // The expected number of latent edges is close to the number of edges.
    expect(many.scalars.rate.mean / graph.edges).toBeGreaterThan(0.9);
  });

  test('fit with method gibbs gives a model of posterior means near coordinate ascent’s', async () => {
    const { graph } = await simulated;
    const options = { features: 3, users: side, items: side, iterations: 150, threads: 2 };
    const exact = await fit(graph, { ...options, method: 'gibbs' });
    const approximate = await fit(graph, { ...options, engine: 'cpu', iterations: 400 });
    expect(exact.engine).toMatch(/gibbs \(4 chains of 150 draws/);
    expect(exact.model.bound).toBeUndefined();
    // The data determine rates: those of the model are the sampler's, and close to coordinate ascent's.
    const rate = (model: typeof exact.model) => {
      const [users, items] = [eligibleMass(model, 'users'), eligibleMass(model, 'items')];
      return users.reduce((sum, m, k) => sum + m * items[k], 0);
    };
    expect(rate(exact.model) / exact.posterior!.scalars.rate.mean).toBeGreaterThan(0.9);
    expect(rate(exact.model) / exact.posterior!.scalars.rate.mean).toBeLessThan(1.1);
    expect(rate(exact.model) / rate(approximate.model)).toBeGreaterThan(0.7);
    expect(rate(exact.model) / rate(approximate.model)).toBeLessThan(2);
  });

  test('its model predicts: draws of the test part have about the observed number of edges', async () => {
    const { graph } = await simulate({
      users: { ...side, size: 20 },
      items: { ...side, size: 20 },
      features: 3,
      seed: 6,
    });
    const parts = split(graph, { testUsers: 0.3, testItems: 0.4, seed: 2 });
    const { model } = await fit(parts.train, { features: 3, method: 'gibbs', iterations: 150, threads: 2 });
    const { predictive } = await evaluateModel(model, parts, { draws: 40 });
    expect(predictive!.draws.edges!.mean / parts.test.edges).toBeGreaterThan(0.6);
    expect(predictive!.draws.edges!.mean / parts.test.edges).toBeLessThan(1.6);
  });

  test('options that do not apply are refused', async () => {
    const { graph } = await simulated;
    for (const [wrong, says] of [
      [{ method: 'gibbs', restarts: 3 }, 'restarts does not go with method gibbs'],
      [{ method: 'gibbs', restarts: 3 }, 'several chains'],
      [{ method: 'gibbs', engine: 'cpu' }, 'engine does not go with method gibbs'],
      [
        { method: 'gibbs', resume: {} },
        'resume does not go with method gibbs: it samples from the start each time',
      ],
    ] as const) {
      await expect(fit(graph, wrong as never)).rejects.toThrow(says);
    }
  });

  test('too few draws to compare chains are refused', async () => {
    const { graph } = await simulated;
    await expect(fit(graph, { method: 'gibbs', features: 2, iterations: 2 })).rejects.toThrow(/2 draws/);
  });

  test('refuses a large graph before any work', async () => {
    const { graph } = await simulated;
    const large = { ...graph, edges: 1e6 };
    await expect(fit(large, { method: 'gibbs' })).rejects.toThrow(
      /at most 200000 edges, and this one has 1000000/,
    );
  });
});

describe('chains that disagree', () => {
  test('continue with twice the draws, to the same numbers on any number of threads, and the summary says what is needed', async () => {
    const { graph } = await simulated;
    const start = await ascend(graph, { features: 3, engine: 'cpu', users: side, items: side, threads: 1 });
    const options = {
      ...{ features: 3, hyper: start.checkpoint.state.hyper, start: start.checkpoint.tables },
      ...{ chains: 2, warmup: 5, draws: 10, mostDraws: 45 },
    };
    const one = await gibbsPosterior(graph, { ...options, threads: 1 });
    const two = await gibbsPosterior(graph, { ...options, threads: 2 });
    expect(two.traces).toEqual(one.traces);
    const short = await gibbsPosterior(graph, { ...options, mostDraws: 10 });
    expect(short).toMatchObject({ draws: 10, warmup: 5 });
    // Ten draws of a slow chain never suffice.
    expect(short.drawsNeeded).toBeGreaterThan(10);
    expect(one).toMatchObject({ draws: 40, warmup: 35 });
    for (const { mean, interval } of Object.values(one.scalars)) {
      expect(interval.low).toBeLessThan(mean);
      expect(interval.high).toBeGreaterThan(mean);
    }
    expect(posteriorWords(short)).toMatch(
      /^2 chains of 10 draws each, after 5 discarded ones\. The chains do not agree yet \(largest R-hat [\d.]+\): about [\d,]+ iterations are needed\.$/,
    );
    expect(posteriorRows(one, USERS_AND_ITEMS)).toHaveLength(7);
  });
});

test('kept draws give intervals of rates, in memory and from a file; without them an error says what to do', async () => {
  const few = { ...side, size: 5 };
  const { graph } = await simulate({ users: few, items: few, features: 2, seed: 4 });
  const options = { features: 2, method: 'gibbs', iterations: 60, threads: 1 } as const;
  const { model, posterior } = await fit(graph, { ...options, keepDraws: 50 });
  const kept = await modelFileFromBytes(modelToBytes(model));
  const [user, item] = [graph.users.ids.at(0), graph.items.ids.at(graph.users.neighbors[0])];
  const found = rateInterval(model, user, item);
  expect(rateInterval(kept.model as PosteriorModel, user, item)).toEqual(found);
  expect(found.draws).toBe(50);
  expect(posterior!.users.draws).toHaveLength(50 * 2 * graph.users.count);
  expect(found.low).toBeLessThan(found.mean);
  expect(found.high).toBeGreaterThan(found.mean);
  const plain = await fit(graph, options);
  expect(() => rateInterval(plain.model, user, item)).toThrow(
    'the model has kept no draws; fit it with method gibbs and keepDraws',
  );
  expect(() => rateInterval(model, 'nobody', item)).toThrow('the model has no user');
  await expect(fit(graph, { ...options, keepDraws: 1000 })).rejects.toThrow(
    '1000 draws to keep, and 4 chains have 240',
  );
  await expect(fit(graph, { keepDraws: 5 } as never)).rejects.toThrow('keepDraws');
});
