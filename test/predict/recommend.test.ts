import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { singlePrecision } from '../../src/engine/engine.js';
import { InputError } from '../../src/errors.js';
import { eligibleMass, foldBase, foldGraph, foldVertex } from '../../src/fit/fold-in/fold-in.js';
import type { PosteriorModel } from '../../src/fit/model.js';
import { BipartiteGraph } from '../../src/graph/public.js';
import { digamma } from '../../src/math/special.js';
import { posteriorExplainer } from '../../src/predict/explain/explain.js';
import { recommend, recommendMany } from '../../src/predict/recommend.js';
import { rate, smallModel, smallRanker } from './recommend-model.js';

const seenOf = (model: PosteriorModel, user: number) =>
  Array.from(model.seen!.neighbors.subarray(model.seen!.offsets[user], model.seen!.offsets[user + 1]));

/** Every item by falling rate, ties by index. */
function order(model: PosteriorModel, user: number, out: Iterable<number>): string[] {
  const without = new Set(out);
  return Array.from({ length: model.items.count }, (_, item) => item)
    .filter((item) => !without.has(item))
    .sort((a, b) => rate(model, user, b) - rate(model, user, a) || a - b)
    .map((item) => `item ${item}`);
}

describe('recommend', () => {
  it('lists exactly n items by rate while n are left, without the user’s own and excluded ones', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(500),
        fc.nat(11),
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        fc.array(fc.nat(34), { maxLength: 6 }),
        async (seed, user, n, includeSeen, exclude) => {
          const model = smallModel({ seed });
          const list = await recommend(
            model,
            { user: `user ${user}` },
            { n, includeSeen, exclude: exclude.map((item) => `item ${item}`) }, // items 30 … 34 do not exist
          );
          const want = order(model, user, [...exclude, ...(includeSeen ? [] : seenOf(model, user))]);
          expect(list.map((r) => r.item)).toEqual(want.slice(0, n));
          for (const { item, score } of list) {
            expect(score).toBeCloseTo(rate(model, user, Number(item.slice(5))), 10);
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it('answers a batch as one by one, in this thread or in workers', async () => {
    const model = smallModel({ users: 40, items: 900, features: 24 });
    const queries = Array.from({ length: 12_000 }, (_, a) => ({ user: `user ${a % 40}` }));
    expect(queries.length * 900 * 24).toBeGreaterThan(2e8); // so the batch uses workers
    const batch = await recommendMany(model, queries, { n: 5, threads: 2 });
    expect(batch.length).toBe(12_000);
    for (const a of [0, 39, 40, 11_999])
      expect(batch[a]).toEqual(await recommend(model, queries[a], { n: 5 }));
    expect(await recommendMany(model, [])).toEqual([]);
  });

  it('folds a new user in from liked items and leaves these out', async () => {
    const model = smallModel();
    const list = await recommend(model, { likes: ['item 3', 'item 7', 'item 3'] }, { n: 30 });
    expect(list.length).toBe(28);
    expect(list.map((r) => r.item)).not.toContain('item 3');
    // The fold-in of an evaluation: the edge pass uses means, and only known items could have been met.
    const otherMass = eligibleMass(model, 'items', { unseenShare: 0 });
    const folded = foldVertex(foldBase(model, 'users'), [3, 7], { otherMass });
    const score = (item: number) => {
      let sum = 0;
      for (let k = 0; k < 4; k++) {
        const at = item * 4 + k;
        sum +=
          ((folded.featureShape[k] / folded.featureRate[k]) * model.items.featureShape[at]) /
          model.items.featureRate[at];
      }
      return (
        (sum * (folded.weightShape / folded.weightRate) * model.items.weightShape[item]) /
        model.items.weightRate[item]
      );
    };
    for (const { item, score: got } of list) expect(got).toBeCloseTo(score(Number(item.slice(5))), 6);
    for (let i = 1; i < list.length; i++)
      expect(list[i - 1].score).toBeGreaterThanOrEqual(list[i].score * (1 - 1e-6));
    const with3 = await recommend(model, { likes: ['item 3'] }, { n: 30, includeSeen: true });
    expect(with3.map((r) => r.item)).toContain('item 3');
  });

  it('counts matter in a multigraph and not in a simple graph', async () => {
    for (const multigraph of [false, true]) {
      const model = smallModel({ multigraph });
      const once = await recommend(model, { likes: ['item 1', 'item 2'] });
      const often = await recommend(model, { likes: ['item 1', 'item 2'], counts: [1, 40] });
      if (multigraph) expect(often).not.toEqual(once);
      else expect(often).toEqual(once);
    }
  });

  it('adds the scores of a ranker’s members, in the order that products in float64 give', async () => {
    const first = smallModel({ seed: 1 });
    const second = smallModel({ seed: 2, features: 3 });
    const both = smallRanker([first, second]);
    const list = await recommend(both, { user: 'user 4' }, { n: 30, includeSeen: true, explain: true });
    const sum = (item: number) => rate(first, 4, item) + rate(second, 4, item);
    const want = Array.from({ length: 30 }, (_, item) => item).sort((a, b) => sum(b) - sum(a));
    expect(list.map((r) => r.item)).toEqual(want.map((item) => `item ${item}`));
    for (const { item, score } of list) expect(score / sum(Number(item.slice(5)))).toBeCloseTo(1, 6);
    expect(list[0].explanation!.features.length).toBe(7);
    expect(list[0].explanation!.features.reduce((a, b) => a + b)).toBeCloseTo(list[0].score, 12);
  });

  it('says what is wrong: unknown users and items, empty queries, models without seen items', async () => {
    const model = smallModel();
    await expect(recommend(model, { user: 'nobody' })).rejects.toThrow(
      /user nobody is not in the model \(12 users/,
    );
    await expect(recommend(model, { likes: ['item 1', 'x'] })).rejects.toThrow(
      /item x is not in the model \(30 items\)/,
    );
    await expect(recommend(model, { likes: [] })).rejects.toThrow(InputError);
    await expect(recommend(model, { likes: ['item 1'], counts: [1, 2] })).rejects.toThrow(/2 counts for 1/);
    for (const count of [0, -3, 0.5, Number.NaN, 2 ** 32]) {
      const counted = recommend(model, { likes: ['item 1'], counts: [count] });
      await expect(counted).rejects.toThrow(`the count of a liked item is ${count};`);
    }
    await expect(recommend(model, { user: 'user 1' }, { n: 1.5 })).rejects.toThrow(/n 1.5: expected/);
    const unknown: unknown[] = [];
    const list = await recommend(
      model,
      { likes: ['item 1', 'x'] },
      { onUnknown: (ids) => unknown.push(...ids) },
    );
    expect(unknown).toEqual(['x']);
    expect(list).toEqual(await recommend(model, { likes: ['item 1'] }));
    const bare = smallModel({ withSeen: false });
    await expect(recommend(bare, { user: 'user 1' })).rejects.toThrow(/does not store which items/);
    expect((await recommend(bare, { user: 'user 1' }, { includeSeen: true, n: 3 })).length).toBe(3);
  });
});

describe('explain', () => {
  it('divides the whole score by feature and by own item, in every kind of model', () => {
    const variants = fc.record({
      seed: fc.nat(500),
      multigraph: fc.boolean(),
    });
    const activities = fc.constantFrom('geometric' as const, 'mean' as const);
    fc.assert(
      fc.property(variants, fc.nat(11), fc.nat(29), activities, (options, user, item, activity) => {
        const model = smallModel(options);
        const own = {
          items: seenOf(model, user),
          counts: model.seen!.counts?.subarray(model.seen!.offsets[user], model.seen!.offsets[user + 1]),
        };
        const parts = posteriorExplainer(model, model.users, user, own, activity)(item);
        const sum = (values: Float64Array) => values.reduce((a, b) => a + b, 0);
        expect(parts.score).toBeCloseTo(rate(model, user, item), 12);
        expect(sum(parts.features)).toBeCloseTo(parts.score, 12);
        expect(sum(parts.items) + parts.prior).toBeCloseTo(parts.score, 12);
        for (const share of [...parts.features, ...parts.items, parts.prior])
          expect(share).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 100 },
    );
  });

  it('gives each own item the counts that the fold-in gave it', async () => {
    const model = smallModel({ seed: 9 });
    const own = [2, 5, 11, 20];
    const { users } = BipartiteGraph.fromPairs(own.map((item) => ['new', model.items.ids.at(item)]));
    const rows = { ...users, neighbors: Uint32Array.from(own) };
    const exactly = { engine: 'reference', iterations: 4000, tolerance: 1e-14 } as const;
    const values = await foldGraph(foldBase(model, 'users'), rows, exactly);
    const posterior = { count: 1, ...singlePrecision(values) };
    const folded = {
      ...values,
      weightShape: values.weightShape[0],
      weightRate: values.weightRate[0],
    };
    const parts = posteriorExplainer(model, posterior, 0, { items: own }, 'geometric')(8);
    const weight =
      ((folded.weightShape / folded.weightRate) * model.items.weightShape[8]) / model.items.weightRate[8];
    // An edge's expected counts are λ_k/(1 − e^−Σλ), and at the fixed point a feature's shape is a + their sum.
    const logMean = (shape: number, rate: number) => Math.exp(digamma(shape)) / rate;
    const counts = own.map((item) => {
      const rates = [0, 1, 2, 3].map(
        (k) =>
          logMean(folded.weightShape, folded.weightRate) *
          logMean(folded.featureShape[k], folded.featureRate[k]) *
          logMean(model.items.weightShape[item], model.items.weightRate[item]) *
          logMean(model.items.featureShape[item * 4 + k], model.items.featureRate[item * 4 + k]),
      );
      const total = rates.reduce((a, b) => a + b, 0);
      return rates.map((rate) => rate / -Math.expm1(-total));
    });
    for (let k = 0; k < 4; k++) {
      const sum = counts.reduce((a, edge) => a + edge[k], 0);
      expect(folded.featureShape[k]).toBeCloseTo(model.users.hyper.shape + sum, 8);
    }
    for (let e = 0; e < own.length; e++) {
      let want = 0;
      for (let k = 0; k < 4; k++) {
        const mean = model.items.featureShape[32 + k] / model.items.featureRate[32 + k];
        want += (weight * counts[e][k] * mean) / folded.featureRate[k];
      }
      expect(parts.items[e]).toBeCloseTo(want, 5);
    }
  });

  it('gives the whole score to the prior if there is no item', () => {
    const model = smallModel();
    const parts = posteriorExplainer(model, model.users, 0, { items: [] }, 'geometric')(3);
    expect(parts.prior).toBeCloseTo(parts.score, 12);
  });
});
