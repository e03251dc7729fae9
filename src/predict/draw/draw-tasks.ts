// The tasks of workers that draw test graphs.

import { upperBound } from '../../math/csr.js';
import { type Random, randomStream } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import { serveTasks } from '../../parallel/worker.js';
import { createDrawer, type OneDrawOptions, type TestGraphDraw } from './draw-graph.js';
import { type DrawPlan, knownCount } from './draw-plan.js';

/** One draw of a plan. Every draw has its own random stream, so that any worker can make it. */
export interface DrawOfPlan {
  /** The id under which the plan was prepared. */
  readonly plan: number;
  readonly seed: number;
  readonly index: number;
}

export interface GrowthShares {
  readonly shares: readonly number[];
}

interface Prepared {
  readonly draw: (random: Random, options: OneDrawOptions) => TestGraphDraw;
  /** Items that are known. */
  readonly known: number;
}

/** By plan id, since several plans can be in use if tasks run in the caller's thread. */
const prepared = new Map<number, Prepared>();

export function prepare({ id, plan }: { readonly id: number; readonly plan: DrawPlan }): void {
  prepared.set(id, { draw: createDrawer(plan), known: knownCount(plan.items) });
}

export function forget(id: number): void {
  prepared.delete(id);
}

export function draw({ plan, seed, index, ...options }: DrawOfPlan & OneDrawOptions): TestGraphDraw {
  return prepared.get(plan)!.draw(randomStream(seed, STREAMS.draws, index), options);
}

/** The number of unknown items that are met by the time of each of these shares of the users' growth. */
export function discoveries({ plan, seed, index, shares }: DrawOfPlan & GrowthShares): number[] {
  const { draw, known } = prepared.get(plan)!;
  const { edges } = draw(randomStream(seed, STREAMS.growth, index, 0), { sizes: 'posterior', keep: true });
  const { users, items, counted } = edges!;
  const random = randomStream(seed, STREAMS.growth, index, 1);
  const arrival = Float64Array.from({ length: counted.users }, () => random.uniform());
  const first = new Float64Array(counted.items - known).fill(2);
  for (let e = 0; e < items.length; e++) {
    const atom = items[e] - known;
    if (atom >= 0 && arrival[users[e]] < first[atom]) first[atom] = arrival[users[e]];
  }
  first.sort();
  return shares.map((share) => upperBound(first, share));
}

serveTasks('draw-tasks', { prepare, draw, discoveries, forget });
