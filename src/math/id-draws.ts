// Random draws of vertices by their ids. They do not depend on when a table is thinned or on the order of its rows.

import { randomStream, textHash } from './random.js';
import { STREAMS } from './streams.js';

interface IdDraws {
  keepsUser(id: string): boolean;
  keepsItem(id: string): boolean;
}

/** The fraction of each side that is kept, and the seed of the draws. */
export interface IdShares {
  readonly users: number;
  readonly items: number;
  readonly seed: number;
}

export function idDraws({ users, items, seed }: IdShares): IdDraws {
  const [ofUsers, ofItems] = [0, 1].map((side) => randomStream(seed, STREAMS.thin).derive(side));
  return {
    keepsUser: (id) => users >= 1 || ofUsers.derive(...textHash(id)).uniform() < users,
    keepsItem: (id) => items >= 1 || ofItems.derive(...textHash(id)).uniform() < items,
  };
}
