import { describe, expect, test } from 'vitest';
import { InputError } from '../../src/errors.js';
import { tuneRanking } from '../../src/evaluate/tune.js';
import { fit } from '../../src/fit/fit.js';
import { featureCount } from '../../src/fit/model.js';
import { buildGraph } from '../../src/graph/build.js';
import { randomStream } from '../../src/math/random.js';

/** Four groups of users and items; every vertex has an edge. */
const random = randomStream(11);
const [users, items]: number[][] = [[], []];
for (let u = 0; u < 120; u++) {
  for (let i = 0; i < 60; i++) {
    const same = u % 4 === i % 4;
    if (random.uniform() < (same ? 0.4 : 0.03) || i === u % 60) {
      users.push(u);
      items.push(i);
    }
  }
}
const graph = buildGraph({ users, items, userCount: 120, itemCount: 60 });
const quick = { engine: 'cpu', threads: 1, fit: { iterations: 16 } } as const;

describe('tuning a ranker', () => {
  test('the best trial gives the options of the fit, and the search says whether it finished', async () => {
    const notes: string[] = [];
    const tuned = await tuneRanking(graph, { ...quick, onProgress: ({ note }) => notes.push(note ?? '') });
    expect(tuned.finished).toBe(true);
    expect(tuned.trials.length).toBeGreaterThan(3);
    const best = tuned.trials.reduce((a, b) => (b.score > a.score ? b : a));
    expect(tuned.score).toBe(best.score);
    expect(tuned.options.features).toBe(Math.round(best.setting.features!));
    expect(tuned.options.users!.shape).toBeCloseTo(best.setting.prior! / tuned.options.features, 12);
    expect(notes.some((note) => /best so far .* of 10 minutes/.test(note))).toBe(true);
    const { model } = await fit(graph, { ...tuned.options, engine: 'cpu' });
    expect(featureCount(model)).toBe(tuned.options.features);
    expect(model.provenance.iterations).toBe(16);
  });

  test('a budget of 0 minutes makes one trial', async () => {
    const tuned = await tuneRanking(graph, { ...quick, budgetMinutes: 1e-9 });
    expect(tuned.trials).toHaveLength(1);
    expect(tuned.finished).toBe(false);
  });

  test('a given assignment decides on which items held-back users are evaluated', async () => {
    const shown = Uint8Array.from({ length: 60 }, (_, i) => (i < 30 ? 1 : 0));
    const one = await tuneRanking(graph, { ...quick, budgetMinutes: 1e-9 });
    const other = await tuneRanking(graph, { ...quick, budgetMinutes: 1e-9, shown });
    expect(other.score).not.toBe(one.score);
    await expect(tuneRanking(graph, { ...quick, shown: shown.subarray(1) })).rejects.toThrow(/59 entries/);
  });

  test('an invalid budget is refused', async () => {
    await expect(tuneRanking(graph, { ...quick, budgetMinutes: -1 })).rejects.toThrow(InputError);
  });
});
