import { describe, expect, it } from 'vitest';
import { filter } from '../../src/evaluate/baselines/graph-filter.js';
import { communityLists, dataOf, scoresOf, shownOnly } from './baseline-data.js';
import { listOf } from './brute-force.js';

const ITEMS = 30;
const users = communityLists(80, ITEMS, 3, 5);
const data = dataOf(users, ITEMS, 5);
const history = shownOnly(data, users);
const degree = Array.from({ length: ITEMS }, (_, i) => listOf(data.items, i).length);

describe('the graph filter', () => {
  it('is the product of the normalized matrix with itself without the low-pass part', async () => {
    const scorer = await (await filter.fit(data, { share: 0 })).scorer(history);
    for (const row of [0, 11, 79]) {
      const want = Array.from(data.candidates, (j) => {
        let sum = 0;
        for (const i of listOf(history, row)) {
          for (const u of listOf(data.items, i)) {
            const own = listOf(data.users, u);
            if (own.includes(j)) sum += 1 / (own.length * Math.sqrt(degree[i] * degree[j]));
          }
        }
        return sum;
      });
      const got = scoresOf(scorer, row, data.candidates);
      for (const [c, value] of want.entries()) expect(got[c]).toBeCloseTo(value, 5);
    }
  });

  it('adds a projection that keeps the leading direction: the degrees', async () => {
    // D^(½) 1 is the leading singular vector, so a history with each item as often as its degree comes back as it is.
    const values = Uint32Array.from(degree.flatMap((d, i) => new Array<number>(d).fill(i)));
    const all = { offsets: Uint32Array.of(0, values.length), values };
    const low = async (share: number) =>
      scoresOf(await (await filter.fit(data, { share })).scorer(all), 0, data.candidates);
    const [none, half, whole] = [await low(0), await low(0.5), await low(1)];
    for (const [c, value] of none.entries()) {
      const own = degree[data.candidates[c]];
      expect(Math.abs(half[c] - value - 0.5 * own)).toBeLessThanOrEqual(0.01 * own);
      expect(Math.abs(whole[c] - value - own)).toBeLessThanOrEqual(0.02 * own);
    }
  });

  it('serves the scores that it is compared by', async () => {
    const served = await filter.scores(data, { share: 0.3 });
    if (served.kind !== 'items') throw new Error('weights expected');
    const scorer = await (await filter.fit(data, { share: 0.3 })).scorer(history);
    for (const row of [3, 40]) {
      const got = scoresOf(scorer, row, data.candidates);
      for (const [c, j] of data.candidates.entries()) {
        const sum = listOf(history, row).reduce((s, i) => s + served.weights[i * ITEMS + j], 0);
        expect(got[c]).toBeCloseTo(sum, 4);
      }
    }
  });
});
