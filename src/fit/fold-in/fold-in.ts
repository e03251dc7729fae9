// Fold-in of new vertices into a fitted model: the other side stays fixed, and only the new rows are
// updated. Given the other side the rows are independent, so an engine folds in many in parallel. One row takes milliseconds.

import {
  ACTIVITY_FLOOR,
  gammasOf,
  type SideHyper,
  type TableValues,
  WEIGHT_SHAPE_FLOOR,
} from '../../engine/engine.js';
import { onEngine } from '../../engine/select.js';
import { InputError, throwIfAborted } from '../../errors.js';
import { type BipartiteGraph, type GraphSide, otherSide, type SideName } from '../../graph/graph.js';
import type { VertexIds } from '../../graph/ids.js';
import { allocate } from '../../math/memory.js';
import { withDefaults } from '../../options/check-options.js';
import type { OptionsOf } from '../../options/declare.js';
import { option, optionError } from '../../options/error.js';
import { FOLD_IN } from '../../options/library.js';
import { TASK } from '../../options/shared.js';
import type { TaskOptions } from '../../progress.js';
import { shown } from '../../text/untrusted.js';
import {
  columnSums,
  type ModelSide,
  modelSide,
  needPosterior,
  type Posterior,
  type PosteriorModel,
} from '../model.js';
import { foldCounts } from '../sides/count-prior.js';

/** Options of `foldIn`; declared in options/library.ts. */
export interface FoldInOptions extends OptionsOf<typeof FOLD_IN>, TaskOptions {}

/** Half-steps with posterior means before those with geometric means, as in the warm phase of a fit. */
const WARM_STEPS = 10;

/**
 * Half-steps from the prior in a ranking fit and in its fold-in. Both use the same number, so items are learned from users like
 * those of a fold-in. More steps sharpen the users' features but rank worse on held-back users (docs/appendix/ranking-fit.md).
 */
export const RANKING_STEPS = 3;

/** The fixed side of a fold-in: a posterior, or the means of a ranker, which has no unseen mass. */
type FixedSide =
  | (Posterior & { readonly unseenMass: Float64Array })
  | { readonly count: number; readonly means: Float32Array };

/** The part of a model that a fold-in needs. */
export interface FoldBase {
  readonly features: number;
  readonly multigraph: boolean;
  /** Hyperparameters of the new vertices. */
  readonly prior: SideHyper;
  readonly fixed: FixedSide;
}

/** The part of a posterior model that a fold-in of new vertices of `side` needs. */
export function foldBase(model: PosteriorModel, side: SideName): FoldBase {
  const { features, multigraph } = model;
  return { features, multigraph, prior: model[side].hyper, fixed: model[otherSide(side)] };
}

/**
 * Folds the vertices of one side of `graph` into the model. Vertices of the other side are matched by id. An edge to a vertex
 * that the model does not know is an InputError: drop these edges first. Vertices without edges get a posterior given no edge.
 * @example
 * import { BipartiteGraph, fit, foldIn } from 'graphex';
 * const graph = BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk'], ['bob', 'tea'], ['cleo', 'milk']]);
 * const { model } = await fit(graph, { features: 2 });
 * const newcomers = await foldIn(model, BipartiteGraph.fromPairs([['dan', 'tea'], ['eve', 'milk']]));
 * console.log(newcomers.count, newcomers.weightShape);
 */
export async function foldIn(
  model: PosteriorModel,
  graph: BipartiteGraph,
  options: FoldInOptions = {},
): Promise<ModelSide> {
  needPosterior(model, 'the Gammas of a fold-in');
  const settings = withDefaults({ ...FOLD_IN, ...TASK }, options);
  const { side, eligible } = settings;
  const fixed = model[otherSide(side)];
  if (eligible && eligible.length !== fixed.count) {
    throw optionError`${option('eligible')}: ${eligible.length} entries for ${fixed.count} ${otherSide(side)}; give one for each`;
  }
  const rows = matchRows(graph, side, fixed.ids);
  const values = await foldGraph(foldBase(model, side), rows, settings);
  const folded = modelSide(graph[side], values, model[side].hyper, new Float64Array(model.features));
  if (!model.counts || !fixed.counts) return folded;
  return Object.freeze({ ...folded, counts: foldCounts(model.counts, side, rows, fixed.counts) });
}

/** The rows of one side with their neighbours numbered as in `ids`; refuses a neighbour that is not in `ids`. */
export function matchRows(graph: BipartiteGraph, side: SideName, ids: VertexIds): GraphSide {
  const rows = graph[side];
  const other = graph[otherSide(side)];
  const numbers = ids.findAll(other.ids);
  const neighbors = allocate(Uint32Array, rows.neighbors.length);
  for (let e = 0; e < neighbors.length; e++) {
    const number = numbers[rows.neighbors[e]];
    if (number < 0) {
      throw new InputError(
        `fold-in: ${otherSide(side)} ${shown(other.ids.at(rows.neighbors[e]))} is unknown to the model; drop its edges first`,
      );
    }
    neighbors[e] = number;
  }
  return { ...rows, neighbors };
}

/** Folds in `rows`, which hold edges to vertices of the fixed side: a posterior, or the means of a ranker. */
export function foldGraph(
  { features: K, multigraph, prior, fixed }: FoldBase,
  rows: GraphSide,
  options: FoldInOptions = {},
): Promise<TableValues> {
  const { signal, onProgress, threads, engine: asked = 'auto' } = options;
  const { iterations = FOLD_IN.iterations.default, tolerance = FOLD_IN.tolerance.default } = options;
  const hyper: SideHyper = { ...prior, size: 0 };
  const exactFrom = options.activity === 'mean' ? Infinity : WARM_STEPS;
  const work = { edges: rows.neighbors.length * 0.5, features: K };
  return onEngine(asked, work, threads, async ({ engine }) => {
    const otherMass = sideMass(fixed, K, options);
    const own = await engine.createTable(K, priorRows(rows, hyper, K, otherMass), 'mean');
    const other = await engine.createTable(K, asTable(fixed), 'mean');
    const index = await engine.createIndex({ ...rows, counts: multigraph ? rows.counts : undefined });
    let before = (await engine.totals(own)).mass;
    for (let t = 0; t < iterations; t++) {
      throwIfAborted(signal);
      if (t === exactFrom) await engine.setActivity(other, 'geometric');
      await engine.update(own, index, other, {
        hyper,
        // The last warm step already writes geometric activities, which the first geometric pass needs.
        activity: t < exactFrom - 1 ? 'mean' : 'geometric',
        otherMass,
      });
      if (t % 5 !== 4) continue;
      const { mass } = await engine.totals(own);
      const total = mass.reduce((a, b) => a + b, 0);
      const change = mass.reduce((worst, m, k) => Math.max(worst, Math.abs(m - before[k])), 0) / (5 * total);
      before = mass;
      onProgress?.({ stage: 'folding in', done: t + 1, total: iterations, unit: 'half-steps' });
      if (t >= WARM_STEPS + 5 && change < tolerance) break;
    }
    const values = await engine.read(own);
    for (const handle of [own, other, index]) void engine.free(handle);
    return values;
  });
}

export function asTable(fixed: FixedSide): TableValues {
  return 'means' in fixed ? gammasOf(fixed.means, fixed.count) : fixed;
}

/** Every new row starts with equal features; the fixed side then makes them differ. */
function priorRows(
  rows: Pick<GraphSide, 'count' | 'offsets'>,
  hyper: SideHyper,
  K: number,
  otherMass: Float64Array,
): TableValues {
  const total = otherMass.reduce((a, b) => a + b, 0);
  const weightRate = new Float64Array(rows.count).fill(hyper.tau + total);
  const ones = new Float32Array(rows.count * K).fill(1);
  return { weightShape: firstShapes(rows, hyper), weightRate, featureShape: ones, featureRate: ones };
}

/** Starting shapes of the weights: degree − σ. */
export function firstShapes(
  { count, offsets }: Pick<GraphSide, 'count' | 'offsets'>,
  { sigma }: SideHyper,
): Float64Array {
  return Float64Array.from({ length: count }, (_, i) =>
    Math.max(offsets[i + 1] - offsets[i] - sigma, WEIGHT_SHAPE_FLOOR),
  );
}

/** The mass M_k of the vertices that the new ones could have met, plus `unseenShare` of the unseen mass. */
export function eligibleMass(
  model: PosteriorModel,
  side: SideName,
  options: Pick<FoldInOptions, 'eligible' | 'unseenShare'> = {},
): Float64Array {
  return sideMass(model[side], model.features, options);
}

export function sideMass(
  fixed: FixedSide,
  K: number,
  { eligible, unseenShare = 1 }: Pick<FoldInOptions, 'eligible' | 'unseenShare'> = {},
): Float64Array {
  if ('means' in fixed) return columnSums(fixed.means, K, eligible);
  const unseen = fixed.unseenMass.map((m) => m * unseenShare);
  return addMass(unseen, fixed, 0, fixed.count, eligible);
}

/** Adds Σ_j E[weight_j] E[feature_jk] of the eligible rows j from `first` to `last` − 1 to `mass`, and returns it. */
export function addMass(
  mass: Float64Array,
  { weightShape, weightRate, featureShape, featureRate }: TableValues,
  first: number,
  last: number,
  eligible?: Uint8Array | undefined,
): Float64Array {
  const K = mass.length;
  for (let j = first; j < last; j++) {
    if (eligible && !eligible[j]) continue;
    const weight = weightShape[j] / weightRate[j];
    for (let k = 0; k < K; k++) mass[k] += (weight * featureShape[j * K + k]) / featureRate[j * K + k];
  }
  return mass;
}

/** The posterior of one new vertex. */
export interface FoldedVertex {
  readonly weightShape: number;
  readonly weightRate: number;
  readonly featureShape: Float64Array;
  readonly featureRate: Float64Array;
}

interface FoldOneOptions {
  /** Default 60 half-steps. */
  readonly iterations?: number | undefined;
  /** The count of each neighbour, for a multigraph. Default: 1. */
  readonly counts?: ArrayLike<number> | undefined;
  /** The mass that the vertex could have met. It is the same for all vertices, so pass it when folding in several. */
  readonly otherMass?: Float64Array | undefined;
}

/** Folds in one vertex with posterior means, in float64 on this thread: `neighbors` are vertices of the other side. */
export function foldVertex(
  { features: K, multigraph, prior: hyper, fixed }: FoldBase,
  neighbors: ArrayLike<number>,
  { iterations = 60, counts: given, otherMass: M = sideMass(fixed, K) }: FoldOneOptions = {},
): FoldedVertex {
  const n = neighbors.length;
  const B = gatherMeans(fixed, neighbors, K);
  const counts = multigraph ? given : undefined;
  const sums = new Float64Array(K);
  const featureShape = new Float64Array(K).fill(1);
  const featureRate = new Float64Array(K).fill(1);
  let weightShape = Math.max(n - hyper.sigma, WEIGHT_SHAPE_FLOOR);
  let weightRate = hyper.tau + M.reduce((a, b) => a + b, 0);
  const A = new Float64Array(K).fill(weightShape / weightRate);
  for (let t = 0; t < iterations; t++) {
    passVertex(A, B, counts, n, K, sums);
    let expected = 0;
    let rate = hyper.tau;
    for (let k = 0; k < K; k++) {
      sums[k] *= A[k];
      expected += sums[k];
      rate += (featureShape[k] / featureRate[k]) * M[k];
    }
    weightShape = Math.max(expected - hyper.sigma, WEIGHT_SHAPE_FLOOR);
    weightRate = rate;
    const weight = weightShape / weightRate;
    let change = 0;
    for (let k = 0; k < K; k++) {
      change += Math.abs(hyper.shape + sums[k] - featureShape[k]);
      featureShape[k] = hyper.shape + sums[k];
      featureRate[k] = hyper.rate + weight * M[k];
      A[k] = (weight * featureShape[k]) / featureRate[k];
    }
    if (t > WARM_STEPS && change < FOLD_IN.tolerance.default * Math.max(1, expected)) break;
  }
  return { weightShape, weightRate, featureShape, featureRate };
}

/** Σ_e w_e B_ek of one vertex: its edge pass. */
function passVertex(
  A: Float64Array,
  B: Float64Array,
  counts: ArrayLike<number> | undefined,
  n: number,
  K: number,
  sums: Float64Array,
): void {
  sums.fill(0);
  for (let e = 0; e < n; e++) {
    const at = e * K;
    let lambda = 0;
    for (let k = 0; k < K; k++) lambda += A[k] * B[at + k];
    const w = counts ? counts[e] / lambda : -1 / Math.expm1(-lambda);
    for (let k = 0; k < K; k++) sums[k] += w * B[at + k];
  }
}

/** Mean activities of the given vertices, one row each. */
function gatherMeans(side: FixedSide, vertices: ArrayLike<number>, K: number): Float64Array {
  const rows = new Float64Array(vertices.length * K);
  for (let e = 0; e < vertices.length; e++) {
    const first = vertices[e] * K;
    if ('means' in side) {
      for (let k = 0; k < K; k++) rows[e * K + k] = Math.max(side.means[first + k], ACTIVITY_FLOOR);
      continue;
    }
    const weight = side.weightShape[vertices[e]] / side.weightRate[vertices[e]];
    for (let k = 0; k < K; k++) {
      const value = (weight * side.featureShape[first + k]) / side.featureRate[first + k];
      rows[e * K + k] = Math.max(value, ACTIVITY_FLOOR);
    }
  }
  return rows;
}
