// The audit of a split in words: what each check found, and what to do.

import type { SplitAudit } from '../../audit/audit.js';
import { type AuditCheck, type AuditVerdict, type CheckName, LIMITS } from '../../audit/checks.js';
import type { ComparedMethod, Decision, SplitKind, SplitLeaderboard } from '../../audit/decision.js';
import { baselineTitle } from '../../evaluate/baselines/all-baselines.js';
import type { SplitMethod } from '../../options/names.js';
import { fixed, grouped, percent, short } from '../../text/numbers.js';
import { are, list, many, present } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

const CHECK_TITLES: Readonly<Record<CheckName, string>> = {
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

type AuditFound = Pick<SplitAudit, 'verdict' | 'checks' | 'method'>;

/** The answer of an audit, and each check in words. */
export function auditWords(audit: AuditFound, names: SideNames) {
  const checks = audit.checks.map((check) => ({
    /** 'degree bias of the customers'. */
    title: checkTitle(check, names),
    verdict: check.verdict,
    figures: checkFigures(check),
    /** What it found, in a sentence. */
    words: checkWords(check, names),
    /** What to do if it is not fine. */
    advice: check.verdict === 'fine' ? undefined : ADVICE[check.name](names, check.figures),
  }));
  return { answer: auditAnswer(audit, names), checks };
}

function checkTitle({ name, side }: AuditCheck, names: SideNames): string {
  const title = CHECK_TITLES[name];
  if (name === 'timeWithin' || name === 'timeAcross') return `${title} ${names.users.many}`;
  return side === undefined ? title : `${title} of the ${names[side].many}`;
}

/** On a small screen only the first columns are in view, so the verdict is one of them. */
export const CHECK_COLUMNS = ['check', 'verdict', 'found', 'fair split', 'fine if'] as const;

export const CHECK_NOTE =
  'Found: the figure of this split. Fair split: the average of fair splits of these data. Fine if: the range that is still fine.';

/** The figure of the check, that of a fair split, and the range that is fine. */
function checkFigures(check: AuditCheck): readonly [found: string, fair: string, fine: string] {
  const { name, value, expected, low, high, figures } = check;
  const byTime = figures.byTime
    ? 'anything: split by time'
    : figures.byDesign
      ? 'anything: by design'
      : undefined;
  switch (name) {
    case 'degreeBias': {
      if (byTime) return [fixed(value, 3), fixed(expected, 0), byTime];
      const [found, from, to] = apart([3, 4, 5, 6], fixed, value, low!, high!);
      return [found, fixed(expected, 0), `${from} … ${to}`];
    }
    case 'filtering':
      return [`least degree ${grouped(value)}`, grouped(expected), 'no minimum, no cap'];
    case 'negativeControl':
      return [fixed(value, 4), 'not above 0', 'up to 0, within chance'];
    case 'lost': {
      const { beyond, share } = LIMITS.lost;
      const [found, limit] = apart(DECIMALS, percent, value, Math.min(expected + beyond, share));
      return [found, percent(expected), byTime ?? `up to ${limit}`];
    }
    case 'sampledCandidates': {
      const { share, length } = LIMITS.sampledCandidates;
      const [found, limit] = apart(DECIMALS, percent, value, share);
      const users = `${found} with ${grouped(figures.length)}`;
      return [users, percent(expected), byTime ?? `up to ${limit}, or fewer than ${length} pairs`];
    }
    case 'timeAcross': {
      const [found, limit] = apart(DECIMALS, percent, value, LIMITS.timeAcross);
      return [found, percent(expected), `below ${limit}`];
    }
    default:
      return [percent(value), percent(expected), byTime ?? 'none'];
  }
}

/** Decimals of percentages: two digits, or more if these look the same. */
const DECIMALS = [undefined, 1, 2, 3, 4] as const;

/** A figure and its limits with as few decimals as tell them apart, so that the digits shown explain the verdict. */
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

function checkWords({ name, side, value, figures, verdict }: AuditCheck, names: SideNames): string {
  const f = figures;
  switch (name) {
    case 'overlap': {
      if (verdict === 'fine') return 'No test pair is in training or validation.';
      const places = present([
        f.train > 0 && `${grouped(f.train)} ${are(f.train)} in training`,
        f.validation > 0 && `${grouped(f.validation)} ${are(f.validation)} in validation`,
      ]);
      return `Of ${many(f.test, 'test pair')}, ${list(places)}, too; independently drawn parts would share ${percent(f.chance)}.`;
    }
    case 'degreeBias': {
      const by = `random vertices give 1, random pairs up to ${fixed(f.byEdges, 2)}`;
      const held = `The ${many(f.held, names[side!])} held out have ${fixed(value, 2)} times the mean degree of all ${names[side!].many}`;
      if (f.byDesign) return `${held}: active ${names[side!].many} have more pairs in any such test part.`;
      return f.byTime
        ? `${held}: active ${names[side!].many} have more pairs after any date.`
        : `${held}; ${by}.`;
    }
    case 'falseZeros':
      if (f.byDesign)
        return `${percent(value)} of the test pairs were zeros in training, rightly: each came after all training pairs of its ${names.users.one}.`;
      if (f.zeros === 0) return 'No test pair was shown to the model as a zero.';
      return f.byTime
        ? `${percent(value)} of the test pairs were zeros in training, rightly: they had not happened yet.`
        : `${percent(value)} of the test pairs have both ends in training without the pair: the model learns that they are zeros.`;
    case 'lost':
      if (f.byDesign)
        return `${grouped(f.lost)} of ${many(f.test, 'test pair')} have ${names.items.many} that training has not seen, as intended: only attributes can rank them.`;
      return (
        `${many(f.lost, 'test pair')} of ${grouped(f.test)} cannot be evaluated: ${many(f.users, names.users)} without a history, ${many(f.items, names.items)} not in training.` +
        (lacksHistories(f)
          ? ` No test ${names.users.one} has a training pair; the fold-in part may be missing.`
          : '')
      );
    case 'timeWithin':
      return `For ${percent(value)} of the test pairs the same ${names.users.one} has a later pair in training; a split that ignores time would have ${percent(f.chance)}.`;
    case 'timeAcross':
      return `${percent(value)} of the training pairs are later than the average test pair; a split that ignores time has 50 %.`;
    case 'filtering':
      if (f.missing > 0)
        return `No ${names[side!].many} have fewer than ${grouped(f.least)} pairs, although about ${grouped(f.missing)} should: they were filtered out before the split.`;
      if (f.piled > 0)
        return `${many(f.piled, names[side!])} have exactly ${grouped(f.largest)} pairs, the maximum: their pairs were capped before the split.`;
      return `The degrees of the ${names[side!].many} show neither a minimum nor a cap.`;
    case 'sampledCandidates':
      if (f.byDesign)
        return `${percent(value)} of the ${names.users.many} have exactly ${grouped(f.length)} test pairs: the split holds out as many of each.`;
      return verdict === 'fine'
        ? `${percent(value)} of the ${names.users.many} have the most common number of test pairs, ${short(f.length)}: these look like real choices. Sampled candidates would be ${LIMITS.sampledCandidates.length} or more for nearly everyone.`
        : `${percent(value)} of the ${names.users.many} have exactly ${grouped(f.length)} test pairs: these look like sampled candidates, not choices.`;
    case 'negativeControl':
      return `With rewired pairs, which keep only the degrees, item-kNN finds ${percent(f.neighbours)} of the test pairs and popularity ${percent(f.popularity)}${verdict === 'fine' ? ': there is nothing to learn, as it should be.' : ': the training part leaks the test part.'}`;
  }
}

const ADVICE: Readonly<Record<CheckName, (names: SideNames, figures: AuditCheck['figures']) => string>> = {
  overlap: () => 'Remove those pairs from training or from the test part.',
  degreeBias: () => 'Hold out vertices at random, not pairs (method pq of graphex split).',
  falseZeros: ({ users, items }) =>
    `Hold out whole ${users.many} and show some of their ${items.many} (method pq of graphex split), or split by time.`,
  lost: ({ users, items }, figures) =>
    lacksHistories(figures)
      ? `Add the fold-in part, if the split has one: the ${items.many} that the test ${users.many} are known to have.`
      : `Add a history of the test ${users.many}, or hold out less.`,
  timeWithin: () => 'Cut at a date, so that training is before test, or do not call the result a forecast.',
  timeAcross: () => 'Cut all users at the same date if the model will be used on later data.',
  filtering: () => 'Say with every figure that it holds for filtered data only.',
  sampledCandidates: ({ items }) =>
    `Rank all ${items.many}: metrics over sampled candidates put models in the wrong order. Only real choices belong in the test part.`,
  negativeControl: () => 'Look for pairs in training, or traces of them, that belong to the test part.',
};

/** What a split measures and what it does not, if its kind is not meant for every question. */
const PURPOSES: Readonly<Partial<Record<SplitMethod, (names: SideNames) => string>>> = {
  edges: ({ users, items }) =>
    `It holds out pairs at random, which favours active ${users.many} and popular ${items.many}: use it only to compare with results on other such splits.`,
  last: ({ users }) =>
    `It holds out the last pairs of each ${users.one}. It measures how well a method continues histories that it knows. It says nothing about new ${users.many}, and it is no forecast: training has pairs of other ${users.many} that are later.`,
  'new-items': ({ items }) =>
    `It holds out all pairs of some ${items.many}. It measures how well attributes rank ${items.many} that training has not seen, and says nothing about known ${items.many}.`,
};

function auditAnswer({ verdict, checks, method }: AuditFound, names: SideNames): string {
  const found = checks.filter((check) => check.verdict !== 'fine').length;
  const words: Readonly<Record<AuditVerdict, string>> = {
    fine: 'This split is fine: no check found a problem.',
    look: `Look before you trust this split: ${found === 1 ? 'one check' : 'some checks'} found a problem.`,
    broken: 'This split is biased: metrics computed on it mislead.',
  };
  const missing = checks.some((check) => check.name === 'lost' && lacksHistories(check.figures));
  const purpose = method && PURPOSES[method]?.(names);
  return present([words[verdict], missing && 'The fold-in part may be missing.', purpose]).join(' ');
}

/** Whether no test user has a known item, as in a split of users without its fold-in part. */
function lacksHistories({ users, tested }: AuditCheck['figures']): boolean {
  return tested > 0 && users === tested;
}

export const SPLIT_KIND_TITLES: Readonly<Record<SplitKind, string>> = {
  pq: 'random users and items',
  edges: 'random pairs',
  time: 'by time',
};

export function comparedMethodTitle(name: ComparedMethod): string {
  return name === 'ranking' ? 'ranker' : baselineTitle(name);
}

/** The methods that a split's leaderboard lacks, and why. */
export function leftOutWords({ skipped }: Pick<SplitLeaderboard, 'skipped'>): string[] {
  return skipped.map(({ name, message }) => `Left out: ${comparedMethodTitle(name)}: ${message}.`);
}

export function decisionWords({ leaderboards, agreement, another }: Decision): string {
  const winners = leaderboards.map(({ split, rows }) =>
    rows.length > 0 ? `${comparedMethodTitle(rows[0].name)} (${SPLIT_KIND_TITLES[split]})` : 'none',
  );
  const tau = agreement.map(
    ({ a, b, tau: value }) => `${fixed(value, 2)} (${SPLIT_KIND_TITLES[a]}; ${SPLIT_KIND_TITLES[b]})`,
  );
  const answer = {
    no: 'The same recommender wins under every way of splitting.',
    perhaps: 'Another way of splitting may have another winner, but the difference may be chance.',
    yes: 'Another way of splitting has another winner.',
  }[another];
  return `${answer} Winners: ${list(winners)}. Rank correlation of the leaderboards: ${list(tau)}.`;
}
