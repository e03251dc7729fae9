// What a worker does for the model's forecast.

import { randomStream } from '../math/random.js';
import { createDrawer } from '../predict/draw-graph.js';
import type { DrawPlan } from '../predict/draw-plan.js';

export interface GrowthTask {
  readonly seed: number;
  readonly index: number;
}

/** Tells the streams of these draws, and of the arrivals in them, from all others of the same seed. */
const STREAM = 0x6704;

let drawer: ReturnType<typeof createDrawer> | undefined;
let known = 0;

/** The plan's users are those that grow. */
export function prepare(plan: DrawPlan): void {
  drawer = createDrawer(plan);
  known = plan.items.reduce((sum, group) => sum + group.known.count, 0);
}

/** When each vertex that was not known is first met, ascending, as a share of the growth. */
export function discoveries({ seed, index }: GrowthTask): Float64Array {
  const { edges } = drawer!(randomStream(seed, STREAM, index, 0), { sizes: 'posterior', keep: true });
  const { users, items, userCount, itemCount } = edges!;
  const random = randomStream(seed, STREAM, index, 1);
  const arrival = Float64Array.from({ length: userCount }, () => random.uniform());
  const first = new Float64Array(itemCount - known).fill(2);
  for (let e = 0; e < items.length; e++) {
    const atom = items[e] - known;
    if (atom >= 0 && arrival[users[e]] < first[atom]) first[atom] = arrival[users[e]];
  }
  return first.filter((time) => time < 2).sort();
}
