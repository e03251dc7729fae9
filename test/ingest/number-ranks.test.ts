import { describe, expect, test } from 'vitest';
import { DistinctNumbers, rankInPlace, ranksOf, rankWith } from '../../src/ingest/intake/number-ranks.js';
import { randomStream } from '../../src/math/random.js';

const CASES: [string, number, number][] = [
  ['close together', 5000, 3000],
  ['up to the last bit of a word', 4000, 64],
  ['spread thinly', 3000, 2 ** 32 - 1],
  ['around the largest that has a bit', 3000, 2 ** 24 + 500],
  ['one alone', 1, 10],
];

describe.each(CASES)('numbers %s', (_, count, below) => {
  const random = randomStream(3, 5);
  const numbers = Uint32Array.from({ length: count }, () => Math.floor(below * random.uniform()));
  const sorted = Uint32Array.from([...new Set(numbers)].sort((a, b) => a - b));

  test('become their ranks in ascending order', () => {
    const ranked = numbers.slice();
    expect(rankInPlace(ranked)).toEqual(sorted);
    expect(Array.from(ranked, (place) => sorted[place])).toEqual(Array.from(numbers));
  });

  test('are found by what threads share', () => {
    const place = rankWith(ranksOf(sorted));
    expect(Array.from(sorted, place)).toEqual(Array.from(sorted.keys()));
  });

  test('are collected once each', () => {
    const met = new DistinctNumbers();
    met.add(numbers, count);
    met.add(numbers, count >> 1);
    expect(met.values().sort()).toEqual(sorted);
  });
});

test('an empty list has no ranks', () => {
  expect(rankInPlace(new Uint32Array(0))).toHaveLength(0);
  expect(new DistinctNumbers().values()).toHaveLength(0);
});
