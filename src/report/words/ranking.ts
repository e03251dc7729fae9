// Which method recommends best, in words.

import {
  type Comparison,
  LEADERBOARD_METRICS,
  type Leaderboard,
  type LeaderboardMetric,
  type LeaderboardRow,
  leaderboardFigure,
} from '../../study/leaderboard.js';
import type { StudyResults, StudyRun } from '../../study/results.js';
import { metricPhrase } from '../../text/figures.js';
import { fixed } from '../../text/numbers.js';
import { list } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import { methodPhrase, methodsPhrase, methodTitle, shortName, startOf } from './methods.js';
import type { StudyVerdicts } from './study.js';
import { TOO_LITTLE, tooLittle } from './too-little.js';
import { type Duel, decideRanking, duel, isAsGood, type RankingDecision } from './winner.js';

export const RANKING_QUESTION = 'Which method recommends best?';

/** A duel in words: who comes first and by how much. */
function duelWords(
  { metric, ours, baseline, winner, gap }: Duel,
  leaderboard: Leaderboard,
  names: SideNames,
) {
  const named = (row: LeaderboardRow) => methodPhrase(row, leaderboard, names);
  const value = (row: LeaderboardRow) => fixed(leaderboardFigure(row, metric)?.mean ?? 0, 3);
  const [first, second] = gap.to === baseline.id ? [baseline, ours] : [ours, baseline];
  const word = metricPhrase(metric, leaderboard.n, names);
  return {
    text: `By ${word}, ${named(first)} comes first with ${value(first)}; ${named(second)} has ${value(second)}${
      winner === 'tie' ? ', which may be chance' : ''
    }.`,
    interval: `In ${word}, ${named(first)} is ahead of ${named(second)} by ${gapSize(gap, ` on the same ${names.users.many}`)}.`,
  };
}

export function rankingVerdict(results: StudyResults): StudyVerdicts['ranking'] {
  const verdict = rankingByFigures(results);
  const reason = tooLittleOf(results);
  if (!reason) return verdict;
  return { ...verdict, winner: null, headline: TOO_LITTLE, text: `${reason} ${verdict.text}` };
}

function tooLittleOf({ runs, check }: StudyResults) {
  return tooLittle(runs[0], check.names, runs[0].leaderboard.rows[0]?.all.users);
}

function rankingByFigures(results: StudyResults): StudyVerdicts['ranking'] {
  const run = results.runs[0];
  const { leaderboard } = run;
  const { names } = results.check;
  const decision = decideRanking(results);
  const { winner, places, duels } = decision;
  const [first] = places[0].first;
  const headline = rankingHeadline(decision, results);
  const details = [...modelsAmongEachOther(results), ...ceilingShare(run, names)];
  const poor = belowPopularity(leaderboard, names, !tooLittleOf(results));
  if (!duels) {
    const best = leaderboard.rows.find((row) => row.id === leaderboard.best.recall)!;
    return {
      winner: null,
      method: first.id,
      rival: null,
      headline,
      text: `The best ${metricPhrase('recall', leaderboard.n, names)} is ${fixed(best.all.recall.mean, 3)}. No baseline was fitted, so nothing says whether this is good.`,
      details,
    };
  }
  const [recall, ndcg] = [duels.recall, duels.ndcg].map((duel) => duelWords(duel, leaderboard, names));
  const same =
    duels.ndcg.winner === duels.recall.winner &&
    duels.ndcg.baseline === duels.recall.baseline &&
    duels.ndcg.ours === duels.recall.ours;
  for (const metric of ['recallUnpopular', 'ndcgUnpopular'] as const) {
    const other = duel(leaderboard, metric);
    if (other && other.winner !== winner) details.unshift(duelWords(other, leaderboard, names).text);
  }
  details.unshift(recall.interval, ndcg.interval);
  if (results.runs.length > 1) details.push(overSplits(results, duels.recall));
  if (winner === 'baseline') {
    const kinds = modelRows(run, results.chosen.features).map(shortName);
    const who = kinds.length === 1 ? `${kinds[0]} model is` : `${list(kinds)} models are`;
    details.push(`The ${who} fitted to explain the data, not to rank.`);
  }
  return {
    winner,
    method: first.id,
    rival: (places[0].first.find(({ kind }) => kind === 'baseline') ?? duels[places[0].metrics[0]].baseline)
      .id,
    headline,
    text: [recall.text, ...(same ? [] : [ndcg.text]), ...poor].join(' '),
    details,
  };
}

function rankingHeadline({ winner, places }: RankingDecision, { runs, check }: StudyResults): string {
  const { leaderboard } = runs[0];
  const { names } = check;
  const [{ first }] = places;
  const who = (rows: readonly LeaderboardRow[]) => methodsPhrase(rows, leaderboard, names);
  if (places.length === 1) {
    if (winner === 'tie') return `${startOf(who(first))} rank alike`;
    if (winner === 'baseline') return `A baseline wins: ${methodTitle(first[0], leaderboard, names)}`;
    return `${startOf(who(first))} ${first.length > 1 ? 'rank best, alike' : 'ranks best'}`;
  }
  // Ours beside a baseline in one place: by that metric they tie.
  const alike = first.length > 1 && first.some(({ kind }) => kind === 'baseline');
  const said = places.map((place) => {
    const by = place.metrics.map((metric) => metricPhrase(metric, leaderboard.n, names)).join(' and ');
    return `${place.first.length === 0 ? 'a tie' : who(place.first)}${alike && place === places[0] ? ' rank alike' : ''} by ${by}`;
  });
  return winner === 'baseline' && first.length > 0 && places[1].first.length > 0
    ? `A baseline wins: ${said.join(', ')}`
    : startOf(said.join(', '));
}

/**
 * A model that does worse than no model at all is called so, in both figures or in one of them; it is advised against
 * only where both differences are more than chance, which few users cannot tell.
 */
function belowPopularity(leaderboard: Leaderboard, names: SideNames, enough: boolean): string[] {
  const popularity = leaderboard.rows.find((row) => row.id === 'popularity');
  if (!popularity) return [];
  const metrics = ['recall', 'ndcg'] as const;
  const below = leaderboard.rows
    .filter((row) => row.kind === 'model' || row.kind === 'ranker')
    .map((row) => {
      const by = metrics.filter((metric) => row.all[metric].mean < popularity.all[metric].mean);
      return {
        row,
        by,
        clear: by.filter((metric) => enough && isBehind(leaderboard, row, popularity, metric)),
      };
    });
  const sentence = (found: typeof below, start: string, end: string) => {
    const who = list(found.map(({ row }) => methodPhrase(row, leaderboard, names)));
    const rank = found.length === 1 ? 'ranks' : 'rank';
    return found.length === 0
      ? []
      : [startOf(`${start}${who} ${rank} below popularity, the same list for everyone${end}.`)];
  };
  const chance = ', by a difference that may be chance';
  const inBoth = below.filter(({ by }) => by.length === metrics.length);
  const poor = inBoth.filter(({ clear }) => clear.length === metrics.length);
  const perhaps = inBoth.filter(({ clear }) => clear.length === 0);
  const others = below.filter((one) => !poor.includes(one) && !perhaps.includes(one));
  return [
    ...sentence(poor, '', `: do not recommend with ${poor.length === 1 ? 'it' : 'them'}`),
    ...sentence(perhaps, '', chance),
    ...metrics.flatMap((metric) => {
      const start = `By ${metricPhrase(metric, leaderboard.n, names)}, `;
      const [sure, unsure] = [true, false].map((is) =>
        others.filter(({ by, clear }) => by.includes(metric) && clear.includes(metric) === is),
      );
      return [...sentence(sure, start, ''), ...sentence(unsure, start, chance)];
    }),
  ];
}

/**
 * Whether a row is behind another by more than chance. A leaderboard has their paired interval where the other is the best;
 * elsewhere standard errors tell, as if each had been asked of other users. That claims less: who is hard to serve is so
 * for both.
 */
function isBehind(
  leaderboard: Leaderboard,
  row: LeaderboardRow,
  other: LeaderboardRow,
  metric: 'recall' | 'ndcg',
): boolean {
  if (isAsGood(leaderboard, row, metric)) return false;
  if (other.id === leaderboard.best[metric]) return true;
  const [a, b] = [row.all[metric], other.all[metric]];
  return b.mean - a.mean > 1.96 * Math.hypot(a.standardError, b.standardError);
}

function ceilingShare({ leaderboard }: StudyRun, names: SideNames): string[] {
  const fair = leaderboard.rows.find((row) => row.id === 'ceiling-fold-in');
  const model = leaderboard.rows.find((row) => row.kind === 'model');
  if (!fair || !model) return [];
  const shares = LEADERBOARD_METRICS.flatMap((metric) => {
    const top = leaderboardFigure(fair, metric)?.mean;
    const own = leaderboardFigure(model, metric)?.mean;
    return top && own !== undefined
      ? [`${fixed(own / top, 3)} in ${metricPhrase(metric, leaderboard.n, names)}`]
      : [];
  });
  return [
    `Of the best that is possible on these simulated data, ${methodPhrase(model, leaderboard, names)} reaches ${list(shares)}.`,
  ];
}

function overSplits({ summary, runs, check }: StudyResults, { ours, baseline, metric }: Duel): string {
  const { leaderboard } = runs[0];
  const figure = (row: LeaderboardRow) => {
    const s = summary.ranking[row.id]?.[metric];
    return s
      ? `${fixed(s.mean, 3)} ± ${fixed(s.spread ?? 0, 3)} for ${methodPhrase(row, leaderboard, check.names)}`
      : '';
  };
  const word = metricPhrase(metric, leaderboard.n, check.names);
  return `Over ${runs.length} splits, mean and spread of ${word} are ${figure(ours)} and ${figure(baseline)}.`;
}

/** How the models compare among each other: a sentence on all where they are alike, or one on each pair. */
function modelsAmongEachOther({ runs, chosen, check }: StudyResults): string[] {
  const { leaderboard } = runs[0];
  const rows = modelRows(runs[0], chosen.features);
  const pairs = rows.flatMap((a, at) =>
    rows.slice(at + 1).flatMap((b) => {
      const recall = gapBetween(leaderboard.comparisons, 'recall', a.id, b.id);
      const ndcg = gapBetween(leaderboard.comparisons, 'ndcg', a.id, b.id);
      return recall && ndcg ? [{ a: shortName(a), b: shortName(b), recall, ndcg }] : [];
    }),
  );
  if (pairs.length === 0) return [];
  if (pairs.every(({ recall, ndcg }) => mayBeChance(recall) && mayBeChance(ndcg))) {
    const widest = Math.max(...pairs.map(({ recall }) => Math.abs(recall.difference)));
    const who = list(rows.map(shortName)).replace(/^./, (c) => c.toUpperCase());
    const most = pairs.length > 1 ? 'by at most ' : 'by ';
    return [`${who} rank alike (recall differs ${most}${fixed(widest, 3)}, within chance), as in the paper.`];
  }
  return pairs.map((pair) => pairWords(pair, leaderboard.n, check.names));
}

/** Two models by recall and nDCG, with the intervals: equal differences may be chance in one pair and not in another. */
function pairWords(
  { a, b, recall, ndcg }: { a: string; b: string; recall: Gap; ndcg: Gap },
  n: number,
  names: SideNames,
): string {
  if (mayBeChance(recall) && mayBeChance(ndcg)) {
    return `The ${a} and the ${b} model rank alike: recall differs by ${gapSize(recall)}, within chance.`;
  }
  const [main, other] = mayBeChance(recall)
    ? [
        { metric: 'ndcg' as const, gap: ndcg },
        { metric: 'recall' as const, gap: recall },
      ]
    : [
        { metric: 'recall' as const, gap: recall },
        { metric: 'ndcg' as const, gap: ndcg },
      ];
  const [better, worse] = main.gap.difference > 0 ? [a, b] : [b, a];
  const against = main.gap.difference * other.gap.difference < 0;
  const rest = against
    ? `; in ${metricPhrase(other.metric, n, names)} the ${worse} one is ahead, by ${gapSize(other.gap)}${
        mayBeChance(other.gap) ? ', within chance' : ', more than chance'
      }`
    : '';
  return `The ${better} model ranks better than the ${worse} one in ${metricPhrase(main.metric, n, names)}, by ${gapSize(main.gap)}, more than chance${rest}.`;
}

type Gap = Pick<Comparison, 'difference' | 'low' | 'high'>;

/** '0.009 (95 % interval: 0.002 to 0.016)', turned so that the difference is positive; `on` says of whom. */
function gapSize({ difference, low, high }: Gap, on = ''): string {
  const [from, to] = difference > 0 ? [low, high] : [-high, -low];
  // An end that would read 0.000 leaves open on which side of chance it lies.
  const digits = Math.min(Math.abs(from), Math.abs(to)) < 5e-4 ? 4 : 3;
  return `${fixed(Math.abs(difference), digits)} (95 % interval${on}: ${fixed(from, digits)} to ${fixed(to, digits)})`;
}

function mayBeChance({ low, high }: Gap): boolean {
  return low <= 0 && high >= 0;
}

function modelRows({ leaderboard }: StudyRun, features: number): LeaderboardRow[] {
  return leaderboard.rows.filter((row) => row.kind === 'model' && row.features === features);
}

/** A metric of one row less that of another, whichever way round it was computed. */
function gapBetween(
  comparisons: readonly Comparison[],
  metric: LeaderboardMetric,
  one: string,
  other: string,
): Gap | undefined {
  const between = (row: string, to: string) =>
    comparisons.find((c) => c.metric === metric && c.row === row && c.to === to);
  const found = between(one, other);
  if (found) return found;
  const turned = between(other, one);
  return turned && { difference: -turned.difference, low: -turned.high, high: -turned.low };
}
