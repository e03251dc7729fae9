import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fit } from '../../src/fit/fit.js';
import type { FactorScores, Ranker } from '../../src/fit/model.js';
import { randomStream } from '../../src/math/random.js';
import { createRecommender } from '../../src/predict/recommender.js';
import { simulate } from '../../src/process/poisson-model.js';
import { fromHalf, toHalf } from '../../src/store/float16.js';
import { modelFromBytes, modelToBytes } from '../../src/store/model-bytes.js';
import type { RankerStorage } from '../../src/store/ranker-tensors.js';

const SIDE = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 45 };
const fitTo = async (blend: boolean) => {
  const { graph } = await simulate({ users: SIDE, items: SIDE, features: 6, seed: 4 });
  const options = { method: 'ranking', features: 32, average: 2, iterations: 10, engine: 'cpu' } as const;
  return (await fit(graph, { ...options, blend })).model;
};
const fitted = fitTo(true);

/** The recommendations of the fitted model, computed once for all comparisons. */
const listed = {
  byUser: fitted.then((model) => lists(model, model.seen, false)),
  byLikes: fitted.then((model) => lists(model, model.seen, true)),
};

async function lists(model: Ranker, seen: Ranker['seen'], byLikes: boolean): Promise<string[][]> {
  const recommender = createRecommender(model);
  const { offsets, neighbors } = seen!;
  const queries = Array.from({ length: offsets.length - 1 }, (_, u) =>
    byLikes
      ? { likes: Array.from(neighbors.subarray(offsets[u], offsets[u + 1]), (i) => model.items.ids.at(i)) }
      : { user: model.users.ids.at(u) },
  );
  const found = await recommender.recommendMany(queries, { n: 20 });
  await recommender.close();
  return found.map((list) => list.map(({ item }) => item));
}

describe('a compact ranker', () => {
  it.each([
    ['float32', 'stored', 0],
    // The tables of known users are float32 and the fold-in is float64, so lists differ where two scores are nearly equal.
    ['float32', 'folded', 0.0002],
    ['float32', 'none', 0],
    ['float16', 'stored', 0.001],
    ['float16', 'folded', 0.001],
    ['float16', 'none', 0.001],
  ] as const)(
    'in %s with users %s moves at most a share of %s of the places',
    async (precision, users, most) => {
      const model = await fitted;
      const bytes = modelToBytes(model, { precision, users });
      const loaded = (await modelFromBytes(bytes)) as Ranker;
      const byLikes = users === 'none';
      if (byLikes) expect(loaded.users.count).toBe(0);
      else expect(loaded.seen!.neighbors).toEqual(model.seen!.neighbors);
      const before = await listed[byLikes ? 'byLikes' : 'byUser'];
      const after = await lists(loaded, model.seen, byLikes);
      const places = before.flat().length;
      let moved = 0;
      for (const [u, list] of before.entries()) {
        for (const [i, item] of list.entries()) if (after[u][i] !== item) moved++;
      }
      expect(places).toBeGreaterThan(3000);
      expect(moved / places).toBeLessThanOrEqual(most);
    },
  );

  it('is little larger than its tables', async () => {
    const model = await fitTo(false);
    const size = (storage: RankerStorage) => modelToBytes(model, storage).length;
    const numbers = (rows: number) => rows * 32 * 2;
    const rows = { users: model.users.count, items: model.items.count };
    // Ids, degrees, scales and the items that users have: at most 100 bytes a vertex and 4 an edge, in addition to the
    // header.
    const edges = 4 * model.seen!.neighbors.length;
    const more = 100 * (rows.users + rows.items) + 8000;
    expect(size({ precision: 'float16' })).toBeLessThan(2 * numbers(rows.users + rows.items) + edges + more);
    expect(size({ precision: 'float16', users: 'folded' })).toBeLessThan(
      2 * numbers(rows.items) + edges + more,
    );
    expect(size({ precision: 'float16', users: 'none' })).toBeLessThan(2 * numbers(rows.items) + more);
    expect(size({})).toBeLessThan(4 * numbers(rows.users + rows.items) + edges + more);
    // The blend, in float32: factors, and a target and a weight for each pair of items.
    const blended = await fitted;
    const { itemWeights, members } = blended.scores as FactorScores;
    const factors = 4 * members.at(-1)!.features * (rows.users + rows.items);
    const added = modelToBytes(blended, { precision: 'float16' }).length - size({ precision: 'float16' });
    expect(added).toBeLessThan(factors + 8 * itemWeights!.targets.length + 4 * rows.items + 8000);
  });

  it('refuses options that contradict each other', async () => {
    const model = await fitted;
    const { seen: _, ...without } = model;
    expect(() => modelToBytes(without, { users: 'folded' })).toThrow(/cannot be folded in on demand/);
    expect(() => modelToBytes(model, { precision: 'float8' as never })).toThrow(/float32, float16/);
    expect(() => modelToBytes(model, { users: 'some' as never })).toThrow(/stored, folded, none/);
    const none = await modelFromBytes(modelToBytes(model, { users: 'none' }));
    const recommender = createRecommender(none);
    await expect(recommender.recommend({ user: model.users.ids.at(0) })).rejects.toThrow(
      /saved without users; name liked items/,
    );
    await recommender.close();
  });
});

describe('half precision', () => {
  it('keeps twelve bits of every value within four decades of the largest in its row, and six decades at all', () => {
    const value = fc.tuple(fc.double({ min: -7, max: 0, noNaN: true }), fc.boolean());
    const row = fc.tuple(fc.array(value, { minLength: 3, maxLength: 3 }), fc.integer({ min: -30, max: 30 }));
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 5 }), (rows) => {
        const table = Float32Array.from(
          rows.flatMap(([values, scale]) => [
            10 ** scale,
            ...values.map(([log, negative]) => (negative ? -1 : 1) * 10 ** (log + scale)),
          ]),
        );
        const back = fromHalf(toHalf(table, rows.length), new Float32Array(table.length));
        for (let at = 0; at < table.length; at++) {
          const largest = Math.abs(table[at - (at % 4)]);
          const error = Math.abs(back[at] - table[at]);
          const near = Math.abs(table[at]) < 1e-4 * largest ? 1 : 0;
          expect(error).toBeLessThanOrEqual(
            Math.max(1.001 * 2 ** -12 * Math.abs(table[at]), 2 ** -18 * largest * near),
          );
        }
      }),
    );
  });

  it('keeps zeros and signs', () => {
    const table = Float32Array.of(0, -2, 3, 0, 0, 0);
    const back = fromHalf(toHalf(table, 2), new Float32Array(6));
    expect(Array.from(back, Math.sign)).toEqual([0, -1, 1, 0, 0, 0]);
  });

  it('rounds important values least: two bits or more than plain halves on rows with few large values', () => {
    const random = randomStream(7, 1);
    const [rows, width] = [400, 16];
    const table = Float32Array.from({ length: rows * width }, () => random.uniform() ** 8);
    const error = (half: Float32Array) => {
      let squares = 0;
      for (let r = 0; r < rows; r++) {
        let [off, sum] = [0, 0];
        for (let at = r * width; at < (r + 1) * width; at++) {
          off += half[at] - table[at];
          sum += table[at];
        }
        squares += (off / sum) ** 2;
      }
      return Math.sqrt(squares / rows);
    };
    const chosen = error(fromHalf(toHalf(table, rows), new Float32Array(table.length)));
    const plain = error(
      table.map((value) => {
        const step = 2 ** (Math.floor(Math.log2(value)) - 10);
        return Math.round(value / step) * step;
      }),
    );
    expect(chosen).toBeLessThan(plain / 4);
  });
});
