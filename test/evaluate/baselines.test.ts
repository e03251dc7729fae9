import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alternatingLeastSquares, foldInLeastSquares, ridge } from '../../src/engine/cpu/linear.js';
import { type BaselineData, transposeLists } from '../../src/evaluate/baselines/baseline.js';
import { easeSize, fitEase } from '../../src/evaluate/baselines/ease.js';
import { fitIals } from '../../src/evaluate/baselines/ials.js';
import { baselineData, fitBaselines } from '../../src/evaluate/baselines/ladder.js';
import { fitNeighbours } from '../../src/evaluate/baselines/neighbours.js';
import { fitPopularity } from '../../src/evaluate/baselines/popularity.js';
import { geometric, ladder, tune } from '../../src/evaluate/baselines/tune.js';
import { holdBack, someUsers } from '../../src/evaluate/baselines/validation.js';
import { collectLists, splitRankingTask } from '../../src/evaluate/ranking-task.js';
import { buildGraph } from '../../src/graph/build.js';
import { randomStream } from '../../src/math/random.js';
import type { RowLists, Scorer } from '../../src/predict/rank.js';
import { split } from '../../src/sample/split.js';
import { listOf } from './brute-force.js';

/** Users and items in communities: most edges stay within one. */
function communityLists(users: number, items: number, communities: number, seed: number): RowLists {
  const random = randomStream(seed, 17);
  return collectLists(users, (user, add) => {
    for (let item = 0; item < items; item++) {
      const own = user % communities === item % communities;
      if (random.uniform() < (own ? 0.4 : 0.03) / (1 + (item % 5))) add(item);
    }
  });
}

function dataOf(users: RowLists, items: number, seed: number): BaselineData {
  const random = randomStream(seed, 18);
  const shown = Uint8Array.from({ length: items }, () => (random.uniform() < 0.7 ? 1 : 0));
  const candidates = Uint32Array.from(shown.keys()).filter((item) => !shown[item]);
  return { users, items: transposeLists(users, items), shown, candidates };
}

const shownOnly = (data: BaselineData, users: RowLists): RowLists =>
  collectLists(users.offsets.length - 1, (row, add) => {
    for (const item of listOf(users, row)) if (data.shown[item]) add(item);
  });

function scoresOf(scorer: Scorer, row: number, candidates: Uint32Array): number[] {
  if (scorer.kind === 'factors') {
    const { users, items, features: K } = scorer;
    return Array.from(candidates, (item) => {
      let sum = 0;
      for (let k = 0; k < K; k++) sum += users[row * K + k]! * items[item * K + k]!;
      return sum;
    });
  }
  const out = new Float32Array(candidates.length).fill(99); // whatever was there before must not matter
  scorer.scores(row, candidates, out);
  return Array.from(out);
}

/** Solves A x = b by elimination with pivots, in float64. */
function solve(A: number[][], b: number[]): number[] {
  const n = b.length;
  const M = A.map((row, i) => [...row, b[i]!]);
  for (let c = 0; c < n; c++) {
    let pivot = c;
    for (let r = c; r < n; r++) if (Math.abs(M[r]![c]!) > Math.abs(M[pivot]![c]!)) pivot = r;
    [M[c], M[pivot]] = [M[pivot]!, M[c]!];
    for (let r = 0; r < n; r++) {
      if (r === c) continue;
      const factor = M[r]![c]! / M[c]![c]!;
      for (let k = c; k <= n; k++) M[r]![k]! -= factor * M[c]![k]!;
    }
  }
  return M.map((row, i) => row[n]! / row[i]!);
}

const closeTo = (values: number[], relative: number) => {
  const size = Math.max(...values.map(Math.abs), 1e-9);
  return values.map((v) =>
    expect.toSatisfy((x: number) => Math.abs(x - v) <= relative * size, `close to ${v}`),
  );
};

describe('popularity', () => {
  it('scores every user by training degree', async () => {
    const data = dataOf(communityLists(30, 20, 3, 1), 20, 1);
    const scorer = await fitPopularity(data).scorer(data.users);
    const degree = Array.from(
      data.candidates,
      (item) => data.items.offsets[item + 1]! - data.items.offsets[item]!,
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
      asymmetry: fc.constantFrom(0, 0.3, 0.5, 1),
    });
    await fc.assert(
      fc.asyncProperty(setting, fc.nat(1000), async (setting, seed) => {
        const users = communityLists(25, 18, 3, seed);
        const data = dataOf(users, 18, seed);
        const sets = Array.from({ length: 18 }, (_, i) => new Set(listOf(data.items, i)));
        const similarity = (i: number, j: number) => {
          const common = [...sets[i]!].filter((u) => sets[j]!.has(u)).length;
          const scale = sets[i]!.size ** setting.asymmetry * sets[j]!.size ** (1 - setting.asymmetry);
          return common === 0 ? 0 : Math.fround(common / (scale + setting.shrinkage));
        };
        const inputs = Array.from(data.shown.keys()).filter((i) => data.shown[i]);
        const near = Array.from(data.candidates, (j) =>
          inputs
            .toSorted((a, b) => similarity(b, j) - similarity(a, j) || a - b)
            .slice(0, setting.neighbours),
        );
        const history = shownOnly(data, users);
        const scorer = await fitNeighbours(data, setting).scorer(history);
        for (const row of [0, 5, 24]) {
          const mine = new Set(listOf(history, row));
          const want = Array.from(data.candidates, (j, c) =>
            near[c]!.reduce((sum, i) => sum + (mine.has(i) ? similarity(i, j) : 0), 0),
          );
          expect(scoresOf(scorer, row, data.candidates)).toEqual(closeTo(want, 1e-5));
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe('EASE', () => {
  it('is the closed form of the regression on shown items', async () => {
    for (const lambda of [0.5, 30]) {
      const users = communityLists(60, 50, 3, 4);
      const data = dataOf(users, 50, 4);
      const degree = Array.from(
        { length: 50 },
        (_, i) => data.items.offsets[i + 1]! - data.items.offsets[i]!,
      );
      const inputs = Array.from(data.shown.keys()).filter((i) => data.shown[i] && degree[i]! > 0);
      const sets = Array.from({ length: 50 }, (_, i) => new Set(listOf(data.items, i)));
      const common = (i: number, j: number) => [...sets[i]!].filter((u) => sets[j]!.has(u)).length;
      const gram = inputs.map((i) => inputs.map((j) => common(i, j) + (i === j ? lambda : 0)));
      const weights = Array.from(data.candidates, (j) =>
        solve(
          gram,
          inputs.map((i) => common(i, j)),
        ),
      );
      const history = shownOnly(data, users);
      const scorer = await (await fitEase(data, { lambda })).scorer(history);
      for (const row of [0, 1, 59]) {
        const mine = new Set(listOf(history, row));
        const want = weights.map((w) => inputs.reduce((sum, i, k) => sum + (mine.has(i) ? w[k]! : 0), 0));
        expect(scoresOf(scorer, row, data.candidates)).toEqual(closeTo(want, 2e-3));
      }
    }
  });

  it('refuses a candidate that is also an input, and says how large it would be', async () => {
    const data = dataOf(communityLists(10, 12, 2, 5), 12, 5);
    const both = { ...data, candidates: Uint32Array.from({ length: 12 }, (_, i) => i) };
    await expect(fitEase(both, { lambda: 1 })).rejects.toThrow(/both an input and a candidate/);
    const entries = data.users.values.filter((item) => data.shown[item] === 1).length;
    expect(easeSize(data).work).toBe(entries * data.candidates.length);
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
        for (let k = 0; k < K; k++) score += tables.users[u * K + k]! * tables.items[i * K + k]!;
        sum += alpha * score ** 2 + (mine.has(i) ? (1 - score) ** 2 : 0);
      }
    }
    const norms = (table: Float32Array, lists: RowLists, other: number) => {
      for (let r = 0; r + 1 < lists.offsets.length; r++) {
        const degree = lists.offsets[r + 1]! - lists.offsets[r]!;
        for (let k = 0; k < K; k++) sum += lambda * (degree + alpha * other) * table[r * K + k]! ** 2;
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
          if (mine.has(i)) rhs[a]! += y(i)[a]!;
          for (let b = 0; b < 6; b++) A[a]![b]! += weight * y(i)[a]! * y(i)[b]!;
        }
      }
      expect(Array.from(rows.subarray(row * 6, row * 6 + 6))).toEqual(closeTo(solve(A, rhs), 1e-3));
    }
  });

  it('finds communities, and is the same on any number of threads', async () => {
    const data = dataOf(users, 40, 9);
    const setting = { features: 8, lambda: 0.01, alpha: 0.1, iterations: 10 };
    const scorer = await (await fitIals(data, setting)).scorer(shownOnly(data, users));
    let own = 0;
    let other = 0;
    for (let u = 0; u < 60; u++) {
      for (const [c, score] of scoresOf(scorer, u, data.candidates).entries()) {
        if (data.candidates[c]! % 3 === u % 3) own += score / data.candidates.length;
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

describe('tune', () => {
  it('goes on past any start until the score falls on both sides of every dial', async () => {
    const peak = (s: Readonly<Record<string, number>>) =>
      -(Math.log2(s.a! / 4096) ** 2) - (s.b! - 7) ** 2 - 0.1 * Math.log2(s.a! / 4096) * (s.b! - 7);
    const dials = { a: geometric(1, 2), b: ladder(2, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) };
    const found = await tune(dials, async (s) => peak(s), { maxTrials: 100 });
    expect(found.best.setting).toEqual({ a: 4096, b: 7 });
    expect(found.finished).toBe(true);
    expect(new Set(found.trials.map((t) => JSON.stringify(t.setting))).size).toBe(found.trials.length);
    const short = await tune(dials, async (s) => peak(s), { maxTrials: 5 });
    expect(short).toMatchObject({ finished: false, best: { setting: { a: 16, b: 2 } } });
    expect(short.trials.length).toBe(5);
  });

  it('goes on from an earlier search with other dials, without trying anything twice', async () => {
    let tried = 0;
    const score = async (s: Readonly<Record<string, number>>) => {
      tried++;
      return -Math.abs(s.a! - 8) - Math.abs(s.b! - 4);
    };
    const first = await tune({ a: geometric(1, 2), b: ladder(1, [1]) }, score);
    expect(first.best.setting).toEqual({ a: 8, b: 1 });
    const second = await tune({ b: geometric(1, 2) }, score, { from: first });
    expect(second.best.setting).toEqual({ a: 8, b: 4 });
    expect(second.trials.length).toBe(tried);
    const none = await tune({ b: geometric(64, 2) }, score, { from: first, maxTrials: first.trials.length });
    expect(none).toEqual({ ...first, finished: false });
  });

  it('stays within limits', async () => {
    const found = await tune({ a: geometric(8, 2, 1, 64) }, async (s) => s.a!);
    expect(found.best.setting).toEqual({ a: 64 });
    expect(found.finished).toBe(true);
  });
});

describe('holdBack', () => {
  it('parts training users: history of shown items, judged on hidden ones, nothing of theirs in the data', () => {
    const all = dataOf(communityLists(200, 60, 3, 12), 60, 12);
    const { data, history, task } = holdBack(all, { seed: 1 });
    const held = history.offsets.length - 1;
    expect(held).toBe(40);
    expect(task.rows).toBe(held);
    expect(data.users.offsets.length - 1).toBe(160);
    expect(data.users.values.length).toBe(data.items.values.length);
    expect(history.values.every((item) => all.shown[item] === 1)).toBe(true);
    expect(task.candidates.every((item) => all.shown[item] === 0)).toBe(true);
    expect(Array.from(task.candidates)).toEqual(Array.from(data.candidates));
    // Every edge of a held-back user with known items is in exactly one place.
    const keys = new Set(Array.from({ length: 160 }, (_, row) => listOf(data.users, row).join()));
    const rest = Array.from({ length: 200 }, (_, row) => listOf(all.users, row)).filter(
      (l) => !keys.has(l.join()),
    );
    expect(rest.length).toBe(held);
    for (const [row, list] of rest.entries()) {
      const hidden = listOf(task.relevant, row).map((position) => task.candidates[position]!);
      expect([...listOf(history, row), ...hidden].sort((a, b) => a - b)).toEqual(list);
    }
    const again = holdBack(all, { seed: 1 });
    expect(Array.from(again.history.values)).toEqual(Array.from(history.values));
    expect(Array.from(holdBack(all, { seed: 2 }).history.values)).not.toEqual(Array.from(history.values));
    expect(holdBack(all, { seed: 1, maxUsers: 7, maxCandidates: 5 }).task).toMatchObject({ rows: 7 });
    expect(holdBack(all, { seed: 1, maxCandidates: 5 }).task.candidates.length).toBe(5);
  });
});

describe('someUsers', () => {
  it('keeps whole users, evenly spaced, and all where that is few enough', () => {
    const data = dataOf(communityLists(300, 60, 3, 30), 60, 30);
    const edges = data.users.values.length;
    const third = someUsers(data, edges / 3);
    expect(third.users.offsets.length - 1).toBe(100);
    for (const row of [0, 50, 99]) expect(listOf(third.users, row)).toEqual(listOf(data.users, 3 * row + 2));
    expect(third.items.values.length).toBe(third.users.values.length);
    expect(Math.abs(third.users.values.length / edges - 1 / 3)).toBeLessThan(0.05);
    expect(someUsers(data, edges)).toBe(data);
  });
});

describe('fitBaselines', () => {
  const lists = communityLists(400, 120, 4, 20);
  const graph = buildGraph({
    users: Array.from({ length: 400 }, (_, u) => listOf(lists, u).map(() => u)).flat(),
    items: lists.values,
    userCount: 400,
    itemCount: 120,
  });

  it('tunes, fits and judges each on the same users; all personal ones beat popularity on communities', async () => {
    const parts = split(graph, { testUsers: 0.3, testItems: 0.3, seed: 2 });
    const task = splitRankingTask(parts);
    const stages = new Set<string>();
    const { results, skipped } = await fitBaselines(parts, task, {
      n: 5,
      maxTrials: 6,
      onProgress: ({ stage }) => stages.add(stage),
    });
    expect(skipped).toEqual([]);
    expect(results.map((r) => r.name)).toEqual(['popularity', 'neighbours', 'ease', 'ials']);
    const [popularity, ...personal] = results;
    for (const result of personal) {
      expect(result.ranking.all.mean.recall).toBeGreaterThan(popularity!.ranking.all.mean.recall + 0.1);
      expect(Array.from(result.ranking.all.rows)).toEqual(Array.from(popularity!.ranking.all.rows));
      expect(result.trials.length).toBeGreaterThan(1);
      expect(result.trials.length).toBeLessThanOrEqual(6);
      const best = Math.max(...result.trials.map((t) => t.score));
      expect(result.trials.find((t) => t.score === best)!.setting).toMatchObject(
        Object.fromEntries(Object.entries(result.setting).filter(([key]) => key !== 'iterations')),
      );
    }
    expect([...stages]).toContain('EASE: tuning');
    const data = baselineData(parts, task);
    expect(task.history.values.every((item) => data.shown[item] === 1)).toBe(true);
    expect(task.candidates.every((item) => data.shown[item] === 0)).toBe(true);
  });

  it('refuses a split by edges', async () => {
    const parts = split(graph, { method: 'edges', seed: 2 });
    await expect(fitBaselines(parts, splitRankingTask(parts))).rejects.toThrow(/need a split by pq/);
  });
});
