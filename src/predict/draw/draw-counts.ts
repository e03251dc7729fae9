// Draws the counts of edges when counts have their own prior, and tallies counts for the predictive checks.

import { type CountPrior, drawCount } from '../../fit/sides/count-prior.js';
import { normal } from '../../math/distributions.js';
import type { Random } from '../../math/random.js';
import type { VertexGroup } from './draw-plan.js';

/**
 * Draws the counts of the edges of one graph: the effects of all items first, and those of users one by one. Known vertices have the
 * lowest indexes.
 */
export function createCountDrawer(
  prior: CountPrior,
  sides: { readonly users: readonly VertexGroup[]; readonly items: readonly VertexGroup[] },
  atoms: number,
  random: Random,
) {
  const userEffect = effects(sides.users, prior.users, random);
  const itemEffect = effects(sides.items, prior.items, random);
  const items = Float64Array.from({ length: atoms }, (_, item) => itemEffect(item));
  let own = 0;
  return {
    /** Starts a user; the edges that follow are the user's. `known` is undefined for an unseen user. */
    user(known: number | undefined): void {
      own = userEffect(known);
    },
    /** The count of an edge of that user. `item` is undefined for an unseen item that has this edge only. */
    edge(item: number | undefined): number {
      const effect = item === undefined ? itemEffect(undefined) : items[item];
      return drawCount(random, prior.mean + own + effect, prior.spread);
    },
  };
}

/** Draws the effect of a vertex: from its posterior if it has one, else from the prior of the side. */
function effects(groups: readonly VertexGroup[], spread: number, random: Random) {
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

/** The tail statistic is this quantile of the counts. */
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

  /** The smallest number that 99 % of the counts do not exceed; 0 if there are no counts. */
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
