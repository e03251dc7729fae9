import { describe, expect, it } from 'vitest';
import { leastSquaresSystem } from '../../src/fit/fold-in/least-squares-fold.js';
import { transposeLists } from '../../src/math/csr.js';
import {
  alternatingLeastSquares,
  foldInLeastSquares,
  type LeastSquaresTables,
  leastSquaresStart,
  openSolvers,
} from '../../src/solvers/least-squares.js';
import { communityLists } from '../evaluate/baseline-data.js';

const [USERS, ITEMS, K] = [90, 50, 6];
const users = communityLists(USERS, ITEMS, 3, 7);
const edges = { users, items: transposeLists(users, ITEMS) };
const how = { features: K, lambda: 0.01, alpha: 0.1, seed: 3 };

/** Σ_edges (1 − x·y)² + α Σ_pairs (x·y)² + the penalties. */
function objective({ users: x, items: y }: LeastSquaresTables): number {
  let sum = 0;
  const { offsets, values } = users;
  for (let u = 0; u < USERS; u++) {
    const own = new Set(values.subarray(offsets[u], offsets[u + 1]));
    for (let i = 0; i < ITEMS; i++) {
      let score = 0;
      for (let k = 0; k < K; k++) score += x[u * K + k] * y[i * K + k];
      sum += how.alpha * score ** 2 + (own.has(i) ? (1 - score) ** 2 : 0);
    }
  }
  for (const [table, lists, other] of [[x, users, ITEMS] as const, [y, edges.items, USERS] as const]) {
    for (let r = 0; r * K < table.length; r++) {
      const degree = lists.offsets[r + 1] - lists.offsets[r];
      for (let k = 0; k < K; k++) sum += how.lambda * (degree + how.alpha * other) * table[r * K + k] ** 2;
    }
  }
  return sum;
}

describe('weights of edges', () => {
  const weights = Float32Array.from(users.values, (_, e) => [0.8, 0.5, 0.25][e % 3]);

  it('of 1 change nothing', async () => {
    const ones = { ...users, weights: new Float32Array(users.values.length).fill(1) };
    const plain = await alternatingLeastSquares(edges, { ...how, iterations: 4 });
    const weighed = await alternatingLeastSquares(
      { users: ones, items: transposeLists(ones, ITEMS) },
      { ...how, iterations: 4 },
    );
    for (const side of ['users', 'items'] as const) {
      for (let i = 0; i < plain[side].length; i++) expect(weighed[side][i]).toBeCloseTo(plain[side][i], 5);
    }
  });

  it('count in a fold-in as in the system of one user', async () => {
    const { items } = await alternatingLeastSquares(edges, { ...how, iterations: 4 });
    const history = { ...users, weights };
    const all = await foldInLeastSquares(items, history, new Uint8Array(ITEMS).fill(1), how);
    const fold = { kind: 'least-squares', lambda: how.lambda, alpha: how.alpha } as const;
    const system = leastSquaresSystem({ features: K, items, fold });
    for (const user of [0, 7, 31]) {
      const [first, last] = [users.offsets[user], users.offsets[user + 1]];
      const own = users.values.subarray(first, last);
      const row = system.row(own, weights.subarray(first, last));
      const sum = new Float64Array(K);
      for (let e = first; e < last; e++) {
        for (let k = 0; k < K; k++) sum[k] += weights[e] * items[users.values[e] * K + k];
      }
      const solved = system.solver(own, weights.subarray(first, last))(sum);
      for (let k = 0; k < K; k++) {
        expect(all[user * K + k]).toBeCloseTo(row[k], 4);
        expect(solved[k]).toBeCloseTo(row[k], 6);
      }
      expect(system.row(own)).not.toEqual(row);
    }
  });
});

describe('alternating least squares', () => {
  it('continue from both tables of an earlier fit to the same bits as without the stop', async () => {
    const whole = await alternatingLeastSquares(edges, { ...how, iterations: 5 });
    const half = await alternatingLeastSquares(edges, { ...how, iterations: 2 });
    const from = { start: half.items, startUsers: half.users };
    expect(await alternatingLeastSquares(edges, { ...how, ...from, iterations: 3 })).toEqual(whole);
  });

  it('start from the same random tables whether they are made here or passed in', async () => {
    const start = leastSquaresStart({ users: USERS, items: ITEMS }, K, how.seed);
    const given = { ...how, iterations: 2, start: start.items, startUsers: start.users };
    const plain = await alternatingLeastSquares(edges, { ...how, iterations: 2 });
    expect(await alternatingLeastSquares(edges, given)).toEqual(plain);
  });

  it('use a start with fewer features, and draw the others', async () => {
    const few = await alternatingLeastSquares(edges, { ...how, features: 4, iterations: 6 });
    const one = { ...how, iterations: 1 };
    const [from, fresh] = await Promise.all([
      alternatingLeastSquares(edges, { ...one, start: few.items }),
      alternatingLeastSquares(edges, one),
    ]);
    expect(objective(from)).toBeLessThan(0.95 * objective(fresh));
  });

  it('converge faster with momentum', async () => {
    const six = { ...how, iterations: 6 };
    const [plain, quick, end] = await Promise.all([
      alternatingLeastSquares(edges, six),
      alternatingLeastSquares(edges, { ...six, momentum: 0.5 }),
      alternatingLeastSquares(edges, { ...how, iterations: 200 }),
    ]);
    const left = (tables: LeastSquaresTables) => objective(tables) - objective(end);
    expect(left(quick)).toBeLessThan(0.9 * left(plain));
  });

  it('fold users in to the same rows from zero and from a close start', async () => {
    const { items, users: near } = await alternatingLeastSquares(edges, { ...how, iterations: 3 });
    const shown = new Uint8Array(ITEMS).fill(1);
    const cold = await foldInLeastSquares(items, users, shown, how);
    const warm = await foldInLeastSquares(items, users, shown, { ...how, startUsers: near });
    let moved = 0;
    for (let i = 0; i < cold.length; i++) {
      expect(Math.abs(warm[i] - cold[i])).toBeLessThan(1e-4);
      moved = Math.max(moved, Math.abs(near[i] - cold[i]));
    }
    expect(moved).toBeGreaterThan(1e-3);
  });

  it('are the same with workers that are shared', async () => {
    const many = communityLists(700, 300, 4, 9);
    const both = { users: many, items: transposeLists(many, 300) };
    const large = { features: 40, lambda: 0.02, alpha: 0.1, seed: 2, iterations: 6 };
    const plain = await alternatingLeastSquares(both, { ...large, threads: 1 });
    const workers = openSolvers(3, 700);
    try {
      for (let twice = 0; twice < 2; twice++) {
        expect(await alternatingLeastSquares(both, { ...large, workers })).toEqual(plain);
      }
    } finally {
      await workers.close();
    }
  });
});
