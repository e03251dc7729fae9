import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ease, easeEdges } from '../../src/evaluate/baselines/ease.js';
import { ials } from '../../src/evaluate/baselines/ials.js';
import { itemKnn } from '../../src/evaluate/baselines/item-knn.js';
import { popularity } from '../../src/evaluate/baselines/popularity.js';
import { collectLists, renameLists, transposeLists } from '../../src/math/csr.js';
import type { RowLists, Scorer } from '../../src/predict/scoring/scorer.js';
import { alternatingLeastSquares, foldInLeastSquares } from '../../src/solvers/least-squares.js';
import { ridge, ridgeScores } from '../../src/solvers/ridge.js';
import { weighUsers } from '../../src/solvers/user-weights.js';
import { closeTo, communityLists, dataOf, scoresOf, shownOnly, solve } from './baseline-data.js';
import { listOf } from './brute-force.js';

describe('popularity', () => {
  it('scores every user by training degree', async () => {
    const data = dataOf(communityLists(30, 20, 3, 1), 20, 1);
    const scorer = await (await popularity.fit(data, {})).scorer(data.users);
    const degree = Array.from(
      data.candidates,
      (item) => data.items.offsets[item + 1] - data.items.offsets[item],
    );
    expect(scoresOf(scorer, 0, data.candidates)).toEqual(degree);
    expect(scoresOf(scorer, 7, data.candidates)).toEqual(degree);
  });
});

describe('item-kNN', () => {
  it('agrees with similarities computed one by one', async () => {
    const setting = fc.record({
      neighbours: fc.integer({ min: 1, max: 12 }),
      shrinkage: fc.constantFrom(0, 2.5, 40),
      history: fc.constantFrom(0, 0.3, 0.5, 1),
      candidates: fc.constantFrom(0, 0.2, 0.5, 1),
      users: fc.constantFrom(0, 0.25),
    });
    await fc.assert(
      fc.asyncProperty(setting, fc.nat(1000), async (setting, seed) => {
        const users = communityLists(25, 18, 3, seed);
        const data = dataOf(users, 18, seed);
        const { users: ordered, weights, mean } = weighUsers(users, setting.users);
        const owners = transposeLists(ordered, 18);
        const sets = Array.from({ length: 18 }, (_, i) => new Set(listOf(owners, i)));
        const similarity = (i: number, j: number) => {
          const common = [...sets[i]].reduce((sum, u) => sum + (sets[j].has(u) ? weights[u] : 0), 0);
          const scale = mean * sets[i].size ** setting.history * sets[j].size ** setting.candidates;
          return common === 0 ? 0 : Math.fround(common / (scale + mean * setting.shrinkage));
        };
        const inputs = Array.from(data.shown.keys()).filter((i) => data.shown[i]);
        const near = Array.from(data.candidates, (j) =>
          inputs
            .toSorted((a, b) => similarity(b, j) - similarity(a, j) || a - b)
            .slice(0, setting.neighbours),
        );
        const history = shownOnly(data, users);
        const scorer = await (await itemKnn.fit(data, setting)).scorer(history);
        for (const row of [0, 5, 24]) {
          const mine = new Set(listOf(history, row));
          const want = Array.from(data.candidates, (j, c) =>
            near[c].reduce((sum, i) => sum + (mine.has(i) ? similarity(i, j) : 0), 0),
          );
          expect(scoresOf(scorer, row, data.candidates)).toEqual(closeTo(want, 1e-5));
        }
      }),
      { numRuns: 40 },
    );
  });
});

it('item-kNN tries whole numbers of neighbours, and rounds others down', async () => {
  const users = communityLists(60, 40, 4, 3);
  const data = dataOf(users, 40, 3);
  const [{ neighbours: dial }] = itemKnn.axes(data);
  const below: number[] = [];
  for (let value = dial.next(dial.start, -1); value !== undefined; value = dial.next(value, -1))
    below.push(value);
  expect(below).toEqual([50, 25, 13, 7, 4, 2, 1]);
  const history = shownOnly(data, users);
  const scores = async (count: number) => {
    const fitted = await itemKnn.fit(data, {
      neighbours: count,
      shrinkage: 1,
      history: 0.5,
      candidates: 0.5,
      users: 0.25,
    });
    const scorer = await fitted.scorer(history);
    return [0, 7, 30].map((row) => scoresOf(scorer, row, data.candidates));
  };
  expect(await scores(3.5)).toEqual(await scores(3));
  expect(await scores(3)).not.toEqual(await scores(4));
});

it('item-kNN has the same scores from several threads, which share large data, as from one', async () => {
  const [users, items] = [5000, 1250];
  // Every item in seven of ten lists, in a pattern that no two items share.
  const lists = collectLists(users, (user, add) => {
    for (let item = 0; item < items; item++) if ((user * (item + 7) + item) % 10 < 7) add(item);
  });
  const data = dataOf(lists, items, 3);
  const history = collectLists(20, (row, add) => {
    for (const item of listOf(lists, row)) if (data.shown[item]) add(item);
  });
  const setting = { neighbours: 20, shrinkage: 5, history: 0.4, candidates: 0.6, users: 0.25 };
  const scores = async (threads: number) => {
    const scorer = await (await itemKnn.fit(data, setting, { threads })).scorer(history);
    return Array.from({ length: 20 }, (_, row) => scoresOf(scorer, row, data.candidates));
  };
  expect(await scores(2)).toEqual(await scores(1));
});

it('item-kNN counts common users once for all settings that are tried, to the same scores', async () => {
  const users = communityLists(40, 30, 3, 12);
  const data = dataOf(users, 30, 12);
  const history = shownOnly(data, users);
  for (const setting of [
    { neighbours: 4, shrinkage: 2, history: 0.5, candidates: 0.5, users: 0.25 },
    { neighbours: 20, shrinkage: 0, history: 0.8, candidates: 0.2, users: 0.25 },
  ]) {
    const scores = async (tuning: boolean) => {
      const scorer = await (await itemKnn.fit(data, setting, { tuning })).scorer(history);
      return [0, 7, 39].map((row) => scoresOf(scorer, row, data.candidates));
    };
    expect(await scores(true)).toEqual(await scores(false));
  }
});

describe('EASE', () => {
  it('is the closed form of the regression on shown items', async () => {
    for (const lambda of [0.5, 30]) {
      const users = communityLists(600, 50, 3, 4);
      const data = dataOf(users, 50, 4);
      const degree = Array.from({ length: 50 }, (_, i) => data.items.offsets[i + 1] - data.items.offsets[i]);
      const inputs = Array.from(data.shown.keys()).filter((i) => data.shown[i] && degree[i] > 0);
      const sets = Array.from({ length: 50 }, (_, i) => new Set(listOf(data.items, i)));
      const common = (i: number, j: number) => [...sets[i]].filter((u) => sets[j].has(u)).length;
      const gram = inputs.map((i) => inputs.map((j) => common(i, j) + (i === j ? lambda : 0)));
      const weights = Array.from(data.candidates, (j) =>
        solve(
          gram,
          inputs.map((i) => common(i, j)),
        ),
      );
      const history = shownOnly(data, users);
      const scorer = await (await ease.fit(data, { lambda })).scorer(history);
      for (const row of [0, 1, 59]) {
        const mine = new Set(listOf(history, row));
        const want = weights.map((w) => inputs.reduce((sum, i, k) => sum + (mine.has(i) ? w[k] : 0), 0));
        expect(scoresOf(scorer, row, data.candidates)).toEqual(closeTo(want, 2e-3));
      }
    }
  });

  it('counts users by degree, in trials as in a fit', async () => {
    const users = communityLists(600, 50, 3, 4);
    const data = dataOf(users, 50, 4);
    const setting = { lambda: 9, users: 0.25 };
    const { users: ordered, weights, mean } = weighUsers(users, 0.25);
    expect(new Set(weights).size).toBeGreaterThan(2);
    const owned = Array.from({ length: 600 }, (_, u) => new Set(listOf(ordered, u)));
    const shared = (i: number, j: number) =>
      owned.reduce((sum, own, u) => sum + (own.has(i) && own.has(j) ? weights[u] : 0), 0) / mean;
    const inputs = Array.from(data.shown.keys()).filter((i) => data.shown[i] && shared(i, i) > 0);
    const gram = inputs.map((i) => inputs.map((j) => shared(i, j) + (i === j ? setting.lambda : 0)));
    const exact = Array.from(data.candidates, (j) =>
      solve(
        gram,
        inputs.map((i) => shared(i, j)),
      ),
    );
    // Fewer rows than candidates are solved for as rows.
    const all = shownOnly(data, users);
    const few = { offsets: all.offsets.slice(0, 5), values: all.values };
    for (const history of [all, few]) {
      for (const tuning of [false, true]) {
        const scorer = await (await ease.fit(data, setting, { tuning })).scorer(history);
        for (const row of [0, 3]) {
          const mine = new Set(listOf(history, row));
          const want = exact.map((w) => inputs.reduce((sum, i, k) => sum + (mine.has(i) ? w[k] : 0), 0));
          expect(scoresOf(scorer, row, data.candidates)).toEqual(closeTo(want, tuning ? 1e-2 : 2e-3));
        }
      }
    }
  });

  it('has the same scores and lists whether it solves for the asked users, for candidates, or for all weights', async () => {
    const users = communityLists(700, 160, 4, 14);
    const data = dataOf(users, 160, 14);
    const column = new Int32Array(160).fill(-1);
    const inputs = Array.from(data.shown.keys()).filter((i) => data.shown[i]);
    for (const [at, item] of inputs.entries()) column[item] = at;
    const width = data.candidates.length;
    const target = new Int32Array(160).fill(-1);
    for (const [at, item] of data.candidates.entries()) target[item] = at;
    const problem = {
      inputs: renameLists(users, column),
      columns: inputs.length,
      targets: transposeLists(renameLists(users, target), width),
      lambda: 40,
    };
    const history = renameLists(shownOnly(data, users), column);
    // In float64, by elimination.
    const sets = Array.from({ length: 160 }, (_, i) => new Set(listOf(data.items, i)));
    const common = (i: number, j: number) => [...sets[i]].filter((u) => sets[j].has(u)).length;
    const gram = inputs.map((i) => inputs.map((j) => common(i, j) + (i === j ? 40 : 0)));
    const exact = Array.from(data.candidates, (j) =>
      solve(
        gram,
        inputs.map((i) => common(i, j)),
      ),
    );
    const scoreOf = (row: number, c: number) => listOf(history, row).reduce((sum, i) => sum + exact[c][i], 0);
    const few = collectLists(20, (row, add) => listOf(history, row).forEach(add));
    expect(few.offsets.length - 1).toBeLessThan(width);
    const tops = (scores: (row: number, c: number) => number) =>
      Array.from({ length: 20 }, (_, row) =>
        Array.from({ length: width }, (_, c) => c)
          .toSorted((a, b) => scores(row, b) - scores(row, a))
          .slice(0, 10),
      );
    const want = tops(scoreOf);
    const weights = await ridge(problem);
    const byWeights = (row: number, c: number) =>
      listOf(history, row).reduce((sum, i) => sum + weights[i * width + c], 0);
    expect(tops(byWeights)).toEqual(want);
    // For one row, for few and for all: each solves for the smaller side.
    for (const asked of [few, history]) {
      const scores = await ridgeScores(problem, asked);
      expect(scores.length).toBe((asked.offsets.length - 1) * width);
      for (const row of [0, 7, 19]) {
        const exactly = Array.from({ length: width }, (_, c) => scoreOf(row, c));
        expect(Array.from(scores.subarray(row * width, (row + 1) * width))).toEqual(closeTo(exactly, 1e-3));
      }
      expect(tops((row, c) => scores[row * width + c])).toEqual(want);
      // The tolerance for large data hardly changes the lists of 10; a coarser one does.
      const same = async (tolerance: number) => {
        const loose = await ridgeScores({ ...problem, tolerance }, asked);
        const found = tops((row, c) => loose[row * width + c]);
        return found.flatMap((list, r) => list.filter((c) => want[r].includes(c))).length / 200;
      };
      expect(await same(1e-3)).toBeGreaterThan(0.98);
      expect(await same(0.9)).toBeLessThan(0.9);
    }
  });

  it('is limited by the smaller number of asked users and candidates', () => {
    const edges = 1e6;
    const items = { offsets: new Uint32Array(50_001), values: new Uint32Array(edges) };
    const shown = new Uint8Array(50_000);
    const data = (users: number, candidates: number) => ({
      users: { offsets: new Uint32Array(users + 1), values: new Uint32Array(edges) },
      items,
      shown: shown.map((_, i) => (i < 50_000 - candidates ? 1 : 0)),
      candidates: Uint32Array.from({ length: candidates }, (_, c) => 50_000 - candidates + c),
    });
    // Scores that do not fit in memory are made from the largest weights of each candidate.
    expect(ease.limit!(data(600, 39_000), 50_000)).toBeUndefined();
    expect(ease.limit!(data(600, 39_000))).toBeUndefined();
    expect(ease.limit!(data(600, 45_000), 5000)).toBeUndefined();
    expect(ease.limit!(data(600, 45_000), 46_000)).toEqual({
      ...{ code: 'too-large', what: 'edges', count: edges, candidates: 45_000, limit: 4e10 },
    });
    // A ranker that is served has weights between all items.
    expect(ease.limit!(data(600, 45_000))).toMatchObject({ what: 'edges' });
  });

  it('scores candidates that are also inputs by the served weights, and says how large it is', async () => {
    const data = dataOf(communityLists(10, 12, 2, 5), 12, 5);
    const shown = new Uint8Array(12).fill(1);
    const both = { ...data, shown, candidates: Uint32Array.from({ length: 12 }, (_, i) => i) };
    const setting = { lambda: 1, users: 0 };
    const served = (await ease.scores(both, setting)) as { weights: Float32Array };
    const { scorer } = await ease.fit(both, setting);
    const { scores } = (await scorer(data.users)) as Extract<Scorer, { kind: 'rows' }>;
    const out = new Float32Array(12);
    for (let row = 0; row < 10; row++) {
      const own = listOf(data.users, row);
      scores(row, both.candidates, out);
      for (let j = 0; j < 12; j++) {
        const sum = own.reduce((total, i) => total + served.weights[12 * i + j], 0);
        expect(out[j]).toBeCloseTo(sum, 3);
      }
    }
    const entries = data.users.values.filter((item) => data.shown[item] === 1).length;
    expect(easeEdges(data)).toBe(entries);
  });

  it('gives the same scores on any number of threads', async () => {
    const users = communityLists(400, 1200, 4, 6);
    const targets = transposeLists(users, 1200);
    for (const copies of [4, 5]) {
      const asked = repeat(users, 12);
      const problem = { inputs: users, columns: 1200, targets: repeat(targets, copies), lambda: 100 };
      // So both used workers, one regression by targets and one by users to score.
      expect(Math.min(4800, 1200 * copies) * users.values.length).toBeGreaterThan(1e8);
      const [one, three] = await Promise.all(
        [1, 3].map((threads) => ridgeScores(problem, asked, { threads })),
      );
      expect(Buffer.from(three.buffer).equals(Buffer.from(one.buffer))).toBe(true);
    }
  });

  it('gives the same weights on any number of threads', async () => {
    const users = communityLists(400, 1200, 4, 6);
    const problem = { inputs: users, columns: 1200, targets: transposeLists(users, 1200), lambda: 100 };
    expect(users.values.length * 1200).toBeLessThan(1e8);
    const here = await ridge(problem);
    const wide = { ...problem, targets: repeat(problem.targets, 4) };
    const [one, three] = await Promise.all([ridge(wide, { threads: 1 }), ridge(wide, { threads: 3 })]);
    expect(wide.targets.offsets.length * users.values.length).toBeGreaterThan(1e8); // so these used workers
    expect(Buffer.from(three.buffer).equals(Buffer.from(one.buffer))).toBe(true);
    for (const i of [0, 7, 1199]) {
      const row = Array.from(one.subarray(i * 4800, i * 4800 + 1200));
      expect(row).toEqual(closeTo(Array.from(here.subarray(i * 1200, (i + 1) * 1200)), 1e-3));
    }
  });
});

/** The same lists several times over. */
function repeat(lists: RowLists, times: number): RowLists {
  const rows = lists.offsets.length - 1;
  return collectLists(rows * times, (r, add) => listOf(lists, r % rows).forEach(add));
}

describe('iALS', () => {
  const users = communityLists(60, 40, 3, 8);
  const items = transposeLists(users, 40);
  const edges = { users, items };

  function objective(
    tables: { users: Float32Array; items: Float32Array },
    K: number,
    lambda: number,
    alpha: number,
  ) {
    let sum = 0;
    for (let u = 0; u < 60; u++) {
      const mine = new Set(listOf(users, u));
      for (let i = 0; i < 40; i++) {
        let score = 0;
        for (let k = 0; k < K; k++) score += tables.users[u * K + k] * tables.items[i * K + k];
        sum += alpha * score ** 2 + (mine.has(i) ? (1 - score) ** 2 : 0);
      }
    }
    const norms = (table: Float32Array, lists: RowLists, other: number) => {
      for (let r = 0; r + 1 < lists.offsets.length; r++) {
        const degree = lists.offsets[r + 1] - lists.offsets[r];
        for (let k = 0; k < K; k++) sum += lambda * (degree + alpha * other) * table[r * K + k] ** 2;
      }
    };
    norms(tables.users, users, 40);
    norms(tables.items, items, 60);
    return sum;
  }

  it('lowers its objective with every iteration', async () => {
    const at = { features: 5, lambda: 0.01, alpha: 0.1, seed: 3 };
    let last = Number.POSITIVE_INFINITY;
    for (const iterations of [1, 2, 4, 8, 16]) {
      const value = objective(await alternatingLeastSquares(edges, { ...at, iterations }), 5, 0.01, 0.1);
      expect(value).toBeLessThan(last);
      last = value;
    }
  });

  it('continues from the items of an earlier fit', async () => {
    const at = { features: 5, lambda: 0.01, alpha: 0.1, seed: 3 };
    const value = async (iterations: number, start?: Float32Array) =>
      objective(await alternatingLeastSquares(edges, { ...at, iterations, start }), 5, 0.01, 0.1);
    const { items: start } = await alternatingLeastSquares(edges, { ...at, iterations: 8 });
    expect(await value(1, start)).toBeLessThan(await value(6));
    const data = dataOf(users, 40, 8);
    const setting = { features: 5, lambda: 0.01, alpha: 0.1 };
    const trial = await ials.fit(data, setting, { seed: 3, tuning: true });
    const further = await ials.fit(data, setting, { seed: 3, start: trial.start });
    const whole = await ials.fit(data, setting, { seed: 3 });
    expect(further.setting.iterations).toBeLessThan(whole.setting.iterations!);
    expect(whole.start).toBeUndefined();
  });

  it('folds in by solving the normal equations, with unseen pairs among shown items only', async () => {
    const tables = await alternatingLeastSquares(edges, {
      ...{ features: 6, lambda: 0.02, alpha: 0.2, seed: 1, iterations: 5 },
    });
    const shown = Uint8Array.from({ length: 40 }, (_, i) => (i % 4 ? 1 : 0));
    const history = collectLists(60, (row, add) =>
      listOf(users, row)
        .filter((i) => shown[i])
        .forEach(add),
    );
    const rows = await foldInLeastSquares(tables.items, history, shown, {
      features: 6,
      lambda: 0.02,
      alpha: 0.2,
    });
    const y = (i: number) => Array.from(tables.items.subarray(i * 6, i * 6 + 6));
    for (const row of [0, 1, 59]) {
      const A = y(0).map((_, a) =>
        y(0).map((_, b) => (a === b ? 0.02 * (listOf(history, row).length + 0.2 * 30) : 0)),
      );
      const rhs = y(0).map(() => 0);
      const mine = new Set(listOf(history, row));
      for (let i = 0; i < 40; i++) {
        const weight = (shown[i] ? 0.2 : 0) + (mine.has(i) ? 1 : 0);
        for (let a = 0; a < 6; a++) {
          if (mine.has(i)) rhs[a] += y(i)[a];
          for (let b = 0; b < 6; b++) A[a][b] += weight * y(i)[a] * y(i)[b];
        }
      }
      expect(Array.from(rows.subarray(row * 6, row * 6 + 6))).toEqual(closeTo(solve(A, rhs), 1e-3));
    }
  });

  it('finds communities, and is the same on any number of threads', async () => {
    const data = dataOf(users, 40, 9);
    const setting = { features: 8, lambda: 0.01, alpha: 0.1, iterations: 10 };
    const scorer = await (await ials.fit(data, setting)).scorer(shownOnly(data, users));
    let own = 0;
    let other = 0;
    for (let u = 0; u < 60; u++) {
      for (const [c, score] of scoresOf(scorer, u, data.candidates).entries()) {
        if (data.candidates[c] % 3 === u % 3) own += score / data.candidates.length;
        else other += score / (2 * data.candidates.length);
      }
    }
    expect(own).toBeGreaterThan(3 * other);
    const large = { features: 64, lambda: 0.01, alpha: 0.1, seed: 1, iterations: 30 };
    const many = communityLists(900, 900, 3, 10);
    const both = { users: many, items: transposeLists(many, 900) };
    expect(many.values.length * 64 * 30).toBeGreaterThan(1e8); // so these used workers
    const [one, three] = await Promise.all(
      [1, 3].map((threads) => alternatingLeastSquares(both, { ...large, threads })),
    );
    expect(Buffer.from(three!.items.buffer).equals(Buffer.from(one!.items.buffer))).toBe(true);
    expect(Buffer.from(three!.users.buffer).equals(Buffer.from(one!.users.buffer))).toBe(true);
  });
});
