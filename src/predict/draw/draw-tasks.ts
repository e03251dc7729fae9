// The tasks of a worker that makes predictive draws.

import { randomStream } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import { serveTasks } from '../../parallel/worker.js';
import { createDrawer, type OneDrawOptions, type TestGraphDraw } from './draw-graph.js';
import type { DrawPlan } from './draw-plan.js';

export interface DrawTask extends OneDrawOptions {
  /** The id under which the plan was prepared. */
  readonly plan: number;
  readonly seed: number;
  readonly index: number;
}

/** By plan id, since several plans can be in use if tasks run in the caller's thread. */
const drawers = new Map<number, ReturnType<typeof createDrawer>>();

export function prepare({ id, plan }: { readonly id: number; readonly plan: DrawPlan }): void {
  drawers.set(id, createDrawer(plan));
}

export function forget(id: number): void {
  drawers.delete(id);
}

/** Every draw has its own random stream, so that any worker can make it. */
export function draw({ plan, seed, index, ...options }: DrawTask): TestGraphDraw {
  return drawers.get(plan)!(randomStream(seed, STREAMS.draws, index), options);
}

serveTasks('draw-tasks', { prepare, draw, forget });
