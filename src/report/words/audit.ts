// What the split doctor says: what each check found, and what to do.

import type { SplitAudit } from '../../audit/audit.js';
import { type AuditCheck, type AuditVerdict, type CheckName, LIMITS } from '../../audit/checks.js';
import type { ComparedMethod, Decision, SplitKind } from '../../audit/decision.js';
import { baselineTitle } from '../../evaluate/baselines/all-baselines.js';
import { fixed, grouped, percent, short } from '../../text/numbers.js';
import { list, many } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

export const CHECK_TITLES: Readonly<Record<CheckName, string>> = {
  overlap: 'overlap',
  degreeBias: 'degree bias',
  falseZeros: 'false zeros',
  lost: 'lost pairs',
  timeWithin: 'time leak within',
  timeAcross: 'time leak across',
  filtering: 'filtering',
  sampledCandidates: 'sampled candidates',
  negativeControl: 'negative control',
};

/** 'degree bias of the customers'. */
export function checkTitle({ name, side }: AuditCheck, names: SideNames): string {
  const title = CHECK_TITLES[name];
  if (name === 'timeWithin') return `${title} ${names.users.many}`;
  if (name === 'timeAcross') return `${title} ${names.users.many}`;
  return side === undefined ? title : `${title} of the ${names[side].many}`;
}

/** What the columns of a table of checks are. */
export const CHECK_COLUMNS = ['check', 'found', 'fair split', 'fine if', 'verdict'] as const;

/** How to read such a table. */
export const CHECK_NOTE =
  'Found: what this split has. Fair split: what a fair split of these data has on average. Fine if: how far from that is still fine.';

/** The figure, what a fair split would give, and what is still fine, as a table shows them. */
export function checkFigures(check: AuditCheck): readonly [found: string, chance: string, fine: string] {
  const { name, value, expected, low, high, figures } = check;
  const byTime = figures.byTime ? 'anything: split by time' : undefined;
  switch (name) {
    case 'degreeBias': {
      if (byTime) return [fixed(value, 3), fixed(expected, 0), byTime];
      const [found, from, to] = apart([3, 4, 5, 6], fixed, value, low!, high!);
      return [found, fixed(expected, 0), `${from} … ${to}`];
    }
    case 'filtering':
      return [`least degree ${grouped(value)}`, grouped(expected), 'no minimum, no cap'];
    case 'negativeControl':
      return [fixed(value, 4), 'not above 0', 'up to 0, but for chance'];
    case 'lost': {
      const { beyond, share } = LIMITS.lost;
      const [found, limit] = apart(DECIMALS, percent, value, Math.min(expected + beyond, share));
      return [found, percent(expected), `up to ${limit}`];
    }
    case 'sampledCandidates': {
      const { share, length } = LIMITS.sampledCandidates;
      const [found, limit] = apart(DECIMALS, percent, value, share);
      const users = `${found} with ${grouped(figures.length)}`;
      return [users, percent(expected), `up to ${limit}, or fewer than ${length} pairs`];
    }
    case 'timeAcross': {
      const [found, limit] = apart(DECIMALS, percent, value, LIMITS.timeAcross);
      return [found, percent(expected), `below ${limit}`];
    }
    default:
      return [percent(value), percent(expected), byTime ?? 'none'];
  }
}

/** Of percentages: two digits, or more where these do not do. */
const DECIMALS = [undefined, 1, 2, 3, 4] as const;

/** A figure and its limits with as few decimals as tell them apart: a verdict never turns on digits that nobody sees. */
function apart<D>(
  decimals: readonly D[],
  write: (value: number, decimals: D) => string,
  value: number,
  ...limits: readonly number[]
): string[] {
  const tells = (d: D) => limits.every((limit) => limit === value || write(limit, d) !== write(value, d));
  const enough = decimals.find(tells) ?? decimals[0];
  return [value, ...limits].map((number) => write(number, enough));
}

/** What a check found, in a sentence. */
export function checkWords({ name, side, value, figures, verdict }: AuditCheck, names: SideNames): string {
  const f = figures;
  switch (name) {
    case 'overlap': {
      if (verdict === 'fine') return 'No test pair is in training or validation.';
      const places = [
        ...(f.train > 0 ? [`${grouped(f.train)} in training`] : []),
        ...(f.validation > 0 ? [`${grouped(f.validation)} in validation`] : []),
      ];
      return `Of ${many(f.test, 'test pair')}, ${list(places)} as well; parts drawn without regard to each other would share ${percent(f.chance)}.`;
    }
    case 'degreeBias': {
      const by = `coins give 1, pairs held out at random up to ${fixed(f.byEdges, 2)}`;
      const held = `The ${many(f.held, names[side!])} held out have ${fixed(value, 2)} times the mean degree of all`;
      return f.byTime
        ? `${held}: what comes after a date comes more from those who do much.`
        : `${held}; ${by}.`;
    }
    case 'falseZeros':
      if (f.zeros === 0) return 'No test pair was shown to the model as a zero.';
      return f.byTime
        ? `${percent(value)} of the test pairs were zeros in training, and truly had not happened yet.`
        : `${percent(value)} of the test pairs have both ends in training with the pair left out: the model is taught that they are zeros.`;
    case 'lost':
      return `${many(f.lost, 'test pair')} of ${grouped(f.test)} cannot be asked about: ${many(f.users, names.users)} of whom nothing is known, ${many(f.items, names.items)} that training never saw.`;
    case 'timeWithin':
      return `For ${percent(value)} of the test pairs the same ${names.users.one} has a later pair in training; parts drawn without regard to time would have ${percent(f.chance)}.`;
    case 'timeAcross':
      return `${percent(value)} of the training pairs are later than the average test pair; without regard to time it would be 50 %.`;
    case 'filtering':
      if (f.missing > 0)
        return `No ${names[side!].many} have fewer than ${grouped(f.least)} pairs, where about ${grouped(f.missing)} should: they were filtered out before the split.`;
      if (f.piled > 0)
        return `${many(f.piled, names[side!])} have exactly ${grouped(f.largest)} pairs, the most of all: they were cut off there before the split.`;
      return `The degrees of the ${names[side!].many} show neither a minimum nor a cap.`;
    case 'sampledCandidates':
      return verdict === 'fine'
        ? `${percent(value)} of the ${names.users.many} have the most common number of test pairs, ${short(f.length)}: these look like choices. Sampled candidates would be ${LIMITS.sampledCandidates.length} or more for nearly everyone.`
        : `${percent(value)} of the ${names.users.many} have exactly ${grouped(f.length)} test pairs: these look like sampled candidates, not choices.`;
    case 'negativeControl':
      return `With the pairs rewired, so that only degrees are left, item-kNN finds ${percent(f.neighbours)} of the test pairs and popularity ${percent(f.popularity)}${verdict === 'fine' ? ': nothing to be gained.' : ': the parts give something away.'}`;
  }
}

const ADVICE: Readonly<Record<CheckName, (names: SideNames) => string>> = {
  overlap: () => 'Take those pairs out of training, or out of the test part.',
  degreeBias: () => 'Hold out vertices by coins, not pairs: graphex split does.',
  falseZeros: ({ users, items }) =>
    `Hold out whole ${users.many} and show some of their ${items.many} (graphex split), or split by time.`,
  lost: ({ users, items }) =>
    `Give the ${items.many} by which test ${users.many} are known, or hold out less.`,
  timeWithin: () => 'Cut at a date, so that training is before test, or do not call it a forecast.',
  timeAcross: () => 'Cut everybody at the same date if the model is to be used on what comes later.',
  filtering: () => 'Say so beside every figure: it holds for what is left, not for the data as they come.',
  sampledCandidates: ({ items }) =>
    `Rank all ${items.many}: metrics over sampled candidates put models in the wrong order. Only real choices belong in the test part.`,
  negativeControl: () => 'Look for pairs, or traces of them, that training should not have.',
};

/** What to do, where something is to be done. */
export function checkAdvice({ name, verdict }: AuditCheck, names: SideNames): string | undefined {
  return verdict === 'fine' ? undefined : ADVICE[name](names);
}

const VERDICT_WORDS: Readonly<Record<AuditVerdict, string>> = {
  fine: 'This split is fine: no check found anything.',
  look: 'Look before you trust this split: some things are not as they should be.',
  broken: 'This split is broken: figures made on it mislead.',
};

export function auditAnswer({ verdict }: Pick<SplitAudit, 'verdict'>): string {
  return VERDICT_WORDS[verdict];
}

const SPLIT_TITLES: Readonly<Record<SplitKind, string>> = {
  pq: 'users and items by coins',
  edges: 'pairs at random',
  time: 'by time',
};

export function splitKindTitle(kind: SplitKind): string {
  return SPLIT_TITLES[kind];
}

export function comparedMethodTitle(name: ComparedMethod): string {
  return name === 'ranking' ? 'our fit for ranking' : baselineTitle(name);
}

/** Would another winner have been chosen? */
export function decisionWords({ leaderboards, agreement, another }: Decision): string {
  const winners = leaderboards.map(({ split, rows }) =>
    rows.length > 0 ? `${comparedMethodTitle(rows[0].name)} (${splitKindTitle(split)})` : 'nobody',
  );
  const tau = agreement.map(
    ({ a, b, tau: value }) => `${fixed(value, 2)} between ${splitKindTitle(a)} and ${splitKindTitle(b)}`,
  );
  const answer = {
    no: 'The same recommender wins under every way of splitting.',
    perhaps:
      'Another winner may be chosen under another way of splitting, by a difference that may be chance.',
    yes: 'Another winner would have been chosen under another way of splitting.',
  }[another];
  return `${answer} Winners: ${list(winners)}. Rank correlation of the leaderboards: ${list(tau)}.`;
}
