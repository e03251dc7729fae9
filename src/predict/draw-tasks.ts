// What a worker does for predictive draws.

import { randomStream } from '../math/random.js';
import { createDrawer, type SizeMode, type TestGraphDraw } from './draw-graph.js';
import type { DrawPlan } from './draw-plan.js';

export interface DrawTask {
  readonly seed: number;
  readonly index: number;
  readonly sizes: SizeMode;
  readonly keep: boolean;
}

/** Tells the streams of predictive draws from all others of the same seed. */
const STREAM = 0xd4a3;

let drawer: ReturnType<typeof createDrawer> | undefined;

export function prepare(plan: DrawPlan): void {
  drawer = createDrawer(plan);
}

/** A draw has a stream of its own, so it does not matter which worker makes it. */
export function draw({ seed, index, sizes, keep }: DrawTask): TestGraphDraw {
  return drawer!(randomStream(seed, STREAM, index), { sizes, keep });
}
