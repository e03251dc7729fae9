// Fold-in of new users into a member of a ranker, with the items fixed at their means. `foldMany` computes the rows of many users
// on an engine or in workers. `foldOne` computes one user's row on this thread.

import type { Engine } from '../../engine/engine.js';
import { type EngineName, onEngine } from '../../engine/select.js';
import { throwIfAborted } from '../../errors.js';
import type { GraphSide } from '../../graph/graph.js';
import type { EdgeCounts } from '../../math/csr.js';
import { inSharedMemory } from '../../math/memory.js';
import type { TaskOptions } from '../../progress.js';
import { foldInLeastSquares } from '../../solvers/least-squares.js';
import { foldHierarchicalVertex, foldInHierarchical } from '../hierarchical.js';
import { columnSums, type FoldRule, type RankerMember } from '../model.js';
import {
  asTable,
  type FoldBase,
  type FoldedVertex,
  type FoldInOptions,
  firstShapes,
  foldVertex,
  sideMass,
} from './fold-in.js';
import { leastSquaresSystem } from './least-squares-fold.js';

/** The items of one user, the count of each in a multigraph, and its weight by age (ranking/recency.ts). */
export interface OwnItems {
  readonly items: ArrayLike<number>;
  readonly counts?: ArrayLike<number> | undefined;
  readonly weights?: ArrayLike<number> | undefined;
}

/** The items of many users: row u holds neighbors[offsets[u] … offsets[u+1]−1]. */
export type HistoryRows = Pick<GraphSide, 'offsets' | 'neighbors'> & {
  readonly counts?: EdgeCounts | undefined;
  readonly weights?: Float32Array | undefined;
};

export interface FoldManyOptions extends TaskOptions {
  /** 1 for each item that the users could have met. Default: all items. */
  readonly eligible?: Uint8Array | undefined;
  /** Default `auto`. */
  readonly engine?: EngineName | undefined;
}

interface MemberFold<One = Float64Array | FoldedVertex> {
  /** Mean activities of many users: rows × features. */
  foldMany(rows: HistoryRows, options?: FoldManyOptions): Promise<Float32Array>;
  /** One user, in float64: the row itself (least squares), or the Gammas whose means are the row. */
  foldOne(history: OwnItems): One;
}

/** The part of a member that its fold-in needs. */
type FoldedMember<Kind extends FoldRule['kind']> = Pick<RankerMember, 'features' | 'items'> & {
  readonly fold: Extract<FoldRule, { readonly kind: Kind }>;
};

export function memberFold(
  { fold, ...member }: FoldedMember<FoldRule['kind']>,
  multigraph: boolean,
): MemberFold {
  if (fold.kind === 'poisson') return poissonFold({ ...member, fold }, multigraph);
  if (fold.kind === 'hierarchical') return hierarchicalFold({ ...member, fold });
  return leastSquaresFold({ ...member, fold });
}

/** The fold-in of a cross-fitted member: a few half-steps from the prior with posterior means, as in its fit. */
export function poissonFold(
  { features, items, fold }: FoldedMember<'poisson'>,
  multigraph: boolean,
): MemberFold<FoldedVertex> & { readonly base: FoldBase } {
  const fixed = { count: items.length / features, means: items };
  const counted = fold.weighed ?? multigraph;
  const base: FoldBase = { features, multigraph: counted, prior: fold.hyper.users, fixed };
  let otherMass: Float64Array | undefined;
  return {
    base,
    foldMany: (rows, { engine = 'auto', threads, ...options } = {}) =>
      onEngine(engine, { edges: rows.neighbors.length * 0.5, features }, threads, (choice) =>
        foldMeans(choice.engine, base, weighedRows(rows, fold), fold.steps, options),
      ),
    foldOne(history) {
      otherMass ??= sideMass(fixed, features);
      const { items: neighbors } = history;
      const { counts } = weighedHistory(history, fold);
      return foldVertex(base, neighbors, { iterations: fold.steps, activity: 'mean', counts, otherMass });
    },
  };
}

/** A user's items as a member counts them: its weighed edges have fractional counts. */
export function weighedHistory(history: OwnItems, { weighed }: { readonly weighed?: true | undefined }) {
  const { items, counts, weights } = history;
  if (!weighed) return history;
  return {
    items,
    counts: Float32Array.from({ length: items.length }, (_, e) => (counts?.[e] ?? 1) * (weights?.[e] ?? 1)),
  };
}

function weighedRows(rows: HistoryRows, fold: { readonly weighed?: true | undefined }): HistoryRows {
  const { offsets, neighbors, counts, weights } = rows;
  const counted = weighedHistory({ items: neighbors, counts, weights }, fold).counts;
  return { offsets, neighbors, counts: counted as EdgeCounts | undefined };
}

/** The Gamma distribution of a weight that is exactly 1, for rows without a weight. */
const WEIGHT_ONE = { weightShape: Number.MAX_SAFE_INTEGER, weightRate: Number.MAX_SAFE_INTEGER };

/** The fold-in of a hierarchical Poisson factorization; counts are ignored. */
export function hierarchicalFold({
  features,
  items: means,
  fold,
}: FoldedMember<'hierarchical'>): MemberFold<FoldedVertex> {
  const { steps, ...prior } = fold;
  let mass: Float64Array | undefined;
  return {
    foldMany: ({ offsets, neighbors }, { eligible, engine = 'auto', threads, signal } = {}) =>
      onEngine(engine, { edges: neighbors.length, features }, threads, (choice) =>
        foldInHierarchical(
          choice.engine,
          means,
          { offsets, values: neighbors },
          { shown: eligible, features, prior, steps, signal },
        ),
      ),
    foldOne({ items }) {
      mass ??= columnSums(means, features);
      const { shape, rate } = foldHierarchicalVertex(means, items, features, mass, fold);
      return { ...WEIGHT_ONE, featureShape: shape, featureRate: rate };
    },
  };
}

/** The fold-in of least-squares factors; counts are ignored. */
function leastSquaresFold(member: FoldedMember<'least-squares'>): MemberFold<Float64Array> {
  const { features, items, fold } = member;
  const system = leastSquaresSystem(member);
  return {
    foldMany: ({ offsets, neighbors, weights }, { eligible, threads, signal, onProgress } = {}) =>
      foldInLeastSquares(
        items,
        { offsets, values: neighbors, weights },
        eligible ?? new Uint8Array(items.length / features).fill(1),
        { ...fold, features, threads, signal, onProgress },
      ),
    foldOne: ({ items: own, weights }) => system.row(own, weights),
  };
}

/** Mean activities of new users after `steps` half-steps with posterior means. Of a user's posterior, a ranker stores nothing else. */
export async function foldMeans(
  engine: Engine,
  { features: K, multigraph, prior, fixed }: FoldBase,
  { offsets, neighbors, counts }: HistoryRows,
  steps: number,
  options: Pick<FoldInOptions, 'eligible' | 'unseenShare' | 'signal'> = {},
): Promise<Float32Array> {
  throwIfAborted(options.signal);
  const count = offsets.length - 1;
  const otherMass = sideMass(fixed, K, options);
  const total = otherMass.reduce((a, b) => a + b, 0);
  const weight = firstShapes({ count, offsets }, prior).map((shape) => shape / (prior.tau + total));
  const own = await engine.foldFresh.createTable(count, K);
  const other = await engine.createTable(K, asTable(fixed), 'mean');
  const index = await engine.createIndex({ offsets, neighbors, counts: multigraph ? counts : undefined });
  const start = { weight, feature: 1 };
  await engine.foldFresh.fold(own, index, other, { hyper: prior, otherMass, start, steps });
  const means = await engine.foldFresh.means(own);
  for (const handle of [own, other, index]) void engine.free(handle);
  return inSharedMemory(means);
}
