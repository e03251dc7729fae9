import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fit } from '../../src/fit/fit.js';
import { type FactorScores, meanTable } from '../../src/fit/model.js';
import type { FitOptions } from '../../src/fit/options.js';
import { recommend } from '../../src/predict/recommend.js';
import { simulate } from '../../src/process/poisson-model.js';
import { loadCheckpoint, loadModel } from '../../src/store/model-file.js';

// Files that version 0.1.0 wrote, and lists that it made of them.
const folder = join(import.meta.dirname, 'format-0.1.0');
const SIDE = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 12 };

interface Lists {
  readonly user: [string, { item: string; score: number }[]];
  readonly likes: [string[], { item: string; score: number; explanation: object }[]];
}
const lists: Record<'posterior' | 'ranker', Lists> = JSON.parse(
  readFileSync(join(folder, 'lists.json'), 'utf8'),
);

const finished: Record<'evidence' | 'ranking', number[][]> = JSON.parse(
  readFileSync(join(folder, 'finished.json'), 'utf8'),
);

it('a posterior of 0.1.0 loads and recommends to the bit as it did', async () => {
  const model = await loadModel(join(folder, 'posterior.safetensors'));
  expect(model.type).toBe('posterior');
  const { user, likes } = lists.posterior;
  expect(await recommend(model, { user: user[0] }, { n: 8 })).toEqual(user[1]);
  // Explanations say more than they did; what they said they say still.
  expect(await recommend(model, { likes: likes[0] }, { n: 8, explain: true })).toMatchObject(likes[1]);
});

it('a ranker of 0.1.0 loads as a ranker and gives the same lists', async () => {
  const model = await loadModel(join(folder, 'ranker.safetensors'));
  expect(model).toMatchObject({ type: 'ranker', method: 'ranking', scores: { kind: 'factors' } });
  const { user, likes } = lists.ranker;
  for (const [got, want] of [
    [await recommend(model, { user: user[0] }, { n: 8 }), user[1]],
    [await recommend(model, { likes: likes[0] }, { n: 8 }), likes[1]],
  ]) {
    expect(got.map(({ item }) => item)).toEqual(want.map(({ item }) => item));
    for (const [i, { score }] of got.entries()) expect(score / want[i].score).toBeCloseTo(1, 5);
  }
});

it.each(['evidence', 'ranking'] as const)('a fit that 0.1.0 stopped goes on: %s', async (objective) => {
  const { graph } = await simulate({ users: SIDE, items: SIDE, features: 2, seed: 3 });
  const options = {
    features: 2,
    iterations: 40,
    engine: 'reference',
    objective,
    ...(objective === 'ranking' && { iterations: 20, average: 2 }),
  } as FitOptions;
  const resume = await loadCheckpoint(join(folder, `stopped-${objective}.safetensors`));
  const { model } = await fit(graph, { ...options, resume } as FitOptions);
  const tables =
    model.type === 'posterior'
      ? [meanTable(model.items, 2)]
      : (model.scores as FactorScores).members.map(({ items }) => items);
  // What 0.1.0 came to without a stop.
  for (const [m, want] of finished[objective].entries()) {
    expect(tables[m]).toHaveLength(want.length);
    for (const [at, mean] of want.entries()) expect(tables[m][at] / mean).toBeCloseTo(1, 3);
  }
});
