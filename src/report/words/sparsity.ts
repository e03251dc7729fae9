// Is it sparse? The verdict in sentences, for readers who do not know the theory.

import { type BySide, bySide, SIDES, type SideName } from '../../graph/graph.js';
import type { SparsityCheck } from '../../sparsity/check.js';
import { BORDER } from '../../sparsity/low-degrees.js';
import type { SideVerdict, VerdictReason } from '../../sparsity/verdict.js';
import { fixed, grouped, percent, plusMinus } from '../../text/numbers.js';
import { are, capital, list, many, type Noun } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

/** What sentences about a verdict are made of. */
export type NamedVerdict = Pick<SparsityCheck, 'verdict' | 'names'>;

/** A verdict on sparsity in words. */
export interface SparsityWords {
  /** A few words: 'Sparse on both sides'. */
  readonly headline: string;
  /** The answer to 'Is it sparse?'. */
  readonly answer: string;
  /** What it means for each side: 'Customers are sparse: …'. */
  readonly meanings: BySide<string>;
  /** The same without the side and the verdict. */
  readonly plain: BySide<string>;
  /** What it rests on, without a capital or a full stop. */
  readonly reasons: BySide<string>;
  /** What to do. */
  readonly advice: string;
  /** Meanings and advice in one. */
  readonly text: string;
}

/** The verdict of a check in words. */
export function sparsityWords({ verdict, names }: NamedVerdict): SparsityWords {
  const plain = bySide((side) => PLAIN[verdict[side]](names[side]));
  const meanings = bySide((side) =>
    verdict[side] === 'unclear'
      ? `These data cannot tell whether the ${names[side].many} are sparse or dense.`
      : `${capital(names[side].many)} are ${verdict[side]}: ${plain[side]}`,
  );
  const advice = advise(verdict, names);
  return {
    headline: headline(verdict, names),
    answer: answer(verdict, names),
    meanings,
    plain: bySide((side) => capital(plain[side])),
    reasons: bySide((side) => reasonWords(verdict.reasons[side], names[side], verdict[side])),
    advice,
    text: `${meanings.users} ${meanings.items} ${advice}`,
  };
}

const PLAIN: Readonly<Record<SideVerdict, (noun: Noun) => string>> = {
  sparse: ({ many }) => `however large the data grow, ${many} with only one or two edges keep appearing.`,
  dense: ({ one }) => `as the data grow, every ${one} gains edges, and few are left with only one or two.`,
  unclear: () => 'these data cannot tell.',
};

function headline(verdict: BySide<SideVerdict>, names: SideNames): string {
  const { users, items } = verdict;
  if (users === items)
    return users === 'unclear' ? 'The data cannot tell' : `${capital(users)} on both sides`;
  const clear = SIDES.filter((side) => verdict[side] !== 'unclear');
  const said = clear.map((side) => `${verdict[side]} ${names[side].many}`).join(', ');
  const open = SIDES.filter((side) => verdict[side] === 'unclear').map(
    (side) => `; ${names[side].many} unclear`,
  );
  return capital(said + open.join(''));
}

function answer({ users, items }: BySide<SideVerdict>, names: SideNames): string {
  if (users === items) {
    if (users === 'unclear') return 'The data cannot tell for either side.';
    return `${users === 'sparse' ? 'Yes' : 'No'}: ${names.users.many} and ${names.items.many} are both ${users}.`;
  }
  const say = (side: SideName, sideVerdict: SideVerdict) =>
    sideVerdict === 'unclear'
      ? `the ${names[side].many} may be sparse or dense`
      : `the ${names[side].many} are ${sideVerdict}`;
  return capital(`${say('users', users)}; ${say('items', items)}.`);
}

const AUTO = 'The default, the auto model, chooses sparse or dense for each side.';

function advise(verdict: BySide<SideVerdict>, names: SideNames): string {
  const sides = (wanted: SideVerdict) => SIDES.filter((side) => verdict[side] === wanted);
  if (sides('dense').length === 2) {
    return `The degrees suggest a dense model; a sparse one does no harm. ${AUTO}`;
  }
  const sparse = list(sides('sparse').map((side) => names[side].many));
  if (sparse === '') return `Use the sparse or the auto model: both can fit dense data too. ${AUTO}`;
  if (sides('dense').length === 0) {
    return `Use the sparse or the auto model: a dense one would predict too few new ${sparse}. ${AUTO}`;
  }
  return `Use the auto model, which is the default: it chooses sparse or dense for each side. A dense model predicts too few new ${sparse} as the data grow.`;
}

function reasonWords(reason: VerdictReason, noun: Noun, sideVerdict: SideVerdict): string {
  switch (reason.code) {
    case 'few':
      return `there ${are(reason.vertices)} only ${many(reason.vertices, noun)}, too few to see how their edges are spread`;
    case 'single':
      return `every ${noun.one} has a single edge, which fits any tail index`;
    case 'capped':
      return `${many(reason.vertices, noun)} (${percent(reason.share)}) have exactly ${grouped(reason.degree)} edges, the maximum: the data seem to be capped`;
    case 'filtered':
      return `no ${noun.one} has fewer than ${grouped(reason.least)} edges, although about ${grouped(reason.missing)} should: they seem to have been filtered out`;
    case 'disagree':
      return `two estimates of the tail index disagree (σ̂ is ${fixed(reason.half, 2)}, the fitted distribution implies ${fixed(reason.implied, 2)}), so that distribution does not describe these degrees`;
    case 'no-low-degrees':
      return sideVerdict === 'dense'
        ? `hardly any ${noun.one} has few edges, and the tail index is ${estimateWords(reason)}`
        : `the tail index is ${estimateWords(reason)}, but too few ${noun.many} have few edges to be sure`;
    case 'near-border':
      return `${lowWords(reason, noun)}, too near the border of ${BORDER} to tell`;
    case 'contradicted':
      return `${lowWords(reason, noun)}, but ${fixed(reason.overall, 2)} over all of them`;
    case 'clear':
      return `${lowWords(reason, noun)}, ${sideVerdict === 'sparse' ? 'above' : 'below'} ${BORDER}, the border between dense and sparse`;
  }
}

function lowWords(reason: Extract<VerdictReason, { readonly upTo: number | null }>, { many }: Noun): string {
  const among = reason.upTo === null ? '' : ` among the ${many} with at most ${grouped(reason.upTo)} edges`;
  return `the tail index is ${estimateWords(reason)}${among}`;
}

/** A likelihood estimate with its standard error, '0.42 ± 0.013'; without one, the end of its range. */
export function estimateWords(
  fit: { readonly estimate: number; readonly standardError?: number | null | undefined } | null | undefined,
  digits = 2,
): string {
  if (!fit) return '–';
  const { estimate, standardError } = fit;
  if (standardError !== undefined && standardError !== null)
    return plusMinus(estimate, standardError, digits);
  if (estimate > 0.99) return 'close to 1';
  return estimate < -1 ? `below ${fixed(estimate, 0)}` : `about ${fixed(estimate, digits)}`;
}

/** Whether the evidence prefers a fit that is sparse on both sides or one that is dense on both. */
export function evidenceWords({ difference }: { readonly difference: number }): string {
  const [better, other] = difference > 0 ? ['sparse', 'dense'] : ['dense', 'sparse'];
  return `The evidence prefers a fit that is ${better} on both sides to one that is ${other} on both, by ${grouped(Math.abs(difference))} nats (nats are units of log evidence).`;
}
