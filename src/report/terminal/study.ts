// A study on the terminal, and as one JSON document.

import { drawsOf, observedOf, type Statistic } from '../../evaluate/predictive.js';
import { USER_METRICS } from '../../metrics/ranking-metrics.js';
import { decideRanking } from '../../study/best-method.js';
import {
  byRecall,
  LEADERBOARD_METRICS,
  type Leaderboard,
  type LeaderboardRow,
  leaderboardFigure,
} from '../../study/leaderboard.js';
import { checkedFits, chosenFits, predictingFits, type StudyResults } from '../../study/results.js';
import { type Interval, shownStatistics } from '../../study/verdict.js';
import { metricLabel, statisticLabel } from '../../text/figures.js';
import { fixed, short } from '../../text/numbers.js';
import { many, present } from '../../text/phrases.js';
import { safeJson } from '../../text/untrusted.js';
import { recommendSteps } from '../words/advice.js';
import { rankerAges } from '../words/blend.js';
import { countWords, featureChoiceWords } from '../words/fit.js';
import { methodTitle, shortName, skippedWords } from '../words/methods.js';
import { correctedWords, predictionQuestion, statisticValue } from '../words/prediction.js';
import { leftWords, RANKING_QUESTION } from '../words/ranking.js';
import { autoPriorWords } from '../words/side-prior.js';
import { sparsityWords } from '../words/sparsity.js';
import { type StudyVerdict, studyVerdicts } from '../words/study.js';
import { givenListsWords } from '../words/table-evaluation.js';
import { paragraphs, textTable, wrap, wrapAll, wrapLines } from './text-table.js';

/** The text of results.json, the same from the command line and from the page. */
export function resultsJson(results: StudyResults): string {
  return `${safeJson(JSON.stringify(studyDocument(results), null, 1))}\n`;
}

/**
 * The results, and the JSON documents of the other commands for the first split and the shown K: split, fit,
 * predictive and recommendation by model and method.
 */
export function studyDocument(results: StudyResults): object {
  const run = results.runs[0];
  const fits = chosenFits(results);
  const checked = checkedFits(fits);
  // Lists for readers of the report: large, and `graphex features` gives them to programs.
  const { atlas: _, ...numbers } = results;
  return {
    ...numbers,
    check: {
      ...results.check,
      verdict: { ...results.check.verdict, text: sparsityWords(results.check).text },
    },
    verdicts: studyVerdicts(results),
    split: run.split,
    fit: Object.fromEntries(fits.map(({ predictive: _, ...fit }) => [fit.model, fit])),
    predictive:
      checked.length > 0
        ? Object.fromEntries(checked.map(({ model, predictive }) => [model, predictive]))
        : null,
    recommendation: Object.fromEntries(
      run.leaderboard.rows
        .filter((row) => row.model === null || row.features === results.chosen.features)
        .flatMap((row) => [row.model ?? row.id, ...row.also].map((name) => [name, recommendationOf(row)])),
    ),
  };
}

function recommendationOf(row: LeaderboardRow): object {
  return {
    ...Object.fromEntries(
      LEADERBOARD_METRICS.map((metric) => [metric, leaderboardFigure(row, metric)?.mean ?? null]),
    ),
    ...Object.fromEntries(USER_METRICS.map((metric) => [metric, row.all[metric].mean])),
    coverage: row.all.coverage,
    users: row.all.users,
  };
}

/** The study in a screenful; `reading` says how its data were understood. */
export function describeStudy(results: StudyResults, reading: string): string {
  const { check, receipt, runs, chosen } = results;
  const { names } = check;
  const verdicts = studyVerdicts(results);
  const { leaderboard } = runs[0];
  const cell = (row: LeaderboardRow, metric: (typeof LEADERBOARD_METRICS)[number]) => {
    const figure = leaderboardFigure(row, metric);
    return figure ? fixed(figure.mean, 3) : '–';
  };
  const table = textTable([
    ['', ...LEADERBOARD_METRICS.map((metric) => metricLabel(metric, leaderboard.n))],
    ...byRecall(leaderboard).map((row) => [
      methodTitle(row, leaderboard, names),
      ...LEADERBOARD_METRICS.map((metric) => cell(row, metric)),
    ]),
  ]);
  const steps = recommendSteps(decideRanking(results), results);
  return paragraphs([
    present([
      `${receipt.origin?.source ?? 'graph'}: ${many(check.users, names.users)} × ${many(check.items, names.items)}, ${many(check.edges, 'edge')}`,
      wrapLines(reading),
      chosen.byEvidence && wrap(featureChoiceWords(chosen.byEvidence)),
    ]).join('\n'),
    wrapAll([
      `Is it sparse?  ${verdicts.sparsity.headline}.`,
      [...verdicts.sparsity.details, verdicts.sparsity.text].join(' '),
      autoPriorWords(results).join(' ') || undefined,
      runs[0].counts && countWords(runs[0].counts, names),
    ]),
    verdicts.prediction && describePredictions(verdicts.prediction, results),
    [
      wrap(`${RANKING_QUESTION}  ${verdicts.ranking.headline}.`),
      table,
      wrapAll([
        [verdicts.ranking.text, ...verdicts.ranking.details].join(' '),
        leftWords(results, names),
        ...rankerAges(runs[0], names),
        ...givenListsWords(results),
        ...leaderboard.skipped.map((skipped) => skippedWords(skipped, leaderboard)),
      ]),
    ].join('\n'),
    runs.length > 1 && describeRepeats(results),
    steps.map(({ text, command }) => `${wrap(text)}\n  ${command}`).join('\n'),
    `${short(receipt.seconds)} s in all.`,
  ]);
}

function describePredictions(verdict: StudyVerdict, results: StudyResults): string {
  const fits = predictingFits(chosenFits(results));
  const interval = (name: Statistic, { low, high }: Interval) =>
    `${statisticValue(name, low)}…${statisticValue(name, high)}`;
  const table = textTable([
    [
      'test part',
      'test',
      ...fits.flatMap((fit) =>
        present([shortName(fit), '90 % interval', fit.predictive.calibration && 'corrected']),
      ),
    ],
    ...shownStatistics(fits).map((name) => [
      statisticLabel(name, results.check.names),
      statisticValue(name, observedOf(fits[0].predictive, name)),
      ...fits.flatMap((fit) => {
        const drawn = drawsOf(fit.predictive, name);
        const corrected = fit.predictive.calibration?.statistics[name];
        return present([
          statisticValue(name, drawn.mean),
          interval(name, drawn),
          fit.predictive.calibration && (corrected ? interval(name, corrected) : '–'),
        ]);
      }),
    ]),
  ]);
  return [
    wrap(`${predictionQuestion(results)}  ${verdict.headline}.`),
    table,
    wrap([verdict.text, ...correctedWords(fits)].join(' ')),
  ].join('\n');
}

function byMeanRecall({ rows }: Leaderboard, { ranking }: StudyResults['summary']): LeaderboardRow[] {
  const recall = (row: LeaderboardRow) => ranking[row.id]?.recall?.mean ?? 0;
  return [...rows].sort((a, b) => recall(b) - recall(a));
}

function describeRepeats({ summary, runs, check }: StudyResults): string {
  const { leaderboard } = runs[0];
  return textTable([
    [
      `mean (95 % interval) over ${runs.length} splits`,
      ...LEADERBOARD_METRICS.map((metric) => metricLabel(metric, leaderboard.n)),
    ],
    ...byMeanRecall(leaderboard, summary).map((row) => [
      methodTitle(row, leaderboard, check.names),
      ...LEADERBOARD_METRICS.map((metric) => {
        const s = summary.ranking[row.id]?.[metric];
        return s ? `${fixed(s.mean, 3)} (${fixed(s.low ?? s.mean, 3)}…${fixed(s.high ?? s.mean, 3)})` : '–';
      }),
    ]),
  ]);
}
