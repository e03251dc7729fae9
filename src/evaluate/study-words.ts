// A study's numbers in plain words. Every sentence here follows from a number in the results; where a method of ours
// loses, it says so.

import type { Judgement } from '../sparsity/verdict.js';
import { STATISTICS, type Statistic } from './predictive.js';
import { type Comparison, type LadderMetric, type LadderRow, ladderFigure } from './study-ladder.js';
import type { ModelKind } from './study-options.js';
import type { StudyFit, StudyResults } from './study-results.js';

export interface StudyVerdict {
  /** A few words. */
  readonly headline: string;
  /** A few sentences. */
  readonly text: string;
}

export interface StudyVerdicts {
  readonly sparsity: StudyVerdict;
  readonly prediction: StudyVerdict & { readonly winner: ModelKind | 'alike' | null };
  readonly ranking: StudyVerdict & { readonly winner: 'model' | 'baseline' | 'tie' | null };
  /** What to do next, most useful first. */
  readonly next: readonly NextStep[];
}

export interface NextStep {
  readonly text: string;
  readonly command: string | null;
}

type Numbers = Omit<StudyResults, 'verdicts'>;

export function studyVerdicts(results: Numbers): StudyVerdicts {
  const prediction = predictionVerdict(results);
  const ranking = rankingVerdict(results);
  return {
    sparsity: sparsityVerdict(results),
    prediction,
    ranking,
    next: nextSteps(results, prediction.winner, ranking.winner),
  };
}

function sparsityVerdict({ check, evidence: all, chosen }: Numbers): StudyVerdict {
  const { users, items } = check.verdict;
  const evidence = all.find(({ features }) => features === chosen.features);
  const headline: Record<`${Judgement} ${Judgement}`, string> = {
    'sparse sparse': 'Sparse on both sides',
    'dense dense': 'Dense on both sides',
    'unclear unclear': 'The degrees cannot tell',
    'sparse dense': 'Sparse users, dense items',
    'dense sparse': 'Dense users, sparse items',
    'sparse unclear': 'Sparse users; items unclear',
    'unclear sparse': 'Sparse items; users unclear',
    'dense unclear': 'Dense users; items unclear',
    'unclear dense': 'Dense items; users unclear',
  };
  const parts = [check.verdict.text];
  if (evidence) {
    const { difference } = evidence;
    const nats = grouped(Math.abs(difference));
    parts.push(
      difference > 0
        ? `The fits agree with sparsity: with its sizes learned, the sparse model’s bound on the evidence is ${nats} nats above that of a dense one.`
        : `The fits speak for density: with sizes learned on both, the dense model’s bound on the evidence is ${nats} nats above the sparse one’s.`,
    );
  }
  return { headline: headline[`${users} ${items}`], text: parts.join(' ') };
}

/** Statistics in words, for sentences about them. */
export const STATISTIC_WORDS: Readonly<Record<Statistic, string>> = {
  users: 'number of users',
  items: 'number of items',
  edges: 'number of edges',
  total: 'sum of counts',
  sigmaUsers: 'tail index of the users',
  sigmaItems: 'tail index of the items',
};

const isIndex = (statistic: Statistic) => statistic === 'sigmaUsers' || statistic === 'sigmaItems';
/** Errors that differ by less than this, relatively (for σ̂: absolutely), count as alike. */
const ALIKE = 0.01;

/** How far the draws' mean lies from the test set: relatively for counts, absolutely for σ̂. */
export function predictionError(fit: StudyFit, statistic: Statistic): number {
  const observed = fit.predictive.observed[statistic]!;
  const difference = fit.predictive.draws[statistic]!.mean - observed;
  return isIndex(statistic) ? difference : difference / observed;
}

/** The statistics that all fits were checked by: the sum of counts only where it is not the number of edges. */
export function shownStatistics(fits: readonly StudyFit[]): Statistic[] {
  return STATISTICS.filter((name) => fits.every((fit) => fit.predictive.observed[name] !== undefined));
}

function predictionVerdict(results: Numbers): StudyVerdicts['prediction'] {
  const { features } = results.chosen;
  const statistics = shownStatistics(results.runs.flatMap((run) => run.fits));
  const fits = results.runs.map((run) => ({
    sparse: run.fits.find((f) => f.model === 'sparse' && f.features === features),
    dense: run.fits.find((f) => f.model === 'dense' && f.features === features),
  }));
  const error = (kind: ModelKind, statistic: Statistic) =>
    mean(fits.map((pair) => predictionError(pair[kind]!, statistic)));
  const [first] = fits;
  if (!first?.sparse || !first.dense) {
    const only: ModelKind = first?.sparse ? 'sparse' : 'dense';
    const worst = statistics.reduce((a, b) => (Math.abs(error(only, b)) > Math.abs(error(only, a)) ? b : a));
    return {
      winner: null,
      headline: `The ${only} model misses by at most ${sizeOfError(worst, error(only, worst))}`,
      text: `${coverage(first![only]!, statistics)} Its largest error is in the ${STATISTIC_WORDS[worst]}: ${describeError(worst, error(only, worst))}.`,
    };
  }
  // Positive: how much closer the sparse model comes.
  const gains = statistics.map((statistic) => ({
    statistic,
    gain: Math.abs(error('dense', statistic)) - Math.abs(error('sparse', statistic)),
  }));
  const better = gains.filter(({ gain }) => gain > ALIKE).sort((a, b) => b.gain - a.gain);
  const worse = gains.filter(({ gain }) => gain < -ALIKE).sort((a, b) => a.gain - b.gain);
  const sum = gains.reduce((total, { gain }) => total + gain, 0);
  const winner =
    better.length + worse.length === 0 || Math.abs(sum) <= ALIKE ? 'alike' : sum > 0 ? 'sparse' : 'dense';
  const sentence = ({ statistic }: { statistic: Statistic }) =>
    `${STATISTIC_WORDS[statistic]}: sparse ${describeError(statistic, error('sparse', statistic))}, dense ${describeError(statistic, error('dense', statistic))}`;
  const parts: string[] = [];
  if (winner === 'alike') {
    parts.push('Taken over all figures, sparse and dense predict the test set about equally well.');
  } else {
    parts.push(`The ${winner} model predicts the test set better.`);
  }
  if (better.length > 0) parts.push(`Sparse is closer in ${list(better.map(sentence))}.`);
  if (worse.length > 0) parts.push(`Dense is closer in ${list(worse.map(sentence))}.`);
  parts.push(coverage(first.sparse, statistics), coverage(first.dense, statistics));
  return {
    winner,
    headline: winner === 'alike' ? 'Sparse and dense predict alike' : `The ${winner} model predicts better`,
    text: parts.join(' '),
  };
}

function coverage(fit: StudyFit, statistics: readonly Statistic[]): string {
  const { observed, draws } = fit.predictive;
  const missed = statistics.filter((s) => observed[s]! < draws[s]!.low || observed[s]! > draws[s]!.high);
  const name = `The 90 % intervals of the ${fit.model} model’s draws`;
  if (missed.length === 0) return `${name} contain every figure of the test set.`;
  if (missed.length === statistics.length) return `${name} contain no figure of the test set.`;
  return `${name} contain ${statistics.length - missed.length} of ${statistics.length} figures, all but the ${list(missed.map((s) => STATISTIC_WORDS[s]))}.`;
}

/** '3.1 % too low', '0.052 too high'. */
export function describeError(statistic: Statistic, error: number): string {
  const size = sizeOfError(statistic, error);
  if (Math.abs(error) < (isIndex(statistic) ? 5e-4 : 5e-4)) return 'right on';
  return `${size} too ${error < 0 ? 'low' : 'high'}`;
}

function sizeOfError(statistic: Statistic, error: number): string {
  return isIndex(statistic) ? Math.abs(error).toFixed(3) : `${(100 * Math.abs(error)).toFixed(1)} %`;
}

export const METRIC_WORDS = (n: number): Readonly<Record<LadderMetric, string>> => ({
  recall: `recall@${n}`,
  ndcg: 'nDCG',
  recallUnpopular: `recall@${n} without popular items`,
  ndcgUnpopular: 'nDCG without popular items',
});

function rankingVerdict(results: Numbers): StudyVerdicts['ranking'] {
  const { ladder } = results.runs[0]!;
  const rivals = ladder.rows.filter((row) => row.kind !== 'ceiling');
  const words = METRIC_WORDS(ladder.n);
  const value = (row: LadderRow, metric: LadderMetric) => ladderFigure(row, metric)!.mean.toFixed(3);
  const best = rivals.find((row) => row.id === ladder.best.recall)!;
  const bestOf = (kind: LadderRow['kind']) =>
    rivals
      .filter((row) => row.kind === kind)
      .reduce<LadderRow | undefined>(
        (a, b) => (a && a.all.recall.mean >= b.all.recall.mean ? a : b),
        undefined,
      );
  const model = bestOf('model')!;
  const ranker = bestOf('ranker');
  const ours = ranker && ranker.all.recall.mean > model.all.recall.mean ? ranker : model;
  const baseline = bestOf('baseline');
  const sparseDense = sparseAgainstDense(results);
  const parts: string[] = [];
  let winner: StudyVerdicts['ranking']['winner'] = null;
  let headline: string;
  if (!baseline) {
    headline = `${capital(named(best))} ranks best: ${words.recall} ${value(best, 'recall')}`;
    parts.push('No baseline was fitted, so nothing says whether this is good.');
  } else {
    const rival = best.kind === 'baseline' ? ours : baseline;
    const gap = ladder.comparisons.find(
      (c) => c.metric === 'recall' && c.row === rival.id && c.to === best.id,
    )!;
    const sure = gap.high < 0;
    winner = !sure ? 'tie' : best.kind === 'baseline' ? 'baseline' : 'model';
    const gapText = `${(-gap.difference).toFixed(3)} (95 % interval ${signed(-gap.high)} to ${signed(-gap.low)}, same users)`;
    const sentence = `${capital(named(best))} reaches ${words.recall} ${value(best, 'recall')}, ${named(rival)} ${value(rival, 'recall')}: a difference of ${gapText}.`;
    if (winner === 'tie') {
      headline = `${capital(named(best))} and ${named(rival)} rank alike`;
      parts.push(`No sure winner. ${sentence}`);
    } else if (winner === 'baseline') {
      headline = `A baseline wins: ${best.title}`;
      parts.push(
        `For recommending, ${named(best)} is better here than the models of this study. ${sentence}`,
        'The sparse and dense models are fitted to explain the data, not to rank.',
      );
    } else {
      headline = `${capital(named(best))} ranks best`;
      parts.push(`It is better than every baseline. ${sentence}`);
    }
  }
  const other = (['ndcg', 'recallUnpopular', 'ndcgUnpopular'] as const).filter(
    (metric) => ladder.best[metric] !== undefined && ladder.best[metric] !== best.id,
  );
  for (const metric of other) {
    const row = rivals.find((r) => r.id === ladder.best[metric])!;
    parts.push(`By ${words[metric]} the best is ${named(row)} (${value(row, metric)}).`);
  }
  if (sparseDense) parts.push(sparseDense);
  const fair = ladder.rows.find((row) => row.id === 'ceiling-fold-in');
  if (fair) {
    const share = (metric: LadderMetric) => {
      const top = ladderFigure(fair, metric)?.mean;
      const own = ladderFigure(model, metric)?.mean;
      return top && own !== undefined ? (own / top).toFixed(3) : undefined;
    };
    parts.push(
      `${capital(named(model))} reaches ${share('recall')} of the fair ceiling in ${words.recall} and ${share('ndcg')} in nDCG.`,
    );
  }
  return { winner, headline, text: parts.join(' ') };
}

/** Ours take an article, baselines are names. */
function named(row: LadderRow): string {
  return row.kind === 'baseline' ? row.title : `the ${row.title}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function sparseAgainstDense({ runs, chosen }: Numbers): string | undefined {
  const { ladder } = runs[0]!;
  const comparison = findComparison(ladder.comparisons, chosen.features);
  if (!comparison) return undefined;
  const { difference, low, high } = comparison;
  const size = Math.abs(difference).toFixed(3);
  if (low <= 0 && high >= 0) {
    return `Sparse and dense rank alike (recall differs by ${size}, within chance), as in the paper.`;
  }
  return `The ${difference > 0 ? 'sparse' : 'dense'} model ranks better than the ${difference > 0 ? 'dense' : 'sparse'} one, by ${size} in recall.`;
}

/** recall of sparse − dense at the same K, whichever way round it was computed. */
function findComparison(
  comparisons: readonly Comparison[],
  features: number,
): Pick<Comparison, 'difference' | 'low' | 'high'> | undefined {
  const sparse = `sparse-${features}`;
  const dense = `dense-${features}`;
  const found = comparisons.find((c) => c.metric === 'recall' && c.row === sparse && c.to === dense);
  if (found) return found;
  const turned = comparisons.find((c) => c.metric === 'recall' && c.row === dense && c.to === sparse);
  return turned && { difference: -turned.difference, low: -turned.high, high: -turned.low };
}

function nextSteps(
  results: Numbers,
  prediction: StudyVerdicts['prediction']['winner'],
  ranking: StudyVerdicts['ranking']['winner'],
): NextStep[] {
  const { settings, origin } = results.receipt;
  const steps: NextStep[] = [];
  const add = (text: string, command: string | null = null) => steps.push({ text, command });
  const data = origin?.source ?? 'DATA';
  const kind = prediction === 'dense' ? 'dense' : 'sparse';
  const stopped = results.runs.flatMap((run) => run.fits).filter((fit) => !fit.converged);
  if (stopped.length > 0) {
    add(
      `${stopped.length === 1 ? 'One fit' : `${stopped.length} fits`} had not settled after ${settings.iterations} iterations. Run again with more:`,
      `graphex study ${data} --iterations ${2 * settings.iterations} -o DIR`,
    );
  }
  add(
    `To predict how these data will grow, fit all of them with the ${kind} model:`,
    `graphex fit ${data} -k ${results.chosen.features} --model ${kind} -o model.safetensors`,
  );
  if (ranking === 'baseline') {
    add(
      'To recommend, use the winning baseline, or the fit made for ranking and see whether it is close enough:',
      `graphex fit ${data} --objective ranking -o ranker.safetensors`,
    );
  } else {
    add('To recommend with that model:', 'graphex recommend model.safetensors --user ID -n 20');
  }
  if (settings.features.length === 1) {
    add(
      'Is K right? Compare a few; the bound says which explains the data best:',
      `graphex study ${data} -k 10,30,60 -o DIR`,
    );
  }
  if (settings.repeats === 1) {
    add(
      'One split is one throw of the coins. See how much the figures move over several:',
      `graphex study ${data} --repeats 5 -o DIR`,
    );
  }
  if (results.topics === null) {
    add(
      'To see what the features are about, give the items names:',
      `graphex study ${data} --titles FILE -o DIR`,
    );
  }
  return steps;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function signed(value: number): string {
  return value.toFixed(3).replace('-', '−');
}

function grouped(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

function list(parts: readonly string[]): string {
  if (parts.length < 2) return parts.join('');
  const separator = parts.some((part) => part.includes(',')) ? '; ' : ', ';
  return `${parts.slice(0, -1).join(separator)}${separator === '; ' ? '; and ' : ' and '}${parts.at(-1)}`;
}
