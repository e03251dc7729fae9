// A study on the terminal, and as one JSON document.

import { isIndex, type Statistic } from '../evaluate/predictive.js';
import { shownStatistics } from '../report/words/prediction.js';
import { studyVerdicts } from '../report/words/study.js';
import { LADDER_METRICS, type LadderRow, ladderFigure } from '../study/ladder.js';
import { checkedFits, type StudyFit, type StudyResults } from '../study/results.js';
import { STATISTIC_NAMES } from './statistic-names.js';
import { count, short, textTable, wrap } from './text-table.js';

/**
 * The results with what the other commands print beside them, for the first split and the shown K: split, fit,
 * predictive and recommendation by model and method.
 */
export function studyDocument(results: StudyResults): object {
  const run = results.runs[0];
  const fits = shownFits(results);
  const checked = checkedFits(fits);
  return {
    ...results,
    verdicts: studyVerdicts(results),
    split: run.split,
    fit: Object.fromEntries(fits.map(({ predictive: _, ...fit }) => [fit.model, fit])),
    predictive:
      checked.length > 0
        ? Object.fromEntries(checked.map(({ model, predictive }) => [model, predictive]))
        : null,
    recommendation: Object.fromEntries(
      run.ladder.rows
        .filter((row) => row.model === null || row.features === results.chosen.features)
        .map((row) => [row.model ?? row.id, recommendationOf(row)]),
    ),
  };
}

function recommendationOf(row: LadderRow): object {
  return {
    ...Object.fromEntries(LADDER_METRICS.map((metric) => [metric, ladderFigure(row, metric)?.mean ?? null])),
    hitRate: row.all.hitRate.mean,
    mrr: row.all.mrr.mean,
    map: row.all.map.mean,
    coverage: row.all.coverage,
    users: row.all.users,
  };
}

function shownFits({ runs, chosen }: StudyResults): StudyFit[] {
  return runs[0].fits.filter((fit) => fit.features === chosen.features);
}

export function describeStudy(results: StudyResults): string {
  const { check, receipt, runs } = results;
  const verdicts = studyVerdicts(results);
  const { ladder } = runs[0];
  const rows = [...ladder.rows].sort((a, b) => b.all.recall.mean - a.all.recall.mean);
  const cell = (row: LadderRow, metric: (typeof LADDER_METRICS)[number]) =>
    ladderFigure(row, metric)?.mean.toFixed(3) ?? '–';
  return [
    `${receipt.origin?.source ?? 'graph'}: ${count(check.users)} users × ${count(check.items)} items, ${count(check.edges)} edges`,
    ...(receipt.origin?.rows ? [wrap(receipt.origin.understood)] : []),
    '',
    `Is it sparse?  ${verdicts.sparsity.headline}`,
    wrap([...verdicts.sparsity.details, verdicts.sparsity.text].join(' ')),
    '',
    ...(verdicts.prediction
      ? [`Who predicts?  ${verdicts.prediction.headline}`, describePredictions(results), '']
      : []),
    `Who recommends best?  ${verdicts.ranking.headline}`,
    textTable([
      ['', `recall@${ladder.n}`, 'nDCG', 'recall unpop.', 'nDCG unpop.'],
      ...rows.map((row) => [row.title, ...LADDER_METRICS.map((metric) => cell(row, metric))]),
    ]),
    wrap([verdicts.ranking.text, ...verdicts.ranking.details].join(' ')),
    ...ladder.skipped.map(({ title, reason }) => wrap(`Not fitted: ${title} (${reason}).`)),
    ...(runs.length > 1 ? ['', describeRepeats(results)] : []),
    '',
    `${short(Number(receipt.seconds.toPrecision(3)))} s in all.`,
  ].join('\n');
}

function describePredictions(results: StudyResults): string {
  const fits = checkedFits(shownFits(results));
  const figure = (name: Statistic, value: number) =>
    isIndex(name) ? value.toFixed(3) : count(Math.round(value));
  return textTable([
    [
      'test part',
      'test',
      ...fits.flatMap((fit) => [
        fit.model,
        '90 % interval',
        ...(fit.predictive.calibration ? ['corrected'] : []),
      ]),
    ],
    ...shownStatistics(fits).map((name) => [
      STATISTIC_NAMES[name],
      figure(name, fits[0]!.predictive.observed[name]!),
      ...fits.flatMap((fit) => {
        const { mean, low, high } = fit.predictive.draws[name]!;
        const corrected = fit.predictive.calibration?.statistics[name];
        const interval = (i: { readonly low: number; readonly high: number }) =>
          `${figure(name, i.low)}…${figure(name, i.high)}`;
        return [
          figure(name, mean),
          interval({ low, high }),
          ...(fit.predictive.calibration ? [corrected ? interval(corrected) : '–'] : []),
        ];
      }),
    ]),
  ]);
}

function describeRepeats({ summary, runs }: StudyResults): string {
  const rows = [...runs[0].ladder.rows].sort((a, b) => b.all.recall.mean - a.all.recall.mean);
  return textTable([
    [`mean ± spread over ${runs.length} splits`, ...LADDER_METRICS],
    ...rows.map((row) => [
      row.title,
      ...LADDER_METRICS.map((metric) => {
        const s = summary.ranking[row.id]?.[metric];
        return s ? `${s.mean.toFixed(3)} ± ${(s.spread ?? 0).toFixed(3)}` : '–';
      }),
    ]),
  ]);
}
