// Walker's alias method: draws from a fixed discrete distribution in constant time.

import { allocate } from './memory.js';
import type { Random } from './random.js';

/** An alias table over 0 … n−1. Threads can share its two arrays and wrap them with `new AliasTable`. */
export class AliasTable {
  constructor(
    /** The border between i and its alias in box i, stored as i + (fraction of i), so that one uniform decides. */
    readonly borders: Float64Array,
    readonly aliases: Uint32Array,
  ) {}

  /** The table of weights ≥ 0 with a positive, finite sum (Vose's construction, linear time). */
  static of(weights: ArrayLike<number>): AliasTable {
    const n = weights.length;
    const borders = allocate(Float64Array, n);
    const aliases = allocate(Uint32Array, n);
    let sum = 0;
    for (let i = 0; i < n; i++) sum += weights[i];
    if (!(sum > 0 && sum < Number.POSITIVE_INFINITY)) {
      throw new RangeError(`alias table: ${n} weights sum to ${sum}; the sum must be positive and finite`);
    }
    // Two stacks in one array: boxes below average grow from the left, those above from the right.
    const stack = new Uint32Array(n);
    let small = 0;
    let large = n;
    for (let i = 0; i < n; i++) {
      borders[i] = (weights[i] / sum) * n;
      if (borders[i] < 1) stack[small++] = i;
      else stack[--large] = i;
    }
    while (small > 0 && large < n) {
      const poor = stack[--small];
      const rich = stack[large];
      aliases[poor] = rich;
      borders[rich] -= 1 - borders[poor];
      if (borders[rich] < 1) {
        large++;
        stack[small++] = rich;
      }
    }
    // Boxes that remain because of rounding are full.
    while (large < n) fill(stack[large++]);
    while (small > 0) fill(stack[--small]);
    function fill(i: number) {
      borders[i] = 1;
      aliases[i] = i;
    }
    for (let i = 0; i < n; i++) borders[i] += i;
    return new AliasTable(borders, aliases);
  }

  get size(): number {
    return this.aliases.length;
  }

  sample(random: Random): number {
    const x = random.uniform() * this.aliases.length;
    const box = Math.floor(x);
    return x < this.borders[box] ? box : this.aliases[box];
  }
}
