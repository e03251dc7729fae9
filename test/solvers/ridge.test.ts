import { describe, expect, it } from 'vitest';
import { collectLists, transposeLists } from '../../src/math/csr.js';
import { randomStream } from '../../src/math/random.js';
import type { RowLists } from '../../src/predict/scoring/scorer.js';
import { pairsMet, TILE, tileWork } from '../../src/solvers/pair-counts.js';
import { ridge, ridgeLargest, ridgeScores } from '../../src/solvers/ridge.js';
import { closeTo, solve } from '../evaluate/baseline-data.js';
import { listOf } from '../evaluate/brute-force.js';

/** Higher-numbered members are rarer, and higher-numbered lists are shorter. */
function popularLists(lists: number, members: number, share: number, seed: number): RowLists {
  const random = randomStream(seed, 29);
  return collectLists(lists, (list, add) => {
    for (let m = 0; m < members; m++) {
      if (random.uniform() < share / ((0.5 + m / members) * (0.5 + list / lists))) add(m);
    }
  });
}

/** Weights of targets, one by one in float64 and by users instead of columns: Xᵀ(XXᵀ + λ)⁻¹y. */
function exactWeights(inputs: RowLists, columns: number, lambda: number) {
  const users = inputs.offsets.length - 1;
  const sets = Array.from({ length: users }, (_, u) => new Set(listOf(inputs, u)));
  const gram = sets.map((own, u) =>
    sets.map((other, v) => [...own].filter((c) => other.has(c)).length + (u === v ? lambda : 0)),
  );
  return (target: readonly number[]) => {
    const right = new Array<number>(users).fill(0);
    for (const user of target) right[user] = 1;
    const byUser = solve(gram, right);
    const weights = new Array<number>(columns).fill(0);
    for (const [u, own] of sets.entries()) for (const c of own) weights[c] += byUser[u];
    return weights;
  };
}

const [USERS, COLUMNS, TARGETS] = [150, 520, 600];
/** Ends of blocks of right-hand sides and of tiles. */
const SOME = [0, 31, 32, 63, 127, 128, 200, 511, 512, 599];

describe('ridge regression of many targets', () => {
  // Lists long enough for tiles to be faster, and lists too short for that.
  it.each([
    [0.25, 3, true],
    [0.25, 300, true],
    [0.02, 3, false],
  ])('is exact for each way to solve it: density %d, penalty %d', async (share, lambda, inTiles) => {
    const inputs = popularLists(USERS, COLUMNS, share, 1);
    const targets = transposeLists(popularLists(USERS, TARGETS, share, 2), TARGETS);
    const tile = tileWork(inputs.values.length, COLUMNS) / Math.ceil(COLUMNS / TILE);
    expect(pairsMet(targets, inputs, 0, TILE) > tile).toBe(inTiles);
    const problem = { inputs, columns: COLUMNS, targets, lambda, tolerance: 1e-6 };
    const weightsOf = exactWeights(inputs, COLUMNS, lambda);
    const exact = SOME.map((t) => weightsOf(listOf(targets, t)));
    const weights = await ridge(problem);
    for (const [at, t] of SOME.entries()) {
      const found = Array.from({ length: COLUMNS }, (_, c) => weights[c * TARGETS + t]);
      expect(found).toEqual(closeTo(exact[at], 1e-3));
    }
    // Solves for each row to score if there are fewer of these than targets, otherwise for each target.
    for (const rows of [300, 640]) {
      const asked = popularLists(rows, COLUMNS, share, 3);
      const scores = await ridgeScores(problem, asked);
      for (const [at, t] of SOME.entries()) {
        const want = Array.from({ length: rows }, (_, row) =>
          listOf(asked, row).reduce((sum, c) => sum + exact[at][c], 0),
        );
        const found = Array.from({ length: rows }, (_, row) => scores[row * TARGETS + t]);
        expect(found).toEqual(closeTo(want, 1e-3));
      }
    }
  });

  it.each([
    [true, 1],
    [false, 3],
  ])('keeps the largest weights, of rows with weights: %s, on %d threads', async (weighted, threads) => {
    const [users, columns] = [60, 140];
    const inputs = popularLists(users, columns, 0.25, 1);
    // All targets but the last are columns too.
    const own = transposeLists(inputs, columns);
    const [lambda, neighbours] = [40, 12];
    const weights = weighted
      ? Uint8Array.from({ length: users }, (_, u) => 1 << Math.floor((3 * u) / users))
      : undefined;
    const problem = { inputs, columns, targets: own, lambda, weights, tolerance: 1e-6 };
    const full = await ridge(problem);
    // A row of weight 2 is as good as two rows.
    const copies = Array.from({ length: users }, (_, u) =>
      Array.from({ length: weights?.[u] ?? 1 }, () => listOf(inputs, u)),
    ).flat();
    const repeated = collectLists(copies.length, (row, add) => copies[row].forEach(add));
    const twice = await ridge({
      ...{ inputs: repeated, columns, targets: transposeLists(repeated, columns), lambda },
      tolerance: 1e-6,
    });
    for (const c of [0, 77, 139]) {
      const row = (table: Float32Array) => Array.from(table.subarray(c * columns, (c + 1) * columns));
      expect(row(full)).toEqual(closeTo(row(twice), 1e-3));
    }
    const degree = Array.from({ length: columns }, (_, c) => listOf(own, c).length);
    const ownColumn = Int32Array.from({ length: columns }, (_, t) => (t === columns - 1 ? -1 : t));
    const found = await ridgeLargest(problem, neighbours, ownColumn, { threads });
    const every = await ridgeLargest(problem, columns, ownColumn, { threads });
    for (const t of [0, 31, 32, 127, 128, 139]) {
      const rest = ownColumn[t] < 0 ? 1 : 1 - full[t * columns + t];
      const at = (c: number) => (c === ownColumn[t] ? 0 : full[c * columns + t] / rest);
      const size = (c: number) => Math.sqrt(degree[c]) * Math.abs(at(c));
      const best = Array.from(degree.keys())
        .toSorted((a, b) => size(b) - size(a))
        .slice(0, neighbours);
      expect(found.found[t]).toBe(neighbours);
      const kept = found.sources.subarray(t * neighbours, (t + 1) * neighbours);
      expect(Array.from(kept)).toEqual(best.toSorted((a, b) => a - b));
      for (const [n, c] of kept.entries()) {
        expect(found.targetWeights[t * neighbours + n]).toBeCloseTo(at(c), 5);
      }
      for (let n = 0; n < every.found[t]; n++) {
        expect(every.targetWeights[t * columns + n]).toBeCloseTo(at(every.sources[t * columns + n]), 5);
      }
    }
  });
});
