// A fit that begins where a former model ended.

import { describe, expect, it } from 'vitest';
import { fitBaseline } from '../../src/evaluate/baselines/fit.js';
import { fit } from '../../src/fit/fit.js';
import type { PosteriorModel, Ranker } from '../../src/fit/model.js';
import { unfinishedFit } from '../../src/fit/unfinished.js';
import { VertexIds } from '../../src/graph/ids.js';
import { randomStream } from '../../src/math/random.js';
import { simulate } from '../../src/process/poisson-model.js';
import { pqSample } from '../../src/sample/pq.js';

const law = { sigma: 0.2, tau: 1, shape: 0.5, rate: 0.5, size: 60 };
const { graph: now } = await simulate({ users: law, items: law, features: 4, seed: 5 });
const before = pqSample(now, { users: 0.97, items: 0.97 }, randomStream(3));
const options = { features: 4, engine: 'cpu', seed: 1, iterations: 400 } as const;

describe('a fit from a former model', () => {
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

  it('reaches the bound of a fresh fit, whose starts differ by more, in fewer iterations', async () => {
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
    expect(iterations(refits)).toBeLessThan(0.8 * iterations(fresh));
  });

  it('begins on the former scale: the first bound is nearer to the last than that of any start', async () => {
    const { model } = await fit(now, options);
    const again = await fit(now, { from: model, engine: 'cpu', start: 'cold' });
    const [, first] = again.model.provenance.bounds[0];
    expect(Math.abs(first - model.bound!) / Math.abs(model.bound!)).toBeLessThan(1e-3);
  });

  it('is the same on any number of threads', async () => {
    const { model } = await fit(before, options);
    const [one, two] = await Promise.all(
      [1, 2].map((threads) => fit(now, { from: model, engine: 'cpu', threads, iterations: 30 })),
    );
    expect(one.model).toMatchObject({ bound: two.model.bound });
    expect(one.model.users.featureShape).toEqual(two.model.users.featureShape);
  });

  it('goes on to the same bits after it was stopped, in the warm phase too', async () => {
    const { model } = await fit(before, options);
    const whole = await fit(now, { from: model, engine: 'cpu', iterations: 40 });
    for (const stopAt of [5, 25]) {
      const stop = new AbortController();
      const stopped = await fit(now, {
        from: model,
        engine: 'cpu',
        iterations: 40,
        signal: stop.signal,
        onProgress: ({ done }) => {
          if ((done ?? 0) >= stopAt) stop.abort();
        },
      }).catch(unfinishedFit);
      const { checkpoint } = stopped as { checkpoint: NonNullable<typeof whole.checkpoint> };
      const { model: resumed } = await fit(now, { resume: checkpoint, iterations: 40 });
      expect((resumed as PosteriorModel).bound).toBe(whole.model.bound);
    }
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

describe('what a fit cannot begin from', () => {
  it('is refused, with what to do', async () => {
    const { model } = await fit(before, { ...options, iterations: 5 });
    await expect(fit(now, { from: model, features: 7 })).rejects.toThrow(
      'from: the former model has 4 features, not 7; leave features out',
    );
    await expect(fit(now, { from: model as never, method: 'ranking' })).rejects.toThrow(
      'the former model was fitted by method ascent',
    );
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
