import type { SideHyper, TableValues } from '../engine/engine.js';
import { degrees, type GraphSide } from '../graph/graph.js';
import type { VertexIds } from '../graph/ids.js';
import { allocate } from '../math/memory.js';

/** The fitted posterior of one side: Gamma(weightShape, weightRate) and Gamma(featureShape, featureRate) per vertex. */
export interface ModelSide {
  readonly count: number;
  readonly ids: VertexIds;
  readonly weightShape: Float32Array;
  readonly weightRate: Float32Array;
  /** count × features, row-major. */
  readonly featureShape: Float32Array;
  readonly featureRate: Float32Array;
  /** Expected mass of the unseen atoms per feature (μ or ρ); zeros in the dense model. */
  readonly leftover: Float64Array;
  readonly hyper: SideHyper;
  /** Degree of each vertex in the data the model was fitted to. */
  readonly degree: Uint32Array;
}

/** A side of a model from its fitted table. */
export function modelSide(
  side: GraphSide,
  table: TableValues,
  hyper: SideHyper,
  leftover: Float64Array,
): ModelSide {
  const single = (values: Float32Array | Float64Array) =>
    values instanceof Float32Array ? values : Float32Array.from(values);
  return Object.freeze({
    count: side.count,
    ids: side.ids,
    weightShape: single(table.weightShape),
    weightRate: single(table.weightRate),
    featureShape: single(table.featureShape),
    featureRate: single(table.featureRate),
    leftover,
    hyper,
    degree: degrees(side),
  });
}

/** How a model came about; goes into the file and into reports. */
export interface Provenance {
  readonly version: string;
  readonly engine: string;
  readonly seed: number;
  readonly fingerprint: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** Bound after each evaluation: [iteration, bound]; empty for the ranking objective. */
  readonly bounds: readonly (readonly [number, number])[];
  readonly iterations: number;
  readonly converged: boolean;
  readonly seconds: number;
  /** Bounds of the sparse and of the dense model, where they were compared (fit/evidence.ts). */
  readonly evidence?: { readonly sparse: number; readonly dense: number; readonly difference: number };
}

/**
 * A fitted model, frozen. The expected rate of an edge is
 * E[γ_i] E[ω_j] Σ_k E[θ_ik] E[β_jk], every factor a Gamma mean shape/rate.
 */
export interface Model {
  readonly kind: 'sparse' | 'dense';
  readonly objective: 'evidence' | 'ranking';
  readonly features: number;
  readonly multigraph: boolean;
  readonly users: ModelSide;
  readonly items: ModelSide;
  /** The evidence lower bound; NaN-free: undefined where the objective has none. */
  readonly bound: number | undefined;
  /** Further fits to the same graph, whose scores are added to this one's; see memberModels. */
  readonly members?: readonly Model[];
  readonly provenance: Provenance;
  /** Which items each known user has; absent where the model does not carry them. */
  readonly seen?: SeenItems | undefined;
}

/** The edges that the model was fitted to, by user: what a recommendation leaves out and an explanation refers to. */
export interface SeenItems {
  readonly offsets: Uint32Array;
  readonly neighbors: Uint32Array;
  /** Counts of a multigraph. */
  readonly counts: Uint32Array | undefined;
}

/** The fits that a model's scores are the sum of: itself and its members. */
export function memberModels(model: Model): readonly Model[] {
  return [model, ...(model.members ?? [])];
}

/** The part of a side that scores need; fold-in gives the same for new users. */
export type Posterior = Pick<
  ModelSide,
  'count' | 'weightShape' | 'weightRate' | 'featureShape' | 'featureRate'
>;

/** Posterior mean activity E[weight]·E[feature] of every vertex: count × features, row-major. Scores are dot products. */
export function meanTable(side: Posterior, features: number): Float32Array {
  const table = allocate(Float32Array, side.count * features);
  for (let v = 0; v < side.count; v++) {
    const weight = side.weightShape[v] / side.weightRate[v];
    for (let k = v * features; k < (v + 1) * features; k++) {
      table[k] = (weight * side.featureShape[k]) / side.featureRate[k];
    }
  }
  return table;
}
