// Who predicts the test set, in words.

import { isIndex, STATISTICS, type Statistic } from '../../evaluate/predictive.js';
import type { ModelKind } from '../../study/options.js';
import { type CheckedFit, checkedFits, predictionError, type StudyResults } from '../../study/results.js';
import { grouped, list, TOO_LITTLE, tooLittle } from './phrases.js';
import type { StudyVerdicts } from './study.js';

/** Statistics in words, for sentences about them. */
const STATISTIC_WORDS: Readonly<Record<Statistic, string>> = {
  users: 'number of users',
  items: 'number of items',
  edges: 'number of edges',
  total: 'sum of counts',
  sigmaUsers: 'tail index of the users',
  sigmaItems: 'tail index of the items',
};

/** Errors that differ by less than this, relatively (for σ̂: absolutely), count as alike. */
const ALIKE = 0.01;

/** The statistics that all fits were checked by: the sum of counts only where it is not the number of edges. */
export function shownStatistics(fits: readonly CheckedFit[]): Statistic[] {
  return STATISTICS.filter((name) => fits.every((fit) => fit.predictive.observed[name] !== undefined));
}

type PredictionVerdict = NonNullable<StudyVerdicts['prediction']>;

/** Null where no draws were asked for. */
export function predictionVerdict(results: StudyResults): PredictionVerdict | null {
  if (checkedFits(results.runs[0].fits).length === 0) return null;
  const verdict = predictionByFigures(results);
  const reason = tooLittle(results.runs[0]);
  if (!reason) return verdict;
  return { ...verdict, winner: null, headline: TOO_LITTLE, text: `${reason} ${verdict.text}` };
}

function predictionByFigures(results: StudyResults): PredictionVerdict {
  const { features } = results.chosen;
  const statistics = shownStatistics(results.runs.flatMap((run) => checkedFits(run.fits)));
  const fits = results.runs.map((run) => {
    const shown = checkedFits(run.fits).filter((f) => f.features === features);
    return {
      sparse: shown.find((f) => f.model === 'sparse'),
      dense: shown.find((f) => f.model === 'dense'),
    };
  });
  const error = (kind: ModelKind, statistic: Statistic) =>
    mean(fits.map((pair) => predictionError(pair[kind]!, statistic)));
  const [first] = fits;
  if (!first?.sparse || !first.dense) {
    const only: ModelKind = first?.sparse ? 'sparse' : 'dense';
    const worst = statistics.reduce((a, b) => (Math.abs(error(only, b)) > Math.abs(error(only, a)) ? b : a));
    return {
      winner: null,
      headline: `Off by at most ${sizeOfError(worst, error(only, worst))}`,
      text: `The ${only} model’s largest error is in the ${STATISTIC_WORDS[worst]}: ${describeError(worst, error(only, worst))}.`,
      details: [coverage(first![only]!, statistics)],
    };
  }
  // Positive: how much closer the sparse model comes.
  const gains = statistics
    .map((statistic) => ({
      statistic,
      gain: Math.abs(error('dense', statistic)) - Math.abs(error('sparse', statistic)),
    }))
    .sort((a, b) => b.gain - a.gain);
  const sparseBetter = gains.filter(({ gain }) => gain > ALIKE);
  const denseBetter = gains.filter(({ gain }) => gain < -ALIKE).reverse();
  const sum = gains.reduce((total, { gain }) => total + gain, 0);
  const alike = sparseBetter.length + denseBetter.length === 0 || Math.abs(sum) <= ALIKE;
  const winner = alike ? 'alike' : sum > 0 ? 'sparse' : 'dense';
  const closer = (kind: ModelKind, list_: typeof gains) =>
    list_.length === 0
      ? []
      : [
          `The ${kind} model is closer in the ${list(
            list_.map(({ statistic }) => {
              const other = kind === 'sparse' ? 'dense' : 'sparse';
              return `${STATISTIC_WORDS[statistic]} (${describeError(statistic, error(kind, statistic))}; ${other}: ${describeError(statistic, error(other, statistic))})`;
            }),
          )}.`,
        ];
  const telling = (winner === 'dense' ? denseBetter : sparseBetter)[0];
  const details = [
    ...closer('sparse', sparseBetter),
    ...closer('dense', denseBetter),
    coverage(first.sparse, statistics),
    coverage(first.dense, statistics),
  ];
  // What even the better of the two misses by far.
  const missed = (s: Statistic) => Math.min(Math.abs(error('sparse', s)), Math.abs(error('dense', s)));
  const worst = statistics.reduce((a, b) => (missed(b) / POOR(b) > missed(a) / POOR(a) ? b : a));
  if (missed(worst) > POOR(worst)) {
    if (results.check.multigraph) details.unshift(OVERDISPERSED);
    return {
      winner,
      headline: alike
        ? 'Neither model predicts the test set well'
        : `Neither predicts well; ${winner} comes closer`,
      text: illustration(worst, first.sparse, first.dense),
      details,
    };
  }
  return {
    winner,
    headline: alike ? 'Sparse and dense predict alike' : `The ${winner} model predicts better`,
    text: telling
      ? `${illustration(telling.statistic, first.sparse, first.dense)}${
          alike ? ' Over all figures the two come out even.' : ''
        }`
      : 'No figure of the test set is predicted clearly better by one of them.',
    details,
  };
}

/** An error beyond this is no prediction: a fifth of a count, a tenth of tail index. */
const POOR = (statistic: Statistic) => (isIndex(statistic) ? 0.1 : 0.2);

const OVERDISPERSED =
  'Within a pair the model lets counts vary as in a Poisson law. Where a few pairs hold most of the counts it spreads them over far too many pairs; if that is so here, ask only whether a pair is there, with --simple.';

/** 'The test part has 1,298 items; the sparse model expects 1,293, the dense one 1,192.' */
function illustration(statistic: Statistic, sparse: CheckedFit, dense: CheckedFit): string {
  const show = (value: number) => (isIndex(statistic) ? value.toFixed(3) : grouped(value));
  const observed = show(sparse.predictive.observed[statistic]!);
  const drawn = (fit: CheckedFit) => show(fit.predictive.draws[statistic]!.mean);
  return `The ${STATISTIC_WORDS[statistic]} in the test part is ${observed}; the sparse model expects ${drawn(sparse)}, the dense one ${drawn(dense)}.`;
}

function coverage(fit: CheckedFit, statistics: readonly Statistic[]): string {
  const { draws, calibration } = fit.predictive;
  const said = `The 90 % intervals of the ${fit.model} model’s draws contain`;
  const drawn = containment(fit, statistics, (s) => draws[s]!);
  if (!calibration) return `${said} ${drawn}.`;
  return `${said} ${drawn}; corrected, ${containment(fit, statistics, (s) => calibration.statistics[s] ?? draws[s]!)}.`;
}

function containment(
  { predictive }: CheckedFit,
  statistics: readonly Statistic[],
  interval: (statistic: Statistic) => { readonly low: number; readonly high: number },
): string {
  const missed = statistics.filter((s) => {
    const { low, high } = interval(s);
    return predictive.observed[s]! < low || predictive.observed[s]! > high;
  });
  if (missed.length === 0) return 'every figure of the test set';
  if (missed.length === statistics.length) return 'no figure of the test set';
  return `${statistics.length - missed.length} of ${statistics.length} figures, all but the ${list(missed.map((s) => STATISTIC_WORDS[s]))}`;
}

/** '3.1 % too low', '0.052 too high'. */
export function describeError(statistic: Statistic, error: number): string {
  const size = sizeOfError(statistic, error);
  if (Math.abs(error) < 5e-4) return 'right on';
  return `${size} too ${error < 0 ? 'low' : 'high'}`;
}

function sizeOfError(statistic: Statistic, error: number): string {
  return isIndex(statistic) ? Math.abs(error).toFixed(3) : `${(100 * Math.abs(error)).toFixed(1)} %`;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
