// Items held back from the users' histories, to find out how well attributes predict them.

import type { Model } from '../../fit/model.js';
import { placesOf } from '../../math/csr.js';
import { randomStream } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';

/** Held-back items and the users who have some of them. */
export interface HeldBackItems {
  readonly items: Uint32Array;
  /** 1 for each held-back item. */
  readonly isOut: Uint8Array;
  /** The items of each user that are not held back. */
  readonly histories: readonly Uint32Array[];
  /** Per user, positions in `items` that the user has. */
  readonly wanted: readonly (readonly number[])[];
}

const SHARE = 0.2;
const MOST_ITEMS = 1500;
const MOST_USERS = 700;
/** With fewer users, recall is too uncertain to choose by. */
const FEWEST_USERS = 30;

/** Undefined if the model does not store its users' items, or too few users have a held-back item. */
export function holdItemsBack(
  { items, users, seen }: Model,
  offsets: Uint32Array,
  seed: number,
): HeldBackItems | undefined {
  if (!seen) return undefined;
  const random = randomStream(seed, STREAMS.content);
  const described: number[] = [];
  for (let j = 0; j < items.count; j++) if (offsets[j + 1] > offsets[j]) described.push(j);
  const share = Math.min(SHARE, MOST_ITEMS / Math.max(1, described.length));
  const chosen = described.filter(() => random.uniform() < share);
  const position = placesOf(chosen, items.count);
  const isOut = Uint8Array.from(position, (p) => (p < 0 ? 0 : 1));
  const able: number[] = [];
  for (let u = 0; u < users.count; u++) {
    const own = seen.neighbors.subarray(seen.offsets[u], seen.offsets[u + 1]);
    const out = own.reduce((sum, j) => sum + isOut[j], 0);
    if (out > 0 && out < own.length) able.push(u);
  }
  if (able.length < FEWEST_USERS) return undefined;
  const part = MOST_USERS / able.length;
  const asked = part >= 1 ? able : able.filter(() => random.uniform() < part);
  const histories: Uint32Array[] = [];
  const wanted: number[][] = [];
  for (const u of asked) {
    const own = seen.neighbors.subarray(seen.offsets[u], seen.offsets[u + 1]);
    histories.push(own.filter((j) => isOut[j] === 0));
    wanted.push(Array.from(own, (j) => position[j]).filter((p) => p >= 0));
  }
  return { items: Uint32Array.from(chosen), isOut, histories, wanted };
}
