// What a fit for ranking adds to its own scores: weights between items, and factors by least squares. Each is a good ranker that
// errs elsewhere than the cross-fitted factors do, and the sum is better than any of them (docs/recommending.md). Shares were
// found on held-back users of four sets; the settings of both parts are searched on those of the data at hand.

import type { BipartiteGraph } from '../../../graph/graph.js';
import { allocate } from '../../../math/memory.js';
import type { TaskOptions } from '../../../progress.js';
import type { SparseWeights } from '../../../topn/query.js';
import type { FactorScores, Ranker, RankerMember } from '../../model.js';
import { type EdgeLists, holdUsersBack } from './held-back.js';
import { DEFAULT_WEIGHTS, itemWeights, searchWeights, type WeightSetting } from './item-weights.js';
import { defaultPenalties, leastSquaresMember, type Penalties, searchPenalties } from './least-squares.js';

/** Shares of each part, for each of the fit's own members. */
const SHARES = { weights: 1.6, leastSquares: 0.6 };
/** With momentum six sweeps rank as well as eight without. */
export const LEAST_SQUARES = { features: 128, iterations: 6, momentum: 0.5 };
/** From factors that were swept before. */
const FURTHER = { iterations: 2, momentum: 0 };
/** Settings are found anew when the data have as many times the edges, or as many times fewer, as those that they were found on. */
const OTHER_DATA = 1.5;

/** What is added, made once for any number of members. */
export interface Blend {
  readonly weights: SparseWeights;
  readonly member: RankerMember;
  readonly found: BlendReport;
}

/** The settings of what a fit for ranking adds to its scores, and how they were found. */
export interface BlendReport {
  /** Users who were held back to find them; 0: there were too few, and the settings are middling ones. */
  readonly heldBack: number;
  /** Of the weights between items: inputs of each item, and how much they are held down. */
  readonly weights: WeightSetting;
  /** Of the factors by least squares. */
  readonly leastSquares: Penalties;
  /** Edges of the data that they were found on. */
  readonly edges: number;
  /** True where they are those of a former model, on whose data they were found. */
  readonly kept?: boolean | undefined;
}

/** What the parts of a former model leave to do. */
export interface PreviousBlend {
  readonly found: BlendReport;
  /** The items' table of its least squares, for the items of the present data; 0 where it did not know them. */
  readonly start?: Float32Array | undefined;
}

/** WebAssembly has 4 GiB: for the edges in both orders and, while least squares are solved, two tables of each side. */
const MOST_BYTES = 3.5 * 2 ** 30;

/** Whether the parts can be made; where they cannot, a fit does without. */
export function mayBlend({
  users,
  items,
  edges,
}: Pick<BipartiteGraph, 'users' | 'items' | 'edges'>): boolean {
  const tables = 2 * 4 * LEAST_SQUARES.features * (users.count + items.count);
  return 8 * edges + tables <= MOST_BYTES;
}

export async function fitBlend(
  { users, items }: Pick<BipartiteGraph, 'users' | 'items'>,
  options: BlendTask,
): Promise<Blend> {
  const edges = {
    users: { offsets: users.offsets, values: users.neighbors },
    items: { offsets: items.offsets, values: items.neighbors },
  };
  const { former, ...task } = options;
  const found = former?.found ?? (await findSettings(edges, task));
  const weights = await itemWeights(edges, found.weights, task);
  const sweeps = former?.start ? { ...LEAST_SQUARES, ...FURTHER, start: former.start } : LEAST_SQUARES;
  const member = await leastSquaresMember(edges, { ...task, ...sweeps, ...found.leastSquares });
  return { weights, member, found };
}

interface BlendTask extends TaskOptions {
  readonly seed: number;
  readonly former?: PreviousBlend | undefined;
}

async function findSettings(
  edges: EdgeLists,
  options: TaskOptions & { readonly seed: number },
): Promise<BlendReport> {
  const trial = holdUsersBack(edges, options.seed);
  const size = { edges: edges.users.values.length };
  if (!trial)
    return { heldBack: 0, weights: DEFAULT_WEIGHTS, leastSquares: defaultPenalties(edges), ...size };
  const factors = await searchPenalties(edges, trial, options);
  const { setting } = await searchWeights(trial, factors.tables, options);
  return { heldBack: trial.users, weights: setting, leastSquares: factors.penalties, ...size };
}

/**
 * The settings of a former model and where its least squares ended; undefined where it has none, where nobody was held back for them,
 * or where the data are no longer of that size. Rows: of each present item in the model, −1 where it is new.
 */
export function previousBlend(
  { users, items, edges }: Pick<BipartiteGraph, 'users' | 'items' | 'edges'>,
  from: Ranker,
  rows: Int32Array,
): PreviousBlend | undefined {
  const found = from.provenance.blend;
  if (!found || found.heldBack === 0 || from.scores.kind !== 'factors') return undefined;
  if (edges > OTHER_DATA * found.edges || found.edges > OTHER_DATA * edges) return undefined;
  const { features } = LEAST_SQUARES;
  const member = from.scores.members.find(
    (one) => one.fold.kind === 'least-squares' && one.features === features,
  );
  const start = member && allocate(Float32Array, features * items.count);
  for (let i = 0; start && i < rows.length; i++) {
    if (rows[i] >= 0)
      start.set(member.items.subarray(rows[i] * features, (rows[i] + 1) * features), i * features);
  }
  // α goes with the root of users × items; a model may have been saved without its users.
  const pairs = from.users.count * from.items.count;
  const { lambda, alpha } = found.leastSquares;
  const scale = pairs > 0 ? Math.sqrt(pairs / (users.count * items.count)) : 1;
  const leastSquares = { lambda, alpha: scale * alpha };
  return { found: { ...found, leastSquares, kept: true }, ...(start && { start }) };
}

/**
 * Members and what stands beside them as one. The parts predict whether an edge is there; where members predict counts, they are
 * scaled to the mean count of an edge.
 */
export function withBlend(
  members: readonly RankerMember[],
  { weights, member }: Blend,
  { total, edges }: Pick<BipartiteGraph, 'total' | 'edges'>,
): FactorScores {
  const scale = (members.length * total) / edges;
  const scaled = allocate(Float32Array, weights.weights.length);
  for (let e = 0; e < scaled.length; e++) scaled[e] = SHARES.weights * scale * weights.weights[e];
  return Object.freeze({
    kind: 'factors',
    members: Object.freeze([...members, Object.freeze({ ...member, share: SHARES.leastSquares * scale })]),
    itemWeights: Object.freeze({ ...weights, weights: scaled }),
  });
}
