// What an answer costs, estimated before work begins: a batch of 1,000 explained lists of 1,000 items would take
// gigabytes.

import { grouped } from '../text/numbers.js';
import { LIMITS } from './limits.js';
import { Problem } from './problems.js';

/** What decides the size of one list. */
export interface ListSize {
  /** Items of the list. */
  readonly entries: number;
  /** Items of the user. */
  readonly likes: number;
  readonly explain: boolean | undefined;
}

/** The cost in listed items. An explained item costs as much as ten, and each like adds a fifth. */
function costOf({ entries, likes, explain }: ListSize): number {
  return entries * (explain ? 10 + likes / 5 : 1);
}

/** Throws a Problem if the lists of one answer cost too much; it says what to ask instead. */
export function refuseCostly(lists: readonly ListSize[]): void {
  const cost = lists.reduce((sum, list) => sum + costOf(list), 0);
  if (cost <= LIMITS.cost) return;
  const entries = lists.reduce((sum, list) => sum + list.entries, 0);
  const explained = lists.some(({ explain }) => explain);
  const most = Math.floor((entries * LIMITS.cost) / cost);
  const fewer = lists.length > 1 ? 'fewer requests or a smaller n' : 'fewer items or likes';
  throw new Problem(
    'too-much',
    `the answer would list ${grouped(entries)} items${explained ? ' with explanations' : ''}, and at most ${grouped(most)} of this kind fit into one answer; ask for ${fewer}${explained ? ', or leave out explain' : ''}`,
  );
}
