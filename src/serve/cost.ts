// What an answer costs, estimated before work begins: a batch of 1,000 explained lists of 1,000 items would take
// gigabytes.

import { RECOMMEND } from '../options/commands/recommend.js';
import { grouped } from '../text/numbers.js';
import type { OneRequest } from './http-schema.js';
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

/** The lists of an answer. */
export function listSizes(query: Query, items: number): ListSize[] {
  const sizeOf = ({ n = RECOMMEND.n.default, likes = [], explain }: OneRequest) => ({
    entries: Math.min(n, items),
    likes: likes.length,
    explain,
  });
  switch (query.endpoint) {
    case 'recommend':
      return [sizeOf(query.request)];
    case 'batch':
      return query.request.requests.map(sizeOf);
    case 'rank': {
      const { candidates, likes = [], explain } = query.request;
      return [{ entries: candidates.length, likes: likes.length, explain }];
    }
    default:
      return [];
  }
}

/** What to say of a long request that was started and did not end in time: it would be too slow again. */
export function tooSlow(query: Query, deadline: number): string | undefined {
  if (query.endpoint !== 'batch' && query.endpoint !== 'rank') return undefined;
  const [size, requests] =
    query.endpoint === 'batch'
      ? [query.request.requests.length, query.request.requests]
      : [query.request.candidates.length, [query.request]];
  const costly = (['confidence', 'explain'] as const).filter((way) => requests.some((one) => one[way]));
  const without = costly.length > 0 ? `, or without ${costly.join(' and ')}` : '';
  const longer = deadline < LIMITS.deadline ? ', or give a longer deadlineMs' : '';
  const what = query.endpoint === 'batch' ? 'requests' : 'candidates';
  return `the request did not end within its deadline of ${deadline} ms: send fewer than ${size} ${what}${without}${longer}`;
}
