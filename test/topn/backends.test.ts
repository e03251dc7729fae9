// Every backend ranks as the reference does. Scores are whole numbers, so ties are ties in any precision.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RowLists } from '../../src/math/csr.js';
import { randomStream } from '../../src/math/random.js';
import { createCpuTopN, openRanking, rankByFactors } from '../../src/topn/cpu.js';
import { createListMaker } from '../../src/topn/list-maker.js';
import { emptyProducts, type RankQuery, type TopN } from '../../src/topn/query.js';
import { createReferenceTopN } from '../../src/topn/reference.js';
import { createWebgpuTopN } from '../../src/topn/webgpu.js';
import { findTestGpu } from '../engine/swiftshader.js';

const gpu = await findTestGpu();
const BACKENDS: readonly { name: string; create: () => Promise<TopN> }[] = [
  { name: 'reference', create: async () => createReferenceTopN() },
  { name: 'cpu', create: async () => createCpuTopN(2) },
  ...(gpu.available ? [{ name: 'gpu', create: () => createWebgpuTopN() }] : []),
];

describe.each(BACKENDS)('$name', ({ create }) => {
  let topN: TopN;
  beforeAll(async () => {
    topN = await create();
  });
  afterAll(async () => topN?.close());

  test('ranks and lists are those of the reference', async () => {
    const random = randomStream(19);
    const whole = (length: number) => Float32Array.from({ length }, () => random.below(9) - 4);
    const tables = { users: whole(30 * 5), items: whole(60 * 5), features: 5 };
    const candidates = Uint32Array.from({ length: 60 }, (_, i) => i).filter((i) => i % 3 !== 1);
    const lists = (parity: number): RowLists => {
      const offsets = [0];
      const values: number[] = [];
      for (let row = 0; row < 30; row++) {
        for (let p = parity; p < candidates.length; p += 2) if (random.uniform() < 0.2) values.push(p);
        offsets.push(values.length);
      }
      return { offsets: Uint32Array.from(offsets), values: Uint32Array.from(values) };
    };
    const excluded = lists(1);
    const query: RankQuery = {
      ...{ candidates: candidates.length, excluded, depth: 15, top: 4 },
      views: [{ without: new Uint32Array(0), relevant: lists(0) }],
    };
    const reference = createReferenceTopN();
    expect(await topN.rank(tables, candidates, query)).toEqual(
      await reference.rank(tables, candidates, query),
    );
    const rows = Uint32Array.of(3, 0, 29);
    for (const n of topN.top ? [1, 7, 100] : []) {
      const actual = await topN.top!(tables, candidates, rows, n, excluded);
      expect(actual).toEqual(await reference.top(tables, candidates, rows, n, excluded));
    }
    const history = lists(0);
    const itemWeights = {
      history: { ...history, values: history.values.map((p) => candidates[p]) },
      offsets: Uint32Array.from({ length: 61 }, (_, i) => 2 * i),
      targets: Uint32Array.from({ length: 120 }, (_, e) => (e % 2 === 0 ? 0 : 30) + random.below(30)),
      weights: whole(120),
    };
    const added = { ...tables, itemWeights };
    const ranks = await topN.rank(added, candidates, query);
    expect(ranks).toEqual(await reference.rank(added, candidates, query));
    expect(ranks).not.toEqual(await reference.rank(tables, candidates, query));
    const best = await topN.top?.(added, candidates, rows, 7, excluded);
    if (best) expect(best).toEqual(await reference.top(added, candidates, rows, 7, excluded));
    const halves = Float32Array.from(itemWeights.history.values, () => (random.uniform() < 0.5 ? 0.5 : 1));
    const weighed = {
      ...tables,
      itemWeights: { ...itemWeights, history: { ...itemWeights.history, weights: halves } },
    };
    const byAge = await topN.rank(weighed, candidates, query);
    expect(byAge).toEqual(await reference.rank(weighed, candidates, query));
    expect(byAge).not.toEqual(ranks);
  });

  test('an aborted query rejects with the reason, and later ones run', async () => {
    const tables = { users: new Float32Array(6), items: new Float32Array(6), features: 3 };
    const relevant = { offsets: Uint32Array.of(0, 1, 1), values: Uint32Array.of(1) };
    const views = [{ without: new Uint32Array(0), relevant }];
    const query = { candidates: 2, views, excluded: undefined, depth: 2, top: 1 };
    const ask = (signal?: AbortSignal) => topN.rank(tables, Uint32Array.of(0, 1), query, { signal });
    const bad = ask(AbortSignal.abort(new RangeError('enough')));
    const good = ask();
    await expect(bad).rejects.toThrow('enough');
    expect((await good).ranks).toEqual([Uint32Array.of(2)]);
  });
});

test('the list maker of the CPU lists what the reference does', async () => {
  const random = randomStream(23);
  const whole = (length: number) => Float32Array.from({ length }, () => random.below(9) - 4);
  const [items, users] = [whole(60 * 5), whole(30 * 5)];
  const offsets = Uint32Array.from({ length: 31 }, (_, row) => 2 * row);
  const excluded = { offsets, values: Uint32Array.from({ length: 60 }, (_, e) => 30 * (e % 2) + (e >> 1)) };
  const maker = createListMaker(items, 60, 5);
  const everything = Uint32Array.from({ length: 60 }, (_, i) => i);
  const rows = Uint32Array.from({ length: 30 }, (_, row) => row);
  try {
    for (const n of [1, 7, 100]) {
      const wanted = await createReferenceTopN().top(
        { users, items, features: 5 },
        everything,
        rows,
        n,
        excluded,
      );
      expect(await maker.byFactors(users, { n, excluded })).toEqual(wanted);
    }
  } finally {
    await maker.close();
  }
});

test('workers that stay open give the same answers, whatever they ranked before', async () => {
  const random = randomStream(20);
  const [rows, count, features] = [260, 1000, 96];
  const table = (length: number) => Float32Array.from({ length }, () => random.uniform());
  const candidates = Uint32Array.from({ length: count }, (_, i) => i);
  const relevant = {
    offsets: Uint32Array.from({ length: rows + 1 }, (_, row) => 3 * row),
    values: Uint32Array.from({ length: 3 * rows }, (_, e) => 300 * (e % 3) + random.below(300)),
  };
  const query: RankQuery = {
    ...{ candidates: count, excluded: undefined, depth: 50, top: 10 },
    views: [{ without: new Uint32Array(0), relevant }],
  };
  const open = openRanking(2);
  try {
    for (let round = 0; round < 2; round++) {
      const tables = { users: table(rows * features), items: table(count * features), features };
      const found = await open.rank(tables, candidates, query);
      expect(found).toEqual(await rankByFactors(tables, candidates, query, { threads: 1 }));
    }
    // Products that the first ranking computes and the second reuses with other weights.
    const tables = { users: table(rows * features), items: table(count * features), features };
    const products = emptyProducts(rows, count);
    for (const scale of [1, -3]) {
      const itemWeights = {
        history: { offsets: relevant.offsets, values: relevant.values.map((item) => 999 - item) },
        offsets: Uint32Array.from({ length: count + 1 }, (_, i) => i),
        targets: Uint32Array.from({ length: count }, (_, i) => (7 * i) % count),
        weights: new Float32Array(count).fill(scale),
      };
      const plain = { ...tables, itemWeights };
      const found = await open.rank({ ...plain, products }, candidates, query);
      expect(found).toEqual(await rankByFactors(plain, candidates, query, { threads: 1 }));
      expect(products.filled.every((filled) => filled === 1)).toBe(true);
    }
    const stopped = open.rank(
      { users: table(rows * features), items: table(count * features), features },
      ...([candidates, query, AbortSignal.abort(new RangeError('enough'))] as const),
    );
    await expect(stopped).rejects.toThrow('enough');
  } finally {
    await open.close();
  }
});
