// The band of the rank figures holds what it claims, and shows ranks that are not uniform.

import { describe, expect, test } from 'vitest';
import { ecdfDifference, independentRanks, type Rank, simultaneousBand } from '../../bench/ecdf-charts.js';
import { randomStream } from '../../src/math/random.js';

const DRAWS = 100;
const band = simultaneousBand(200, DRAWS);

function leaves(ranks: readonly Rank[]): boolean {
  return ecdfDifference(ranks, DRAWS).some(
    ({ difference }, i) => difference < band[i].low - 1e-9 || difference > band[i].high + 1e-9,
  );
}

function ranksOf(seed: number, shape: (u: number) => number = (u) => u): Rank[] {
  const random = randomStream(31, seed);
  return Array.from({ length: 200 }, (_, set) => ({
    set,
    rank: Math.min(DRAWS, Math.floor(shape(random.uniform()) * (DRAWS + 1))) / DRAWS,
  }));
}

describe('simultaneous band', () => {
  test('uniform ranks leave it in about 5 % of cases', () => {
    const times = 1000;
    const left = Array.from({ length: times }, (_, seed) => leaves(ranksOf(seed))).filter(Boolean).length;
    // Four standard errors of a share of 5 % on either side, for these cases and the 2,000 that made the band.
    const error = 4 * Math.sqrt(0.05 * 0.95 * (1 / times + 1 / 2000));
    expect(left / times).toBeGreaterThan(0.05 - error);
    expect(left / times).toBeLessThan(0.05 + error);
  });

  test('ranks of too narrow and of biased intervals leave it', () => {
    // u ↦ ½ + ½ sign(2u−1)|2u−1|^½ pushes ranks to both ends; u ↦ u² to the lower one.
    const narrow = (u: number) => 0.5 + 0.5 * Math.sign(2 * u - 1) * Math.sqrt(Math.abs(2 * u - 1));
    for (let seed = 0; seed < 20; seed++) {
      expect(leaves(ranksOf(seed, narrow))).toBe(true);
      expect(leaves(ranksOf(seed, (u) => u * u))).toBe(true);
    }
  });

  test('a tie counts half', () => {
    const at = (rank: number) => ecdfDifference([{ set: 0, rank }], 2).map((p) => p.difference);
    expect(at(0.25)[1]).toBeCloseTo(1 / 2 - 1 / 3); // half of a draw below
    expect(at(0)[1]).toBeCloseTo(1 - 1 / 3);
    expect(at(1)[2]).toBeCloseTo(-2 / 3);
  });
});

test('equal ranks of a set count as one', () => {
  const alone = ranksOf(5);
  const copied = alone.flatMap((rank) => Array.from({ length: 5 }, () => rank));
  expect(independentRanks(alone)).toBe(200);
  expect(independentRanks(copied)).toBe(200);
});
