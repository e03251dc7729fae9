// Random draws of vertices by their ids. They do not depend on when a table is thinned or on the order of its rows.

import { type Random, randomStream, textHash } from './random.js';
import { STREAMS } from './streams.js';

/** The fraction of each side that is kept, and the seed of the draws. */
export interface IdShares {
  readonly users: number;
  readonly items: number;
  readonly seed: number;
}

/** Whether the user or item of an id is kept. */
export function idDraws({ users, items, seed }: IdShares) {
  const random = randomStream(seed, STREAMS.thin);
  const keeps = (share: number, ofSide: Random) => (id: string) =>
    share >= 1 || ofSide.derive(...textHash(id)).uniform() < share;
  return { users: keeps(users, random.derive(0)), items: keeps(items, random.derive(1)) };
}
