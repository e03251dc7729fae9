// The blend: item-to-item weights and least-squares factors that a ranker adds to its scores. Their errors differ from those of
// the cross-fitted factors, so the sum ranks better than each (docs/appendix/recommending.md). Held-back users of four data
// sets gave the shares. Held-back users of the data at hand give the settings.

import type { BipartiteGraph } from '../../../graph/graph.js';
import { transposeLists } from '../../../math/csr.js';
import type { TaskOptions } from '../../../progress.js';
import { timesFactor } from '../../../solvers/combine-weights.js';
import type { SparseWeights } from '../../../topn/query.js';
import type { FactorScores, Ranker, RankerMember } from '../../model.js';
import { type EdgeLists, holdUsersBack } from './held-back-users.js';
import {
  DEFAULT_WEIGHTS,
  itemWeights,
  type PartGains,
  SHARES,
  searchWeights,
  type WeightSetting,
} from './item-weights.js';
import {
  defaultPenalties,
  leastSquaresMember,
  type Penalties,
  rowsOf,
  searchPenalties,
} from './least-squares.js';

/** Six sweeps with momentum rank as well as eight without. */
export const LEAST_SQUARES = { features: 128, iterations: 6, momentum: 0.5 };
/** Iterations and momentum if the least squares continue from a previous model. */
const CONTINUED = { iterations: 2, momentum: 0 };
/** Settings are searched again if the number of edges has grown or shrunk by more than this factor. */
const SEARCH_AGAIN_RATIO = 1.5;

/** Both components of the blend, computed once for any number of members. */
export interface Blend {
  /** Undefined if no weights helped on held-back users. */
  readonly weights: SparseWeights | undefined;
  /** The least-squares factors; undefined if they did not help. */
  readonly member: RankerMember | undefined;
  readonly found: BlendReport;
}

/** The settings of the blend, and how they were found. */
export interface BlendReport {
  /** Number of users held back to find the settings; 0 if there were too few, and the settings are defaults. */
  readonly heldBack: number;
  /** Settings of the item-to-item weights. */
  readonly weights: WeightSetting;
  /** Penalties of the least-squares factors. */
  readonly leastSquares: Penalties;
  /** What each part adds on the held-back users, without members. */
  readonly adds?: PartGains | undefined;
  /** Number of edges of the data on which they were found. */
  readonly edges: number;
  /** True if they were taken from a previous model, and found on its data. */
  readonly kept?: boolean | undefined;
}

/** The blend of a previous model, as a start. */
export interface PreviousBlend {
  readonly found: BlendReport;
  /** Its least-squares factors of the present items; zeros for items that it did not know. */
  readonly start?: Float32Array | undefined;
}

/** WebAssembly can address 4 GiB, which must hold the edges in both orders and two least-squares tables of each side. */
const MOST_BYTES = 3.5 * 2 ** 30;

/** Whether the blend fits in memory; if not, a ranking fit has none. */
export function mayBlend({ users, items, edges }: BipartiteGraph): boolean {
  const tables = 2 * 4 * LEAST_SQUARES.features * (users.count + items.count);
  return 8 * edges + tables <= MOST_BYTES;
}

export async function fitBlend(
  { users, items }: Pick<BipartiteGraph, 'users' | 'items'>,
  options: BlendTask,
): Promise<Blend> {
  const { previous, edgeWeights, ...task } = options;
  const byUser = { offsets: users.offsets, values: users.neighbors, weights: edgeWeights };
  const byItem = { offsets: items.offsets, values: items.neighbors };
  const edges = { users: byUser, items: edgeWeights ? transposeLists(byUser, items.count) : byItem };
  const found = previous?.found ?? (await findSettings(edges, task));
  const helps = (part: keyof PartGains) => hasPart(found, part);
  const parts = { regression: helps('weights'), similarities: helps('similarities') };
  const weights = await itemWeights(edges, found.weights, parts, task);
  const sweeps = previous?.start ? { ...LEAST_SQUARES, ...CONTINUED, start: previous.start } : LEAST_SQUARES;
  const member = helps('leastSquares')
    ? await leastSquaresMember(edges, { ...task, ...sweeps, ...found.leastSquares })
    : undefined;
  return { weights, member, found };
}

/** With fewer held-back users, chance would decide which parts are left out. */
export const LEAST_TO_LEAVE_OUT = 200;

/** Whether a part is in the blend: it helps on held-back users, or they are too few to say. */
export function hasPart(
  { heldBack, adds, weights }: Pick<BlendReport, 'heldBack' | 'adds' | 'weights'>,
  part: keyof PartGains,
): boolean {
  if (part === 'similarities' && weights.similarities === 0) return false;
  return !adds || heldBack < LEAST_TO_LEAVE_OUT || adds[part] > 0;
}

interface BlendTask extends TaskOptions {
  readonly seed: number;
  /**
   * A weight above 0 and up to 1 for each edge, in the order of `users.neighbors`: 2^(−age / half-life). Two edges of a user count with
   * the smaller of their weights, at least 1/16, in the weights between items. Least squares weigh each edge (recency.ts).
   */
  readonly edgeWeights?: Float32Array | undefined;
  readonly previous?: PreviousBlend | undefined;
}

async function findSettings(
  edges: EdgeLists,
  options: TaskOptions & { readonly seed: number },
): Promise<BlendReport> {
  const trial = holdUsersBack(edges, options.seed, options.threads);
  const size = { edges: edges.users.values.length };
  if (!trial)
    return { heldBack: 0, weights: DEFAULT_WEIGHTS, leastSquares: defaultPenalties(edges), ...size };
  try {
    const factors = await searchPenalties(edges, trial, options);
    const { setting, adds } = await searchWeights(trial, factors.tables, options);
    return { heldBack: trial.users, weights: setting, leastSquares: factors.penalties, adds, ...size };
  } finally {
    await trial.close();
  }
}

/**
 * The blend of the model `from`. Undefined if it has none, if its settings are defaults, or if the data have changed too much in
 * size. `rows` holds the row in the model of each present item, −1 if it is new.
 */
export function previousBlend(
  { users, items, edges }: Pick<BipartiteGraph, 'users' | 'items' | 'edges'>,
  from: Ranker,
  rows: Int32Array,
): PreviousBlend | undefined {
  const found = from.provenance.blend;
  if (!found || found.heldBack === 0 || from.scores.kind !== 'factors') return undefined;
  if (edges > SEARCH_AGAIN_RATIO * found.edges || found.edges > SEARCH_AGAIN_RATIO * edges) return undefined;
  const { features } = LEAST_SQUARES;
  const member = from.scores.members.find(
    (one) => one.fold.kind === 'least-squares' && one.features === features,
  );
  const start = member && rowsOf(member.items, rows, features);
  // α is scaled by 1/√(users × items). A model saved without its users has no user count: α then stays as it is.
  const pairs = from.users.count * from.items.count;
  const { lambda, alpha } = found.leastSquares;
  const scale = pairs > 0 ? Math.sqrt(pairs / (users.count * items.count)) : 1;
  const leastSquares = { lambda, alpha: scale * alpha };
  return { found: { ...found, leastSquares, kept: true }, ...(start && { start }) };
}

/**
 * The scores of the members with the blend. The blend predicts whether there is an edge; the factor total / edges puts it on the
 * scale of counts.
 */
export function withBlend(
  members: readonly RankerMember[],
  { weights, member }: Blend,
  { total, edges }: Pick<BipartiteGraph, 'total' | 'edges'>,
): FactorScores {
  const scale = (members.length * total) / edges;
  const added = member && Object.freeze({ ...member, share: SHARES.leastSquares * scale });
  return Object.freeze({
    kind: 'factors',
    members: Object.freeze(added ? [...members, added] : [...members]),
    ...(weights && { itemWeights: Object.freeze(timesFactor(weights, SHARES.weights * scale)) }),
  });
}
