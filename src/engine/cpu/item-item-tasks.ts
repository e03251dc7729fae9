// What a worker does for the weights between items: take the next block of items until none is left. Items are independent of
// each other, so results do not depend on the number of workers.

import { serveTasks } from '../../parallel/worker.js';
import type { RowLists } from '../rank.js';

export interface ItemItemJob {
  /** Per user the items, per item the users. */
  readonly users: RowLists;
  readonly items: RowLists;
  /** Most inputs of an item. */
  readonly width: number;
  readonly dropout: number;
  readonly lambda: number;
  /** A number that is counted up to take the next block. */
  readonly next: Int32Array;
  /** Of each item: how many inputs it has; which, and their weights, each at item × width. */
  readonly lengths: Uint32Array;
  readonly inputs: Uint32Array;
  readonly weights: Float32Array;
}

export const ITEMS_PER_BLOCK = 32;

export function solveItems(job: ItemItemJob): void {
  const count = job.lengths.length;
  const solver = new ItemSolver(job);
  for (;;) {
    const first = ITEMS_PER_BLOCK * Atomics.add(job.next, 0, 1);
    if (first >= count) return;
    for (let item = first; item < Math.min(count, first + ITEMS_PER_BLOCK); item++) solver.solve(item);
  }
}

/** What is used again for each item. */
class ItemSolver {
  readonly #job: ItemItemJob;
  /** Users in common with the item, and the items that have any. */
  readonly #common: Uint32Array;
  readonly #met: Uint32Array;
  /** Lower half of the inputs' Gram matrix, then its Cholesky factor. */
  readonly #gram: Float64Array;
  readonly #wanted: Float64Array;
  /** Per user, the last of its entries in a chain of the inputs that it has; 0: none. */
  readonly #chain: Uint32Array;
  #input = new Uint32Array(1024);
  #former = new Uint32Array(1024);

  constructor(job: ItemItemJob) {
    this.#job = job;
    const count = job.lengths.length;
    this.#common = new Uint32Array(count);
    this.#met = new Uint32Array(count);
    this.#gram = new Float64Array(job.width * job.width);
    this.#wanted = new Float64Array(job.width);
    this.#chain = new Uint32Array(job.users.offsets.length - 1);
  }

  solve(item: number): void {
    const { width, dropout, lambda, items, lengths, inputs, weights } = this.#job;
    const chosen = this.#choose(item);
    const m = chosen.length;
    lengths[item] = m;
    this.#fillGram(chosen);
    const gram = this.#gram;
    for (let p = 0; p < m; p++) {
      const degree = items.offsets[chosen[p] + 1] - items.offsets[chosen[p]];
      gram[p * width + p] = degree + dropout * degree + lambda;
      this.#wanted[p] = this.#common[chosen[p]];
    }
    solveSymmetric(gram, this.#wanted, m, width);
    inputs.set(chosen, item * width);
    for (let p = 0; p < m; p++) weights[item * width + p] = this.#wanted[p];
  }

  /** The items with most users in common, over the root of their own number; ascending. */
  #choose(item: number): Uint32Array {
    const { users, items, width } = this.#job;
    const common = this.#common;
    const met = this.#met;
    common.fill(0);
    let count = 0;
    for (let e = items.offsets[item]; e < items.offsets[item + 1]; e++) {
      const user = items.values[e];
      for (let h = users.offsets[user]; h < users.offsets[user + 1]; h++) {
        const other = users.values[h];
        if (common[other]++ === 0 && other !== item) met[count++] = other;
      }
    }
    const found = met.slice(0, count);
    if (count > width) {
      const likeness = (other: number) =>
        common[other] / Math.sqrt(items.offsets[other + 1] - items.offsets[other]);
      const least = Float64Array.from(found, likeness).sort()[count - width];
      // Of equals the first by number, so that it does not matter in which order they were met.
      found.sort();
      let ties = width;
      for (const other of found) if (likeness(other) > least) ties--;
      return found.filter((other) => {
        const alike = likeness(other);
        return alike > least || (alike === least && ties-- > 0);
      });
    }
    return found.sort();
  }

  /** Users in common of every two inputs: each user's inputs are chained as they are met. */
  #fillGram(chosen: Uint32Array): void {
    const { items, width } = this.#job;
    const { offsets, values } = items;
    const chain = this.#chain;
    const gram = this.#gram;
    gram.fill(0, 0, chosen.length * width);
    let entries = 0;
    for (const input of chosen) entries += offsets[input + 1] - offsets[input];
    if (this.#input.length <= entries) {
      this.#input = new Uint32Array(2 * entries);
      this.#former = new Uint32Array(2 * entries);
    }
    const inputs = this.#input;
    const former = this.#former;
    let entry = 0;
    for (let p = 0; p < chosen.length; p++) {
      const row = p * width;
      for (let e = offsets[chosen[p]]; e < offsets[chosen[p] + 1]; e++) {
        const user = values[e];
        for (let at = chain[user]; at > 0; at = former[at]) gram[row + inputs[at]]++;
        entry++;
        inputs[entry] = p;
        former[entry] = chain[user];
        chain[user] = entry;
      }
    }
    for (const input of chosen) {
      for (let e = offsets[input]; e < offsets[input + 1]; e++) chain[values[e]] = 0;
    }
  }
}

/** Solves A x = b in place by Cholesky's decomposition of the lower half of A: m rows, `width` apart. */
function solveSymmetric(A: Float64Array, x: Float64Array, m: number, width: number): void {
  for (let p = 0; p < m; p++) {
    const row = p * width;
    for (let q = 0; q <= p; q++) {
      const other = q * width;
      let sum = A[row + q];
      for (let k = 0; k < q; k++) sum -= A[row + k] * A[other + k];
      A[row + q] = p === q ? Math.sqrt(Math.max(sum, Number.MIN_VALUE)) : sum / A[other + q];
    }
    let sum = x[p];
    for (let k = 0; k < p; k++) sum -= A[row + k] * x[k];
    x[p] = sum / A[row + p];
  }
  for (let p = m - 1; p >= 0; p--) {
    let sum = x[p];
    for (let k = p + 1; k < m; k++) sum -= A[k * width + p] * x[k];
    x[p] = sum / A[p * width + p];
  }
}

serveTasks('item-item-tasks', { solveItems });
