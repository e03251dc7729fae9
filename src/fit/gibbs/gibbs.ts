// The exact posterior of a small graph by Gibbs sampling in several chains, with diagnostics. `posteriorTables` turns it into
// the Gamma distributions of a model.

import type { TableValues } from '../../engine/engine.js';
import { InputError } from '../../errors.js';
import { type BipartiteGraph, type BySide, bySide } from '../../graph/graph.js';
import type { VertexIds } from '../../graph/ids.js';
import { type ChainSummary, summarizeChains } from '../../math/diagnostics.js';
import { concat } from '../../math/memory.js';
import { createPool, taskModule, threadCount } from '../../parallel/pool.js';
import type { TaskOptions } from '../../progress.js';
import type { BothHyper } from '../ascent/bound.js';
import type { ChainResult, ChainTask } from './chain-tasks.js';
import { GIBBS_SCALARS, type GibbsScalar } from './sampler.js';

/** With more edges than this the sampler takes too long. */
const GIBBS_MOST_EDGES = 200_000;

/** With a larger split R-hat of any scalar, the chains disagree. */
const LARGEST_R_HAT = 1.05;
/** Split R-hat compares halves of chains, and each half needs two draws. */
const LEAST_DRAWS = 4;

const CHAINS = taskModule('./chain-tasks.js', import.meta.url);

interface GibbsOptions extends TaskOptions {
  readonly features: number;
  /** Fixed; a size of 0 means no unseen atoms. */
  readonly hyper: BothHyper;
  /** Gamma distributions of each chain's first state. If they come from a fit, all chains number the features alike. */
  readonly start: BySide<TableValues>;
  /** Default 4. */
  readonly chains?: number;
  /** Discarded sweeps at the start of each chain. Default 500. */
  readonly warmup?: number;
  /** Recorded sweeps of each chain. Default 500. */
  readonly draws?: number;
  /** While the chains disagree they continue, with twice the draws each time, up to this number. Default: `draws`. */
  readonly mostDraws?: number;
  /** Default 1. */
  readonly seed?: number;
  /** The number of draws of the tables that are kept, of all chains together. Default 0. */
  readonly keep?: number;
}

/** The sampled posterior of one side: means, and variances of the weights. */
export interface PosteriorSide {
  readonly weightMean: Float64Array;
  readonly weightVariance: Float64Array;
  /** rows × features: means of weight × feature, and of the latent counts. */
  readonly activityMean: Float64Array;
  readonly countMean: Float64Array;
  /** Mean mass of the unseen atoms per feature. */
  readonly unseen: Float64Array;
  /** The kept draws, one after the other: rows × features each, of weight × feature. */
  readonly draws: Float32Array;
}

/** The result of the exact sampler: the chains of the scalars, and the means of the tables. */
export interface GibbsPosterior {
  readonly chains: number;
  readonly draws: number;
  /** Sweeps of each chain before these draws. */
  readonly warmup: number;
  /**
   * An estimate of the draws that the chains need to agree, after the same number of discarded sweeps; null if they
   * agree.
   */
  readonly drawsNeeded: number | null;
  readonly scalars: Readonly<Record<GibbsScalar, ChainSummary>>;
  /** Every draw of every scalar, by chain. */
  readonly traces: Readonly<Record<GibbsScalar, readonly Float64Array[]>>;
  readonly users: PosteriorSide;
  readonly items: PosteriorSide;
}

/** Samples the posterior of weights, features, counts and unseen atoms. The same seed gives the same draws. */
export async function gibbsPosterior(graph: BipartiteGraph, options: GibbsOptions): Promise<GibbsPosterior> {
  const { chains = 4, warmup = 500, draws = 500, seed = 1 } = options;
  const { mostDraws = draws, keep: keptDraws = 0 } = options;
  if (draws < LEAST_DRAWS) {
    throw new InputError(
      `${draws} draws: the sampler needs at least ${LEAST_DRAWS} to tell whether its chains agree`,
    );
  }
  checkSmall(graph);
  checkKept(graph, options.features, keptDraws, chains, draws);
  const problem = { graph: withoutIds(graph), features: options.features, hyper: options.hyper };
  let tasks = Array.from({ length: chains }, (_, chain): ChainTask => {
    const keep = Math.floor((keptDraws * (chain + 1)) / chains) - Math.floor((keptDraws * chain) / chains);
    return { problem, start: options.start, seed, chain, warmup, draws, keep };
  });
  const pool = await createPool(CHAINS, threadCount(options.threads, chains));
  try {
    for (let round = 1, discarded = warmup; ; round++) {
      let done = 0;
      const [{ draws: length }] = tasks;
      const results = await pool.map<ChainTask, ChainResult>('runChain', tasks, {
        signal: options.signal,
        onResult: () =>
          options.onProgress?.({
            ...{ stage: 'sampling', done: ++done, total: chains, unit: 'chains' },
            ...(round > 1 && { note: `the chains disagree: ${length} draws more` }),
          }),
      });
      const posterior = summarize(results, discarded, length);
      if (posterior.drawsNeeded === null || 2 * length > mostDraws) return posterior;
      discarded += length;
      tasks = tasks.map((task, chain) => {
        return { ...task, warmup: 0, draws: 2 * length, from: { state: results[chain].state, round } };
      });
    }
  } finally {
    await pool.close();
  }
}

/** Refuses a graph that is too large for the sampler. */
export function checkSmall(graph: BipartiteGraph): void {
  if (graph.edges <= GIBBS_MOST_EDGES) return;
  throw new InputError(
    `the exact sampler is for graphs of at most ${GIBBS_MOST_EDGES} edges, and this one has ${graph.edges}; ` +
      'fit a sample of the graph, or use the method ascent',
  );
}

/** Bytes of the kept draws. */
const MOST_KEPT = 2 ** 30;

function checkKept(
  { users, items }: BipartiteGraph,
  features: number,
  keep: number,
  chains: number,
  draws: number,
): void {
  if (keep > chains * draws) {
    throw new InputError(
      `${keep} draws to keep, and ${chains} chains have ${chains * draws}; keep fewer, or draw more`,
    );
  }
  const bytes = 4 * features * (users.count + items.count);
  if (keep * bytes <= MOST_KEPT) return;
  throw new InputError(`${keep} draws take more than 1 GiB; keep at most ${Math.floor(MOST_KEPT / bytes)}`);
}

/** The graph without ids, which cannot be sent to workers and which the sampler does not need. */
function withoutIds(graph: BipartiteGraph): BipartiteGraph {
  return { ...graph, ...bySide((side) => ({ ...graph[side], ids: undefined as unknown as VertexIds })) };
}

function summarize(results: readonly ChainResult[], warmup: number, draws: number): GibbsPosterior {
  const n = results.length * draws;
  const scalars = {} as Record<GibbsScalar, ChainSummary>;
  const traces = {} as Record<GibbsScalar, Float64Array[]>;
  for (const name of GIBBS_SCALARS) {
    traces[name] = results.map((r) => r.scalars[name]);
    scalars[name] = summarizeChains(traces[name]);
  }
  const sides = bySide((name): PosteriorSide => {
    const sum = (field: keyof ChainResult['moments']['users']) =>
      add(results.map((r) => r.moments[name][field]));
    const [weightMean, weightVariance] = meanAndVariance(sum('weights'), sum('weightSquares'), n);
    const mean = (field: 'activities' | 'counts' | 'unseen') => sum(field).map((x) => x / n);
    return {
      weightMean,
      weightVariance,
      activityMean: mean('activities'),
      countMean: mean('counts'),
      unseen: mean('unseen'),
      draws: concat(
        Float32Array,
        results.flatMap(({ kept }) => kept.map((draw) => draw[name])),
      ),
    };
  });
  return {
    chains: results.length,
    draws,
    warmup,
    drawsNeeded: drawsNeeded(scalars, draws),
    scalars,
    traces,
    ...sides,
  };
}

export function largestRHat(scalars: GibbsPosterior['scalars']): number {
  return Math.max(...Object.values(scalars).map((scalar) => scalar.splitRHat));
}

/** The excess of R-hat² over 1 falls in proportion to the number of draws. */
function drawsNeeded(scalars: GibbsPosterior['scalars'], draws: number): number | null {
  const excess = largestRHat(scalars) ** 2 - 1;
  if (excess < LARGEST_R_HAT ** 2 - 1) return null;
  const needed = (draws * excess) / (LARGEST_R_HAT ** 2 - 1);
  const unit = 10 ** Math.floor(Math.log10(needed) - 1);
  return Math.ceil(needed / unit) * unit;
}

function add(parts: readonly Float64Array[]): Float64Array {
  const sum = new Float64Array(parts[0].length);
  for (const part of parts) for (let i = 0; i < sum.length; i++) sum[i] += part[i];
  return sum;
}

function meanAndVariance(sums: Float64Array, squares: Float64Array, n: number): [Float64Array, Float64Array] {
  const mean = sums.map((s) => s / n);
  return [mean, squares.map((s, i) => Math.max(s / n - mean[i] ** 2, 1e-12 * mean[i] ** 2))];
}

/**
 * The posterior as the Gamma distributions of a model. Shapes are Σ_k e_ik − σ and a + e_ik at the mean latent counts. Rates
 * match the posterior means of the weights and of weight × feature.
 */
export function posteriorTables(posterior: GibbsPosterior, hyper: BothHyper, K: number): BySide<TableValues> {
  return bySide((side) => {
    const { weightMean, activityMean, countMean } = posterior[side];
    const { sigma, shape } = hyper[side];
    const weightShape = weightMean.map((_, i) => {
      let count = 0;
      for (let ik = i * K; ik < (i + 1) * K; ik++) count += countMean[ik];
      return count - sigma;
    });
    const featureShape = countMean.map((count) => shape + count);
    return {
      weightShape,
      weightRate: weightMean.map((mean, i) => weightShape[i] / mean),
      featureShape,
      featureRate: featureShape.map((s, ik) => (s * weightMean[Math.floor(ik / K)]) / activityMean[ik]),
    };
  });
}
