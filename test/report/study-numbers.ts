import { MODEL_KINDS } from '../../src/options/names.js';
import type { LeaderboardMetric, LeaderboardRow } from '../../src/study/leaderboard.js';
import { type ModelKind, studySettings } from '../../src/study/options.js';
import type { StudyFit, StudyResults } from '../../src/study/results.js';
import { type SideNames, USERS_AND_ITEMS } from '../../src/text/sides.js';

/** Results of a study: the values that a test gives, and arbitrary values for the rest. */
export function numbers(
  recall: Readonly<Record<string, number>>,
  options: {
    readonly sure?: boolean;
    /** Of the sparse and of the dense model, or of auto, sparse and dense. */
    readonly items?: readonly number[];
    /** The sparse model is the auto model. */
    readonly same?: boolean;
    readonly names?: SideNames;
    readonly test?: { readonly users: number; readonly edges: number };
  } = {},
): StudyResults {
  const { sure = true, same = false, items = [100, 80], test = { users: 50, edges: 400 } } = options;
  const kinds: Readonly<Record<string, LeaderboardRow['kind']>> = {
    'auto-30': 'model',
    'sparse-30': 'model',
    'dense-30': 'model',
    ranking: 'ranker',
  };
  const rows = Object.entries(recall).map(([id, value]) => {
    const figure = { mean: value, standardError: 0.01 };
    return {
      id,
      kind: kinds[id] ?? 'baseline',
      model: id.endsWith('-30') ? id.slice(0, -3) : null,
      also: same && id === 'auto-30' ? ['sparse'] : [],
      features: id.endsWith('-30') ? 30 : null,
      all: { recall: figure, ndcg: figure, users: test.users },
      unpopular: null,
    };
  });
  const best = rows.reduce((a, b) => (b.all.recall.mean > a.all.recall.mean ? b : a)).id;
  const comparisons = (['recall', 'ndcg'] satisfies LeaderboardMetric[]).flatMap((metric) =>
    rows
      .filter((row) => row.id !== best)
      .map((row) => {
        const difference = row.all.recall.mean - recall[best];
        return {
          metric,
          row: row.id,
          to: best,
          difference,
          low: difference - 0.01,
          high: sure ? difference / 2 : 0.01,
        };
      }),
  );
  const fit = (model: ModelKind, drawn: number): Partial<StudyFit> => ({
    model,
    features: 30,
    converged: true,
    sameAs: same && model === 'sparse' ? 'auto' : null,
    predictive: {
      drawsGiven: 'unconditional',
      count: 100,
      observed: { users: 50, items: 100 },
      draws: {
        users: { mean: 50, low: 49, high: 51, pValue: 1 },
        items: { mean: drawn, low: drawn - 5, high: drawn + 5, pValue: 0.5 },
      },
      degrees: { users: [], items: [] },
    },
  });
  return {
    receipt: {
      settings: studySettings({ model: items.length === 3 ? 'all' : 'paper' }, 1000),
      origin: null,
    },
    check: {
      edges: 1000,
      verdict: {
        users: 'dense',
        items: 'sparse',
        reasons: { users: { code: 'single' }, items: { code: 'single' } },
      },
      names: options.names ?? USERS_AND_ITEMS,
    },
    chosen: { features: 30, byEvidence: null },
    evidence: [{ features: 30, sparse: -10, dense: -52, difference: 42 }],
    topics: null,
    example: { user: 'ann' },
    summary: { runs: 1, ranking: {}, prediction: {} },
    runs: [
      {
        split: { test: { ...test, items: 100 } },
        fits: MODEL_KINDS.slice(-items.length).map((kind, at) => fit(kind, items[at])),
        leaderboard: { n: 20, rows, best: { recall: best, ndcg: best }, comparisons },
      },
    ],
  } as unknown as StudyResults;
}
