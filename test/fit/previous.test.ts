// A fit that starts from a previous model.

import { describe, expect, it } from 'vitest';
import { fitBaseline } from '../../src/evaluate/baselines/fit-baseline.js';
import { fit } from '../../src/fit/fit.js';
import type { PosteriorModel, Ranker } from '../../src/fit/model.js';
import { unfinishedFit } from '../../src/fit/unfinished.js';
import { buildGraph } from '../../src/graph/build.js';
import { VertexIds } from '../../src/graph/ids.js';
import { randomStream } from '../../src/math/random.js';
import { simulate } from '../../src/process/poisson-model.js';
import { pqSample } from '../../src/sample/pq.js';
import { modelFileFromBytes, modelToBytes } from '../../src/store/model-bytes.js';

const prior = { sigma: 0.2, tau: 1, shape: 0.5, rate: 0.5, size: 60 };
const { graph: now } = await simulate({ users: prior, items: prior, features: 4, seed: 5 });
const before = pqSample(now, { users: 0.97, items: 0.97 }, randomStream(3));
const options = { features: 4, engine: 'cpu', seed: 1, iterations: 400 } as const;

describe('a fit from a previous model', () => {
  it('matches vertices by id, and counts those that are new and those that are gone', async () => {
    const { model } = await fit(before, options);
    const { from } = await fit(now, { from: model, engine: 'cpu' });
    for (const side of ['users', 'items'] as const) {
      expect(from?.[side]).toEqual({
        matched: before[side].count,
        new: now[side].count - before[side].count,
        dropped: 0,
      });
    }
    const back = await fit(before, { from: (await fit(now, options)).model, engine: 'cpu' });
    expect(back.from?.users).toEqual({
      matched: before.users.count,
      new: 0,
      dropped: now.users.count - before.users.count,
    });
  });

  it('reaches the bound of a fresh fit, whose starts differ by more, in a quarter of its iterations', async () => {
    const seeds = [1, 2, 3];
    const fresh = await Promise.all(seeds.map((seed) => fit(now, { ...options, seed })));
    const refits = [];
    for (const seed of seeds) {
      const { model } = await fit(before, { ...options, seed });
      refits.push(await fit(now, { from: model, engine: 'cpu', seed }));
    }
    const bounds = fresh.map(({ model }) => model.bound!);
    const mean = (values: number[]) => values.reduce((a, b) => a + b) / values.length;
    const refitted = mean(refits.map(({ model }) => model.bound!));
    expect((refitted - mean(bounds)) / Math.abs(mean(bounds))).toBeGreaterThan(-0.005);
    const iterations = (results: { model: PosteriorModel }[]) =>
      mean(results.map(({ model }) => model.provenance.iterations));
    expect(iterations(refits)).toBeLessThan(0.25 * iterations(fresh));
  });

  it('starts on the scale of the previous model: its first bound is nearer to the last than that of any fresh start', async () => {
    const { model } = await fit(now, options);
    const again = await fit(now, { from: model, engine: 'cpu', start: 'cold' });
    const [, first] = again.model.provenance.bounds[0];
    expect(Math.abs(first - model.bound!) / Math.abs(model.bound!)).toBeLessThan(1e-3);
  });

  it('stays within what a file holds if all users have the same degree', async () => {
    const [users, items]: [number[], number[]] = [[], []];
    for (let e = 0; e < 200; e++) {
      users.push(Math.floor(e / 5));
      items.push((Math.floor(e / 5) + (e % 5) * 3) % 15);
    }
    const even = buildGraph({ users, items, userCount: 40, itemCount: 15 });
    let { model } = await fit(even, { features: 10, engine: 'cpu' });
    for (let night = 0; night < 4; night++) ({ model } = await fit(even, { from: model, engine: 'cpu' }));
    const read = await modelFileFromBytes(modelToBytes(model));
    expect((read.model as PosteriorModel).bound).toBe(model.bound);
  });

  it('is the same on any number of threads', async () => {
    const { model } = await fit(before, options);
    const [one, two] = await Promise.all(
      [1, 2].map((threads) => fit(now, { from: model, engine: 'cpu', threads, iterations: 30 })),
    );
    expect(one.model).toMatchObject({ bound: two.model.bound });
    expect(one.model.users.featureShape).toEqual(two.model.users.featureShape);
  });

  // Two sweeps with means, five mixed, and geometric ones from the eighth on.
  it.each([2, 7, 10, 15, 20])(
    'stopped after %i sweeps and saved, goes on from there to the same bits',
    async (stopAt) => {
      const { model } = await fit(before, options);
      const refit = { from: model, engine: 'cpu', tolerance: 1e-6, iterations: 80 } as const;
      const whole = await fit(now, refit);
      const stop = new AbortController();
      const stopped = await fit(now, {
        ...refit,
        signal: stop.signal,
        onProgress: ({ done }) => {
          if ((done ?? 0) >= stopAt) stop.abort();
        },
      }).catch(unfinishedFit);
      const left = stopped as NonNullable<ReturnType<typeof unfinishedFit>>;
      expect(left.checkpoint.state.iteration).toBe(stopAt);
      const bytes = modelToBytes(left.model, { checkpoint: left.checkpoint });
      const { checkpoint: resume } = await modelFileFromBytes(bytes);
      const { model: resumed } = await fit(now, { resume, iterations: 80 });
      expect((resumed as PosteriorModel).bound).toBe(whole.model.bound);
      expect((resumed as PosteriorModel).users.featureRate).toEqual(whole.model.users.featureRate);
    },
  );

  it('gives the same on the reference engine', async () => {
    const { model } = await fit(before, options);
    const [cpu, reference] = await Promise.all(
      (['cpu', 'reference'] as const).map((engine) => fit(now, { from: model, engine })),
    );
    expect(cpu.model.provenance.iterations).toBe(reference.model.provenance.iterations);
    expect(cpu.model.bound! / reference.model.bound!).toBeCloseTo(1, 5);
  });

  it('evaluates few bounds, and the last one is its own', async () => {
    const { model } = await fit(before, options);
    const { model: next } = await fit(now, { from: model, engine: 'cpu' });
    const { bounds, iterations, converged } = next.provenance;
    expect(converged).toBe(true);
    expect(bounds.at(-1)).toEqual([iterations, next.bound]);
    // Before the first sweep of the last phase, and before the last sweep of each block of five.
    const within = Array.from({ length: (iterations - 10) / 5 }, (_, i) => 14 + 5 * i);
    expect(bounds.map(([at]) => at)).toEqual([10, ...within, iterations]);
  });

  it('keeps the settings of a ranking fit, and ranks from its items', async () => {
    const first = await fit(before, { method: 'ranking', features: 8, average: 2, seed: 1, engine: 'cpu' });
    const next = await fit(now, { from: first.model, engine: 'cpu' });
    const ranker: Ranker = next.model;
    expect(ranker).toMatchObject({ method: 'ranking', scores: { kind: 'factors' } });
    const members = ranker.scores.kind === 'factors' ? ranker.scores.members : [];
    expect(members.map(({ features }) => features)).toEqual([8, 8, 128]);
    expect(next.from?.items.new).toBe(now.items.count - before.items.count);
    const fresh = await fit(now, { method: 'ranking', features: 8, average: 2, seed: 1, engine: 'cpu' });
    expect(ranker.provenance.iterations).toBeLessThan(fresh.model.provenance.iterations);
  });
});

describe('a model that a fit cannot start from', () => {
  it('is refused with a remedy', async () => {
    const { model } = await fit(before, { ...options, iterations: 5 });
    await expect(fit(now, { from: model, features: 7 })).rejects.toThrow(
      'from: the previous model has 4 features, not 7; leave features out',
    );
    await expect(fit(now, { from: model as never, method: 'ranking' })).rejects.toThrow(
      'the previous model was fitted by method ascent',
    );
    await expect(fit(now, { from: model as never, method: 'ranking' })).rejects.toThrow(
      'leave method out, or leave from out',
    );
    await expect(fit(now, { from: model, features: 4, method: 'gibbs' } as never)).rejects.toThrow('from');
    const baseline = await fitBaseline(before, 'popularity', {});
    await expect(fit(now, { from: baseline.model as Ranker })).rejects.toThrow(
      'a baseline (popularity) has nothing',
    );
    await expect(fit(now, { from: {} as PosteriorModel })).rejects.toThrow('from: expected a model');
    const ids = Array.from({ length: now.items.count }, (_, i) => `other-${now.items.ids.at(i)}`);
    const renamed = { ...now, items: { ...now.items, ids: VertexIds.texts(ids) } };
    await expect(fit(renamed, { from: model })).rejects.toThrow('knows none of the');
  });
});
