// What a fit for ranking adds to its own scores: weights between items, and factors by least squares. Each is a good ranker that
// errs elsewhere than the cross-fitted factors do, and the sum is better than any of them (docs/recommending.md). Shares were
// found on held-back users of four sets; the settings of both parts are searched on those of the data at hand.

import type { SparseWeights } from '../engine/rank.js';
import type { BipartiteGraph } from '../graph/graph.js';
import { allocate } from '../math/memory.js';
import type { TaskOptions } from '../progress.js';
import { itemWeights, MIDDLE_WEIGHTS, searchWeights, type WeightSetting } from './item-weights.js';
import { leastSquaresMember, middlePenalties, type Penalties, searchPenalties } from './least-squares.js';
import type { FactorScores, RankerMember } from './model.js';
import { type EdgeLists, holdUsersBack } from './trial.js';

/** Shares of each part, for each of the fit's own members. */
const SHARES = { weights: 1.6, leastSquares: 0.6 };
/** With momentum six sweeps rank as well as eight without. */
const LEAST_SQUARES = { features: 128, iterations: 6, momentum: 0.5 };

/** What is added, made once for any number of members. */
export interface Beside {
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

export async function fitBeside(
  { users, items }: Pick<BipartiteGraph, 'users' | 'items'>,
  options: TaskOptions & { readonly seed: number },
): Promise<Beside> {
  const edges = {
    users: { offsets: users.offsets, values: users.neighbors },
    items: { offsets: items.offsets, values: items.neighbors },
  };
  const found = await findSettings(edges, options);
  const weights = await itemWeights(edges, found.weights, options);
  const member = await leastSquaresMember(edges, { ...options, ...LEAST_SQUARES, ...found.leastSquares });
  return { weights, member, found };
}

async function findSettings(
  edges: EdgeLists,
  options: TaskOptions & { readonly seed: number },
): Promise<BlendReport> {
  const trial = holdUsersBack(edges, options.seed);
  if (!trial) return { heldBack: 0, weights: MIDDLE_WEIGHTS, leastSquares: middlePenalties(edges) };
  const factors = await searchPenalties(edges, trial, options);
  const { setting } = await searchWeights(trial, factors.tables, options);
  return { heldBack: trial.users, weights: setting, leastSquares: factors.penalties };
}

/**
 * Members and what stands beside them as one. The parts predict whether an edge is there; where members predict counts, they are
 * scaled to the mean count of an edge.
 */
export function withBeside(
  members: readonly RankerMember[],
  { weights, member }: Beside,
  { total, edges }: Pick<BipartiteGraph, 'total' | 'edges'>,
): FactorScores {
  const scale = (members.length * total) / edges;
  const scaled = allocate(Float32Array, weights.weights.length);
  for (let e = 0; e < scaled.length; e++) scaled[e] = SHARES.weights * scale * weights.weights[e];
  return Object.freeze({
    kind: 'factors',
    members: Object.freeze([...members, Object.freeze({ ...member, share: SHARES.leastSquares * scale })]),
    beside: Object.freeze({ ...weights, weights: scaled }),
  });
}
