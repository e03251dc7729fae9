// Which method recommends best, in words.

import {
  type Comparison,
  LADDER_METRICS,
  type LadderMetric,
  type LadderRow,
  ladderFigure,
} from '../../study/ladder.js';
import type { StudyResults, StudyRun } from '../../study/results.js';
import { metricPhrase } from '../../text/figures.js';
import { fixed } from '../../text/numbers.js';
import { list } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import { methodPhrase, methodTitle, shortName, startOf } from './methods.js';
import type { StudyVerdicts } from './study.js';
import { TOO_LITTLE, tooLittle } from './too-little.js';

export const RANKING_QUESTION = 'Which method recommends best?';

/** One metric's duel: the best of ours against the best baseline, and whether the difference is more than chance. */
interface Duel {
  readonly metric: LadderMetric;
  readonly ours: LadderRow;
  readonly baseline: LadderRow;
  readonly winner: 'model' | 'baseline' | 'tie';
  readonly text: string;
  readonly interval: string;
}

function duel({ ladder }: StudyRun, metric: LadderMetric, names: SideNames): Duel | undefined {
  const named = (row: LadderRow) => methodPhrase(row, ladder, names);
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
  const word = metricPhrase(metric, ladder.n, names);
  return {
    metric,
    ours,
    baseline,
    winner: !sure ? 'tie' : first === baseline ? 'baseline' : 'model',
    text: `By ${word}, ${named(first)} comes first with ${fixed(value(first), 3)}; ${named(second)} has ${fixed(value(second), 3)}${
      sure ? '' : ', which may be chance'
    }.`,
    interval: `In ${word}, ${named(first)} is ahead of ${named(second)} by ${fixed(-gap.difference, 3)} (95 % interval on the same ${names.users.many}: ${fixed(-gap.high, 3)} to ${fixed(-gap.low, 3)}).`,
  };
}

export function rankingVerdict(results: StudyResults): StudyVerdicts['ranking'] {
  const verdict = rankingByFigures(results);
  const reason = tooLittle(results.runs[0], results.check.names, results.runs[0].ladder.rows[0]?.all.users);
  if (!reason) return verdict;
  return { ...verdict, winner: null, headline: TOO_LITTLE, text: `${reason} ${verdict.text}` };
}

function rankingByFigures(results: StudyResults): StudyVerdicts['ranking'] {
  const run = results.runs[0];
  const { ladder } = run;
  const { names } = results.check;
  const details: string[] = [];
  details.push(...modelsAmongEachOther(results));
  const poor = belowPopularity(run, names);
  details.push(...ceilingShare(run, names));
  const recall = duel(run, 'recall', names);
  const ndcg = duel(run, 'ndcg', names);
  if (!recall || !ndcg) {
    const best = ladder.rows.find((row) => row.id === ladder.best.recall)!;
    return {
      winner: null,
      method: best.id,
      rival: null,
      headline: ranksBest(best, results),
      text: `The best ${metricPhrase('recall', ladder.n, names)} is ${fixed(best.all.recall.mean, 3)}. No baseline was fitted, so nothing says whether this is good.`,
      details,
    };
  }
  const winner = recall.winner === ndcg.winner ? recall.winner : splitDecision(recall.winner, ndcg.winner);
  const also = ndcg.winner === recall.winner && ndcg.baseline === recall.baseline ? [] : [ndcg.text];
  for (const metric of ['recallUnpopular', 'ndcgUnpopular'] as const) {
    const other = duel(run, metric, names);
    if (other && other.winner !== winner) details.unshift(other.text);
  }
  details.unshift(recall.interval, ndcg.interval);
  if (results.runs.length > 1) details.push(overSplits(results, recall));
  if (winner === 'baseline') {
    const kinds = modelRows(run, results.chosen.features).map(shortName);
    const who = kinds.length === 1 ? `${kinds[0]} model is` : `${list(kinds)} models are`;
    details.push(`The ${who} fitted to explain the data, not to rank.`);
  }
  return {
    winner,
    method: (winner === 'baseline' ? recall.baseline : recall.ours).id,
    rival: recall.baseline.id,
    headline: rankingHeadline(recall, ndcg, results),
    text: [recall.text, ...also, ...poor].join(' '),
    details,
  };
}

/** A tie and a win make a win; a win each, a tie. */
function splitDecision(a: Duel['winner'], b: Duel['winner']): Duel['winner'] {
  if (a === 'tie') return b;
  return b === 'tie' ? a : 'tie';
}

function rankingHeadline(recall: Duel, ndcg: Duel, results: StudyResults): string {
  const { ladder } = results.runs[0];
  const { names } = results.check;
  const named = (row: LadderRow) => methodPhrase(row, ladder, names);
  const name = (d: Duel) => named(d.winner === 'baseline' ? d.baseline : d.ours);
  if (recall.winner === ndcg.winner) {
    if (recall.winner === 'tie') {
      return `${startOf(named(recall.ours))} and ${named(recall.baseline)} rank alike`;
    }
    return recall.winner === 'baseline'
      ? `A baseline wins: ${methodTitle(recall.baseline, ladder, names)}`
      : ranksBest(recall.ours, results);
  }
  const [first, second] = recall.winner === 'tie' ? [ndcg, recall] : [recall, ndcg];
  const rest = second.winner === 'tie' ? 'a tie' : name(second);
  const by = (d: Duel) => metricPhrase(d.metric, ladder.n, names);
  return `${startOf(name(first))} by ${by(first)}, ${rest} by ${by(second)}`;
}

/** Models share the honour where their difference to the best may be chance. */
function ranksBest(row: LadderRow, { runs, chosen, check }: StudyResults): string {
  const { ladder } = runs[0];
  const even = (other: LadderRow) => {
    if (other === row) return true;
    const gap = recallGap(ladder.comparisons, other.id, row.id);
    return gap !== undefined && mayBeChance(gap);
  };
  const first = row.kind === 'model' ? modelRows(runs[0], chosen.features).filter(even) : [row];
  return first.length > 1
    ? `${list(first.map((other) => `the ${shortName(other)}`)).replace(/^t/, 'T')} model rank best, alike`
    : `${startOf(methodPhrase(row, ladder, check.names))} ranks best`;
}

/** A model that does worse than no model at all is called so: in both figures, or in one of them. */
function belowPopularity({ ladder }: StudyRun, names: SideNames): string[] {
  const popularity = ladder.rows.find((row) => row.id === 'popularity');
  if (!popularity) return [];
  const metrics = ['recall', 'ndcg'] as const;
  const below = (row: LadderRow) =>
    metrics.filter((metric) => row.all[metric].mean < popularity.all[metric].mean);
  const ours = ladder.rows.filter((row) => row.kind === 'model' || row.kind === 'ranker');
  const who = (rows: readonly LadderRow[]) =>
    `${list(rows.map((row) => methodPhrase(row, ladder, names)))} ${rows.length === 1 ? 'ranks' : 'rank'}`;
  const inBoth = ours.filter((row) => below(row).length === metrics.length);
  const sentences =
    inBoth.length === 0
      ? []
      : [
          `${startOf(who(inBoth))} below popularity, the same list for everyone: do not recommend with ${inBoth.length === 1 ? 'it' : 'them'}.`,
        ];
  for (const metric of metrics) {
    const inOne = ours.filter((row) => below(row).length === 1 && below(row)[0] === metric);
    if (inOne.length === 0) continue;
    sentences.push(
      `By ${metricPhrase(metric, ladder.n, names)}, ${who(inOne)} below popularity, the same list for everyone.`,
    );
  }
  return sentences;
}

function ceilingShare({ ladder }: StudyRun, names: SideNames): string[] {
  const fair = ladder.rows.find((row) => row.id === 'ceiling-fold-in');
  const model = ladder.rows.find((row) => row.kind === 'model');
  if (!fair || !model) return [];
  const shares = LADDER_METRICS.flatMap((metric) => {
    const top = ladderFigure(fair, metric)?.mean;
    const own = ladderFigure(model, metric)?.mean;
    return top && own !== undefined
      ? [`${fixed(own / top, 3)} in ${metricPhrase(metric, ladder.n, names)}`]
      : [];
  });
  return [
    `Of the best that is possible on these simulated data, ${methodPhrase(model, ladder, names)} reaches ${list(shares)}.`,
  ];
}

function overSplits({ summary, runs, check }: StudyResults, { ours, baseline, metric }: Duel): string {
  const { ladder } = runs[0];
  const figure = (row: LadderRow) => {
    const s = summary.ranking[row.id]?.[metric];
    return s
      ? `${fixed(s.mean, 3)} ± ${fixed(s.spread ?? 0, 3)} for ${methodPhrase(row, ladder, check.names)}`
      : '';
  };
  const word = metricPhrase(metric, ladder.n, check.names);
  return `Over ${runs.length} splits, mean and spread of ${word} are ${figure(ours)} and ${figure(baseline)}.`;
}

/** How the models compare among each other, by recall: a sentence on all, or one on each pair. */
function modelsAmongEachOther({ runs, chosen }: StudyResults): string[] {
  const rows = modelRows(runs[0], chosen.features);
  if (rows.length < 2) return [];
  const pairs = rows.flatMap((a, at) =>
    rows.slice(at + 1).flatMap((b) => {
      const gap = recallGap(runs[0].ladder.comparisons, a.id, b.id);
      return gap ? [{ a: shortName(a), b: shortName(b), gap }] : [];
    }),
  );
  const chance = pairs.filter(({ gap }) => mayBeChance(gap));
  const size = (gap: Gap) => fixed(Math.abs(gap.difference), 3);
  if (pairs.length > 0 && chance.length === pairs.length) {
    const widest = pairs.reduce((x, y) =>
      Math.abs(y.gap.difference) > Math.abs(x.gap.difference) ? y : x,
    ).gap;
    const who = list(rows.map(shortName)).replace(/^./, (c) => c.toUpperCase());
    const most = pairs.length > 1 ? 'by at most ' : 'by ';
    return [`${who} rank alike (recall differs ${most}${size(widest)}, within chance), as in the paper.`];
  }
  return pairs.map(({ a, b, gap }) => {
    if (mayBeChance(gap)) return `The ${a} and the ${b} model rank alike (recall differs by ${size(gap)}).`;
    const [better, worse] = gap.difference > 0 ? [a, b] : [b, a];
    return `The ${better} model ranks better than the ${worse} one, by ${size(gap)} in recall.`;
  });
}

type Gap = Pick<Comparison, 'difference' | 'low' | 'high'>;

function mayBeChance({ low, high }: Gap): boolean {
  return low <= 0 && high >= 0;
}

function modelRows({ ladder }: StudyRun, features: number): LadderRow[] {
  return ladder.rows.filter((row) => row.kind === 'model' && row.features === features);
}

/** recall of one row less that of another, whichever way round it was computed. */
function recallGap(comparisons: readonly Comparison[], one: string, other: string): Gap | undefined {
  const between = (row: string, to: string) =>
    comparisons.find((c) => c.metric === 'recall' && c.row === row && c.to === to);
  const found = between(one, other);
  if (found) return found;
  const turned = between(other, one);
  return turned && { difference: -turned.difference, low: -turned.high, high: -turned.low };
}
