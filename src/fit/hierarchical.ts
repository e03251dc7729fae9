// Hierarchical Poisson factorization (Gopalan, Hofman and Blei) by coordinate ascent. Every row has its own rate ξ_i instead of
// a weight:
//   ξ_i ~ Gamma(a′, a′/b′),  θ_ik ~ Gamma(a, ξ_i),  the same for items,  counts ~ Poisson(θ_i · β_j).
// The engine's `count` does the edge pass of a half-step, and this file updates the rows. Engines require weights, so all weights
// are 1 with the smallest spread. Every edge is a Poisson count of 1, as in the authors' model: nothing is truncated.

import type {
  Activity,
  CountingEngine,
  EdgeIndex,
  ExpectedCounts,
  Table,
  TableValues,
} from '../engine/engine.js';
import { FitError, throwIfAborted } from '../errors.js';
import { type BySide, SIDES, type SideName } from '../graph/graph.js';
import type { EdgeRows, RowLists } from '../math/csr.js';
import { exponential } from '../math/distributions.js';
import { allocate } from '../math/memory.js';
import { randomStream } from '../math/random.js';
import { digamma, lgamma } from '../math/special.js';
import { STREAMS } from '../math/streams.js';
import type { TaskOptions } from '../progress.js';
import { columnSums, type RatePrior } from './model.js';

/** Shape and rate of every weight: mean 1 and a negligible spread. */
const WEIGHT = 2 ** 22;
/** Sweeps between two evaluations of the bound. */
const BLOCK_SWEEPS = 10;

interface HierarchicalOptions extends TaskOptions {
  readonly features: number;
  readonly prior: BySide<RatePrior>;
  readonly iterations: number;
  /** The fit stops when the bound rises by less than this fraction per sweep. 0: all sweeps run, and no bound is computed. */
  readonly tolerance: number;
  readonly seed: number;
}

/** Fits both sides. `edges` holds the edges in both orders. */
export async function fitHierarchical(
  engine: CountingEngine,
  edges: BySide<RowLists>,
  options: HierarchicalOptions,
) {
  const { features, iterations, tolerance, signal, onProgress } = options;
  const total = edges.users.values.length;
  const create = (name: SideName) =>
    createSide(engine, edges[name], options.prior[name], startOf(name, edges, options));
  const users = await create('users');
  const items = await create('items');
  /** [sweeps, bound] of each evaluation. */
  const bounds: (readonly [number, number])[] = [];
  // Corrects the edge term for the spread of the weights of both sides.
  const spread = 2 * total * (Math.log(WEIGHT) - digamma(WEIGHT));
  const bound = (edgeTerm: number) => {
    let sum = edgeTerm + spread + rowTerms(users, features) + rowTerms(items, features);
    for (let k = 0; k < features; k++) sum -= users.mass[k] * items.mass[k];
    return sum;
  };
  const hasConverged = () => {
    const [[from, before], [to, last]] = [bounds.at(-2) ?? [0, -Infinity], bounds.at(-1) ?? [1, 0]];
    return bounds.length > 1 && (last - before) / (Math.abs(last) * (to - from)) < tolerance;
  };
  try {
    let done = 0;
    let converged = false;
    while (done < iterations && !converged) {
      throwIfAborted(signal);
      const evaluates = tolerance > 0 && done > 0 && done % BLOCK_SWEEPS === 0;
      // The row terms before this sweep; its first edge pass adds the edge term of the same state.
      const rows = evaluates ? bound(0) : 0;
      const edgeTerm = await halfStep(engine, users, items, 'geometric', evaluates);
      if (evaluates) bounds.push([done, rows + edgeTerm]);
      if (!Number.isFinite(edgeTerm)) throw new FitError(`sweep ${done + 1}: the bound became ${edgeTerm}`);
      await halfStep(engine, items, users, 'geometric');
      done++;
      converged = evaluates && hasConverged();
      onProgress?.({ stage: 'fitting', done, total: iterations, unit: 'sweeps' });
    }
    if (tolerance > 0) {
      bounds.push([done, bound(await engine.edgeTerm(users.table, users.index, items.table))]);
    }
    return { users, items, bounds, iterations: done, converged };
  } finally {
    for (const side of [users, items]) freeSide(engine, side);
  }
}

/** Folds in new users, given the means of the items (items × features). `shown` marks the items they could have met; default all. */
export async function foldInHierarchical(
  engine: CountingEngine,
  means: Float32Array,
  history: RowLists,
  options: TaskOptions & {
    readonly shown?: ArrayLike<number> | undefined;
    readonly features: number;
    readonly prior: RatePrior;
    readonly steps: number;
  },
): Promise<Float32Array> {
  const { shown, features, prior, steps, signal } = options;
  const rows = history.offsets.length - 1;
  const mass = columnSums(means, features, shown);
  // All features start equal; the items then make them differ.
  const ones = () => new Float32Array(rows * features).fill(1);
  const users = await createSide(engine, history, prior, { shape: ones(), rate: ones() });
  const fixed = { shape: means, rate: new Float32Array(means.length).fill(1) };
  const table = await engine.createTable(features, asTable(fixed, means.length / features), 'mean');
  await engine.setActivity(users.table, 'mean');
  try {
    for (let step = 0; step < steps; step++) {
      throwIfAborted(signal);
      await halfStep(engine, users, { table, mass }, 'mean');
    }
    const folded = allocate(Float32Array, rows * features);
    for (let ik = 0; ik < folded.length; ik++) folded[ik] = users.shape[ik] / users.rate[ik];
    return folded;
  } finally {
    freeSide(engine, users);
    void engine.free(table);
  }
}

/** The same for one new user, in float64 on this thread. */
export function foldHierarchicalVertex(
  means: Float32Array,
  items: ArrayLike<number>,
  features: number,
  mass: Float64Array,
  { steps, ...prior }: RatePrior & { readonly steps: number },
): { readonly shape: Float64Array; readonly rate: Float64Array } {
  const shape = new Float64Array(features).fill(1);
  const rate = new Float64Array(features).fill(1);
  const mean = new Float64Array(features);
  let ownRate = prior.rateMean;
  for (let step = 0; step < steps; step++) {
    for (let k = 0; k < features; k++) mean[k] = shape[k] / rate[k];
    shape.fill(0);
    for (let e = 0; e < items.length; e++) {
      const at = items[e] * features;
      let lambda = 0;
      for (let k = 0; k < features; k++) lambda += mean[k] * means[at + k];
      for (let k = 0; k < features; k++) shape[k] += (mean[k] * means[at + k]) / lambda;
    }
    let sum = 0;
    for (let k = 0; k < features; k++) {
      shape[k] += prior.shape;
      rate[k] = ownRate + mass[k];
      sum += shape[k] / rate[k];
    }
    ownRate = (prior.rateShape + features * prior.shape) / (prior.rateShape / prior.rateMean + sum);
  }
  return { shape, rate };
}

/** One side: the Gamma distributions of its features, rows × K, and of the rates of its rows. */
interface Side {
  readonly shape: Float32Array;
  readonly rate: Float32Array;
  readonly rateShape: number;
  readonly rateRate: Float64Array;
  readonly table: Table;
  readonly index: EdgeIndex;
  readonly counts: ExpectedCounts;
  readonly prior: RatePrior;
  readonly mass: Float64Array;
}

async function createSide(
  engine: CountingEngine,
  { offsets, values }: RowLists,
  prior: RatePrior,
  { shape, rate }: { readonly shape: Float32Array; readonly rate: Float32Array },
): Promise<Side> {
  const rows = offsets.length - 1;
  const features = shape.length / Math.max(1, rows);
  const counts = allocate(Uint32Array, values.length).fill(1);
  const edges: EdgeRows = { offsets, neighbors: values, counts };
  const degrees = Float64Array.from({ length: rows }, (_, i) => offsets[i + 1] - offsets[i]);
  const largest = degrees.reduce((most, degree) => Math.max(most, degree), 0);
  const table = await engine.createTable(features, asTable({ shape, rate }, rows), 'geometric');
  const side: Side = {
    table,
    index: await engine.createIndex(edges),
    counts: await engine.createCounts(table, largest, degrees),
    prior,
    shape,
    rate,
    rateShape: prior.rateShape + features * prior.shape,
    // The rate starts at its prior mean.
    rateRate: new Float64Array(rows).fill((prior.rateShape + features * prior.shape) / prior.rateMean),
    mass: new Float64Array(features),
  };
  sumMass(side);
  return side;
}

function freeSide(engine: CountingEngine, { counts, index, table }: Side): void {
  for (const handle of [counts, index, table]) void engine.free(handle);
}

/** One half-step: updates the features of every row given its rate, then its rate. Resolves to the edge term before the step. */
async function halfStep(
  engine: CountingEngine,
  own: Side,
  other: { readonly table: Table; readonly mass: Float64Array },
  activity: Activity,
  edgeTerm = false,
): Promise<number> {
  await engine.clearCounts(own.counts);
  const term = await engine.count(own.table, own.index, other.table, own.counts, { edgeTerm });
  const K = own.table.features;
  const { shape: a, rateShape, rateMean } = own.prior;
  const fixed = await engine.readCounts(own.counts);
  // Reads 64-bit sums as two 32-bit halves: faster than BigInt, and exact for all sums that a row can reach.
  const halves = new Int32Array(fixed.buffer, fixed.byteOffset, 2 * fixed.length);
  const { shape, rate, rateRate } = own;
  const unit = 1 / own.counts.scale;
  for (let i = 0; i < rateRate.length; i++) {
    const expectedRate = own.rateShape / rateRate[i];
    let sum = 0;
    for (let k = 0; k < K; k++) {
      const ik = i * K + k;
      shape[ik] = a + (halves[2 * ik + 1] * 2 ** 32 + (halves[2 * ik] >>> 0)) * unit;
      rate[ik] = expectedRate + other.mass[k];
      sum += shape[ik] / rate[ik];
    }
    rateRate[i] = rateShape / rateMean + sum;
  }
  sumMass(own);
  await engine.write(own.table, asTable(own, rateRate.length), activity);
  return term ?? 0;
}

function sumMass({ shape, rate, mass }: Side): void {
  const K = mass.length;
  mass.fill(0);
  for (let ik = 0; ik < shape.length; ik += K) {
    for (let k = 0; k < K; k++) mass[k] += shape[ik + k] / rate[ik + k];
  }
}

/** E log p(θ | ξ) + E log p(ξ) and the entropies of both, over all rows of a side. */
function rowTerms({ shape, rate, rateShape, rateRate, prior }: Side, K: number): number {
  const { shape: a, rateShape: b } = prior;
  const c = b / prior.rateMean;
  const ofRow = b * Math.log(c) - lgamma(b) - K * lgamma(a) + entropy(rateShape);
  const logRate = digamma(rateShape);
  let total = 0;
  for (let i = 0; i < rateRate.length; i++) {
    const mean = rateShape / rateRate[i];
    const logMean = logRate - Math.log(rateRate[i]);
    total += ofRow - Math.log(rateRate[i]) + (b - 1 + K * a) * logMean - c * mean;
    for (let k = i * K; k < (i + 1) * K; k++) {
      const [s, r] = [shape[k], rate[k]];
      const psi = digamma(s);
      const logR = Math.log(r);
      total += (a - 1) * (psi - logR) - (mean * s) / r + s - logR + lgamma(s) + (1 - s) * psi;
    }
  }
  return total;
}

/** Entropy of a Gamma distribution of rate 1. */
function entropy(shape: number): number {
  return shape + lgamma(shape) + (1 - shape) * digamma(shape);
}

/** Each vertex starts with its degree, spread over the features; noise makes the features differ. */
function startOf(
  name: SideName,
  edges: BySide<RowLists>,
  { features: K, prior, seed }: HierarchicalOptions,
): { readonly shape: Float32Array; readonly rate: Float32Array } {
  const { offsets, values } = edges[name];
  const rows = offsets.length - 1;
  const scale = 1 / Math.sqrt(Math.max(1, values.length) * K);
  const shape = new Float32Array(rows * K);
  const rate = new Float32Array(rows * K);
  const random = randomStream(seed, STREAMS.hierarchical, SIDES.indexOf(name));
  for (let i = 0; i < rows; i++) {
    const degree = Math.max(offsets[i + 1] - offsets[i], 0.5);
    const concentration = prior[name].shape + degree / K;
    for (let k = i * K; k < (i + 1) * K; k++) {
      shape[k] = concentration * (0.5 + 0.5 * exponential(random));
      rate[k] = concentration / (degree * scale);
    }
  }
  return { shape, rate };
}

function asTable(
  { shape, rate }: { readonly shape: Float32Array; readonly rate: Float32Array },
  rows: number,
): TableValues {
  const weights = new Float32Array(rows).fill(WEIGHT);
  return { weightShape: weights, weightRate: weights, featureShape: shape, featureRate: rate };
}
