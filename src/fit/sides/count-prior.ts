// Counts that are not Poisson: the count of a pair, given that the pair has an edge. The logarithm of a count is normal around
// μ + a_i + b_j, with normal effects a_i of the user and b_j of the item, and the count is rounded up:
// P(count ≤ n) = Φ((log n − μ − a_i − b_j) / s). Mean-field ascent is closed: a latent logarithm given its count is a truncated
// normal, and everything else is normal. docs/model.md has the formulas; docs/appendix/predictive.md compares alternatives.

import { MAX_COUNT } from '../../graph/build.js';
import {
  type BipartiteGraph,
  type BySide,
  bySide,
  type GraphSide,
  otherSide,
  SIDES,
  type SideName,
} from '../../graph/graph.js';
import { normal } from '../../math/distributions.js';
import { allocate } from '../../math/memory.js';
import { type TruncatedNormal, truncateNormal } from '../../math/normal.js';
import type { Random } from '../../math/random.js';

/** The prior of counts given an edge. */
export interface CountPrior {
  /** μ: the mean logarithm of a count. */
  readonly mean: number;
  /** s: its standard deviation for a given user and item. */
  readonly spread: number;
  /** Standard deviations of the users' and of the items' effects. */
  readonly users: number;
  readonly items: number;
}

/** The posterior of the effects of some vertices: independent normals. */
export interface CountEffects {
  readonly mean: Float32Array;
  readonly variance: Float32Array;
}

/** If all counts are equal there is no spread; draws need one above 0. */
const LEAST_SPREAD = 1e-3;
const MOST_SWEEPS = 200;
/** Relative change of the bound, per sweep, at which the fit ends. */
const TOLERANCE = 1e-6;

/** Maximizes the bound on log P(counts | edges) over the prior and the effects of all vertices of `sides`. */
export function fitCounts(graph: BipartiteGraph, sides: readonly SideName[] = SIDES) {
  const { offsets, neighbors, counts } = graph.users;
  if (!counts) throw new Error('a prior of counts needs counts');
  const edges = neighbors.length;
  const user = new Uint32Array(edges);
  for (let u = 0; u < graph.users.count; u++) user.fill(u, offsets[u], offsets[u + 1]);
  const index = { users: user, items: neighbors };
  const effects = bySide((side) => emptyEffects(graph[side].count));
  let prior = { ...firstPrior(counts), ...noEffects(sides) };
  const latent = new Float64Array(edges);
  const step: Step = { residual: 0, square: 0, log: 0 };
  let bound = -Infinity;
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    // The latent logarithms, given everything else.
    step.residual = step.square = step.log = 0;
    for (let e = 0; e < edges; e++) {
      const { mean: a, variance: va } = effects.users;
      const { mean: b, variance: vb } = effects.items;
      const [i, j] = [user[e], neighbors[e]];
      latent[e] = addEdge(counts[e], prior.mean + a[i] + b[j], prior.spread, va[i] + vb[j], step);
    }
    const before = bound;
    bound = step.log - divergence(effects.users, prior.users) - divergence(effects.items, prior.items);
    if (sweep > 4 && Math.abs(bound - before) <= TOLERANCE * Math.abs(bound)) break;
    const mean = prior.mean + step.residual / edges;
    const spread = Math.max(LEAST_SPREAD, Math.sqrt(step.square / edges));
    prior = { ...prior, mean, spread };
    for (const side of sides) {
      updateEffects(side, effects, index, latent, prior);
      prior = { ...prior, [side]: Math.max(LEAST_SPREAD, rootMeanSquare(effects[side])) };
    }
  }
  return Object.freeze({ prior: Object.freeze(prior), effects, bound });
}

interface Step {
  residual: number;
  square: number;
  log: number;
}

const scratch: TruncatedNormal = { logProbability: 0, mean: 0, variance: 0 };

/** Returns the expected latent logarithm of one count, and adds this count to the sums from which the prior is estimated. */
function addEdge(count: number, mean: number, spread: number, uncertain: number, sums: Step): number {
  const low = count > 1 ? (Math.log(count - 1) - mean) / spread : -Infinity;
  truncateNormal(low, (Math.log(count) - mean) / spread, scratch);
  const residual = spread * scratch.mean;
  sums.residual += residual;
  sums.square += residual * residual + spread * spread * scratch.variance + uncertain;
  sums.log += scratch.logProbability - uncertain / (2 * spread * spread);
  return mean + residual;
}

/** The effects of one side given the latent logarithms: each a normal, shrunk by its prior. */
function updateEffects(
  side: SideName,
  effects: BySide<CountEffects>,
  index: BySide<Uint32Array>,
  latent: Float64Array,
  prior: CountPrior,
): void {
  const { mean, variance } = effects[side];
  const own = index[side];
  const other = index[otherSide(side)];
  const otherMean = effects[otherSide(side)].mean;
  const sum = new Float64Array(mean.length);
  const number = new Float64Array(mean.length);
  for (let e = 0; e < latent.length; e++) {
    sum[own[e]] += latent[e] - prior.mean - otherMean[other[e]];
    number[own[e]]++;
  }
  const noise = prior.spread ** 2;
  for (let v = 0; v < mean.length; v++) {
    const precision = number[v] / noise + 1 / prior[side] ** 2;
    mean[v] = sum[v] / noise / precision;
    variance[v] = 1 / precision;
  }
}

/** The effects of new vertices of one side, from the counts of their edges to known vertices. */
export function foldCounts(
  prior: CountPrior,
  side: 'users' | 'items',
  rows: Pick<GraphSide, 'count' | 'offsets' | 'neighbors' | 'counts'>,
  known: CountEffects,
): CountEffects {
  const result = emptyEffects(rows.count);
  const noise = prior.spread ** 2;
  const variance = prior[side] ** 2;
  const sums: Step = { residual: 0, square: 0, log: 0 };
  for (let v = 0; v < rows.count; v++) {
    const [first, last] = [rows.offsets[v], rows.offsets[v + 1]];
    const n = rows.counts ? last - first : 0;
    const precision = n / noise + 1 / variance;
    let mean = 0;
    for (let round = 0; round < 100 && n > 0; round++) {
      let sum = 0;
      for (let e = first; e < last; e++) {
        const effect = known.mean[rows.neighbors[e]];
        sum +=
          addEdge(rows.counts![e], prior.mean + mean + effect, prior.spread, 0, sums) - prior.mean - effect;
      }
      const next = sum / noise / precision;
      const hasConverged = Math.abs(next - mean) < 1e-5;
      mean = next;
      if (hasConverged) break;
    }
    result.mean[v] = mean;
    result.variance[v] = 1 / precision;
  }
  return result;
}

/** Draws the count of a pair whose logarithm has this mean. */
export function drawCount(random: Random, mean: number, spread: number): number {
  const value = Math.ceil(Math.exp(mean + spread * normal(random)));
  return Math.min(MAX_COUNT, Math.max(1, value));
}

function emptyEffects(count: number): CountEffects {
  return { mean: allocate(Float32Array, count), variance: allocate(Float32Array, count) };
}

/** Sides whose effects are not estimated get the smallest spread. */
function noEffects(sides: readonly SideName[]): Partial<CountPrior> {
  return Object.fromEntries(
    SIDES.filter((side) => !sides.includes(side)).map((side) => [side, LEAST_SPREAD]),
  );
}

function firstPrior(counts: Uint32Array): CountPrior {
  let sum = 0;
  let square = 0;
  for (let e = 0; e < counts.length; e++) {
    const log = Math.log(counts[e]);
    sum += log;
    square += log * log;
  }
  const mean = sum / counts.length;
  const spread = Math.max(0.5, Math.sqrt(Math.max(0, square / counts.length - mean * mean)));
  return { mean, spread, users: 0.5 * spread, items: 0.5 * spread };
}

/** Kullback-Leibler divergence of the effects from their prior. */
function divergence({ mean, variance }: CountEffects, prior: number): number {
  let sum = 0;
  for (let v = 0; v < mean.length; v++) {
    if (variance[v] === 0) continue; // before the first update
    const ratio = variance[v] / prior ** 2;
    sum += 0.5 * (ratio + mean[v] ** 2 / prior ** 2 - 1 - Math.log(ratio));
  }
  return sum;
}

function rootMeanSquare({ mean, variance }: CountEffects): number {
  let sum = 0;
  for (let v = 0; v < mean.length; v++) sum += mean[v] ** 2 + variance[v];
  return Math.sqrt(sum / Math.max(1, mean.length));
}
