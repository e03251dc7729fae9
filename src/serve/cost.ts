// What an answer costs, estimated before work begins: a batch of 1,000 explained lists of 1,000 items would take
// gigabytes.

import { sumOf } from '../math/moments.js';
import { RECOMMEND } from '../options/commands/recommend.js';
import { grouped } from '../text/numbers.js';
import type { OneRequest, Rank } from './http-schema.js';
import { LIMITS } from './limits.js';
import { Problem } from './problems.js';
import type { Query } from './queries.js';

/** What decides the size of one list. */
interface ListSize {
  /** Items of the list. */
  readonly entries: number;
  /** Items of the user. */
  readonly likes: number;
  readonly explain: boolean | undefined;
}

/** Throws a Problem if the lists of one answer cost too much; it says what to ask instead. */
export function refuseCostly(lists: readonly ListSize[]): void {
  // In listed items. An explained item costs as much as ten, and each like adds a fifth.
  const costs = lists.map(({ entries, likes, explain }) => entries * (explain ? 10 + likes / 5 : 1));
  const cost = sumOf(costs);
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

/** The lists of an answer. */
export function listSizes(query: Query, items: number): ListSize[] {
  return listsOf(query).map(({ likes = [], explain, ...one }) => ({
    entries: 'candidates' in one ? one.candidates.length : Math.min(one.n ?? RECOMMEND.n.default, items),
    likes: likes.length,
    explain,
  }));
}

/** The requests for a list that a query consists of. */
function listsOf({ endpoint, request }: Query): readonly (OneRequest | Rank)[] {
  if (endpoint === 'batch') return request.requests;
  return endpoint === 'recommend' || endpoint === 'rank' ? [request] : [];
}

/** What to say of a long request that was started and did not end in time: it would be too slow again. */
export function tooSlow(query: Query, deadline: number): string | undefined {
  if (query.endpoint !== 'batch' && query.endpoint !== 'rank') return undefined;
  const lists = listsOf(query);
  const costly = (['confidence', 'explain'] as const).filter((way) => lists.some((one) => one[way]));
  const without = costly.length > 0 ? `, or without ${costly.join(' and ')}` : '';
  const longer = deadline < LIMITS.deadline ? ', or give a longer deadlineMs' : '';
  const size =
    query.endpoint === 'batch' ? `${lists.length} requests` : `${query.request.candidates.length} candidates`;
  return `the request did not end within its deadline of ${deadline} ms: send fewer than ${size}${without}${longer}`;
}
