// Who recommends best, in words.

import {
  type Comparison,
  LADDER_METRICS,
  type LadderMetric,
  type LadderRow,
  ladderFigure,
} from '../../study/ladder.js';
import type { StudyResults, StudyRun } from '../../study/results.js';
import { capital, list, signed, TOO_LITTLE, tooLittle } from './phrases.js';
import type { StudyVerdicts } from './study.js';

export const METRIC_WORDS = (n: number): Readonly<Record<LadderMetric, string>> => ({
  recall: `recall@${n}`,
  ndcg: 'nDCG',
  recallUnpopular: `recall@${n} without popular items`,
  ndcgUnpopular: 'nDCG without popular items',
});

/** One metric's duel: the best of ours against the best baseline, and whether the difference is more than chance. */
interface Duel {
  readonly metric: LadderMetric;
  readonly ours: LadderRow;
  readonly baseline: LadderRow;
  readonly winner: 'model' | 'baseline' | 'tie';
  readonly text: string;
  readonly interval: string;
}

function duel({ ladder }: StudyRun, metric: LadderMetric): Duel | undefined {
  const value = (row: LadderRow) => ladderFigure(row, metric)?.mean ?? 0;
  const best = (kinds: readonly LadderRow['kind'][]) =>
    ladder.rows
      .filter((row) => kinds.includes(row.kind))
      .reduce<LadderRow | undefined>((a, b) => (a && value(a) >= value(b) ? a : b), undefined);
  const ours = best(['model', 'ranker'])!;
  const baseline = best(['baseline']);
  if (!baseline) return undefined;
  const [first, second] = ladder.best[metric] === baseline.id ? [baseline, ours] : [ours, baseline];
  const gap = ladder.comparisons.find((c) => c.metric === metric && c.row === second.id && c.to === first.id);
  if (!gap) return undefined;
  const sure = gap.high < 0;
  const word = METRIC_WORDS(ladder.n)[metric];
  return {
    metric,
    ours,
    baseline,
    winner: !sure ? 'tie' : first === baseline ? 'baseline' : 'model',
    text: `By ${word}, ${named(first)} comes first with ${value(first).toFixed(3)}; ${named(second)} has ${value(second).toFixed(3)}${
      sure ? '' : ', which may be chance'
    }.`,
    interval: `In ${word}, ${named(first)} minus ${named(second)} is ${(-gap.difference).toFixed(3)}, 95 % interval ${signed(-gap.high)} to ${signed(-gap.low)} on the same users.`,
  };
}

export function rankingVerdict(results: StudyResults): StudyVerdicts['ranking'] {
  const verdict = rankingByFigures(results);
  const reason = tooLittle(results.runs[0], results.runs[0].ladder.rows[0]?.all.users);
  if (!reason) return verdict;
  return { ...verdict, winner: null, headline: TOO_LITTLE, text: `${reason} ${verdict.text}` };
}

function rankingByFigures(results: StudyResults): StudyVerdicts['ranking'] {
  const run = results.runs[0];
  const { ladder } = run;
  const words = METRIC_WORDS(ladder.n);
  const details: string[] = [];
  const sparseDense = sparseAgainstDense(results);
  if (sparseDense) details.push(sparseDense);
  details.push(...ceilingShare(run));
  const recall = duel(run, 'recall');
  const ndcg = duel(run, 'ndcg');
  if (!recall || !ndcg) {
    const best = ladder.rows.find((row) => row.id === ladder.best.recall)!;
    return {
      winner: null,
      headline: ranksBest(best, results),
      text: `Its ${words.recall} is ${best.all.recall.mean.toFixed(3)}. No baseline was fitted, so nothing says whether this is good.`,
      details,
    };
  }
  const winner = recall.winner === ndcg.winner ? recall.winner : splitDecision(recall.winner, ndcg.winner);
  const also = ndcg.winner === recall.winner && ndcg.baseline === recall.baseline ? [] : [ndcg.text];
  for (const metric of ['recallUnpopular', 'ndcgUnpopular'] as const) {
    const other = duel(run, metric);
    if (other && other.winner !== winner) details.unshift(other.text);
  }
  details.unshift(recall.interval, ndcg.interval);
  if (results.runs.length > 1) details.push(overSplits(results, recall));
  if (winner === 'baseline') {
    details.push('The sparse and dense models are fitted to explain the data, not to rank.');
  }
  return {
    winner,
    headline: rankingHeadline(recall, ndcg, words, results),
    text: [recall.text, ...also].join(' '),
    details,
  };
}

/** A tie and a win make a win; a win each, a tie. */
function splitDecision(a: Duel['winner'], b: Duel['winner']): Duel['winner'] {
  if (a === 'tie') return b;
  return b === 'tie' ? a : 'tie';
}

function rankingHeadline(
  recall: Duel,
  ndcg: Duel,
  words: Readonly<Record<LadderMetric, string>>,
  results: StudyResults,
): string {
  const name = (d: Duel) => named(d.winner === 'baseline' ? d.baseline : d.ours);
  if (recall.winner === ndcg.winner) {
    if (recall.winner === 'tie') {
      return `${start(named(recall.ours))} and ${named(recall.baseline)} rank alike`;
    }
    return recall.winner === 'baseline'
      ? `A baseline wins: ${recall.baseline.title}`
      : ranksBest(recall.ours, results);
  }
  const [first, second] = recall.winner === 'tie' ? [ndcg, recall] : [recall, ndcg];
  const rest = second.winner === 'tie' ? 'a tie' : name(second);
  return `${start(name(first))} by ${words[first.metric]}, ${rest} by ${words[second.metric]}`;
}

/** Sparse and dense share the honour where their difference may be chance. */
function ranksBest(row: LadderRow, { runs, chosen }: StudyResults): string {
  const gap = row.kind === 'model' && findComparison(runs[0].ladder.comparisons, chosen.features);
  return gap && gap.low <= 0 && gap.high >= 0
    ? 'The sparse and the dense model rank best, alike'
    : `${start(named(row))} ranks best`;
}

function ceilingShare({ ladder }: StudyRun): string[] {
  const fair = ladder.rows.find((row) => row.id === 'ceiling-fold-in');
  const model = ladder.rows.find((row) => row.kind === 'model');
  if (!fair || !model) return [];
  const shares = LADDER_METRICS.flatMap((metric) => {
    const top = ladderFigure(fair, metric)?.mean;
    const own = ladderFigure(model, metric)?.mean;
    return top && own !== undefined ? [`${(own / top).toFixed(3)} in ${METRIC_WORDS(ladder.n)[metric]}`] : [];
  });
  return [`Of the best that is possible on these simulated data, ${named(model)} reaches ${list(shares)}.`];
}

/** Ours take an article, baselines are names. */
function named(row: LadderRow): string {
  return row.kind === 'baseline' ? row.title : `the ${row.title}`;
}

/** The names of methods keep their own letters: iALS. */
function start(name: string): string {
  return name.startsWith('the ') ? capital(name) : name;
}

function overSplits({ summary, runs }: StudyResults, { ours, baseline, metric }: Duel): string {
  const figure = (row: LadderRow) => {
    const s = summary.ranking[row.id]?.[metric];
    return s ? `${s.mean.toFixed(3)} ± ${(s.spread ?? 0).toFixed(3)} for ${named(row)}` : '';
  };
  const word = METRIC_WORDS(runs[0].ladder.n)[metric];
  return `Over ${runs.length} splits, mean and spread of ${word} are ${figure(ours)} and ${figure(baseline)}.`;
}

function sparseAgainstDense({ runs, chosen }: StudyResults): string | undefined {
  const { ladder } = runs[0];
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
