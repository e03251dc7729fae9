// Small data for the tests of the baselines, and functions to inspect the results.

import { expect } from 'vitest';
import { collectLists, transposeLists } from '../../src/math/csr.js';
import { randomStream } from '../../src/math/random.js';
import type { RankingData } from '../../src/metrics/held-back.js';
import type { RowLists, Scorer } from '../../src/predict/scoring/scorer.js';
import { listOf } from './brute-force.js';

/** Users and items in communities: most edges stay within one. */
export function communityLists(users: number, items: number, communities: number, seed: number): RowLists {
  const random = randomStream(seed, 17);
  return collectLists(users, (user, add) => {
    for (let item = 0; item < items; item++) {
      const own = user % communities === item % communities;
      if (random.uniform() < (own ? 0.4 : 0.03) / (1 + (item % 5))) add(item);
    }
  });
}

export function dataOf(users: RowLists, items: number, seed: number): RankingData {
  const random = randomStream(seed, 18);
  const shown = Uint8Array.from({ length: items }, () => (random.uniform() < 0.7 ? 1 : 0));
  const candidates = Uint32Array.from(shown.keys()).filter((item) => !shown[item]);
  return { users, items: transposeLists(users, items), shown, candidates };
}

export const shownOnly = (data: RankingData, users: RowLists): RowLists =>
  collectLists(users.offsets.length - 1, (row, add) => {
    for (const item of listOf(users, row)) if (data.shown[item]) add(item);
  });

export function scoresOf(scorer: Scorer, row: number, candidates: Uint32Array): number[] {
  if (scorer.kind === 'factors') {
    const { users, items, features: K } = scorer;
    return Array.from(candidates, (item) => {
      let sum = 0;
      for (let k = 0; k < K; k++) sum += users[row * K + k] * items[item * K + k];
      return sum;
    });
  }
  const out = new Float32Array(candidates.length).fill(99); // whatever was there before must not matter
  scorer.scores(row, candidates, out);
  return Array.from(out);
}

/** Solves A x = b by elimination with pivots, in float64. */
export function solve(A: number[][], b: number[]): number[] {
  const n = b.length;
  const M = A.map((row, i) => [...row, b[i]]);
  for (let c = 0; c < n; c++) {
    let pivot = c;
    for (let r = c; r < n; r++) if (Math.abs(M[r][c]) > Math.abs(M[pivot][c])) pivot = r;
    [M[c], M[pivot]] = [M[pivot], M[c]];
    for (let r = 0; r < n; r++) {
      if (r === c) continue;
      const factor = M[r][c] / M[c][c];
      for (let k = c; k <= n; k++) M[r][k] -= factor * M[c][k];
    }
  }
  return M.map((row, i) => row[n] / row[i]);
}

export const closeTo = (values: number[], relative: number) => {
  const size = Math.max(...values.map(Math.abs), 1e-9);
  return values.map((v) =>
    expect.toSatisfy((x: number) => Math.abs(x - v) <= relative * size, `close to ${v}`),
  );
};
