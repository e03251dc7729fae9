import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError } from '../../src/errors.js';
import { evaluateRanking } from '../../src/evaluate/evaluate-ranking.js';
import { collectLists, pickLists } from '../../src/math/csr.js';
import { quantile } from '../../src/math/quantile.js';
import { type Random, randomStream } from '../../src/math/random.js';
import { USER_METRICS } from '../../src/metrics/ranking-metrics.js';
import { type RankingTask, rankingTask } from '../../src/metrics/ranking-task.js';
import { factorScorer, joinedRows, type RowLists, type Scorer } from '../../src/predict/scoring/scorer.js';
import { bruteForce, listOf } from './brute-force.js';

/** The same task with some users only. */
function pickRows(task: RankingTask, rows: ArrayLike<number>): RankingTask {
  return Object.freeze({
    ...task,
    rows: rows.length,
    relevant: pickLists(task.relevant, rows),
    excluded: task.excluded && pickLists(task.excluded, rows),
    ...(task.unseen && { unseen: Uint32Array.from(rows, (row) => task.unseen![row]) }),
  });
}

function randomLists(random: Random, rows: number, items: readonly number[], share: number): RowLists {
  return collectLists(rows, (row, add) => {
    const keep = row % 7 === 3 ? 0 : share; // some rows have none
    for (const item of items) if (random.uniform() < keep) add(item);
  });
}

interface Case {
  readonly rows: number;
  readonly items: number;
  readonly features: number;
  readonly tied: boolean;
  readonly share: number;
  readonly exclude: boolean;
  readonly seed: number;
}

function makeCase({ rows, items, features, tied, share, exclude, seed }: Case) {
  const random = randomStream(seed, 99);
  // Whole numbers make exact sums, so that many scores are equal and order comes from the tie rule alone.
  const value = () => (tied ? random.below(3) : random.uniform());
  const users = Float32Array.from({ length: rows * features }, value);
  const table = Float32Array.from({ length: items * features }, value);
  const candidates = Array.from({ length: items }, (_, i) => i).filter(() => random.uniform() < 0.8);
  const relevant = randomLists(random, rows, candidates, share);
  const excluded = exclude
    ? collectLists(rows, (row, add) => {
        const keep = new Set(listOf(relevant, row));
        for (let i = 0; i < items; i++) if (!keep.has(i) && random.uniform() < 0.2) add(i);
      })
    : undefined;
  const degree = Uint32Array.from({ length: items }, () => random.below(30));
  const score = (row: number, item: number) => {
    let sum = 0;
    for (let k = 0; k < features; k++) {
      sum = Math.fround(sum + users[row * features + k] * table[item * features + k]);
    }
    return sum;
  };
  return { rows, items, users, table, features, candidates, relevant, excluded, degree, score };
}

type Made = ReturnType<typeof makeCase>;

const taskOf = (c: Made) =>
  rankingTask({
    rows: c.rows,
    items: c.items,
    relevant: c.relevant,
    excluded: c.excluded,
    candidates: Uint32Array.from(c.candidates),
    degree: c.degree,
  });

const scorers = (c: Made): Record<string, Scorer> => ({
  factors: factorScorer(c.users, c.table, c.features),
  rows: {
    kind: 'rows',
    scores: (row, candidates, out) => {
      for (const [i, item] of candidates.entries()) out[i] = c.score(row, item);
    },
  },
});

const caseArbitrary = fc.record({
  rows: fc.integer({ min: 1, max: 40 }),
  items: fc.integer({ min: 1, max: 60 }),
  features: fc.integer({ min: 1, max: 9 }),
  tied: fc.boolean(),
  share: fc.constantFrom(0.05, 0.3, 1),
  exclude: fc.boolean(),
  seed: fc.nat(1e6),
});

describe('evaluateRanking', () => {
  it('agrees with a full sort on random cases, ties and exclusions included', async () => {
    await fc.assert(
      fc.asyncProperty(
        caseArbitrary,
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 80 }),
        async (spec, n, depth) => {
          const c = makeCase(spec);
          if (c.relevant.values.length === 0) return;
          for (const scorer of Object.values(scorers(c))) {
            const result = await evaluateRanking(taskOf(c), scorer, { n, depth });
            const known = c.degree.filter((d) => d > 0).sort();
            const cut = known.length === 0 ? 0 : quantile(known, 0.95);
            const rare = (item: number) => c.degree[item] <= cut;
            const popular = c.candidates.filter((item) => !rare(item));
            const relevantRare = collectLists(c.rows, (row, add) =>
              listOf(c.relevant, row).filter(rare).forEach(add),
            );
            const views = [[result.all, bruteForce(c, n, Math.max(n, depth))]] as [unknown, unknown][];
            if (popular.length > 0 && relevantRare.values.length > 0) {
              const task = { ...c, candidates: c.candidates.filter(rare), relevant: relevantRare };
              views.push([result.unpopular, bruteForce(task, n, Math.max(n, depth))]);
            } else {
              expect(result.unpopular).toBeUndefined();
            }
            for (const [got, want] of views as [typeof result.all, ReturnType<typeof bruteForce>][]) {
              expect(Array.from(got.rows)).toEqual(want.rows);
              for (const name of USER_METRICS) {
                expect(got.perUser[name].length).toBe(want[name].length);
                for (const [u, value] of want[name].entries()) {
                  expect(got.perUser[name][u]).toBeCloseTo(value, 12);
                  expect(got.perUser[name][u]).toBeGreaterThanOrEqual(0);
                  expect(got.perUser[name][u]).toBeLessThanOrEqual(1);
                }
              }
              expect(got.coverage).toBeCloseTo(want.coverage, 12);
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is exact if the threshold comes from a sample: many candidates, small depth, skewed scores', async () => {
    for (const tied of [false, true]) {
      const c = makeCase({
        rows: 12,
        items: 20_000,
        features: 3,
        tied,
        share: 0.003,
        exclude: true,
        seed: 5,
      });
      // Scores that rise in steps with the item index, in blocks that an even sample can miss.
      for (let i = 0; i < c.items; i++) c.table[i * 3] = i % 500 < 3 ? 50 : c.table[i * 3];
      const result = await evaluateRanking(taskOf(c), scorers(c).factors!, { n: 10, depth: 40 });
      const want = bruteForce(c, 10, 40);
      expect(Array.from(result.all.perUser.ndcg)).toEqual(want.ndcg.map((x) => expect.closeTo(x, 12)));
      expect(Array.from(result.all.perUser.recall)).toEqual(want.recall);
      expect(result.all.coverage).toBeCloseTo(want.coverage, 12);
    }
  });

  it('breaks ties by item index: with equal scores the list is the catalogue in order', async () => {
    const relevant = { offsets: Uint32Array.of(0, 1, 2), values: Uint32Array.of(0, 4) };
    const task = rankingTask({ rows: 2, items: 5, relevant, candidates: Uint32Array.of(4, 3, 2, 1, 0) });
    const same: Scorer = { kind: 'rows', scores: (_row, _candidates, out) => out.fill(7) };
    const { all } = await evaluateRanking(task, same, { n: 1 });
    expect(Array.from(all.perUser.mrr)).toEqual([1, 1 / 5]);
    expect(all.coverage).toBe(1 / 5);
  });

  it('gives a perfect ranking 1 everywhere, even if the list is longer than the catalogue', async () => {
    const relevant = { offsets: Uint32Array.of(0, 3), values: Uint32Array.of(1, 2, 5) };
    const task = rankingTask({
      rows: 1,
      items: 6,
      relevant,
      candidates: Uint32Array.from([0, 1, 2, 3, 4, 5]),
    });
    const perfect: Scorer = {
      kind: 'rows',
      scores: (_row, candidates, out) => {
        for (const [i, item] of candidates.entries()) out[i] = [1, 2, 5].includes(item) ? 1 : 0;
      },
    };
    const { all } = await evaluateRanking(task, perfect, { n: 50, depth: 5000 });
    for (const name of USER_METRICS) expect(all.mean[name]).toBe(1);
    expect(all.coverage).toBe(1);
  });

  it('permuted users give permuted results', async () => {
    const c = makeCase({ rows: 30, items: 50, features: 4, tied: true, share: 0.2, exclude: true, seed: 8 });
    const random = randomStream(3);
    const order = Array.from({ length: c.rows }, (_, i) => [random.uniform(), i] as const)
      .sort((a, b) => a[0] - b[0])
      .map(([, i]) => i);
    const straight = await evaluateRanking(taskOf(c), scorers(c).factors!, { n: 5 });
    const users = Float32Array.from(order.flatMap((r) => Array.from(c.users.subarray(r * 4, r * 4 + 4))));
    const permuted = await evaluateRanking(pickRows(taskOf(c), order), factorScorer(users, c.table, 4), {
      n: 5,
    });
    const byRow = new Map(Array.from(straight.all.rows, (row, u) => [row, straight.all.perUser.ndcg[u]]));
    expect(Array.from(permuted.all.rows, (row) => byRow.get(order[row]))).toEqual(
      Array.from(permuted.all.perUser.ndcg),
    );
    expect(permuted.all.coverage).toBe(straight.all.coverage);
  });

  it('gives the same ranks in this thread and on any number of workers', async () => {
    const c = makeCase({
      rows: 700,
      items: 4000,
      features: 160,
      tied: false,
      share: 0.01,
      exclude: false,
      seed: 2,
    });
    const task = taskOf(c);
    const scorer = scorers(c).factors!;
    const [one, three] = await Promise.all(
      [1, 3].map((threads) => evaluateRanking(task, scorer, { threads })),
    );
    const alone = await evaluateRanking(
      pickRows(task, [5]),
      factorScorer(c.users.slice(800, 960), c.table, 160),
    );
    expect(one!.all.users).toBe(600);
    expect(three).toEqual(one);
    expect(alone.all.perUser.ndcg[0]).toBe(one!.all.perUser.ndcg[one!.all.rows.indexOf(5)]);
  });

  it('stops on request', async () => {
    const c = makeCase({
      rows: 700,
      items: 4000,
      features: 160,
      tied: false,
      share: 0.01,
      exclude: false,
      seed: 2,
    });
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 5);
    const run = evaluateRanking(taskOf(c), scorers(c).factors!, { signal: abort.signal });
    await expect(run).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('refuses what it cannot evaluate, saying why', async () => {
    const none = { offsets: Uint32Array.of(0, 0), values: new Uint32Array(0) };
    const task = rankingTask({ rows: 1, items: 3, relevant: none });
    const scorer = factorScorer(new Float32Array(2), new Float32Array(6), 2);
    await expect(evaluateRanking(task, scorer)).rejects.toThrow(/no row has a relevant item/);
    const one = { offsets: Uint32Array.of(0, 1), values: Uint32Array.of(1) };
    const good = rankingTask({ rows: 1, items: 3, relevant: one });
    await expect(evaluateRanking(good, scorer, { n: 0 })).rejects.toThrow(/n 0: expected a whole number/);
    await expect(evaluateRanking(good, { ...scorer, users: new Float32Array(4) })).rejects.toThrow(
      /2 rows of users/,
    );
    expect(() => rankingTask({ rows: 1, items: 3, relevant: one, excluded: one })).toThrow(InputError);
    expect(() => rankingTask({ rows: 2, items: 3, relevant: one })).toThrow(/1 lists for 2 rows/);
    expect(() => rankingTask({ rows: 1, items: 1, relevant: one })).toThrow(/item 1 of only 1/);
    expect(() => rankingTask({ rows: 1, items: 3, relevant: one, candidates: Uint32Array.of(0) })).toThrow(
      /candidates/,
    );
  });
});

describe('joinedRows', () => {
  it('give the sum of the scores of their parts', async () => {
    const a = makeCase({ rows: 9, items: 20, features: 3, tied: true, share: 0.2, exclude: false, seed: 11 });
    const b = makeCase({ rows: 9, items: 20, features: 2, tied: true, share: 0.2, exclude: false, seed: 12 });
    const joined = (ofA: Float32Array, ofB: Float32Array) =>
      joinedRows([
        { table: ofA, features: 3 },
        { table: ofB, features: 2 },
      ]);
    const sum = factorScorer(joined(a.users, b.users), joined(a.table, b.table), 5);
    const task = taskOf(a);
    const rows: Scorer = {
      kind: 'rows',
      scores: (row, candidates, out) => {
        for (const [i, item] of candidates.entries()) out[i] = a.score(row, item) + b.score(row, item);
      },
    };
    expect(await evaluateRanking(task, sum)).toEqual(await evaluateRanking(task, rows));
  });
});
