// Coins of vertices by their ids: the same whether a table is thinned while it is read or afterwards, and wherever its rows
// stand.

import { randomStream, textHash } from './random.js';
import { STREAMS } from './streams.js';

export interface IdDraws {
  /** Whether a share of the vertices of a side holds this one. */
  keepsUser(id: string): boolean;
  keepsItem(id: string): boolean;
}

/** The shares of both sides that are kept, and the seed of the draws. */
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
