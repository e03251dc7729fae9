import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fitBaseline } from '../../src/evaluate/baselines/fit-baseline.js';
import { fit } from '../../src/fit/fit.js';
import type { Model } from '../../src/fit/model.js';
import { BASELINES } from '../../src/options/names.js';
import { createRecommender } from '../../src/predict/recommender.js';
import { simulate } from '../../src/process/poisson-model.js';
import { type RunningServer, serve } from '../../src/serve/serve.js';
import { saveModel } from '../../src/store/model-file.js';

const side = { sigma: 0.3, tau: 1, shape: 0.3, rate: 0.3, size: 30 };
const models = new Map<string, Model>();
let folder: string;
let server: RunningServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'graphex-kinds-'));
  const { graph } = await simulate({ users: side, items: side, features: 3, seed: 3 });
  const few = { features: 3, iterations: 8, threads: 1 } as const;
  models.set('posterior', (await fit(graph, few)).model);
  models.set('sampler', (await fit(graph, { ...few, method: 'gibbs' })).model);
  models.set('ranker', (await fit(graph, { ...few, method: 'ranking' })).model);
  models.set('members', (await fit(graph, { ...few, method: 'ranking', average: 3 })).model);
  for (const name of BASELINES) {
    models.set(name, (await fitBaseline(graph, name, { trials: 1, threads: 1 })).model);
  }
  for (const [name, model] of models) await saveModel(join(folder, `${name}.safetensors`), model);
  server = await serve(join(folder, 'posterior.safetensors'), { port: 0, threads: 1, models: folder });
}, 60_000);

afterAll(async () => {
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

const ask = async (path: string, body: unknown, method = 'POST') => {
  const response = await fetch(server.url + path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(method !== 'GET' && { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: what a client gets is whatever the server sends
  return { status: response.status, body: (await response.json()) as any };
};

describe('every kind of model is served', () => {
  it.each(['posterior', 'sampler', 'ranker', 'members', ...BASELINES])(
    '%s: lists, ranks and explanations are the library’s',
    async (name) => {
      const { status, body: info } = await ask('/v1/models/current', { file: `${name}.safetensors` }, 'PUT');
      expect(status).toBe(200);
      const model = models.get(name) as Model;
      const recommender = createRecommender(model);
      const likes = [model.items.ids.at(2), model.items.ids.at(5), model.items.ids.at(9)];
      const pairs = (items: readonly { item: string; score: number }[]) =>
        items.map(({ item, score }) => ({ item, score: expect.closeTo(score, 9) }));
      const fresh = await ask('/v1/recommend', { likes, n: 5 });
      expect(fresh.body.model).toBe(info.hash);
      expect(fresh.body.items).toEqual(pairs(await recommender.recommend({ likes }, { n: 5 })));
      const user = model.users.ids.at(0);
      const known = await ask('/v1/recommend', { user, n: 5 });
      expect(known.body.items).toEqual(pairs(await recommender.recommend({ user }, { n: 5 })));
      const candidates = [model.items.ids.at(1), model.items.ids.at(7)];
      const ranked = await ask('/v1/rank', { likes, candidates });
      expect(ranked.body.items).toEqual(pairs(recommender.rank({ likes }, candidates)));
      const why = await ask('/v1/explain', { likes, item: candidates[0] });
      const { score, explanation } = why.body;
      const parts = explanation.items.reduce(
        (sum: number, one: { contribution: number }) => sum + one.contribution,
        0,
      );
      expect(parts + explanation.rest).toBeCloseTo(score, 6);
      await recommender.close();
    },
  );

  it('members count as one model with the features of all', async () => {
    const { body } = await ask('/v1/models/current', { file: 'members.safetensors' }, 'PUT');
    expect(body).toMatchObject({ kind: 'ranking', features: 9 });
    const { body: one } = await ask('/v1/models/current', { file: 'ranker.safetensors' }, 'PUT');
    expect(one).toMatchObject({ kind: 'ranking', features: 3 });
  });
});
