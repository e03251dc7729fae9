import { describe, expect, it } from 'vitest';
import type { RankingComparison } from '../../src/evaluate/compare-rankings.js';
import type { Evaluation } from '../../src/evaluate/evaluate.js';
import type { PredictiveCheck, Statistic } from '../../src/evaluate/predictive.js';
import type { ReadResult } from '../../src/ingest/options.js';
import { checkTerms, studyTerms } from '../../src/report/pages/term-definitions.js';
import { blendWords, noBlendWords } from '../../src/report/words/blend.js';
import {
  againstWords,
  intervalWords,
  leftOutWords,
  noPredictiveCheck,
  popularityWords,
  rankedDefinition,
  rankingAdvice,
  surpriseWords,
} from '../../src/report/words/evaluation.js';
import {
  countWords,
  engineWords,
  featureChoiceRows,
  featureChoiceWords,
} from '../../src/report/words/fit.js';
import { skippedWords } from '../../src/report/words/methods.js';
import { describeError, predictionQuestion } from '../../src/report/words/prediction.js';
import { RANKING_QUESTION } from '../../src/report/words/ranking.js';
import { readingSentences, readingWords } from '../../src/report/words/reading.js';
import { sidePriorWords } from '../../src/report/words/side-prior.js';
import { estimateWords, evidenceWords, sparsityWords } from '../../src/report/words/sparsity.js';
import { studyVerdicts } from '../../src/report/words/study.js';
import { tableEvaluationDefinition } from '../../src/report/words/table-evaluation.js';
import type { SideVerdict, VerdictReason } from '../../src/sparsity/verdict.js';
import { metricLabel, metricPhrase, statisticLabel, statisticPhrase } from '../../src/text/figures.js';
import { sideNames, USERS_AND_ITEMS } from '../../src/text/sides.js';
import { graphOf } from '../sample/random-graph.js';
import { numbers } from './study-numbers.js';

// Every sentence that the words make, in one list, so that all of them can be read. A changed sentence shows in the diff.
const names = sideNames({ users: 'customers', items: 'products' });
const written: string[] = [];
const heading = (text: string) => written.push('', `# ${text}`, '');
const say = (...sentences: readonly (string | null | undefined)[]) =>
  written.push(...sentences.filter((sentence) => sentence !== null && sentence !== undefined));

function popularityIsNear(): void {
  heading('Compared with popularity');
  const beside = (recall: readonly [number, number, number], ndcg: readonly [number, number, number]) => {
    const interval = ([low, difference, high]: typeof recall) => ({ difference, low, high, level: 0.95 });
    const against = {
      other: { mean: { recall: 0.4, ndcg: 0.3 } },
      difference: { recall: interval(recall), ndcg: interval(ndcg) },
    } as RankingComparison;
    say(popularityWords(against, 20, names), againstWords('yesterday.model', against, 20, names));
  };
  const [above, below, unsure] = [
    [0.01, 0.02, 0.03],
    [-0.03, -0.02, -0.01],
    [-0.01, 0.01, 0.03],
  ] as const;
  beside(above, above);
  beside(below, below);
  beside(above, below);
  beside(unsure, above);
  beside(unsure, unsure);
  say(...rankingAdvice('my parts'));
}

function sparsity(): void {
  heading('Is it sparse?');
  const judged: readonly SideVerdict[] = ['sparse', 'dense', 'unclear'];
  const reasons: readonly (readonly [SideVerdict, VerdictReason])[] = [
    ['unclear', { code: 'few', vertices: 12 }],
    ['unclear', { code: 'single' }],
    ['unclear', { code: 'capped', vertices: 230, share: 0.041, degree: 20 }],
    ['unclear', { code: 'filtered', least: 20, missing: 312.4 }],
    ['unclear', { code: 'disagree', half: 0.51, implied: 0.22 }],
    ['dense', { code: 'no-low-degrees', estimate: -30, standardError: null }],
    ['unclear', { code: 'no-low-degrees', estimate: -0.4, standardError: 0.3 }],
    ['unclear', { code: 'near-border', estimate: 0.02, standardError: 0.01, upTo: null }],
    ['unclear', { code: 'contradicted', estimate: 0.3, standardError: 0.02, upTo: 51, overall: -0.4 }],
    ['sparse', { code: 'clear', estimate: 0.42, standardError: 0.013, upTo: 1205 }],
    ['dense', { code: 'clear', estimate: -0.42, standardError: 0.05, upTo: null }],
  ];
  const reason: VerdictReason = { code: 'single' };
  for (const users of judged) {
    for (const items of judged) {
      const words = sparsityWords({
        verdict: { users, items, reasons: { users: reason, items: reason } },
        names,
      });
      say(words.headline, words.answer, words.text);
    }
  }
  for (const [users, why] of reasons) {
    say(
      sparsityWords({ verdict: { users, items: users, reasons: { users: why, items: why } }, names }).reasons
        .users,
    );
  }
  say(evidenceWords({ difference: 1234.5 }), evidenceWords({ difference: -12 }));
  const prior = {
    sigma: -0.9,
    tau: 8,
    size: 900,
    sizeInterval: null,
    tauMatched: true,
    standardError: { sigma: null, size: null },
  };
  const sides = [
    { ...prior, kind: 'dense', unseen: { mean: 761, low: 700, high: 830 } },
    { ...prior, kind: 'dense', unseen: { mean: 0, low: 0, high: 0 } },
    { ...prior, kind: 'sparse', sigma: 0.41, unseen: null },
  ] as const;
  for (const side of sides) {
    const context = { seen: { users: 4339, items: 3665 }, names, features: 30 };
    say(...sidePriorWords({ users: side, items: side }, context));
    say(...sidePriorWords({ users: side, items: side }, { ...context, training: true }));
  }
  const trials = [
    { features: 5, coarse: -3.6, whole: null },
    { features: 10, coarse: -3.59, whole: -3.57 },
    { features: 15, coarse: null, whole: -3.5321 },
    { features: 20, coarse: -3.64, whole: -3.55 },
  ];
  say(
    featureChoiceWords({ chosen: 15, sample: 43772, trials }),
    featureChoiceWords({ chosen: 15, sample: null, trials }),
    ...featureChoiceRows({ chosen: 15, sample: null, trials }).map((row) => row.join(' | ')),
  );
  say(estimateWords(undefined), estimateWords({ estimate: 0.999 }), estimateWords({ estimate: 0.2 }));
}

function reading(): void {
  heading('How the data were read');
  const graph = graphOf(Array.from({ length: 30 }, (_, e) => [e, e % 4] as const));
  const read = { rows: 100, kept: 96, merged: 3, rejected: 1 };
  const clean = { rows: 1, kept: 1, merged: 0, rejected: 0 };
  const guesses: readonly ReadResult['guess'][] = [
    {
      kind: 'table',
      format: 'text table',
      separator: '\t',
      header: true,
      headerGuessed: true,
      columns: { users: 'customer', items: 'product', count: 'n' },
    },
    {
      kind: 'table',
      format: 'text table',
      separator: ' ',
      header: false,
      headerGuessed: true,
      columns: { users: '1', items: '2' },
    },
    { kind: 'table', format: 'parquet', columns: { users: 'term', items: 'x' } },
    {
      kind: 'text',
      format: 'text',
      columns: { users: 'document', items: 'term' },
      text: { documents: 226, commonWords: 1, commonShare: 0.5, wordless: 2 },
    },
    { kind: 'simulated', format: 'simulated', columns: { users: 'user', items: 'item' } },
  ];
  for (const guess of guesses) {
    say(readingWords({ graph, read, guess }), readingSentences({ read, guess }).join(' '));
  }
  say(readingSentences({ read: clean, guess: guesses[0] }).join(' '));
}

function studies(): void {
  const studied = [
    numbers({ 'sparse-30': 0.3, 'dense-30': 0.29, ranking: 0.35, ease: 0.2, popularity: 0.1 }, { names }),
    numbers(
      { 'sparse-30': 0.2, 'dense-30': 0.21, ease: 0.3, popularity: 0.25 },
      { names, items: [300, 250] },
    ),
    numbers({ 'sparse-30': 0.3, 'dense-30': 0.301 }, { names, sure: false, items: [100.2, 100] }),
    numbers({ 'sparse-30': 0.32, ials: 0.3 }, { names, sure: false, items: [94, 93] }),
    numbers({ 'sparse-30': 0.32, ials: 0.3 }, { names, test: { users: 1, edges: 49 } }),
    numbers({ 'sparse-30': 0.3, ranking: 0.301, popularity: 0.302 }, { names, sure: false }),
    numbers({ 'sparse-30': 0.2, ease: 0.3 }),
    numbers({ 'auto-30': 0.3, 'sparse-30': 0.29, 'dense-30': 0.28, ease: 0.35 }, { items: [99, 96, 80] }),
    numbers({ 'auto-30': 0.3, 'dense-30': 0.28 }, { items: [99, 98, 80], same: true, sure: false }),
  ];
  for (const results of studied) {
    const { sparsity, prediction, ranking, next } = studyVerdicts(results);
    heading('A study');
    say('Is it sparse?', sparsity.headline, sparsity.text, ...sparsity.details);
    if (prediction)
      say(predictionQuestion(results), prediction.headline, prediction.text, ...prediction.details);
    say(RANKING_QUESTION, ranking.headline, ranking.text, ...ranking.details);
    for (const step of next) say(step.text, step.command);
  }
  heading('Counts');
  for (const model of ['poisson', 'hurdle'] as const) {
    const evidence = { edges: 2345, pairs: model === 'hurdle' ? 5.31 : 1.01, limit: 1.12 };
    say(countWords({ model, evidence: null }, names), countWords({ model, evidence }, names));
  }
  heading('The blend of a ranker');
  const blend = {
    weights: {
      ...{ neighbours: 100, lambda: 12, dropout: 0.5 },
      ...{ users: 0.25, candidates: 0.2, similarities: 0.5, history: 0.6 },
    },
    leastSquares: { lambda: 0.012, alpha: 0.0676 },
    edges: 50_000,
  };
  say(
    blendWords({ heldBack: 695, ...blend }, names),
    blendWords(
      { heldBack: 695, ...blend, adds: { weights: 0.012, similarities: 0.031, leastSquares: -0.001 } },
      names,
    ),
    blendWords(
      { heldBack: 38, ...blend, adds: { weights: -0.026, similarities: 0.031, leastSquares: 0.027 } },
      names,
    ),
    blendWords({ heldBack: 695, kept: true, ...blend }, names),
    blendWords({ heldBack: 0, ...blend }, names),
    noBlendWords(names),
  );
  heading('Baselines that did not run');
  const tooLarge = { code: 'too-large', what: 'edges', count: 5e6, candidates: 40_000, limit: 5e9 } as const;
  say(
    skippedWords({ name: 'ease', reason: tooLarge }, { rows: [{ id: 'slim' }] }),
    skippedWords({ name: 'ease', reason: tooLarge }, { rows: [] }),
    skippedWords({ name: 'ease', reason: { ...tooLarge, asked: 30_000 } }, { rows: [] }),
    skippedWords(
      { name: 'all', reason: { code: 'error', message: 'too few training users to hold any back' } },
      { rows: [] },
    ),
  );
}

function evaluations(): void {
  heading('An evaluation');
  const check = (
    pValues: Partial<Record<Statistic, number>>,
    means: Partial<Record<Statistic, number>> = {},
  ) =>
    ({
      count: 100,
      observed: { users: 50, items: 100, edges: 400 },
      draws: Object.fromEntries(
        (['users', 'items', 'edges'] as const).map((s) => [
          s,
          { mean: means[s] ?? 500, low: 0, high: 1, pValue: pValues[s] ?? 0.5 },
        ]),
      ),
      degrees: { users: [], items: [] },
    }) as unknown as PredictiveCheck;
  say(
    surpriseWords(check({}), names, false),
    surpriseWords(check({ items: 0.02 }), names, false),
    surpriseWords(check({ items: 0.02 }, { items: 10 }), names, false),
    surpriseWords(check({ users: 0, items: 0, edges: 0 }, { users: 2 }), names, true),
    intervalWords(check({}), names),
    ...[{ calibration: { replicas: 5 } }, { internal: { parts: { users: 4, items: 4 } } }].map((more) =>
      intervalWords({ ...check({}), ...more } as unknown as PredictiveCheck, names),
    ),
  );
  for (const reason of ['no-draws', 'edges-held-out', 'ranking-model'] as const)
    say(noPredictiveCheck(reason));
  const left = (edges: number, users: number, method: 'pq' | 'edges'): Evaluation =>
    ({
      dropped: { foldIn: { edges, users }, ranking: { edges, users } },
      method,
      predictive: check({}),
      drawsGiven: 'unconditional',
      names,
    }) as unknown as Evaluation;
  say(rankedDefinition(names), tableEvaluationDefinition(names));
  say(leftOutWords(left(0, 0, 'pq')), leftOutWords(left(1, 1, 'pq')), leftOutWords(left(1204, 13, 'edges')));
}

function engines(): void {
  heading('Engines');
  for (const code of [
    'asked',
    'only-one',
    'little-work',
    'gpu',
    'no-gpu',
    'software-gpu',
    'gpu-failed',
  ] as const) {
    say(engineWords({ code, detail: 'Test Card' }));
  }
  say(engineWords({ code: 'gpu-failed', detail: 'lost', iteration: 35 }));
}

function dictionary(): void {
  heading('Figures');
  for (const s of ['users', 'items', 'edges', 'total', 'sigmaUsers', 'sigmaItems'] as const) {
    say(`${statisticLabel(s, names)} | ${statisticPhrase(s, names)}`);
  }
  for (const m of [
    'recall',
    'ndcg',
    'recallUnpopular',
    'ndcgUnpopular',
    'hitRate',
    'mrr',
    'map',
    'coverage',
  ] as const) {
    say(`${metricLabel(m, 20)} | ${metricPhrase(m, 20, names)}`);
  }
  say(describeError('items', -0.031), describeError('sigmaItems', 0.0521), describeError('items', 0.0001));
  const drawn = { n: 20, depth: 1000, drawn: true, corrected: true, ranked: 'split' } as const;
  heading('Definitions');
  const terms = studyTerms({ names, ...drawn });
  const meanings = [
    studyTerms({ names: USERS_AND_ITEMS, ...drawn }).user,
    ...Object.values(terms),
    ...(['all-items', 'new-items'] as const).map(
      (ranked) => studyTerms({ names, ...drawn, ranked }).candidates,
    ),
  ];
  for (const meaning of meanings) say(meaning.replace(/<[^>]+>/g, ''));
  expect(Object.keys(checkTerms(names)).every((id) => id in terms)).toBe(true);
}

describe('every sentence', () => {
  it('is in one list, unchanged', async () => {
    for (const part of [sparsity, reading, studies, evaluations, popularityIsNear, engines, dictionary])
      part();
    const text = `${written.join('\n').trim()}\n`;
    expect(text).not.toMatch(/undefined|NaN|null|\[object|recallUnpopular|ndcg\b/);
    await expect(text).toMatchFileSnapshot('snapshots/words.txt');
  });

  it('uses the names of the sides instead of users and items', () => {
    const own = written.join('\n').split('# A study').slice(1, 5).join('\n');
    const sentences = own.split('\n').filter((line) => !line.startsWith('npx '));
    expect(sentences.filter((line) => /\b(users?|items?)\b/i.test(line))).toEqual([]);
  });
});
