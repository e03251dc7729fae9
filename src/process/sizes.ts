// The sizes s and α of a graph: the paper's estimate by simulation, and the closed form from the evidence lower bound.

import { InputError } from '../errors.js';
import { type BipartiteGraph, type BySide, bySide, SIDES, type SideName } from '../graph/graph.js';
import { expectedLaplace } from '../math/quadrature.js';
import { randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { withDefaults } from '../options/check-options.js';
import { SIMULATE } from '../options/commands/simulate.js';
import { ESTIMATE_SIZES } from '../options/library.js';
import { HYPER, TASK } from '../options/shared.js';
import type { TaskOptions } from '../progress.js';
import { expectAtoms, featureMass, simulationWork } from './parameters.js';
import { simulate } from './poisson-model.js';
import type { SidePrior } from './unseen.js';

/** The prior of a side without its size; a given size is ignored. */
export type UnsizedPrior = Omit<SidePrior, 'size'>;

/** Options of estimating sizes by simulation. */
export interface EstimateSizesOptions extends TaskOptions {
  /** Prior of the users; sigma is the estimated tail index. */
  readonly users: UnsizedPrior;
  readonly items: UnsizedPrior;
  readonly features: number;
  /** Seed of the simulations. Default 1. */
  readonly seed?: number | undefined;
}

/** The counts of a graph that determine its sizes. */
export interface GraphSizes extends Pick<BipartiteGraph, 'edges' | 'total' | 'multigraph'> {
  readonly users: { readonly count: number };
  readonly items: { readonly count: number };
}

/** The size of each side. */
export type Sizes = BySide<number>;

/** Expected edges of the first simulation, and the limit for later ones. */
const FIRST_EDGES = 3e5;
const MOST_EDGES = 1e6;
/** Most random draws of a round. Where σ is large, few edges need many atoms. */
const MOST_WORK = 4e6;
/** Edges below which a simulation is not made smaller. */
const LEAST_EDGES = 1000;
/** The constant C depends weakly on the sizes, so it is measured again at each new estimate. */
const ROUNDS = 3;
/** Small graphs vary a lot; several of them take no longer than one large one. */
const MOST_GRAPHS = 8;

/**
 * Estimates the sizes at which the model gives as many vertices and edges as the graph has. It simulates graphs of known
 * sizes. If σ > 0, their constants C solve log U − σ log E = C + (1−σ) log s for s; if σ ≤ 0, s is proportional to U.
 * Each round repeats this at the new sizes, or at smaller ones of the same ratio if those would take long.
 * @example
 * import { estimateSizes, simulate } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * const prior = { sigma: 0.2, tau: 1, shape: 0.1, rate: 0.1 };
 * console.log(await estimateSizes(graph, { users: prior, items: prior, features: 4, seed: 1 }));
 */
export async function estimateSizes(graph: GraphSizes, options: EstimateSizesOptions): Promise<Sizes> {
  const { seed } = withDefaults({ ...ESTIMATE_SIZES, ...TASK }, options);
  if (graph.edges === 0)
    throw new InputError('the sizes of a graph without edges cannot be estimated; give the sizes');
  let sizes: Sizes = sizesOfEdges({ users: 1, items: 1 }, FIRST_EDGES, options);
  for (let round = 0; round < ROUNDS; round++) {
    const { at, edges, work } = affordableSizes(sizes, options);
    const graphs: BipartiteGraph[] = [];
    const most = Math.min(MOST_GRAPHS, MOST_EDGES / edges, MOST_WORK / work);
    const wanted = Math.max(1, Math.floor(most));
    while (graphs.length < wanted) {
      const { features, threads, signal } = options;
      const simulated = await simulate({
        features,
        threads,
        signal,
        ...sized(options, at),
        multigraph: graph.multigraph,
        seed: randomStream(seed, STREAMS.sizes + round, graphs.length).uint32(),
      });
      graphs.push(simulated.graph);
    }
    options.onProgress?.({ stage: 'estimating sizes', done: round + 1, total: ROUNDS, unit: 'rounds' });
    sizes = bySide((side) => solveSize(options[side].sigma, at[side], graphs, graph, side));
  }
  return Object.freeze(sizes);
}

function solveSize(
  sigma: number,
  size: number,
  simulated: readonly BipartiteGraph[],
  observed: GraphSizes,
  side: SideName,
): number {
  const tail = Math.max(0, sigma);
  const statistic = (graph: GraphSizes) => Math.log(graph[side].count) - tail * Math.log(graph.total);
  const filled = simulated.filter((graph) => graph.edges > 0);
  // If all simulated graphs are empty, the size must be larger: double it.
  if (filled.length === 0) return 2 * size;
  const mean = filled.reduce((sum, graph) => sum + statistic(graph), 0) / filled.length;
  const solved = size * Math.exp((statistic(observed) - mean) / (1 - tail));
  if (solved > 0 && solved <= HYPER.size.max) return solved;
  throw new InputError(
    `the size of the ${side} cannot be estimated by simulation at a tail index of ${sigma}; give the size of the ${side}`,
  );
}

/** Sizes in the given ratio whose simulation is within the limits, with its expected edges and draws. */
function affordableSizes(
  ratio: Sizes,
  options: EstimateSizesOptions,
): { at: Sizes; edges: number; work: number } {
  const { features } = options;
  for (let edges = Math.min(MOST_EDGES, expectedEdges(ratio, options)); ; edges /= 2) {
    const at = sizesOfEdges(ratio, edges, options);
    const { atoms } = expectAtoms({ ...sized(options, at), features }, SIMULATE.tolerance.default);
    const work = simulationWork(features, { atoms, latentEdges: edges });
    if (!(work > MOST_WORK) || edges < LEAST_EDGES) return { at, edges, work };
  }
}

/** The priors of both sides at these sizes. */
function sized(priors: BySide<UnsizedPrior>, sizes: Sizes): BySide<SidePrior> {
  return bySide((side) => ({ ...priors[side], size: sizes[side] }));
}

function expectedEdges(sizes: Sizes, options: EstimateSizesOptions): number {
  return SIDES.reduce(
    (edges, side) => edges * sizes[side] * featureMass({ ...options[side], size: 1 }),
    options.features,
  );
}

/** Sizes in the given ratio whose expected number of edges is `edges`, repeated ones included. */
function sizesOfEdges(ratio: Sizes, edges: number, options: EstimateSizesOptions): Sizes {
  const factor = Math.sqrt(edges / expectedEdges(ratio, options));
  return bySide((side) => ratio[side] * factor);
}

/** What float32 holds. If all vertices have the same degree, the best size has no limit. */
export const LARGEST_SIZE = 3.4e38;

/** The size that maximizes the bound given the other side's mass per feature: rows / E[ψ(θ·M)]. */
export function sizeFromBound(prior: UnsizedPrior, rows: number, otherMass: ArrayLike<number>): number {
  return Math.min(LARGEST_SIZE, rows / expectedLaplace(prior, otherMass));
}
