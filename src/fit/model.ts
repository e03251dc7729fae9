import type { ModelInfo } from '../attributes/info.js';
import { meansOf, type SideHyper, singlePrecision, type TableValues } from '../engine/engine.js';
import { InputError } from '../errors.js';
import { type BipartiteGraph, type BySide, bySide, degrees, type GraphSide } from '../graph/graph.js';
import type { VertexIds } from '../graph/ids.js';
import type { ModelKind } from '../options/names.js';
import type { SideNames } from '../text/sides.js';
import type { SparseWeights } from '../topn/query.js';
import { VERSION } from '../version.js';
import type { BlendReport } from './ranking/blend/blend.js';
import type { RecencyReport } from './ranking/half-life-search.js';
import type { Recency } from './ranking/recency.js';
import type { CountEffects, CountPrior } from './sides/count-prior.js';

/** The vertices of one side that a model knows. */
export interface Vertices {
  readonly count: number;
  readonly ids: VertexIds;
  /** Degree of each vertex in the data the model was fitted to. */
  readonly degree: Uint32Array;
}

/** The fitted posterior of one side: Gamma(weightShape, weightRate) and Gamma(featureShape, featureRate) per vertex. */
export interface ModelSide extends Vertices {
  readonly weightShape: Float32Array;
  readonly weightRate: Float32Array;
  /** count × features, row-major. */
  readonly featureShape: Float32Array;
  readonly featureRate: Float32Array;
  /** Expected mass of the unseen atoms per feature (μ or ρ); zeros in the dense model. */
  readonly unseenMass: Float64Array;
  readonly hyper: SideHyper;
  /** True if the fit matched τ to the degrees (sides/side-prior.ts); absent if τ was given, learned or left at its default. */
  readonly tauMatched?: true | undefined;
  /** The effect of each vertex on its counts, if the model has a prior of counts. */
  readonly counts?: CountEffects | undefined;
  /** Draws of the sampler that were kept, one after the other: count × features each, of weight × feature. */
  readonly draws?: Float32Array | undefined;
  /** Expected mass of all users per feature, if the model holds only some of them; undefined if it holds all. */
  readonly mass?: Float64Array | undefined;
}

/** A side of a model from its fitted table. */
export function modelSide(
  side: Pick<GraphSide, 'count' | 'ids' | 'offsets'>,
  table: TableValues,
  hyper: SideHyper,
  unseenMass: Float64Array,
  tauMatched = false,
): ModelSide {
  return Object.freeze({
    count: side.count,
    ids: side.ids,
    ...singlePrecision(table),
    unseenMass,
    hyper,
    ...(tauMatched && { tauMatched }),
    degree: degrees(side),
  });
}

/** How a model was fitted, as stored in its file. It has no time, host or thread count: the same fit gives the same bytes. */
export interface FitRecord {
  /** Version of graphex. */
  readonly version: string;
  readonly seed: number;
  /** Fingerprint of the data. */
  readonly fingerprint: string;
  /** The given options and the defaults, in the form that `fit` takes. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly iterations: number;
  readonly converged: boolean;
  /** The blend of a ranker, and how its settings were found. */
  readonly blend?: BlendReport | undefined;
  /** How the half-life of a ranker was found, if it was searched. */
  readonly recency?: RecencyReport | undefined;
}

/** The record of a fit that ascended the bound. */
export interface Provenance extends FitRecord {
  /** Bound after each evaluation: [iteration, bound]. */
  readonly bounds: readonly (readonly [number, number])[];
  /** Bounds of the sparse and of the dense model, if they were compared (fit/choose/sparsity-evidence.ts). */
  readonly evidence?:
    | { readonly sparse: number; readonly dense: number; readonly difference: number }
    | undefined;
}

/**
 * A fitted posterior, frozen: the basis of checks, draws and explanations. The expected rate of an edge is
 * E[γ_i] E[ω_j] Σ_k E[θ_ik] E[β_jk], every factor a Gamma mean shape/rate.
 */
export interface PosteriorModel {
  readonly type: 'posterior';
  readonly kind: ModelKind;
  readonly features: number;
  /** True if rates are expected counts. False if they are rates of edges: in a simple graph, or if `counts` is set. */
  readonly multigraph: boolean;
  /** The prior of counts given an edge, if counts are not Poisson; the edges are then those of a simple graph. */
  readonly counts?: CountPrior | undefined;
  /** What people call the two sides; absent: users and items. */
  readonly names?: SideNames | undefined;
  readonly users: ModelSide;
  readonly items: ModelSide;
  /** The evidence lower bound; undefined if the fit was stopped before it had one, and for the sampler. */
  readonly bound: number | undefined;
  readonly provenance: Provenance;
  /** Which items each known user has; absent if the model does not hold them. */
  readonly seen?: SeenItems | undefined;
  /** Titles and attributes of both sides; absent if no table about them was given. */
  readonly info?: ModelInfo | undefined;
}

/** A model made for ranking: its scores, and how a user gets them. It has no bound, and cannot draw graphs. */
export interface Ranker {
  readonly type: 'ranker';
  /** `ranking`, or the name of a baseline. */
  readonly method: string;
  readonly multigraph: boolean;
  /** What people call the two sides; absent: users and items. */
  readonly names?: SideNames | undefined;
  /** The known users; none if the file was saved without users. */
  readonly users: Vertices;
  readonly items: Vertices;
  readonly scores: RankerScores;
  readonly provenance: FitRecord;
  readonly seen?: SeenItems | undefined;
  /** How edges were weighed by age; absent if they were not. */
  readonly recency?: Recency | undefined;
  /** Titles and attributes of both sides; absent if no table about them was given. */
  readonly info?: ModelInfo | undefined;
}

/** Where a ranker's scores come from. */
export type RankerScores = FactorScores | ItemScores | PopularityScores;

/**
 * A score is the sum over the members of the dot product of two rows, times the member's share. If there are item weights, those
 * from each item of the user to the scored item are added.
 */
export interface FactorScores {
  readonly kind: 'factors';
  readonly members: readonly RankerMember[];
  /** Added to the sum over the members; absent if there are none. */
  readonly itemWeights?: SparseWeights | undefined;
}

/** One member of a ranker: the tables whose products are its scores, and how a new user gets a row. */
export interface RankerMember {
  readonly features: number;
  /** Mean activities: items × features, row-major. */
  readonly items: Float32Array;
  /** The same for the known users; undefined if they are folded in from the items they have. */
  readonly users: Float32Array | undefined;
  /**
   * Sum of the known users' rows. Its product with the sum of the items' rows is the number of edges that each feature
   * explains.
   */
  readonly userMass: Float64Array;
  readonly fold: FoldRule;
  /** Factor of its products. Absent: 1. */
  readonly share?: number | undefined;
  readonly seed: number;
  readonly iterations: number;
  readonly converged: boolean;
}

/** How a user gets a row of a member's table from the items they have. */
export type FoldRule =
  | {
      readonly kind: 'poisson';
      /** Half-steps from the prior. */
      readonly steps: number;
      /**
       * True if an edge of a simple graph counts as its weight: 1, or less by its age. Absent in models of earlier versions: there an
       * edge says that the count is at least 1.
       */
      readonly weighed?: true | undefined;
      readonly hyper: BySide<SideHyper>;
    }
  | { readonly kind: 'least-squares'; readonly lambda: number; readonly alpha: number }
  | ({ readonly kind: 'hierarchical' /** Half-steps from the prior. */; readonly steps: number } & RatePrior);

/** Features ~ Gamma(shape, ξ), where each row has its own rate ξ ~ Gamma(rateShape, rateShape/rateMean). */
export interface RatePrior {
  readonly shape: number;
  readonly rateShape: number;
  readonly rateMean: number;
}

/** The sum of the weights from each item of a user to the item that is scored. */
export interface ItemScores {
  readonly kind: 'items';
  /** Where the weights of each item begin; undefined: items × items, all of them. */
  readonly offsets: Uint32Array | undefined;
  /** The item that each weight is for; undefined as above. */
  readonly targets: Uint32Array | undefined;
  readonly weights: Float32Array;
}

/** The score of an item is its degree, the same for all users. */
export interface PopularityScores {
  readonly kind: 'popularity';
}

/** A model, as a fit returns it and a model file holds it. */
export type Model = PosteriorModel | Ranker;

/** Refuses a value that is not a model, such as the whole result of a fit: for callers without types. */
export function needModel(value: unknown): asserts value is Model {
  const type = (value as Partial<Model> | null | undefined)?.type;
  if (type === 'posterior' || type === 'ranker') return;
  const given =
    value === null ? 'null' : typeof value === 'object' ? 'an object of another kind' : typeof value;
  throw new InputError(
    `expected a model, not ${given}; give the model of a fit, (await fit(graph)).model, or the result of loadModel`,
  );
}

/** Refuses a ranker where a posterior is needed. `what` starts the sentence, as in "predictive draws". */
export function needPosterior(model: Model, what: string): asserts model is PosteriorModel {
  if (model.type === 'posterior') return;
  throw new InputError(
    `${what} need a posterior, and this model is a ranker (${model.method}), which has none; ` +
      'fit with method ascent',
  );
}

/** The edges of the fitted data, by user: recommendations leave them out, and explanations refer to them. */
export interface SeenItems {
  readonly offsets: Uint32Array;
  readonly neighbors: Uint32Array;
  /** Counts of a multigraph. */
  readonly counts: Uint32Array | undefined;
  /** The age of each edge in half-lives, if the model weighs edges by age. */
  readonly ages?: Float32Array | undefined;
}

/** The items that the users of a graph have. */
export function seenItems({ offsets, neighbors, counts }: GraphSide, ages?: Float32Array): SeenItems {
  return Object.freeze({ offsets, neighbors, counts, ...(ages && { ages }) });
}

/** A ranker of the vertices of a graph, which knows what its users have. */
export function rankerOf(
  { users, items, multigraph, names }: BipartiteGraph,
  made: Pick<Ranker, 'method' | 'scores' | 'recency'> & {
    readonly provenance: Omit<Ranker['provenance'], 'version'>;
  },
  ages?: Float32Array,
): Ranker {
  const { method, scores, provenance, recency } = made;
  const side = (own: GraphSide) => Object.freeze({ count: own.count, ids: own.ids, degree: degrees(own) });
  return Object.freeze({
    type: 'ranker',
    method,
    multigraph,
    ...(names && { names }),
    users: side(users),
    items: side(items),
    scores,
    seen: seenItems(users, ages),
    ...(recency && { recency: Object.freeze(recency) }),
    provenance: Object.freeze({ version: VERSION, ...provenance }),
  });
}

/** The part of a side that scores need; fold-in gives the same for new users. */
export type Posterior = { readonly count: number } & TableValues;

/** Posterior mean activity E[weight]·E[feature] of every vertex: count × features, row-major. Scores are dot products. */
export function meanTable(side: Posterior, features: number): Float32Array {
  return meansOf(side, features);
}

/** Σ over the rows of a table; if `marked` is given, over the rows that have a mark. */
export function columnSums(
  table: Float32Array,
  features: number,
  marked?: ArrayLike<number> | undefined,
): Float64Array {
  const sums = new Float64Array(features);
  let at = 0;
  // Four rows at a time, in the same order: sums are loaded and stored less often.
  for (; !marked && at + 4 * features <= table.length; at += 4 * features) {
    for (let k = 0; k < features; k++) {
      const one = at + k;
      sums[k] =
        sums[k] + table[one] + table[one + features] + table[one + 2 * features] + table[one + 3 * features];
    }
  }
  for (; at < table.length; at += features) {
    if (marked && !marked[at / features]) continue;
    for (let k = 0; k < features; k++) sums[k] += table[at + k];
  }
  return sums;
}

/** Number of features of each fit of a model; undefined if its scores have none. */
export function featureCount(model: Model): number | undefined {
  if (model.type === 'posterior') return model.features;
  return model.scores.kind === 'factors' ? model.scores.members[0].features : undefined;
}

/** Number of members whose scores are added, without the blend. */
export function fitCount(model: Model): number {
  if (model.type !== 'ranker' || model.scores.kind !== 'factors') return 1;
  return model.scores.members.filter(({ share }) => share === undefined).length;
}

/** Each hyperparameter of both sides. */
export function hyperBySide(hyper: BySide<SideHyper>) {
  const pair = (name: keyof SideHyper) => bySide((side) => hyper[side][name]);
  return {
    sigma: pair('sigma'),
    size: pair('size'),
    tau: pair('tau'),
    shape: pair('shape'),
    rate: pair('rate'),
  };
}

/** The hyperparameters of a model; undefined for baselines, which have none. */
export function modelHyper(model: Model): BySide<SideHyper> | undefined {
  if (model.type === 'posterior') return bySide((side) => model[side].hyper);
  const fold = model.scores.kind === 'factors' ? model.scores.members[0].fold : undefined;
  return fold?.kind === 'poisson' ? fold.hyper : undefined;
}
