// Merges equal pairs while a table is being read: `yes a,b` must not fill the memory.

import type { NumberBlocks } from './blocks.js';
import { hashWords } from './keyed-hash.js';

/** With fewer rows nothing is merged: they take little memory. */
export const FEW_ROWS = 1 << 22;
/** When the sample of pairs has grown to this size, half of it is dropped. */
const SAMPLE = 1 << 14;
const KEY_A = hashWords(0, 0, 4);
const KEY_B = hashWords(0, 0, 5);

/**
 * Estimates the number of distinct pairs from those whose hash is below a bound. Tells when at least half of the rows repeat others.
 */
export class RepeatEstimate {
  #bound = 2 ** 32;
  readonly #sample = new Map<string, number>();
  /** The number of rows at which to check next. */
  #next = FEW_ROWS;

  /** Counts a row, from FEW_ROWS on; returns true when it is time to merge. `rows`: the number of rows so far. */
  see(user: number, item: number, rows: number): boolean {
    this.#take(user, item);
    if (rows < this.#next) return false;
    const different = (this.#sample.size * 2 ** 32) / this.#bound;
    if (rows > 2 * different) return true;
    this.#next = Math.max(rows + FEW_ROWS, 2 * different);
    return false;
  }

  /** Takes a new sample: at the first rows, and after merging, because codes may have changed. */
  restart(users: NumberBlocks, items: NumberBlocks): void {
    this.#sample.clear();
    this.#bound = 2 ** 32;
    for (let row = 0; row < users.length; row++) this.#take(users.get(row), items.get(row));
    this.#next = 0;
  }

  #take(user: number, item: number): void {
    // Cheaper than the hash of the tables. A crafted table that defeats it only avoids being merged.
    let hash = Math.imul(Math.imul(user ^ KEY_A, 0x9e3779b1) ^ item ^ KEY_B, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 15), 0x7feb352d) >>> 0;
    if (hash >= this.#bound) return;
    this.#sample.set(`${user} ${item}`, hash);
    while (this.#sample.size > SAMPLE) this.#thin();
  }

  #thin(): void {
    this.#bound /= 2;
    for (const [pair, hash] of this.#sample) if (hash >= this.#bound) this.#sample.delete(pair);
  }
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
