// How often one client may ask: a bucket of tokens for each, filled at a steady rate. The number of buckets is bounded.

import { Problem } from './problems.js';

const MOST_CLIENTS = 10_000;

export interface RateLimit {
  /** Takes a token of that client, or throws a Problem that says when to come back. */
  take(client: string): void;
}

/** `perSecond` requests a second on average, and twice as many at once. */
export function createRateLimit(perSecond: number, now: () => number = () => performance.now()): RateLimit {
  const size = Math.max(1, 2 * perSecond);
  const buckets = new Map<string, { tokens: number; at: number }>();
  return {
    take(client) {
      const time = now();
      const known = buckets.get(client);
      // Taken out and put back: the map's order is that of use, and the one not used for longest goes first.
      buckets.delete(client);
      const tokens = known ? Math.min(size, known.tokens + ((time - known.at) / 1000) * perSecond) : size;
      if (buckets.size >= MOST_CLIENTS) buckets.delete(buckets.keys().next().value as string);
      if (tokens < 1) {
        buckets.set(client, { tokens, at: time });
        const seconds = Math.ceil((1 - tokens) / perSecond);
        throw new Problem('too-many-requests', `more than ${perSecond} requests a second`, {
          retryAfter: seconds,
        });
      }
      buckets.set(client, { tokens: tokens - 1, at: time });
    },
  };
}
