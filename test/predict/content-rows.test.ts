// Scores by attributes: the kernels and any number of threads give the bits of the reference.

import { expect, test } from 'vitest';
import { listTotals, SparseSums } from '../../src/attributes/similarity.js';
import { randomStream } from '../../src/math/random.js';
import { STREAMS } from '../../src/math/streams.js';
import { type ContentRows, scoreContentRow } from '../../src/predict/content/content-rows.js';
import { scoreRows } from '../../src/predict/content/score-rows.js';
import { largestTowards } from '../../src/predict/content/smoothing.js';
import type { SparseWeights } from '../../src/topn/query.js';

const random = randomStream(3, STREAMS.content);

/** Rows of ascending random targets. Few distinct weights, so that many sums are equal. */
function randomRows(rows: number, targets: number, most: number, negative: boolean): SparseWeights {
  const offsets = new Uint32Array(rows + 1);
  const [all, weights]: [number[], number[]] = [[], []];
  for (let row = 0; row < rows; row++) {
    const own = new Set(
      Array.from({ length: Math.floor(random.uniform() * (most + 1)) }, () =>
        Math.floor(random.uniform() ** 2 * targets),
      ),
    );
    for (const target of [...own].sort((a, b) => a - b)) {
      all.push(target);
      weights.push((1 + Math.floor(4 * random.uniform())) / 3 - (negative ? 0.8 : 0));
    }
    offsets[row + 1] = all.length;
  }
  return { offsets, targets: Uint32Array.from(all), weights: Float32Array.from(weights) };
}

type Given = Omit<ContentRows, 'found' | 'totals'>;

function randomData(known: number, count: number): Given {
  const places = new Uint32Array(count + 1);
  for (let p = 0; p < count; p++) places[p + 1] = places[p] + (p % 3 === 0 ? 7 : 40);
  return {
    known,
    vectors: randomRows(known + count, 60, 6, false),
    lists: randomRows(60, known, 300, false),
    passed: randomRows(known, known, 30, true),
    importance: Float32Array.from({ length: known }, () => 1 + Math.floor(3 * random.uniform())),
    items: Uint32Array.from({ length: count }, (_, p) => (p % 2 ? p : known + p)),
    factors: Float64Array.from({ length: count }, () => random.uniform()),
    ...{ near: 10, direct: 0.7, commonness: 0.25, places },
  };
}

function reference(given: Given) {
  const data = { ...given, totals: listTotals(given.lists) };
  const count = data.items.length;
  const found = {
    nearCounts: new Uint32Array(count),
    nearRows: new Uint32Array(count * data.near),
    nearValues: new Float32Array(count * data.near),
    directs: new Float64Array(count),
    sums: new Float64Array(count),
    counts: new Uint32Array(count),
    rows: new Uint32Array(data.places[count]),
    values: new Float32Array(data.places[count]),
  };
  const sums = new SparseSums(data.known);
  for (let position = 0; position < count; position++) scoreContentRow({ ...data, found }, position, sums);
  return found;
}

test.each([
  [100, 80],
  [1000, 300],
  [1500, 1200],
])(
  '%i items of the data, %i to score: the bits of the reference on 1, 2 and 3 threads',
  async (known, count) => {
    const data = randomData(known, count);
    const expected = reference(data);
    expect(expected.counts.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(10 * count);
    for (const threads of [1, 2, 3]) expect(await scoreRows(data, { threads })).toEqual(expected);
  },
);

test('the bits of the reference if all large sums lie where the kernels sample them', async () => {
  const data = randomData(1000, 80);
  const { lists } = data;
  const weights = lists.weights.map((weight, e) => (lists.targets[e] % 32 < 4 ? 10 * weight : weight));
  const given = { ...data, lists: { ...lists, weights }, passed: undefined };
  expect(await scoreRows(given, { threads: 1 })).toEqual(reference(given));
});

test('the largest weights towards each item: of equal ones the first are kept', async () => {
  const given = randomRows(700, 700, 120, true);
  const { offsets, targets, weights } = await largestTowards(given, 700);
  const towards = Array.from({ length: 700 }, (): { from: number; weight: number }[] => []);
  for (let from = 0; from < 700; from++) {
    for (let e = given.offsets[from]; e < given.offsets[from + 1]; e++)
      towards[given.targets[e]].push({ from, weight: given.weights[e] });
  }
  expect(towards.filter((all) => all.length > 50).length).toBeGreaterThan(100);
  expect(towards.filter((all) => all.length < 50).length).toBeGreaterThan(100);
  for (const [j, all] of towards.entries()) {
    const kept = [...all]
      .sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight) || a.from - b.from)
      .slice(0, 50)
      .sort((a, b) => a.from - b.from);
    expect([...targets.subarray(offsets[j], offsets[j + 1])]).toEqual(kept.map(({ from }) => from));
    expect([...weights.subarray(offsets[j], offsets[j + 1])]).toEqual(kept.map(({ weight }) => weight));
  }
});

test('the largest sums: ties go to the smaller number, zeros are left out', () => {
  const sums = new SparseSums(600);
  const targets = Uint32Array.from({ length: 600 }, (_, i) => i);
  const weights = Float32Array.from(targets, (i) => (i % 5 === 0 ? -2 : i % 5));
  sums.addList({ targets, weights }, 0, 600, 1);
  const expected = [...targets]
    .sort((a, b) => Math.abs(weights[b]) - Math.abs(weights[a]) || a - b)
    .slice(0, 150)
    .sort((a, b) => a - b);
  expect([...sums.largest(150).rows]).toEqual(expected);
  sums.clear();
  sums.addList({ targets, weights }, 3, 6, 1);
  expect([...sums.largest(150).rows]).toEqual([3, 4, 5]);
});
