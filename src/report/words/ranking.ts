// Which method recommends best, in words.

import { type BestPair, type Gap, mayBeChance, type RankingDecision } from '../../study/best-method.js';
import {
  gapToBest,
  LEADERBOARD_METRICS,
  type LeaderboardRow,
  leaderboardFigure,
  MAIN_METRICS,
} from '../../study/leaderboard.js';
import type { StudyResults } from '../../study/results.js';
import { metricPhrase } from '../../text/figures.js';
import { fixed } from '../../text/numbers.js';
import { capital, described, list, many, present } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import {
  listsPhrase,
  methodsPhrase,
  type NamedLeaderboard,
  namedLeaderboard,
  shortName,
  startOf,
} from './methods.js';
import { type StudyVerdicts, TOO_LITTLE, tooLittleWords } from './study.js';

export const RANKING_QUESTION = 'Which method recommends best?';

/** The best of ours and the best baseline in words: which comes first, and by how much. */
function pairWords(
  { metric, ours, baseline, winner, gap }: BestPair,
  { phrase, metric: metricName, names }: NamedLeaderboard,
) {
  const value = (row: LeaderboardRow) => fixed(leaderboardFigure(row, metric)?.mean ?? 0, 3);
  const [first, second] = gap.to === baseline.id ? [baseline, ours] : [ours, baseline];
  const word = metricName(metric);
  return {
    text: `By ${word}, ${phrase(first)} comes first with ${value(first)}; ${phrase(second)} has ${value(second)}${
      winner === 'tie' ? ', which may be chance' : ''
    }.`,
    interval: `In ${word}, ${phrase(first)} is ahead of ${phrase(second)} by ${gapSize(gap, ` on the same ${names.users.many}`)}.`,
  };
}

export function rankingVerdict(decision: RankingDecision, results: StudyResults): StudyVerdicts['ranking'] {
  const verdict = rankingByFigures(decision, results);
  const { tooLittle } = decision;
  if (!tooLittle) return verdict;
  const text = `${tooLittleWords(tooLittle, results.check.names)} ${verdict.text}`;
  return { ...verdict, winner: null, headline: TOO_LITTLE, text };
}

function rankingByFigures(decision: RankingDecision, results: StudyResults): StudyVerdicts['ranking'] {
  const named = namedLeaderboard(results);
  const { leaderboard } = named;
  const { winner, places, pairs } = decision;
  const first = places[0].first.find(({ kind }) => kind !== 'baseline') ?? places[0].first[0];
  const headline = rankingHeadline(decision, named);
  const ofModels = [...modelsAmongEachOther(decision, named), ...ceilingShare(named)];
  if (!pairs) {
    const best = leaderboard.rows.find((row) => row.id === leaderboard.best.recall)!;
    return {
      winner: null,
      method: first.id,
      rival: null,
      headline,
      text: `The best ${named.metric('recall')} is ${fixed(best.all.recall.mean, 3)}. No baseline was fitted, so there is nothing to compare it with.`,
      details: ofModels,
    };
  }
  const [recall, ndcg] = [pairs.recall, pairs.ndcg].map((pair) => pairWords(pair, named));
  const same =
    pairs.ndcg.winner === pairs.recall.winner &&
    pairs.ndcg.baseline === pairs.recall.baseline &&
    pairs.ndcg.ours === pairs.recall.ours;
  const kinds = decision.models.map(shortName);
  const who = kinds.length === 1 ? `${kinds[0]} model is` : `${list(kinds)} models are`;
  const rival =
    places[0].first.find(({ kind }) => kind === 'baseline') ?? pairs[places[0].metrics[0]].baseline;
  return {
    winner,
    method: first.id,
    rival: rival.id,
    headline,
    text: present([recall.text, !same && ndcg.text, ...belowPopularityWords(decision, named)]).join(' '),
    details: present([
      ...listsWords(named),
      recall.interval,
      ndcg.interval,
      ...decision.otherWinners.map((pair) => pairWords(pair, named).text),
      ...ofModels,
      results.runs.length > 1 && overSplits(results, pairs.recall, named),
      winner === 'baseline' && `The ${who} fitted to explain the data, not to rank.`,
    ]),
  };
}

/** How lists made elsewhere compare with the best method of the study. */
function listsWords({ leaderboard, phrase, metric }: NamedLeaderboard): string[] {
  return leaderboard.rows.flatMap((row) => {
    const gap = gapToBest(leaderboard, 'recall', row.id);
    if (row.kind !== 'lists' || !gap) return [];
    const best = leaderboard.rows.find(({ id }) => id === gap.to)!;
    const side = mayBeChance(gap) ? 'near' : gap.difference > 0 ? 'above' : 'below';
    return [
      `The lists ${row.id} have ${metric('recall')} ${fixed(row.all.recall.mean, 3)}: ${side} ${phrase(best)}, by ${gapSize(gap)}${mayBeChance(gap) ? ', which may be chance' : ''}.`,
    ];
  });
}

/** What the ranking leaves out, or how it treats users without a history. */
export function leftWords({ runs, receipt }: StudyResults, names: SideNames): string {
  const [{ leaderboard, split }] = runs;
  const { left, withoutHistory, n } = leaderboard;
  const { protocol } = receipt.settings;
  const { usersWithoutHistory, edgesToUnseenItems } = left;
  const users = many(usersWithoutHistory, described('test', names.users));
  const edges = `${many(edgesToUnseenItems, 'edge')} to ${names.items.many} that training never saw`;
  if (split.method === 'new-items') {
    return `Only attributes rank ${names.items.many} without edges, so other baselines were not fitted. Left out: ${users} without a history, and ${many(edgesToUnseenItems, 'edge')} to ${names.items.many} without attributes.`;
  }
  const popular = withoutHistory
    ? ` Every method recommends popular ${names.items.many} to ${names.users.many} without a history (${metricPhrase('recall', n, names)} ${fixed(withoutHistory.recall.mean, 3)}).`
    : '';
  return protocol === 'all-items'
    ? `${capital(users)} ${usersWithoutHistory === 1 ? 'has' : 'have'} no history.${popular} ${capital(edges)} ${edgesToUnseenItems === 1 ? 'counts as a miss' : 'count as misses'}.`
    : `Left out: ${users} without a history, and ${edges}.${popular}`;
}

function rankingHeadline(decision: RankingDecision, named: NamedLeaderboard): string {
  const { listsAhead } = decision;
  const ofMethods = methodsHeadline(decision, named);
  if (listsAhead.length === 0) return ofMethods;
  return `${capital(listsPhrase(listsAhead))} rank best. Of the methods fitted here: ${ofMethods}`;
}

/** Methods that a headline names; others are counted. */
const MOST_NAMED = 5;

function methodsHeadline({ winner, places }: RankingDecision, named: NamedLeaderboard): string {
  const [{ first }] = places;
  const who = (rows: readonly LeaderboardRow[]) => methodsPhrase(rows, named, MOST_NAMED);
  if (places.length === 1) {
    if (winner === 'tie') return `${startOf(who(first))} rank equally well`;
    if (winner === 'baseline') return `A baseline wins: ${named.phrase(first[0])}`;
    return `${startOf(who(first))} ${first.length > 1 ? 'rank best, equally well' : 'ranks best'}`;
  }
  // A place with one of ours and a baseline is a tie by that metric.
  const tied = first.length > 1 && first.some(({ kind }) => kind === 'baseline');
  const said = places.map((place) => {
    const by = place.metrics.map(named.metric).join(' and ');
    return `${place.first.length === 0 ? 'a tie' : who(place.first)}${tied && place === places[0] ? ' rank equally well' : ''} by ${by}`;
  });
  return winner === 'baseline' && first.length > 0 && places[1].first.length > 0
    ? `A baseline wins: ${said.join(', ')}`
    : startOf(said.join(', '));
}

/** Advises against a model only if both differences to popularity are more than chance. */
function belowPopularityWords(
  { belowPopularity }: RankingDecision,
  { phrase, metric: metricName }: NamedLeaderboard,
): string[] {
  const sentence = (found: typeof belowPopularity, start: string, end: string) => {
    const who = list(found.map(({ row }) => phrase(row)));
    const rank = found.length === 1 ? 'ranks' : 'rank';
    return found.length === 0
      ? []
      : [startOf(`${start}${who} ${rank} below popularity, the same list for everyone${end}.`)];
  };
  const chance = ', by a difference that may be chance';
  const inBoth = belowPopularity.filter(({ by }) => by.length === MAIN_METRICS.length);
  const poor = inBoth.filter(({ clear }) => clear.length === MAIN_METRICS.length);
  const perhaps = inBoth.filter(({ clear }) => clear.length === 0);
  const others = belowPopularity.filter((one) => !poor.includes(one) && !perhaps.includes(one));
  return [
    ...sentence(poor, '', `: do not recommend with ${poor.length === 1 ? 'it' : 'them'}`),
    ...sentence(perhaps, '', chance),
    ...MAIN_METRICS.flatMap((metric) => {
      const start = `By ${metricName(metric)}, `;
      const [sure, unsure] = [true, false].map((is) =>
        others.filter(({ by, clear }) => by.includes(metric) && clear.includes(metric) === is),
      );
      return [...sentence(sure, start, ''), ...sentence(unsure, start, chance)];
    }),
  ];
}

function ceilingShare({ leaderboard, phrase, metric: metricName }: NamedLeaderboard): string[] {
  const fair = leaderboard.rows.find((row) => row.id === 'ceiling-fold-in');
  const model = leaderboard.rows.find((row) => row.kind === 'model');
  if (!fair || !model) return [];
  const shares = LEADERBOARD_METRICS.flatMap((metric) => {
    const top = leaderboardFigure(fair, metric)?.mean;
    const own = leaderboardFigure(model, metric)?.mean;
    return top && own !== undefined ? [`${fixed(own / top, 3)} in ${metricName(metric)}`] : [];
  });
  return [
    `As a fraction of the best possible on these simulated data, ${phrase(model)} reaches ${list(shares)}.`,
  ];
}

function overSplits(
  { summary, runs }: StudyResults,
  { ours, baseline, metric }: BestPair,
  named: NamedLeaderboard,
): string {
  const figure = (row: LeaderboardRow) => {
    const s = summary.ranking[row.id]?.[metric];
    return s ? `${fixed(s.mean, 3)} ± ${fixed(s.spread ?? 0, 3)} for ${named.phrase(row)}` : '';
  };
  return `Over ${runs.length} splits, ${named.metric(metric)} is ${figure(ours)} and ${figure(baseline)} (mean ± standard deviation).`;
}

/** How the models compare: one sentence if all rank equally well, else one for each pair. */
function modelsAmongEachOther({ models, modelGaps }: RankingDecision, named: NamedLeaderboard): string[] {
  if (modelGaps.length === 0) return [];
  if (modelGaps.every(({ recall, ndcg }) => mayBeChance(recall) && mayBeChance(ndcg))) {
    const widest = fixed(Math.max(...modelGaps.map(({ recall }) => Math.abs(recall.difference))), 3);
    const by = Number(widest) === 0 ? 'less than 0.001' : modelGaps.length > 1 ? `at most ${widest}` : widest;
    return [
      `${capital(list(models.map(shortName)))} rank equally well (recall differs by ${by}, within chance), as in the paper.`,
    ];
  }
  return modelGaps.map((gap) => modelGapWords(gap, named));
}

/** Two models by recall and nDCG, with intervals: the same difference can be chance in one pair and not in another. */
function modelGapWords(
  { a, b, recall, ndcg }: RankingDecision['modelGaps'][number],
  { metric }: NamedLeaderboard,
): string {
  if (mayBeChance(recall) && mayBeChance(ndcg)) {
    return `The ${shortName(a)} and the ${shortName(b)} model rank equally well: recall differs by ${gapSize(recall)}, within chance.`;
  }
  const byRecall = { metric: 'recall' as const, gap: recall };
  const byNdcg = { metric: 'ndcg' as const, gap: ndcg };
  const [main, other] = mayBeChance(recall) ? [byNdcg, byRecall] : [byRecall, byNdcg];
  const [better, worse] = (main.gap.difference > 0 ? [a, b] : [b, a]).map(shortName);
  const against = main.gap.difference * other.gap.difference < 0;
  const rest = against
    ? `; in ${metric(other.metric)} the ${worse} model is ahead by ${gapSize(other.gap)}${
        mayBeChance(other.gap) ? ', within chance' : ', more than chance'
      }`
    : '';
  return `The ${better} model ranks better than the ${worse} model in ${metric(main.metric)}, by ${gapSize(main.gap)}, more than chance${rest}.`;
}

/** '0.009 (95 % interval: 0.002 to 0.016)', turned so that the difference is positive; `on` names the users. */
function gapSize({ difference, low, high }: Gap, on = ''): string {
  const [from, to] = difference > 0 ? [low, high] : [-high, -low];
  // An end that rounds to 0.000 would not say whether the interval contains 0.
  const digits = Math.min(Math.abs(from), Math.abs(to)) < 5e-4 ? 4 : 3;
  return `${fixed(Math.abs(difference), digits)} (95 % interval${on}: ${fixed(from, digits)} to ${fixed(to, digits)})`;
}
