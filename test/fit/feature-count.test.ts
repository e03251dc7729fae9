import { describe, expect, test } from 'vitest';
import { chooseFeatures } from '../../src/fit/choose/feature-count.js';
import { fit } from '../../src/fit/fit.js';
import { unfinishedFit } from '../../src/fit/unfinished.js';
import { simulate } from '../../src/process/poisson-model.js';
import { study } from '../../src/study/study.js';

const side = (size: number) => ({ sigma: 0.2, tau: 1, shape: 0.1, rate: 0.1, size });
const drawn = async (features: number, size: number, seed: number) =>
  (await simulate({ users: side(size), items: side(size), features, seed })).graph;
const cpu = { engine: 'cpu' } as const;

describe('features: auto', () => {
  test('finds about as many features as there are', async () => {
    for (const [features, size, low, high] of [
      [3, 100, 3, 5],
      [5, 100, 5, 7],
      [15, 150, 15, 20],
    ] as const) {
      for (const seed of [1, 2]) {
        const { chosen } = await chooseFeatures(await drawn(features, size, seed), cpu);
        expect(chosen, `${features} features, seed ${seed}`).toBeGreaterThanOrEqual(low);
        expect(chosen, `${features} features, seed ${seed}`).toBeLessThanOrEqual(high);
      }
    }
  });

  test('is the fit with that number, on any number of threads, and says what it compared', async () => {
    const graph = await drawn(3, 60, 4);
    const chosen = await fit(graph, { ...cpu, features: 'auto', threads: 1 });
    const { chosenFeatures } = chosen;
    const again = await fit(graph, { ...cpu, features: 'auto', threads: 2 });
    expect(again.chosenFeatures).toEqual(chosenFeatures);
    const plain = await fit(graph, { ...cpu, features: chosenFeatures!.chosen });
    expect(plain.chosenFeatures).toBeUndefined();
    for (const { model } of [again, plain]) {
      expect(model.type === 'posterior' && model.bound).toBe(
        chosen.model.type === 'posterior' && chosen.model.bound,
      );
    }
    const compared = chosenFeatures!.trials.filter(({ whole }) => whole !== null);
    const best = compared.reduce((a, b) => (b.whole! > a.whole! ? b : a));
    expect(best.features).toBe(chosenFeatures!.chosen);
    expect(compared.length).toBeGreaterThan(1);
  });

  test('searches small data directly, and large data after a coarse sample', async () => {
    const small = await chooseFeatures(await drawn(2, 25, 1), cpu);
    expect(small.sample).toBeNull();
    expect(small.trials.every(({ coarse, whole }) => coarse === null && whole !== null)).toBe(true);
    const graph = await drawn(3, 100, 1);
    const { sample, trials } = await chooseFeatures(graph, cpu);
    expect(sample! / graph.edges).toBeGreaterThan(0.15);
    expect(sample! / graph.edges).toBeLessThan(0.4);
    expect(trials.filter(({ coarse }) => coarse !== null).length).toBeGreaterThan(1);
  });

  test('goes with every kind of model, and with sizes that are given', async () => {
    const graph = await drawn(3, 60, 2);
    for (const model of ['auto', 'sparse', 'dense'] as const) {
      expect((await chooseFeatures(graph, { ...cpu, model })).chosen).toBeGreaterThanOrEqual(2);
    }
    const given = await chooseFeatures(graph, { ...cpu, users: { size: 60 }, items: { size: 60 } });
    expect(given.chosen).toBeLessThanOrEqual(7);
  });

  test('is refused with a sentence if there is no bound', async () => {
    const graph = await drawn(2, 25, 1);
    const refused = (options: object) => fit(graph, { features: 'auto', ...options } as never);
    await expect(refused({ method: 'gibbs' })).rejects.toThrow(
      'features auto does not go with method gibbs: the exact sampler has no bound to choose by; give a number',
    );
    await expect(refused({ method: 'ranking' })).rejects.toThrow(
      /features auto does not go with method ranking/,
    );
    await expect(fit(graph, { features: 'many' } as never)).rejects.toThrow(
      'features "many": expected auto, or a whole number, at least 1 and at most 512',
    );
  });

  test('leaves no checkpoint while it chooses, and one with the chosen number afterwards', async () => {
    const graph = await drawn(3, 60, 3);
    const stopAt = async (stage: RegExp) => {
      const stop = new AbortController();
      const running = fit(graph, {
        ...cpu,
        features: 'auto',
        signal: stop.signal,
        onProgress: (progress) => {
          if (stage.test(progress.stage)) stop.abort();
        },
      });
      return running.then(
        () => Promise.reject(new Error('it was not stopped')),
        (error) => unfinishedFit(error),
      );
    };
    expect(await stopAt(/^choosing the number of features: \d+$/)).toBeUndefined();
    const { checkpoint } = (await stopAt(/^(fitting|warming up)$/))!;
    const whole = await fit(graph, { ...cpu, features: 'auto' });
    const rest = await fit(graph, { ...cpu, features: 'auto', resume: checkpoint });
    expect(rest.model.type === 'posterior' && rest.model.bound).toBe(
      whole.model.type === 'posterior' && whole.model.bound,
    );
  });

  test('is chosen once in a study, on the first training part', async () => {
    const graph = await drawn(3, 60, 5);
    const quick = { draws: 0, iterations: 40, baselines: false, ranker: false, engine: 'cpu' } as const;
    const results = await study(graph, { ...quick, features: 'auto', repeats: 2 });
    const { byEvidence, features } = results.chosen;
    expect(features).toBe(byEvidence!.chosen);
    for (const run of results.runs) expect(run.fits.every((one) => one.features === features)).toBe(true);
    expect(results.receipt.settings.features).toEqual(['auto']);
    const repeated = await study(graph, { ...quick, ...results.receipt.settings });
    expect(repeated.runs.map(({ fits }) => fits.map(({ bound }) => bound))).toEqual(
      results.runs.map(({ fits }) => fits.map(({ bound }) => bound)),
    );
  });
});
