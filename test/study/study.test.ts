import { beforeAll, describe, expect, it } from 'vitest';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { STUDY } from '../../src/options/commands/study.js';
import { simulate } from '../../src/process/poisson-model.js';
import { studyVerdicts } from '../../src/report/words/study.js';
import { split } from '../../src/sample/split.js';
import type { Split } from '../../src/sample/split-types.js';
import { compareStudies } from '../../src/study/compare.js';
import type { StudyOptions, StudyTruth } from '../../src/study/options.js';
import type { StudyResults } from '../../src/study/results.js';
import { study } from '../../src/study/study.js';
import { withoutDraws } from './undrawn-study.js';

const SIDE = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 40 };
const QUICK: StudyOptions = {
  features: [3],
  draws: 8,
  iterations: 40,
  baselines: ['popularity', 'knn'],
  trials: 2,
  ranker: false,
  engine: 'reference',
  threads: 1,
};

let graph: BipartiteGraph;
let truth: StudyTruth;
let base: StudyResults;

beforeAll(async () => {
  const drawn = await simulate({ users: SIDE, items: SIDE, features: 3, seed: 3, truth: true });
  graph = drawn.graph;
  truth = {
    features: 3,
    users: { prior: SIDE, ...drawn.truth!.users },
    items: { prior: SIDE, ...drawn.truth!.items },
  };
  base = await study(graph, QUICK);
}, 120_000);

describe('study', () => {
  it('is a plain value that JSON holds without loss', () => {
    expect(JSON.parse(JSON.stringify(base))).toEqual(base);
    const walk = (value: unknown, path: string): void => {
      if (typeof value === 'number') expect(Number.isFinite(value), path).toBe(true);
      else expect(value, path).not.toBeUndefined();
      if (typeof value === 'object' && value !== null) {
        for (const [key, part] of Object.entries(value)) walk(part, `${path}.${key}`);
      }
    };
    walk(base, 'results');
  });

  it('corrects the intervals of the sparse model, and of no other', async () => {
    const corrected = await study(graph, { ...QUICK, baselines: [], draws: 20, calibrate: 5 });
    const [auto, sparse, dense] = corrected.runs[0].fits;
    expect(auto!.predictive!.calibration).toBeUndefined();
    expect(auto!.predictive!.internal).toBeDefined();
    expect(sparse!.predictive!.calibration!.replicas).toBe(5);
    expect(dense!.predictive!.calibration).toBeUndefined();
    expect(JSON.stringify(studyVerdicts(corrected))).toMatch(
      /sparse model’s draws contain [^.]*\. Corrected, they contain /,
    );
    const refused = { ...QUICK, calibrate: 5 };
    await expect(study(graph, { ...refused, draws: 0 })).rejects.toThrow('without draws');
    await expect(study(graph, { ...refused, model: 'dense' })).rejects.toThrow('would hide its error');
    await expect(study(graph, { ...refused, users: { size: 0 } })).rejects.toThrow('would hide its error');
    await expect(study(graph, { ...refused, drawsGiven: 'paper' })).rejects.toThrow(
      'omit vertices by design',
    );
  }, 60_000);

  it('holds every part of the paper’s study', () => {
    const [run] = base.runs;
    expect(base.check).toMatchObject({
      users: graph.users.count,
      items: graph.items.count,
      edges: graph.edges,
    });
    expect(run!.fits.map((fit) => fit.model)).toEqual(['auto', 'sparse', 'dense']);
    expect(run!.fits[2]).toMatchObject({ sigma: { users: -0.1, items: -0.1 }, size: { users: 0, items: 0 } });
    expect(run!.leaderboard.rows.map((row) => row.id)).toEqual(['auto-3', 'dense-3', 'popularity', 'knn']);
    const { train, foldin, test } = run!.split;
    expect(train.edges + foldin.edges + test.edges).toBe(graph.edges);
    expect(run!.fits[0].predictive!.observed).toMatchObject({
      users: test.users,
      items: test.items,
      edges: test.edges,
    });
    // Both fits of the comparison continue from the sparse fit, so its bound can only have risen.
    expect(base.evidence[0].sparse).toBeGreaterThanOrEqual(run!.fits[0].bound);
  });

  it('fits two equal models once, shows them once, and does not correct draws of the paper’s', async () => {
    const [auto, sparse] = base.runs[0].fits;
    expect(sparse).toMatchObject({ model: 'sparse', sameAs: 'auto' });
    const fitted = base.receipt.timings.filter(({ stage }) => stage === 'fit').map(({ model }) => model);
    expect(fitted).toEqual(['auto', 'dense']);
    expect(base.runs[0].leaderboard.rows[0].also).toEqual(['sparse']);
    // What a study of the sparse model alone finds, to the last digit.
    const alone = await study(graph, { ...QUICK, model: 'sparse', baselines: [] });
    const { model: _, sameAs: __, seconds: ___, secondsPerIteration: ____, ...numbers } = sparse!;
    expect(alone.runs[0].fits[0]).toMatchObject(numbers);
    expect(auto!.predictive!.internal).toBeDefined();
    expect(sparse!.predictive!.internal).toBeUndefined();
    expect(base.summary.ranking['sparse-3']).toEqual(base.summary.ranking['auto-3']);
  });

  it('fits Poisson counts directly and others by the hurdle model, the same for all models', async () => {
    const drawn = await simulate({ users: SIDE, items: SIDE, features: 3, seed: 3, multigraph: true });
    const options = { ...QUICK, baselines: [], model: 'paper' } as const;
    const plain = await study(drawn.graph, options);
    expect(plain.runs[0].counts!.model).toBe('poisson');
    const asked = await study(drawn.graph, { ...options, counts: 'hurdle' });
    expect(asked.runs[0].counts).toEqual({ model: 'hurdle', evidence: null });
    for (const { predictive } of asked.runs[0].fits) {
      expect(predictive!.draws.tail!.mean).toBeGreaterThanOrEqual(1);
      expect(predictive!.draws.total!.mean).toBeGreaterThan(predictive!.draws.edges!.mean);
    }
  });

  it('fits twice if a side has another prior', async () => {
    const fixed = { sigma: -2, tau: 1, shape: 0.5, rate: 0.5, size: 60 };
    const { graph: half } = await simulate({ users: fixed, items: SIDE, features: 3, seed: 5 });
    const { runs, receipt } = await study(half, { ...QUICK, baselines: [] });
    const [auto, sparse] = runs[0].fits;
    expect(auto!.sides.users.kind).toBe('dense');
    expect(sparse!.sameAs).toBeNull();
    expect(sparse!.bound).not.toBe(auto!.bound);
    expect(receipt.timings.filter(({ stage }) => stage === 'fit').map(({ model }) => model)).toEqual([
      'auto',
      'sparse',
      'dense',
    ]);
  });

  it('leaves out only the predictive checks if no draws are requested', async () => {
    const none = await study(graph, { ...QUICK, draws: 0 });
    expect(none.runs[0].fits.map((fit) => fit.predictive)).toEqual([null, null, null]);
    expect(none.summary.prediction).toEqual({});
    expect(studyVerdicts(none).prediction).toBeNull();
    expect(compareStudies(withoutDraws(base), none)).toEqual([]);
    expect(JSON.parse(JSON.stringify(none))).toEqual(none);
  });

  it('compares every row with the best, and the best is the best', () => {
    const { leaderboard } = base.runs[0];
    const recall = new Map(leaderboard.rows.map((row) => [row.id, row.all.recall.mean]));
    expect(recall.get(leaderboard.best.recall!)).toBe(Math.max(...recall.values()));
    const rivals = leaderboard.comparisons.filter(
      (c) => c.metric === 'recall' && c.to === leaderboard.best.recall,
    );
    expect(rivals.map((c) => c.row).sort()).toEqual(
      [...recall.keys()].filter((id) => id !== leaderboard.best.recall).sort(),
    );
    for (const c of rivals) {
      expect(c.difference).toBeCloseTo(recall.get(c.row)! - recall.get(c.to)!, 10);
      expect(c.low).toBeLessThanOrEqual(c.difference);
      expect(c.high).toBeGreaterThanOrEqual(c.difference);
    }
  });

  it('repeats its receipt to the same numbers, whatever the threads', async () => {
    const { settings } = JSON.parse(JSON.stringify(base.receipt)) as StudyResults['receipt'];
    const again = await study(graph, { ...settings, threads: 2 });
    expect(compareStudies(base, again)).toEqual([]);
    const other = structuredClone(again) as unknown as { runs: { fits: { bound: number }[] }[] };
    other.runs[0].fits[0].bound += 1e-9;
    expect(compareStudies(base, other as unknown as StudyResults).map((d) => d.path)).toEqual([
      'runs.0.fits.0.bound',
    ]);
  });

  const changed: Record<string, StudyOptions> = {
    model: { model: 'dense' },
    features: { features: [3, 4] },
    draws: { draws: 9 },
    drawsGiven: { drawsGiven: 'paper' },
    seed: { seed: 2 },
    testUsers: { testUsers: 0.3 },
    testItems: { testItems: 0.3 },
    n: { n: 3 },
    depth: { depth: 20 },
    baselines: { baselines: false },
    ranker: { ranker: true },
    trials: { trials: 4 },
    engine: { engine: 'cpu' },
    iterations: { iterations: 30 },
    tolerance: { tolerance: 0.05 },
    start: { start: 'cold' },
    restarts: { restarts: 8 },
    learn: { learn: ['tau'] },
    sizes: { sizes: 'paper' },
    users: { users: { sigma: 0.1 } },
    items: { items: { shape: 0.5 } },
  };

  it('covers every option of a study: each is tested here, or where its effect shows', () => {
    // Options with tests of their own: below, and in evaluate-cli, topics, given-split and recency.test.ts.
    const elsewhere = ['repeats', 'calibrate', 'topicItems', 'counts', 'protocol', 'halfLife'];
    expect([...Object.keys(changed), ...elsewhere].sort()).toEqual(Object.keys(STUDY).sort());
  });

  it('has no dead options', async () => {
    // Draws take most of the time of a study. Options that change only draws are tested with draws, all others without.
    const short = { ...QUICK, iterations: 10, draws: 0 };
    const undrawn = await study(graph, short);
    for (const [name, options] of Object.entries(changed)) {
      const drawn = name === 'draws' || name === 'drawsGiven' || name === 'sizes';
      const numbers = await study(graph, { ...(drawn ? QUICK : short), ...options });
      const differences = compareStudies(drawn ? base : undrawn, numbers, 500);
      expect(differences.filter((d) => !d.path.startsWith('receipt')).length, name).toBeGreaterThan(0);
    }
  }, 300_000);

  it('repeats over splits: the summary is their mean and spread', async () => {
    const two = await study(graph, { ...QUICK, repeats: 2, baselines: ['popularity'], model: 'sparse' });
    expect(two.receipt.seeds).toEqual([1, 2]);
    const values = two.runs.map((run) => run.leaderboard.rows[0].all.recall.mean);
    const { mean, spread } = two.summary.ranking['sparse-3'].recall!;
    expect(mean).toBeCloseTo((values[0] + values[1]) / 2, 12);
    expect(spread).toBeCloseTo(Math.abs(values[0] - values[1]) / Math.SQRT2, 12);
    expect(base.summary.ranking['sparse-3'].recall!.spread).toBeNull();
  });

  it('computes the ceilings of simulated data', async () => {
    const results = await study(graph, { ...QUICK, model: 'sparse', baselines: ['popularity'], truth });
    const recall = (id: string) =>
      results.runs[0].leaderboard.rows.find((row) => row.id === id)!.all.ndcg.mean;
    // With the true parameters of both sides, chance is the only error.
    expect(recall('ceiling-truth')).toBeGreaterThan(recall('popularity'));
    expect(recall('ceiling-fold-in')).toBeGreaterThan(recall('popularity'));
    expect(recall('ceiling-truth')).toBeGreaterThan(recall('sparse-3') - 0.02);
    expect(results.runs[0].leaderboard.best.recall).not.toMatch(/ceiling/);
    expect(studyVerdicts(results).ranking.details.join(' ')).toMatch(/best possible on these simulated data/);
  });

  it('counts the users without a history in the ceilings too, if all items are ranked', async () => {
    const options = { ...QUICK, model: 'sparse', protocol: 'all-items', draws: 0, iterations: 5 } as const;
    const { leaderboard } = (await study(graph, { ...options, baselines: ['popularity'], truth })).runs[0];
    expect(leaderboard.left.usersWithoutHistory).toBeGreaterThan(0);
    expect(leaderboard.rows.map(({ kind }) => kind)).toEqual(['model', 'baseline', 'ceiling', 'ceiling']);
    expect(new Set(leaderboard.rows.map(({ all }) => all.users)).size).toBe(1);
  });

  it('has ceilings on a split that holds out edges, and refuses them for new items', async () => {
    const of = (parts: Split, more: StudyOptions = {}) =>
      study(graph, { ...QUICK, model: 'sparse', draws: 0, iterations: 5, truth, splits: [parts], ...more });
    const [{ leaderboard }] = (await of(split(graph, { method: 'edges', seed: 1 }))).runs;
    const recall = (id: string) => leaderboard.rows.find((row) => row.id === id)!.all.recall.mean;
    for (const id of ['ceiling-truth', 'ceiling-fold-in']) {
      expect(recall(id)).toBeGreaterThan(recall('popularity'));
    }
    const itemInfo = { name: 'items', rows: [] };
    const newItems = split(graph, { method: 'new-items', seed: 1 });
    await expect(of(newItems, { ranker: true, itemInfo })).rejects.toThrow(/truth: ceilings rank items/);
  });

  it('refuses the truth of another graph', async () => {
    const short = { ...truth, users: { ...truth.users, weights: truth.users.weights.slice(1) } };
    await expect(study(graph, { ...QUICK, truth: short })).rejects.toThrow(
      /truth: it has parameters of \d+ users/,
    );
  });

  it('stops on request with an AbortError', async () => {
    const abort = new AbortController();
    const stages: string[] = [];
    const running = study(graph, {
      ...QUICK,
      signal: abort.signal,
      onProgress: ({ stage }) => {
        stages.push(stage);
        if (stage.startsWith('fit dense')) abort.abort();
      },
    });
    await expect(running).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
    expect(stages.some((stage) => stage.startsWith('evaluate dense'))).toBe(false);
  });

  it.each([
    [{ features: [] }, /features an empty list: expected .* at least one/],
    [{ features: [0] }, /features 0: expected/],
    [{ model: 'paper ' as 'paper' }, /model "paper ": expected one of/],
    [{ repeats: 0 }, /repeats 0: expected/],
    [{ draws: -1 }, /draws -1: expected/],
    [{ testUsers: 1 }, /testUsers 1: expected/],
    [{ iterations: 0 }, /iterations 0: expected/],
    [{ baselines: ['magic' as 'ease'] }, /baselines "magic": expected one of popularity/],
  ] satisfies [StudyOptions, RegExp][])('refuses %o before any work', async (options, message) => {
    await expect(study(graph, { ...QUICK, ...options })).rejects.toThrow(message);
  });
});
