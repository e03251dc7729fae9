// One interface, several implementations. An engine sees typed arrays only: never a graph, never options.
//
// A *table* is the variational state of one side's vertices: for each row the Gamma of its weight, and for each row and
// feature the Gamma of its affinity. An *index* holds the edges, grouped by the rows of one table, with neighbours in
// another. `update` is one half-step. Everything that the project fits is composed of half-steps. A fit updates users from
// items and items from users; a fold-in updates only new users; a cross-fitted ranker updates items fold by fold.
// A fit on several machines uses the two halves of `update`: it counts where the edges are, adds the counts up and
// finishes (`CountingEngine`). Users and items are never named here.

import type { EdgeCounts, EdgeRows } from '../math/csr.js';
import { allocate } from '../math/memory.js';
import type { FeatureMix } from './mix-features.js';

/** Hyperparameters of one side: the GGP of its weights and the Gamma of its features. */
export interface SideHyper {
  /** GGP tail index, below 1. */
  readonly sigma: number;
  /** GGP exponential tilt, above 0. */
  readonly tau: number;
  /** Gamma shape of a feature (a for users, c for items). */
  readonly shape: number;
  /** Gamma rate of a feature (b for users, d for items). */
  readonly rate: number;
  /** GGP size (s or α); 0: no unseen atoms, the dense model. */
  readonly size: number;
}

/** Means as Gammas of rate 1: tables hold only Gammas, and shape/1 is exactly the mean. */
export function gammasOf(means: Float32Array, rows: number): TableValues {
  const ones = (length: number) => new Float32Array(length).fill(1);
  return {
    weightShape: ones(rows),
    weightRate: ones(rows),
    featureShape: means,
    featureRate: ones(means.length),
  };
}

/** The mean of each row's weight times that of each of its features: rows × features. */
export function meansOf(
  { weightShape, weightRate, featureShape, featureRate }: TableValues,
  features: number,
): Float32Array {
  const rows = weightShape.length;
  const means = allocate(Float32Array, rows * features);
  for (let v = 0; v < rows; v++) {
    const weight = weightShape[v] / weightRate[v];
    for (let k = v * features; k < (v + 1) * features; k++) {
      means[k] = (weight * featureShape[k]) / featureRate[k];
    }
  }
  return means;
}

/** Which posterior expectation an edge pass uses: the geometric mean exp(E log ·), which ascends the bound, or the mean. */
export type Activity = 'geometric' | 'mean';

/** Rows × features values of a table, row-major without padding. Float64 in the reference, float32 elsewhere. */
export interface TableValues {
  readonly weightShape: Float32Array | Float64Array;
  readonly weightRate: Float32Array | Float64Array;
  readonly featureShape: Float32Array | Float64Array;
  readonly featureRate: Float32Array | Float64Array;
}

export const TABLE_FIELDS = ['weightShape', 'weightRate', 'featureShape', 'featureRate'] as const;

/** What `value` gives for each field of a table. `width`: the numbers of a row in that field. */
export function byField<T>(
  features: number,
  value: (field: keyof TableValues, width: number) => T,
): Record<keyof TableValues, T> {
  return {
    weightShape: value('weightShape', 1),
    weightRate: value('weightRate', 1),
    featureShape: value('featureShape', features),
    featureRate: value('featureRate', features),
  };
}

/** A table in float32, as models and engines other than the reference hold it. */
export function singlePrecision(table: TableValues): Record<keyof TableValues, Float32Array> {
  return byField(0, (field) => {
    const values = table[field];
    return values instanceof Float32Array ? values : Float32Array.from(values);
  });
}

/** Opaque handles: the engine that makes one owns and frees it. */
export interface Table {
  readonly rows: number;
  readonly features: number;
}
export interface EdgeIndex {
  readonly rows: number;
  readonly edges: number;
}

/**
 * Expected counts of a table's rows in fixed point: int64, where `scale` stands for 1. Integer sums have the same bits in
 * any order, so the counts of shards, made on any machine, add up to the counts of the whole.
 */
export interface ExpectedCounts {
  readonly rows: number;
  readonly features: number;
  /** A power of two. */
  readonly scale: number;
}

/** Which side of an index lies in shards, some on other ranks: the rows or their neighbours. */
interface SplitSide {
  readonly side: 'own' | 'other';
  /** Rows of that side on this rank. */
  readonly rows: number;
}

/** Rows first … last−1. */
export interface RowRange {
  readonly first: number;
  readonly last: number;
}

/** One Gamma for all features of a table, and one for all weights, or weights with shapes of their own. */
export interface UniformValues {
  readonly weightShape: number | Float32Array | Float64Array;
  readonly weightRate: number;
  readonly featureShape: number;
  readonly featureRate: number;
}

export function isUniform(values: TableValues | UniformValues): values is UniformValues {
  return typeof values.featureShape === 'number';
}

/** The mean of a row's weight, of all rows or of each, and of every feature. */
export interface RowMeans {
  readonly weight: number | Float32Array | Float64Array;
  readonly feature: number;
}

export interface FoldFreshOptions {
  readonly hyper: Omit<SideHyper, 'size'>;
  readonly otherMass: Float64Array;
  /** What rows start with. */
  readonly start: RowMeans;
  /** Number of half-steps. */
  readonly steps: number;
}

export interface CountOptions {
  /** Only these rows are counted. Default: all. */
  readonly rows?: RowRange | undefined;
  /** Also sum the edge term of the bound over this pass's λ: the state *before* the update. Default false. */
  readonly edgeTerm?: boolean | undefined;
}

export interface FinishOptions {
  readonly hyper: SideHyper;
  /** Activity that `own` shows after this update. The other table shows what it was last given. */
  readonly activity: Activity;
  /** Mass of the other side per feature, observed plus unseen (M_k). */
  readonly otherMass: Float64Array;
  /**
   * Only these rows of own change, and the table's mass becomes the mass of these rows alone: a caller that updates by
   * ranges adds up the ranges and passes otherMass. The index still has a row for each row of own. Default: all rows.
   */
  readonly rows?: RowRange | undefined;
  /**
   * Over-relaxation: features move farther than the half-step would take them, by this fraction of the step; 0 to below 1.
   * Such a step is faster but need not raise the bound: the loop guards it. Default 0.
   */
  readonly relaxation?: number | undefined;
}

/** Options of both halves. By default `otherMass` is the other table's mass, observed plus unseen. */
export interface UpdateOptions extends Omit<FinishOptions, 'otherMass'>, CountOptions {
  readonly otherMass?: Float64Array | undefined;
}

/** Options as they are now: an operation runs later, when its caller may have changed the vector. */
export function captured<O extends { readonly otherMass?: Float64Array | undefined }>(options: O): O {
  return options.otherMass ? { ...options, otherMass: options.otherMass.slice() } : options;
}

/** Edges of a table's rows; the caller passes the table that they lead to. */
export interface OwnEdges {
  readonly own: Table;
  readonly index: EdgeIndex;
  /** As in `UpdateOptions`, for this table alone. */
  readonly rows?: RowRange | undefined;
  /** Prefix of an error message about this table. */
  readonly place?: string | undefined;
}

/** Edges to another table; the caller passes the table whose rows they belong to. */
export interface OtherEdges {
  readonly index: EdgeIndex;
  readonly other: Table;
}

export interface BatchCountOptions extends CountOptions {
  /** Whether counts are set, rather than added to. Default false. */
  readonly clear?: boolean | undefined;
  /** Completes the half-step, as `finish` does. */
  readonly finish?: FinishOptions | undefined;
}

/** Several calls of `update`, or of `count` and `finish`, as one job: the same bits in less time. */
export interface Batched {
  /** Half-steps of several tables from the same other one. `options.rows` is ignored: each table has its own. */
  update(
    all: readonly OwnEdges[],
    other: Table,
    options: UpdateOptions,
  ): Promise<readonly (EdgeTerm | undefined)[]>;
  /** Counts over the edges to one or more tables. */
  count(
    own: Table,
    from: readonly OtherEdges[],
    into: ExpectedCounts,
    options: BatchCountOptions,
  ): Promise<readonly (EdgeTerm | undefined)[]>;
}

/**
 * Tables whose rows are re-initialised for every use and computed from their edges alone. `write` and a few calls of
 * `update` with means do the same (fold-fresh.ts). An engine with a pass of its own runs all half-steps of a row before
 * the next row, in cache.
 */
export interface FoldFresh {
  /** A table for `fold` alone. It needs to keep only means, which others gather: `means` reads it, and `read` need not. */
  createTable(rows: number, features: number, split?: boolean): Promise<Table>;
  /** Sets all features of a row alike, then runs `steps` half-steps from the other table. Unseen mass becomes 0. */
  fold(own: Table, index: EdgeIndex, other: Table, options: FoldFreshOptions): Promise<void>;
  /** The means that `fold` has computed: rows × features. */
  means(own: Table): Promise<Float32Array>;
}

/** Σ log(e^λ − 1) over the edges (multigraph: Σ g log λ, without the constant −log g!). */
export type EdgeTerm = number;

/** K-vectors of a table, in float64. */
export interface TableTotals {
  /** Σ_i E[weight_i] E[feature_ik] over the rows last updated (all of them, unless a range was given). */
  readonly mass: Float64Array;
  /** Unseen mass per feature (μ or ρ), as of the last update or setUnseenMass; zeros when size = 0. */
  readonly unseenMass: Float64Array;
  /** The other side's mass that the unseen mass was last computed with; the bound needs it. */
  readonly unseenMassAt: Float64Array;
}

/**
 * What a fit needs. Operations take effect in the order of the calls: a caller may queue several and wait for the last.
 * An operation that fails rejects its own promise; later operations still run.
 */
export interface Engine {
  /** 'reference', 'cpu' or 'gpu'. */
  readonly name: string;
  /** What ran, in words: printed, and written into the model file. */
  readonly description: string;
  /** Relative tolerance against the reference over a few hundred iterations; tests enforce it. */
  readonly tolerance: number;
  readonly threads: number;

  /**
   * A table with the given values; computes activity and mass; unseen mass is 0. If the data lie on several ranks (sharded/),
   * a `split` table has the rows of this rank's shards, and any other table is whole on every rank.
   */
  createTable(features: number, values: TableValues, activity: Activity, split?: boolean): Promise<Table>;
  /** Replaces all values of a table, as `createTable` sets them. */
  write(table: Table, values: TableValues | UniformValues, activity: Activity): Promise<void>;
  read(table: Table): Promise<TableValues>;
  /** Counts may be fractions: those of weighed edges. */
  createIndex(rows: EdgeRows<EdgeCounts>, split?: SplitSide): Promise<EdgeIndex>;

  /**
   * One half-step: own from the edges, the other table and its mass; then own's activity and mass; then, when
   * hyper.size > 0, own's unseen mass. Equals `count` into empty counts and `finish` from them, up to the engine's
   * tolerance, but is fused: rows are updated while they are in cache. Resolves to the edge term if `edgeTerm` asks for it.
   */
  update(own: Table, index: EdgeIndex, other: Table, options: UpdateOptions): Promise<EdgeTerm | undefined>;

  readonly foldFresh: FoldFresh;

  /** The edge term of the current state, by a pass of its own. */
  edgeTerm(own: Table, index: EdgeIndex, other: Table): Promise<EdgeTerm>;
  /**
   * Σ_i [E log weight prior + entropy] + Σ_ik [E log feature prior + entropy], without the rows·(log size − log Γ(1−σ))
   * term: what the rows of a table contribute to the bound.
   */
  rowTerms(table: Table, hyper: SideHyper): Promise<number>;

  totals(table: Table): Promise<TableTotals>;
  /** Σ_i E[weight_i] over all rows. */
  weightSum(table: Table): Promise<number>;
  /** Replaces the mass: to resume a run to the last bit, or to fix the side that a fold-in does not update. */
  setMass(table: Table, mass: Float64Array): Promise<void>;
  /** Replaces the unseen mass, for instance after a size was learned. */
  setUnseenMass(table: Table, unseenMass: Float64Array, at: Float64Array): Promise<void>;
  /** Multiplies every weight by a factor (divides the rates by it); activity and mass follow. */
  scale(table: Table, factor: number, activity: Activity): Promise<void>;
  /**
   * Replaces a table by one with fewer features (mix-features.ts); its handle must not be used in later calls. Unseen mass becomes 0.
   * Undefined: callers read the values, mix them and create a table.
   */
  mixFeatures?(table: Table, mix: FeatureMix, activity: Activity): Promise<Table>;
  /** Switches what the table shows the edge pass. */
  setActivity(table: Table, activity: Activity): Promise<void>;

  /**
   * Another engine on the same threads or GPU, with tables, indexes and an order of operations of its own. Operations of
   * both take turns, so that one computes while the other waits for its caller. Close it before this one.
   */
  sibling?(): Promise<Engine>;

  /** The handle must not be used in later calls. Callers need not wait. */
  free(handle: Table | EdgeIndex | ExpectedCounts): Promise<void>;
  close(): Promise<void>;
}

/** An engine whose half-steps come in two halves, with the counts in between: what sharding wraps. */
export interface CountingEngine extends Engine {
  /**
   * Zero counts for the rows of a table. `largest` is the largest sum of counts that a row has in all of the data, on any
   * machine: the scale follows from it alone, so every machine has the same. Likewise the order of sums follows from `work`,
   * each row's amount of work in all of the data, which assigns rows to threads. Default: equal work.
   */
  createCounts(own: Table, largest: number, work?: Float64Array): Promise<ExpectedCounts>;
  /**
   * The first half of a half-step: adds the expected counts of own's rows over the edges of the index. The tables do not
   * change. A count too large for fixed point is a FitError, from here or from `finish`.
   */
  count(
    own: Table,
    index: EdgeIndex,
    other: Table,
    into: ExpectedCounts,
    options?: CountOptions,
  ): Promise<EdgeTerm | undefined>;
  /** The second half: completes the half-step of own from whole counts, which do not change. */
  finish(own: Table, counts: ExpectedCounts, options: FinishOptions): Promise<void>;
  /** Undefined: callers run `update`, `count` and `finish` one by one. */
  readonly batched?: Batched | undefined;
  /** The counts of some rows, rows × features, row-major. */
  readCounts(counts: ExpectedCounts, rows?: RowRange): Promise<BigInt64Array>;
  /** Replaces counts from row `first` on. */
  writeCounts(counts: ExpectedCounts, values: BigInt64Array, first?: number): Promise<void>;
  /**
   * Lets `work` change the counts of some rows in place, in the engine's own layout: to add up those of several processes
   * without a copy. Undefined: callers read and write them.
   */
  editCounts?(
    counts: ExpectedCounts,
    rows: RowRange,
    work: (values: BigInt64Array) => Promise<void>,
  ): Promise<void>;
  /** Sets all counts to zero. */
  clearCounts(counts: ExpectedCounts): Promise<void>;
}

/** No engine needs a finer scale than 2⁻⁴⁰; above 2⁶² a sum of int64 cannot be told from one that overflowed. */
const FINEST_BITS = 40;
const MOST_BITS = 62;
/** An edge counts a little more than 1, unless its rate is large; a row's counts may be 2⁸ times its edges. */
const HEADROOM_BITS = 8;

/** The fixed-point number that stands for 1, if no row has more than `largest` in the data. */
export function countScale(largest: number): number {
  const bits = Math.ceil(Math.log2(Math.max(largest, 1)));
  return 2 ** Math.min(FINEST_BITS, MOST_BITS - HEADROOM_BITS - bits);
}

/** The message for a count that fixed point cannot hold. */
export function tooLarge(row: number, { scale }: ExpectedCounts): string {
  return (
    `row ${row}: its expected counts are not finite or above ${2 ** MOST_BITS / scale}, which is more than the data hold; ` +
    'check the counts for outliers'
  );
}

/** The largest count in fixed point. */
export const COUNT_LIMIT = 2n ** BigInt(MOST_BITS);

/**
 * The least shape of a weight. Only a row without edges reaches it: its shape would be −σ ≤ 0, which is no distribution.
 * Its weight is then almost zero, which is what "no edge" means.
 */
export const WEIGHT_SHAPE_FLOOR = 1e-3;

/**
 * The least activity of a feature in a float32 engine. The product of two such activities is still a normal float32. So
 * an edge whose features are almost zero on both sides still divides its count among the features in proportion to these products.
 */
export const ACTIVITY_FLOOR = 1e-18;

/** An over-relaxed count never falls below this fraction of the plain one. */
export const RELAXATION_FLOOR = 0.3;
