import { describe, expect, test } from 'vitest';
import { ascend } from '../../src/fit/ascent.js';
import { fit } from '../../src/fit/fit.js';
import { gibbsPosterior } from '../../src/fit/gibbs.js';
import { SIDES } from '../../src/graph/graph.js';
import { simulate } from '../../src/process/poisson-model.js';

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
      warmup: 100,
      draws: 200,
    };
    const one = await gibbsPosterior(graph, { ...options, threads: 1 });
    const two = await gibbsPosterior(graph, { ...options, threads: 2 });
    expect(two.traces).toEqual(one.traces);
    expect(two.users).toEqual(one.users);
    expect(one.scalars.rate.splitRHat).toBeLessThan(1.1);
    // The expected number of latent edges is close to what the data say.
    expect(one.scalars.rate.mean / graph.edges).toBeGreaterThan(0.9);
  });

  test('fit with --engine gibbs gives a model of posterior means near coordinate ascent’s', async () => {
    const { graph } = await simulated;
    const options = { features: 3, users: side, items: side, iterations: 150, threads: 2 };
    const exact = await fit(graph, { ...options, engine: 'gibbs' });
    const approximate = await fit(graph, { ...options, engine: 'cpu', iterations: 400 });
    expect(exact.engine).toMatch(/gibbs \(4 chains of 150 draws/);
    expect(exact.model.bound).toBeUndefined();
    for (const name of SIDES) {
      const mean = (model: typeof exact.model) =>
        model[name].weightShape.reduce((sum, shape, i) => sum + shape / model[name].weightRate[i]!, 0);
      expect(mean(exact.model) / mean(approximate.model)).toBeGreaterThan(0.6);
      expect(mean(exact.model) / mean(approximate.model)).toBeLessThan(1.6);
    }
  });

  test('refuses a large graph before any work', async () => {
    const { graph } = await simulated;
    const large = { ...graph, edges: 1e6 };
    await expect(fit(large, { engine: 'gibbs' })).rejects.toThrow(/up to 200000 edges; this one has 1000000/);
  });
});
