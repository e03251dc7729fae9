// How stable a list is, in words.

import type { ListConfidence } from '../../predict/explain/confidence.js';
import { grouped } from '../../text/numbers.js';
import { described, many } from '../../text/phrases.js';
import { type SideNames, USERS_AND_ITEMS } from '../../text/sides.js';

/** How the interval of a score differs from the confidence of a list. */
export const INTERVAL_NOTE =
  'The 90 % interval is about one score, not about the list: scores can be certain while the order is not.';

/** Up to these shares of the list, single items of the history decide, and both they and the taste. */
const SINGLE_ITEMS = 1 / 3;
const BOTH = 2 / 3;

/** What decides a list, and what follows for the one who uses it. */
function levels({ users, items }: SideNames) {
  return [
    {
      verdict: `Single ${items.many} of this ${users.one}’s history decide the list.`,
      advice: ' So a complete history matters.',
    },
    {
      verdict: `The taste of this ${users.one} and single ${items.many} of the history decide the list.`,
      advice: '',
    },
    {
      verdict: `The taste of this ${users.one} decides the list.`,
      advice: ` So a few missing ${items.many} hardly matter.`,
    },
  ] as const;
}

/**
 * How stable a list is. `overlap` is the fraction of it that another history of the same taste would give again, with
 * `history` items. Lists of rankers follow single items, so a small fraction is common and no fault.
 */
export function confidenceWords(
  { overlap, left, history }: Pick<ListConfidence, 'overlap' | 'left' | 'history'>,
  listed: number,
  names: SideNames = USERS_AND_ITEMS,
): string {
  const { users, items } = names;
  if (left === 0) return `The list holds every ${items.one} that is left, so there was nothing to choose.`;
  const kept = Math.round(overlap * listed);
  // The number in the sentence decides, so that one sentence has one verdict.
  const { verdict, advice } = levels(names)[kept < SINGLE_ITEMS * listed ? 0 : kept < BOTH * listed ? 1 : 2];
  const others = many(history, described('other', items));
  return (
    `${verdict} Another ${users.one} of the same taste, with ${others}, would get about ${grouped(kept)} of these ${grouped(listed)}.` +
    `${advice} This says how stable the list is, not how good.`
  );
}

/** The confidence of a list as documents and answers have it. */
export function confidenceFields(confidence: ListConfidence, listed: number, names?: SideNames) {
  return { overlap: confidence.overlap, text: confidenceWords(confidence, listed, names) };
}
