// One interface, several implementations. An engine sees typed arrays only: never a graph, never options.
//
// A *table* is the variational state of one side's vertices (section 6 of the model): for each row the Gamma of its
// weight, and for each row and feature the Gamma of its affinity. An *index* is the edges grouped by the rows of one
// table, with neighbours in another. `update` is one half-step. Everything the project fits is a composition of these:
// a fit updates users from items and items from users; a fold-in updates only new users; a cross-fitted objective
// keeps several user tables. Users and items are never named here.

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

/** What the edge pass uses for a vertex's activity: exp(E log ·), which ascends the bound, or the posterior mean. */
export type Activity = 'exact' | 'mean';

/** Rows × features values of a table, row-major without padding. Float64 in the reference, float32 elsewhere. */
export interface TableValues {
  readonly weightShape: Float32Array | Float64Array;
  readonly weightRate: Float32Array | Float64Array;
  readonly featureShape: Float32Array | Float64Array;
  readonly featureRate: Float32Array | Float64Array;
}

/** Edges grouped by row: a view of one side of a graph. Shared buffers, never copied whole by an engine on the CPU. */
export interface EdgeRows {
  /** rows + 1 positions into neighbors. */
  readonly offsets: Uint32Array;
  /** Row of the other table, per edge. */
  readonly neighbors: Uint32Array;
  /** Multigraph counts per edge; undefined: a simple graph (truncated Poisson counts). */
  readonly counts: Uint32Array | undefined;
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

export interface UpdateOptions {
  readonly hyper: SideHyper;
  /** Activity that `own` will show after this update. The other table shows whatever it was last given. */
  readonly activity: Activity;
  /**
   * Mass of the other side per feature, observed plus leftover (M_k). Default: the other table's own mass and
   * leftover as the engine holds them.
   */
  readonly otherMass?: Float64Array | undefined;
  /**
   * Only rows first … last−1 of own change, and the table's mass becomes the mass of these rows alone (a caller that
   * updates by ranges adds up the ranges and passes otherMass). The index still has a row for each row of own.
   * Default: all rows.
   */
  readonly rows?: { readonly first: number; readonly last: number } | undefined;
  /**
   * Over-relaxation: features go this much farther than the half-step would take them, as a share of the step; 0 to
   * below 1. Such a step is faster on the way but need not raise the bound: the loop guards it. Default 0.
   */
  readonly relaxation?: number | undefined;
  /** Also sum the edge term of the bound over this pass's λ: the state *before* the update. Default false. */
  readonly edgeTerm?: boolean | undefined;
}

/** K-vectors of a table, in float64. */
export interface TableTotals {
  /** Σ_i E[weight_i] E[feature_ik] over the rows last updated (all of them, unless a range was given). */
  readonly mass: Float64Array;
  /** Leftover mass per feature (μ or ρ), as of the last update or setLeftover; zeros when size = 0. */
  readonly leftover: Float64Array;
  /** The other side's mass with which the leftover was last computed (the bound needs it). */
  readonly leftoverAt: Float64Array;
}

/** Operations take effect in the order of the calls: a caller may queue several and wait for the last. */
export interface Engine {
  /** 'reference', 'cpu', 'gpu', and what flavour of it ran: shown to people and written into the model file. */
  readonly name: string;
  readonly description: string;
  /** Relative tolerance against the reference over a few hundred iterations, which tests hold it to. */
  readonly tolerance: number;
  readonly threads: number;

  /** A table with the given values; computes activity and mass. */
  createTable(features: number, values: TableValues, activity: Activity): Promise<Table>;
  createIndex(rows: EdgeRows): Promise<EdgeIndex>;

  /**
   * One half-step: own from the edges, the other table and its mass; then own's activity and mass; then, when
   * hyper.size > 0, own's leftover mass. Engines may queue it: only `read`, `totals` and `edgeTerm` wait.
   */
  update(own: Table, index: EdgeIndex, other: Table, options: UpdateOptions): Promise<void>;

  /** The edge term Σ log(e^λ − 1) (multigraph: Σ g log λ, without the constant −log g!) of the last update that asked. */
  lastEdgeTerm(): Promise<number>;
  /** The edge term of the current state, by a pass of its own. */
  edgeTerm(own: Table, index: EdgeIndex, other: Table): Promise<number>;
  /**
   * Σ_i [E log weight prior + entropy] + Σ_ik [E log feature prior + entropy], without the rows·(log size − log Γ(1−σ))
   * term: what the rows of a table contribute to the bound.
   */
  rowTerms(table: Table, hyper: SideHyper): Promise<number>;

  totals(table: Table): Promise<TableTotals>;
  /** Σ_i E[weight_i] over all rows. */
  weightSum(table: Table): Promise<number>;
  /** Replaces the mass: to resume a run to the last bit, or to fix the side that a fold-in does not update. */
  setMass(table: Table, mass: Float64Array): void;
  /** Replaces the leftover (after a size was learned). */
  setLeftover(table: Table, leftover: Float64Array, at: Float64Array): void;
  /** Multiplies every weight by a factor (rates divided by it); activity and mass follow. */
  scale(table: Table, factor: number, activity: Activity): Promise<void>;
  /** Switches what the table shows the edge pass. */
  setActivity(table: Table, activity: Activity): Promise<void>;
  read(table: Table): Promise<TableValues>;

  free(handle: Table | EdgeIndex): void;
  close(): Promise<void>;
}

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
