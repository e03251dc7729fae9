// The tasks of workers that draw the model's forecast.

import { randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { serveTasks } from '../parallel/worker.js';
import { createDrawer } from '../predict/draw/draw-graph.js';
import type { DrawPlan } from '../predict/draw/draw-plan.js';

export interface GrowthTask {
  /** The number it was prepared under. */
  readonly plan: number;
  readonly seed: number;
  readonly index: number;
}

interface Prepared {
  readonly draw: ReturnType<typeof createDrawer>;
  /** Vertices of the other side that are known. */
  readonly known: number;
}

/** Keyed by plan: if tasks run in the caller's thread, several plans may be in use. */
const prepared = new Map<number, Prepared>();

/** The plan's users are those that grow. */
export function prepare({ id, plan }: { readonly id: number; readonly plan: DrawPlan }): void {
  const known = plan.items.reduce((sum, group) => sum + group.known.count, 0);
  prepared.set(id, { draw: createDrawer(plan), known });
}

export function forget(id: number): void {
  prepared.delete(id);
}

/** When each unknown vertex is first met, as a share of the growth, ascending. */
export function discoveries({ plan, seed, index }: GrowthTask): Float64Array {
  const { draw, known } = prepared.get(plan)!;
  const { edges } = draw(randomStream(seed, STREAMS.growth, index, 0), { sizes: 'posterior', keep: true });
  const { users, items, userCount, itemCount } = edges!;
  const random = randomStream(seed, STREAMS.growth, index, 1);
  const arrival = Float64Array.from({ length: userCount }, () => random.uniform());
  const first = new Float64Array(itemCount - known).fill(2);
  for (let e = 0; e < items.length; e++) {
    const atom = items[e] - known;
    if (atom >= 0 && arrival[users[e]] < first[atom]) first[atom] = arrival[users[e]];
  }
  return first.filter((time) => time < 2).sort();
}

serveTasks('growth-tasks', { prepare, discoveries, forget });
