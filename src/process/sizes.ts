// The sizes s and α of a graph: the paper's estimate by simulation, and the closed form from the bound.

import { InputError } from '../errors.js';
import { type BipartiteGraph, SIDES, type SideName } from '../graph/graph.js';
import { expectedLaplace } from '../math/quadrature.js';
import { randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { withAllDefaults } from '../options/check-options.js';
import { ESTIMATE_SIZES } from '../options/library.js';
import { TASK } from '../options/shared.js';
import type { TaskOptions } from '../progress.js';
import { featureMass } from './parameters.js';
import { simulate } from './poisson-model.js';
import type { SidePrior } from './unseen.js';

/** The law of a side without its size; a size that is given is not looked at. */
export type UnsizedPrior = Omit<SidePrior, 'size'>;

/** Options of estimating sizes by simulation. */
export interface EstimateSizesOptions extends TaskOptions {
  /** Law of the users; sigma is the estimated tail index. */
  readonly users: UnsizedPrior;
  readonly items: UnsizedPrior;
  readonly features: number;
  /** Of the simulations. Default 1. */
  readonly seed?: number | undefined;
}

/** How large a graph is; a graph says it of itself. */
export interface GraphSizes extends Pick<BipartiteGraph, 'edges' | 'total' | 'multigraph'> {
  readonly users: { readonly count: number };
  readonly items: { readonly count: number };
}

/** The size of each side. */
export type Sizes = Readonly<Record<SideName, number>>;

/** Expected edges of the first simulation, and the most of a later one. */
const FIRST_EDGES = 3e5;
const MOST_EDGES = 1e6;
/** The constant C depends on the sizes a little, so it is measured again at the sizes found. */
const ROUNDS = 3;
/** Small graphs vary a lot, and several of them take no longer than one large one. */
const MOST_GRAPHS = 8;

/**
 * Sizes at which the model gives as many vertices and edges as the graph has. Graphs of known sizes are simulated; their
 * constants C solve log U − σ log E = C + (1−σ) log s for s where σ > 0, and s is proportional to U where σ ≤ 0. Repeated
 * at the sizes found, or at smaller ones of the same ratio where those would take long.
 */
export async function estimateSizes(graph: GraphSizes, options: EstimateSizesOptions): Promise<Sizes> {
  const { seed } = withAllDefaults({ ...ESTIMATE_SIZES, ...TASK }, options);
  if (graph.edges === 0)
    throw new InputError('the sizes of a graph without edges cannot be estimated; give them');
  let sizes: Sizes = sizesOfEdges({ users: 1, items: 1 }, FIRST_EDGES, options);
  for (let round = 0; round < ROUNDS; round++) {
    const edges = Math.min(MOST_EDGES, expectedEdges(sizes, options));
    const at = sizesOfEdges(sizes, edges, options);
    const graphs: BipartiteGraph[] = [];
    const wanted = Math.min(MOST_GRAPHS, Math.max(1, Math.floor(MOST_EDGES / edges)));
    while (graphs.length < wanted) {
      const { features, threads, signal } = options;
      const simulated = await simulate({
        features,
        threads,
        signal,
        users: { ...options.users, size: at.users },
        items: { ...options.items, size: at.items },
        multigraph: graph.multigraph,
        seed: randomStream(seed, STREAMS.sizes + round, graphs.length).uint32(),
      });
      graphs.push(simulated.graph);
    }
    options.onProgress?.({ stage: 'estimating sizes', done: round + 1, total: ROUNDS, unit: 'rounds' });
    sizes = {
      users: solveSize(options.users.sigma, at.users, graphs, graph, 'users'),
      items: solveSize(options.items.sigma, at.items, graphs, graph, 'items'),
    };
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
  // Graphs without any edge say only that the size is larger; doubling it goes on.
  if (filled.length === 0) return 2 * size;
  const mean = filled.reduce((sum, graph) => sum + statistic(graph), 0) / filled.length;
  return size * Math.exp((statistic(observed) - mean) / (1 - tail));
}

function expectedEdges(sizes: Sizes, options: EstimateSizesOptions): number {
  return SIDES.reduce(
    (edges, side) => edges * sizes[side] * featureMass({ ...options[side], size: 1 }),
    options.features,
  );
}

/** Sizes in the given ratio that are expected to give so many edges, counting repeated ones. */
function sizesOfEdges(ratio: Sizes, edges: number, options: EstimateSizesOptions): Sizes {
  const factor = Math.sqrt(edges / expectedEdges(ratio, options));
  return { users: ratio.users * factor, items: ratio.items * factor };
}

/** The size that maximizes the bound given the other side's mass per feature: rows / E[ψ(θ·M)]. */
export function sizeFromBound(law: UnsizedPrior, rows: number, otherMass: ArrayLike<number>): number {
  return rows / expectedLaplace(law, otherMass);
}
