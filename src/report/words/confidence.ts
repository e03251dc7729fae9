// How stable a list is, in words.

import type { ListConfidence } from '../../predict/explain/confidence.js';
import { grouped } from '../../text/numbers.js';
import { many, type Noun } from '../../text/phrases.js';
import { type SideNames, USERS_AND_ITEMS } from '../../text/sides.js';

/** How the two kinds of confidence differ. */
export const INTERVAL_NOTE =
  'The 90 % interval of a score says how exactly the model knows that score. The confidence of a list says whether another history would give the same list.';

/** Up to these shares of the list, single items of the history decide, and both they and the taste. */
const SINGLE_ITEMS = 1 / 3;
const BOTH = 2 / 3;

/** What decides a list, and what follows for the one who uses it. */
const LEVELS = [
  {
    by: ({ many: items }: Noun) => `Single ${items} decide this list`,
    advice: () => ' So a complete history matters.',
  },
  {
    by: ({ many: items }: Noun) => `The taste and single ${items} decide this list`,
    advice: () => '',
  },
  {
    by: () => 'The taste decides this list',
    advice: ({ many: items }: Noun) => ` So a few missing ${items} hardly matter.`,
  },
] as const;

/**
 * How stable a list is. `overlap` is the fraction of it that another history of the same taste would give again, with
 * `history` items. Lists of rankers follow single items, so a small fraction is common and no fault.
 */
export function confidenceWords(
  { overlap, left, history }: Pick<ListConfidence, 'overlap' | 'left' | 'history'>,
  listed: number,
  { items }: Pick<SideNames, 'items'> = USERS_AND_ITEMS,
): string {
  if (left === 0) return `The list holds every ${items.one} that is left, so there was nothing to choose.`;
  const kept = Math.round(overlap * listed);
  // The number in the sentence decides, so that one sentence has one verdict.
  const { by, advice } = LEVELS[kept < SINGLE_ITEMS * listed ? 0 : kept < BOTH * listed ? 1 : 2];
  const others = many(history, { one: `other ${items.one}`, many: `other ${items.many}` });
  return (
    `${by(items)}: with ${others} of the same taste, about ${grouped(kept)} of these ${grouped(listed)} would be listed again.` +
    `${advice(items)} This says how stable the list is, not how good.`
  );
}
