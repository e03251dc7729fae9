// Merges equal pairs while a table is being read: `yes a,b` must not fill the memory.

import type { NumberBlocks } from './blocks.js';
import { hashWords } from './keyed-hash.js';

/** With fewer rows nothing is merged: they take little memory. */
export const FEW_ROWS = 1 << 22;
/** About the number of pairs by which that of all is estimated. */
const SAMPLE = 1 << 14;
const KEY_A = hashWords(0, 0, 4);
const KEY_B = hashWords(0, 0, 5);

/** About how many pairs are different, estimated from those whose hash is below a bound. */
export function differentPairs(users: NumberBlocks, items: NumberBlocks): number {
  const bound = 2 ** 32 * Math.min(1, SAMPLE / users.length);
  const sample = new Set<string>();
  for (let row = 0; row < users.length; row++) {
    const [user, item] = [users.get(row), items.get(row)];
    // Cheaper than the hash of the tables. A crafted table that defeats it only avoids being merged.
    let hash = Math.imul(Math.imul(user ^ KEY_A, 0x9e3779b1) ^ item ^ KEY_B, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 15), 0x7feb352d) >>> 0;
    if (hash < bound) sample.add(`${user} ${item}`);
  }
  return (sample.size * 2 ** 32) / bound;
}

/** Other data of a row: moved with it, or added to those of an equal pair. */
interface RowPart {
  move(from: number, to: number): void;
  add(from: number, into: number): void;
}

/** Keeps the first of equal pairs, and returns the number of pairs. */
export function mergePairs(users: NumberBlocks, items: NumberBlocks, rest: RowPart): number {
  // Open addressing: position + 1 of a pair, 0 if the slot is free.
  let table = new Uint32Array(1 << 16);
  let kept = 0;
  const find = (user: number, item: number): number => {
    const mask = table.length - 1;
    let slot = hashWords(user, item, 3) & mask;
    for (; table[slot] !== 0; slot = (slot + 1) & mask) {
      const place = table[slot] - 1;
      if (users.get(place) === user && items.get(place) === item) break;
    }
    return slot;
  };
  for (let row = 0; row < users.length; row++) {
    const user = users.get(row);
    const item = items.get(row);
    const slot = find(user, item);
    if (table[slot] !== 0) {
      rest.add(row, table[slot] - 1);
      continue;
    }
    users.set(kept, user);
    items.set(kept, item);
    rest.move(row, kept);
    table[slot] = ++kept;
    if (2 * kept > table.length) {
      table = new Uint32Array(2 * table.length);
      for (let place = 0; place < kept; place++) table[find(users.get(place), items.get(place))] = place + 1;
    }
  }
  users.truncate(kept);
  items.truncate(kept);
  return kept;
}
