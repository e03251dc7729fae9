// One interface, several implementations. An engine sees typed arrays only: never a graph, never options.
//
// A *table* is the variational state of one side's vertices: for each row the Gamma of its
// weight, and for each row and feature the Gamma of its affinity. An *index* is the edges grouped by the rows of one
// table, with neighbours in another. `update` is one half-step, `count` and `finish` are its two halves. Everything the
// project fits is a composition of these: a fit updates users from items and items from users; a fold-in updates only
// new users; a cross-fitted objective keeps several user tables; a fit on several machines counts where the edges are,
// adds the counts up and finishes. Users and items are never named here.

import type { EdgeRows, RowLists } from '../math/csr.js';
import { allocate } from '../math/memory.js';
import type { TaskOptions } from '../progress.js';
import type { TopLists } from '../topn/lists.js';
import type { FactorTables, RankAnswer, RankQuery } from '../topn/query.js';

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

/** Means as Gammas: tables know no others, and shape/1 is the mean to the bit. */
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

/** Opaque handles; made and freed by the engine that owns them. */
export interface Table {
  readonly rows: number;
  readonly features: number;
}
export interface EdgeIndex {
  readonly rows: number;
  readonly edges: number;
}

/**
 * Expected counts of a table's rows in fixed point: int64, `scale` of them to 1. Integer sums have the same bits in any
 * order, so counts of parts of the data, made anywhere, add up to the counts of the whole.
 */
export interface ExpectedCounts {
  readonly rows: number;
  readonly features: number;
  /** A power of two. */
  readonly scale: number;
}

/** Which side of an index lies in shards, some here and some on other ranks: the rows or their neighbours, and how many. */
export interface SplitSide {
  readonly side: 'own' | 'other';
  /** Rows of that side on this rank. */
  readonly rows: number;
}

/** Rows first … last−1. */
export interface RowRange {
  readonly first: number;
  readonly last: number;
}

/** One Gamma for all weights of a table, and one for all features. */
export interface UniformValues {
  readonly weightShape: number;
  readonly weightRate: number;
  readonly featureShape: number;
  readonly featureRate: number;
}

/** The mean of a row's weight, of all rows or of each, and of every feature. */
export interface RowMeans {
  readonly weight: number | Float32Array | Float64Array;
  readonly feature: number;
}

export interface FoldFreshOptions {
  readonly hyper: Omit<SideHyper, 'size'>;
  readonly otherMass: Float64Array;
  /** What rows begin with. */
  readonly start: RowMeans;
  /** Half-steps, one after the other. */
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
  /** Activity that `own` will show after this update. The other table shows whatever it was last given. */
  readonly activity: Activity;
  /** Mass of the other side per feature, observed plus leftover (M_k). */
  readonly otherMass: Float64Array;
  /**
   * Only these rows of own change, and the table's mass becomes the mass of these rows alone (a caller that updates by
   * ranges adds up the ranges and passes otherMass). The index still has a row for each row of own. Default: all rows.
   */
  readonly rows?: RowRange | undefined;
  /**
   * Over-relaxation: features go this much farther than the half-step would take them, as a share of the step; 0 to
   * below 1. Such a step is faster on the way but need not raise the bound: the loop guards it. Default 0.
   */
  readonly relaxation?: number | undefined;
}

/** Those of both halves; `otherMass` is by default the other table's own mass and leftover as the engine holds them. */
export interface UpdateOptions extends Omit<FinishOptions, 'otherMass'>, CountOptions {
  readonly otherMass?: Float64Array | undefined;
}

/** Edges of a table's rows; the table that they lead to is another's to say. */
export interface OwnEdges {
  readonly own: Table;
  readonly index: EdgeIndex;
  /** As in `UpdateOptions`, of this table alone. */
  readonly rows?: RowRange | undefined;
  /** What stands before what fails here. */
  readonly place?: string | undefined;
}

/** Edges to another table; whose rows they are is another's to say. */
export interface OtherEdges {
  readonly index: EdgeIndex;
  readonly other: Table;
}

export interface CountAllOptions extends CountOptions {
  /** Whether counts are set, rather than added to. Default false. */
  readonly clear?: boolean | undefined;
  /** Completes the half-step, as `finish` does. */
  readonly finish?: FinishOptions | undefined;
}

/** What `update`, `count` and `finish` do one after the other, at once: to the same bits, in less time. */
export interface Batched {
  /** Half-steps of several tables from the same other one. (`options.rows` stands for nothing.) */
  update(
    all: readonly OwnEdges[],
    other: Table,
    options: UpdateOptions,
  ): Promise<readonly (EdgeTerm | undefined)[]>;
  /** Counts over the edges to several tables: one at least. */
  count(
    own: Table,
    from: readonly OtherEdges[],
    into: ExpectedCounts,
    options: CountAllOptions,
  ): Promise<readonly (EdgeTerm | undefined)[]>;
}

/**
 * Tables whose rows are made anew each time, from nothing but their edges. What `write` of uniform values and some calls of
 * `update` with means do (anew.ts), or the same row by row: so a row and what it gathers stay at hand.
 */
export interface FoldFresh {
  /** A table for `make` alone, of which no more than the means need be kept: others gather from it, and it is read as Gammas with these means. */
  createTable(rows: number, features: number, split?: boolean): Promise<Table>;
  /** Rows begin with all features alike and take half-steps from the same other table. Then the table has a mass; its leftover is 0. */
  make(own: Table, index: EdgeIndex, other: Table, options: FoldFreshOptions): Promise<void>;
  /** What `make` has made: rows × features. */
  means(own: Table): Promise<Float32Array>;
}

/** Σ log(e^λ − 1) over the edges (multigraph: Σ g log λ, without the constant −log g!). */
export type EdgeTerm = number;

/** K-vectors of a table, in float64. */
export interface TableTotals {
  /** Σ_i E[weight_i] E[feature_ik] over the rows last updated (all of them, unless a range was given). */
  readonly mass: Float64Array;
  /** Leftover mass per feature (μ or ρ), as of the last update or setLeftover; zeros when size = 0. */
  readonly unseenMass: Float64Array;
  /** The other side's mass with which the leftover was last computed (the bound needs it). */
  readonly unseenMassAt: Float64Array;
}

/**
 * Operations take effect in the order of the calls, every one of them: a caller may queue several and wait for the last.
 * An operation that fails rejects its own promise; those after it run.
 */
export interface Engine {
  /** 'reference', 'cpu', 'gpu', and what flavour of it ran: shown to people and written into the model file. */
  readonly name: string;
  readonly description: string;
  /** Relative tolerance against the reference over a few hundred iterations, which tests hold it to. */
  readonly tolerance: number;
  readonly threads: number;

  /**
   * A table with the given values; computes activity and mass; no leftover. Where the data lie on several ranks (sharded/),
   * a `split` table has the rows of this rank's shards, any other is whole on every rank; elsewhere there is no difference.
   */
  createTable(features: number, values: TableValues, activity: Activity, split?: boolean): Promise<Table>;
  /** Replaces all values of a table, as if it were made anew. */
  write(table: Table, values: TableValues | UniformValues, activity: Activity): Promise<void>;
  read(table: Table): Promise<TableValues>;
  createIndex(rows: EdgeRows, split?: SplitSide): Promise<EdgeIndex>;

  /**
   * One half-step: own from the edges, the other table and its mass; then own's activity and mass; then, when
   * hyper.size > 0, own's leftover mass. The same as `count` into empty counts and `finish` from them, up to the engine's
   * tolerance, but fused: rows are updated while they are at hand. Resolves to the edge term, where it was asked for.
   */
  update(own: Table, index: EdgeIndex, other: Table, options: UpdateOptions): Promise<EdgeTerm | undefined>;

  readonly foldFresh: FoldFresh;

  /**
   * Zero counts for the rows of a table. `largest` is the largest sum of counts that a row has in all of the data, wherever
   * it lies: the scale follows from it alone, so that everybody who adds up has the same. So do masses follow from `work`, how
   * much there is for each row in all of the data, by which rows are shared out to threads. Default: as much for each.
   */
  createCounts(own: Table, largest: number, work?: Float64Array): Promise<ExpectedCounts>;
  /**
   * The first half of a half-step: adds the expected counts of own's rows over the edges of the index. The tables do not
   * change. A count that is too large for fixed point is a FitError, here or from `finish`.
   */
  count(
    own: Table,
    index: EdgeIndex,
    other: Table,
    into: ExpectedCounts,
    options?: CountOptions,
  ): Promise<EdgeTerm | undefined>;
  /** Where an engine has it. */
  readonly batched?: Batched | undefined;
  /** The second half: completes the half-step of own from whole counts, which stay as they are. */
  finish(own: Table, counts: ExpectedCounts, options: FinishOptions): Promise<void>;
  /** The counts of some rows, rows × features, row-major. */
  readCounts(counts: ExpectedCounts, rows?: RowRange): Promise<BigInt64Array>;
  /** Replaces the counts of as many rows as are given, from row `first` on. */
  writeCounts(counts: ExpectedCounts, values: BigInt64Array, first?: number): Promise<void>;
  /**
   * Lets `work` change the counts of some rows where they lie, in whatever layout that is, for instance by adding up those of
   * several processes. Where an engine has them at hand; elsewhere they are read and written.
   */
  editCounts?(
    counts: ExpectedCounts,
    rows: RowRange,
    work: (values: BigInt64Array) => Promise<void>,
  ): Promise<void>;
  /** Sets all counts to zero. */
  clearCounts(counts: ExpectedCounts): Promise<void>;

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
  /** Replaces the leftover (after a size was learned). */
  setUnseenMass(table: Table, leftover: Float64Array, at: Float64Array): Promise<void>;
  /** Multiplies every weight by a factor (rates divided by it); activity and mass follow. */
  scale(table: Table, factor: number, activity: Activity): Promise<void>;
  /** Switches what the table shows the edge pass. */
  setActivity(table: Table, activity: Activity): Promise<void>;

  /** Ranks of the relevant candidates, and what was shown, of every row of the query that has a relevant one. */
  rank(
    tables: FactorTables,
    candidates: Uint32Array,
    query: RankQuery,
    task?: TaskOptions,
  ): Promise<RankAnswer>;
  /** The best `n` candidates of each of `rows`, best first, ties to the smaller position. */
  top(
    tables: FactorTables,
    candidates: Uint32Array,
    rows: Uint32Array,
    n: number,
    excluded: RowLists | undefined,
    task?: TaskOptions,
  ): Promise<TopLists>;

  /**
   * Another engine on the same threads or GPU, where an engine has it: with tables, indexes and an order of operations of its own.
   * Operations of both take turns, so that one computes while the other waits for the caller. It is closed before this one is.
   */
  sibling?(): Promise<Engine>;

  /** The handle must not be used in later calls. Nobody need wait for it. */
  free(handle: Table | EdgeIndex | ExpectedCounts): Promise<void>;
  close(): Promise<void>;
}

/** Finer than 2⁻⁴⁰ no engine needs; beyond 2⁶² a sum of int64 is not told from one that went over. */
const FINEST_BITS = 40;
const MOST_BITS = 62;
/** An edge counts 1 and a little, unless its rate is large; a row's counts may be 2⁸ times what its edges say. */
const HEADROOM_BITS = 8;

/** How many of fixed point are 1, where no row has more than `largest` in the data. */
export function countScale(largest: number): number {
  const bits = Math.ceil(Math.log2(Math.max(largest, 1)));
  return 2 ** Math.min(FINEST_BITS, MOST_BITS - HEADROOM_BITS - bits);
}

/** A count in fixed point; what does not fit is said so. */
export function tooLarge(row: number, { scale }: ExpectedCounts): string {
  return (
    `row ${row}: its expected counts are not finite or more than ${2 ** MOST_BITS / scale}, which is more than the data say; ` +
    'check the counts for outliers'
  );
}

/** Fixed point ends here. */
export const COUNT_LIMIT = 2n ** BigInt(MOST_BITS);

/**
 * The least shape a weight may get. Only a row without edges reaches it (its shape would be −σ ≤ 0, which is no
 * distribution): its weight is then as good as zero, which is what "no edge" says.
 */
export const WEIGHT_SHAPE_FLOOR = 1e-3;

/**
 * The least activity of a feature in a float32 engine: products of two stay above float32's smallest normal number, so
 * an edge whose features are all but switched off on both sides still shares its count by their ratios.
 */
export const ACTIVITY_FLOOR = 1e-18;

/** An over-relaxed count never falls below this share of the plain one. */
export const RELAXATION_FLOOR = 0.3;
