// Counts of drawn edges: how often each pair is there, by a law of its own, and what checks say of them.

import { type CountPrior, drawCount } from '../../fit/sides/count-prior.js';
import { normal } from '../../math/distributions.js';
import type { Random } from '../../math/random.js';
import type { VertexGroup } from './draw-plan.js';

/** Draws the counts of the edges of one graph, vertex by vertex. */
export interface CountDrawer {
  /** The parts of the users that follow; undefined: one that nothing is known of. */
  user(known: number | undefined): void;
  /** The count of an edge of that user; undefined: an item that nothing is known of and that comes once. */
  edge(item: number | undefined): number;
}

/** The parts of the items are drawn at once, those of the users as they come: `known` of either side come first. */
export function createCountDrawer(
  law: CountPrior,
  sides: { readonly users: readonly VertexGroup[]; readonly items: readonly VertexGroup[] },
  atoms: number,
  random: Random,
): CountDrawer {
  const partOfUser = parts(sides.users, law.users, random);
  const partOfItem = parts(sides.items, law.items, random);
  const items = Float64Array.from({ length: atoms }, (_, item) => partOfItem(item));
  let own = 0;
  return {
    user(known) {
      own = partOfUser(known);
    },
    edge(item) {
      const part = item === undefined ? partOfItem(undefined) : items[item];
      return drawCount(random, law.mean + own + part, law.spread);
    },
  };
}

/** Draws a vertex's part: from what is known of it, or from the law of the side. */
function parts(groups: readonly VertexGroup[], spread: number, random: Random) {
  const mean: number[] = [];
  const deviation: number[] = [];
  for (const { known } of groups) {
    for (let v = 0; v < known.count; v++) {
      mean.push(known.counts?.mean[v] ?? 0);
      deviation.push(known.counts ? Math.sqrt(known.counts.variance[v]) : spread);
    }
  }
  return (vertex: number | undefined) =>
    vertex === undefined || vertex >= mean.length
      ? spread * normal(random)
      : mean[vertex] + deviation[vertex] * normal(random);
}

/** Share of the pairs that the tail statistic leaves below it. */
const BODY = 0.99;
const SMALL = 4096;

/** How many pairs have each count. */
export class CountTally {
  readonly #small = new Float64Array(SMALL);
  readonly #large: number[] = [];
  #pairs = 0;
  total = 0;

  add(count: number): void {
    this.#pairs++;
    this.total += count;
    if (count < SMALL) this.#small[count]++;
    else this.#large.push(count);
  }

  /** The smallest number that 99 % of the counts do not exceed; 0 where there are none. */
  tail(): number {
    let left = Math.ceil(BODY * this.#pairs);
    if (left === 0) return 0;
    for (let count = 0; count < SMALL; count++) {
      left -= this.#small[count];
      if (left <= 0) return count;
    }
    return this.#large.sort((a, b) => a - b)[left - 1];
  }
}
