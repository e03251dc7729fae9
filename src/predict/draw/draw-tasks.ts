// What a worker does for predictive draws.

import { randomStream } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import { serveTasks } from '../../parallel/worker.js';
import { createDrawer, type SizeMode, type TestGraphDraw } from './draw-graph.js';
import type { DrawPlan } from './draw-plan.js';

export interface DrawTask {
  /** The number it was prepared under. */
  readonly plan: number;
  readonly seed: number;
  readonly index: number;
  readonly sizes: SizeMode;
  readonly keep: boolean;
}

/** By the number of the plan: where the tasks run in the caller's thread, several may be under way. */
const drawers = new Map<number, ReturnType<typeof createDrawer>>();

export function prepare({ id, plan }: { readonly id: number; readonly plan: DrawPlan }): void {
  drawers.set(id, createDrawer(plan));
}

export function forget(id: number): void {
  drawers.delete(id);
}

/** A draw has a stream of its own, so it does not matter which worker makes it. */
export function draw({ plan, seed, index, sizes, keep }: DrawTask): TestGraphDraw {
  return drawers.get(plan)!(randomStream(seed, STREAMS.draws, index), { sizes, keep });
}

serveTasks('draw-tasks', { prepare, draw, forget });
