import { beforeEach, describe, expect, it, vi } from 'vitest';
import { collectLists, transposeLists } from '../../src/math/csr.js';
import { randomStream } from '../../src/math/random.js';
import type { RowLists } from '../../src/predict/scoring/scorer.js';
import { pairsMet, TILE, tileWork } from '../../src/solvers/pair-counts.js';
import { ridge, ridgeScores } from '../../src/solvers/ridge.js';
import { closeTo, solve } from '../evaluate/baseline-data.js';
import { listOf } from '../evaluate/brute-force.js';

/** Times that the system was applied to a table. */
const applied = vi.hoisted(() => ({ times: 0 }));

vi.mock('../../src/solvers/linear-kernels.js', async (original) => {
  const real = await original<typeof import('../../src/solvers/linear-kernels.js')>();
  const instantiate: typeof real.instantiate = (place) => {
    const kernels = real.instantiate(place);
    return {
      ...kernels,
      linearGram(...system) {
        applied.times++;
        kernels.linearGram(...system);
      },
    };
  };
  return { ...real, instantiate };
});

beforeEach(() => {
  applied.times = 0;
});

/** Members that are the rarer the higher their number, in lists that are the shorter the higher theirs. */
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
  // Lists so long that tiles are sooner counted, and so short that they are not.
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
    // For each row that asks where these are fewer than targets, else for each target.
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

  it('takes fewer steps where there are systems enough to look for the directions that matter', async () => {
    const inputs = popularLists(USERS, COLUMNS, 0.1, 4);
    const passes = async (systems: number) => {
      const targets = transposeLists(popularLists(USERS, systems, 0.1, 5), systems);
      applied.times = 0;
      await ridge({ inputs, columns: COLUMNS, targets, lambda: 3 });
      return applied.times;
    };
    // 8 blocks either way. Looking for the directions is among the passes.
    const [plain, deflated] = [await passes(255), await passes(256)];
    expect(plain).toBeGreaterThan(8 * 8);
    expect(deflated).toBeLessThan(0.75 * plain);
  });

  // The rest is rounding: with seed 5 it is found where directions are made orthogonal, with seed 6 only once that is done.
  it.each([5, 6])(
    'solves without such directions where 20 users have fewer of them (seed %d)',
    async (seed) => {
      const [users, columns, width, lambda] = [20, 600, 256, 0.01];
      const random = randomStream(seed, 29);
      const lists = (count: number, members: number, share: number) =>
        collectLists(count, (_, add) => {
          for (let m = 0; m < members; m++) if (random.uniform() < share) add(m);
        });
      const inputs = lists(users, columns, 0.3);
      const targets = lists(width, users, 0.3);
      const solved = await ridge({ inputs, columns, targets, lambda });
      // One target less, and directions are not looked for: a block has the same numbers without them.
      const fewer = { offsets: targets.offsets.slice(0, width), values: targets.values };
      const plain = await ridge({ inputs, columns, targets: fewer, lambda });
      const ofTarget = (weights: Float32Array, all: number, t: number) =>
        Array.from({ length: columns }, (_, c) => weights[c * all + t]);
      const weightsOf = exactWeights(inputs, columns, lambda);
      for (const t of [0, 100, 254]) {
        const found = ofTarget(solved, width, t);
        expect(found).toEqual(ofTarget(plain, width - 1, t));
        const exact = weightsOf(listOf(targets, t));
        // Weights that no user's sum depends on are left where steps begin.
        const sums = (weights: readonly number[]) =>
          Array.from({ length: users }, (_, u) => listOf(inputs, u).reduce((sum, c) => sum + weights[c], 0));
        expect(sums(found)).toEqual(closeTo(sums(exact), 1e-3));
      }
    },
  );
});
