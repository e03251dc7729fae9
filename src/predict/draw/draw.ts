// Posterior predictive draws of a split's test graph.

import type { ModelSide, PosteriorModel } from '../../fit/model.js';
import { buildGraph } from '../../graph/build.js';
import type { BipartiteGraph, SideName } from '../../graph/graph.js';
import { VertexIds } from '../../graph/ids.js';
import { partFor, withDefaults } from '../../options/check-options.js';
import { DRAW } from '../../options/commands/evaluate.js';
import type { OptionsOf } from '../../options/declare.js';
import { TASK } from '../../options/shared.js';
import { createPool, taskModule, threadCount } from '../../parallel/pool.js';
import type { TaskOptions } from '../../progress.js';
import type { Split } from '../../sample/split-types.js';
import type { DrawnEdges, GraphStatistics, OneDrawOptions, TestGraphDraw } from './draw-graph.js';
import { type DrawPlan, drawPlan } from './draw-plan.js';
import type { DrawOfPlan } from './draw-tasks.js';

const DRAWING = taskModule('./draw-tasks.js', import.meta.url);
let nextPlan = 0;

/** Number, condition and seed of the draws; declared in options/commands/evaluate.ts. */
export interface DrawOptions extends OptionsOf<typeof DRAW>, TaskOptions {}

const DRAWING_OPTIONS = { ...DRAW, ...TASK };

/** The part of wider options that draws take. */
export const drawOptions = (options: object): DrawOptions => partFor(DRAWING_OPTIONS, options);

/** A test graph drawn from a model, and its statistics. */
export interface PredictiveDraw extends GraphStatistics {
  /** Undefined unless asked for. Known vertices keep their ids; unseen ones are called "unseen 1", "unseen 2", …. */
  readonly graph: BipartiteGraph | undefined;
}

/**
 * Draws test graphs from a fitted model. `folded` is the posterior of the held-out users, from the fold-in part. Users without
 * an edge there are drawn as unseen. The same seed gives the same draws on any number of threads.
 * @example
 * import { drawPredictive, evaluateModel, fit, simulate, split } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * const parts = split(graph, { testUsers: 0.3, testItems: 0.3, seed: 1 });
 * const { model } = await fit(parts.train, { features: 4, iterations: 20 });
 * const { folded } = await evaluateModel(model, parts, { draws: 0 });
 * const draws = await drawPredictive(model, folded, parts, { draws: 3 });
 * console.log(draws.map(({ edges }) => edges));
 */
export async function drawPredictive(
  model: PosteriorModel,
  folded: ModelSide,
  split: Split,
  options: DrawOptions = {},
): Promise<readonly PredictiveDraw[]> {
  const { draws, sizes, drawsGiven, seed, graphs: keep } = withDefaults(DRAWING_OPTIONS, options);
  const named = drawPlan(model, folded, split, drawsGiven);
  const [results] = await drawPlans([named.plan], draws, { ...options, seed, sizes, keep });
  return results.map(({ statistics, edges }) =>
    Object.freeze({
      ...statistics,
      graph:
        edges &&
        drawnGraph(model, edges, (side, drawn) =>
          withNames(drawn[side], drawn.counted[side], named.ids[side]),
        ),
    }),
  );
}

/** Makes `draws` draws of each plan, in order. */
export function drawPlans(
  plans: readonly DrawPlan[],
  draws: number,
  { sizes, keep, ...options }: OneDrawOptions & TaskOptions & { readonly seed: number },
): Promise<TestGraphDraw[][]> {
  return mapDraws('draw', plans, draws, { sizes, keep }, options);
}

/** Runs a task of draw-tasks.ts for `draws` draws of each plan, in order. All plans share one pool. */
export async function mapDraws<Settings extends object, Output>(
  task: 'draw' | 'discoveries',
  plans: readonly DrawPlan[],
  draws: number,
  settings: Settings,
  { seed, threads, signal, onProgress }: TaskOptions & { readonly seed: number },
): Promise<Output[][]> {
  const total = plans.length * draws;
  const ids = plans.map(() => nextPlan++);
  const pool = await createPool(DRAWING, threadCount(threads, total));
  try {
    for (const [at, id] of ids.entries()) await pool.everywhere('prepare', { id, plan: plans[at] });
    let done = 0;
    const results = await pool.map<DrawOfPlan & Settings, Output>(
      task,
      Array.from({ length: total }, (_, index) => {
        return { plan: ids[Math.floor(index / draws)], seed, index, ...settings };
      }),
      { signal, onResult: () => onProgress?.({ stage: 'drawing', done: ++done, total, unit: 'draws' }) },
    );
    return plans.map((_, at) => results.slice(at * draws, (at + 1) * draws));
  } finally {
    // A pool whose worker died has nothing to forget.
    for (const id of ids) await pool.everywhere('forget', id).catch(() => {});
    await pool.close();
  }
}

/** The vertices of one side at each edge, and the ids of those that have an edge. */
export interface DrawnSide {
  readonly vertices: Uint32Array;
  readonly ids: VertexIds;
}

/** A draw as a graph of the vertices with an edge, which `sideOf` numbers and names. */
export function drawnGraph(
  { multigraph, counts: prior }: PosteriorModel,
  edges: DrawnEdges,
  sideOf: (side: SideName, edges: DrawnEdges) => DrawnSide,
): BipartiteGraph {
  const [users, items] = [sideOf('users', edges), sideOf('items', edges)];
  return buildGraph({
    users: users.vertices,
    items: items.vertices,
    userCount: users.ids.length,
    itemCount: items.ids.length,
    userIds: users.ids,
    itemIds: items.ids,
    counts: edges.counts,
    multigraph: multigraph || prior !== undefined,
  });
}

/** Known vertices keep their ids; the others are called "unseen 1", "unseen 2", …. */
function withNames(vertices: Uint32Array, count: number, known: VertexIds): DrawnSide {
  const used = new Uint8Array(count);
  for (const v of vertices) used[v] = 1;
  const index = new Uint32Array(count);
  const names: string[] = [];
  for (let v = 0; v < count; v++) {
    if (!used[v]) continue;
    index[v] = names.length;
    names.push(v < known.length ? known.at(v) : `unseen ${v - known.length + 1}`);
  }
  return { vertices: vertices.map((v) => index[v]), ids: VertexIds.texts(names) };
}
