// Fold-in of new users into a member of a ranker, with the items fixed at their means. Rows of many users are computed on an engine
// or in workers, the row of one user on this thread.

import type { Engine } from '../../engine/engine.js';
import { onEngine } from '../../engine/select.js';
import { throwIfAborted } from '../../errors.js';
import type { GraphSide } from '../../graph/graph.js';
import type { EdgeCounts } from '../../math/csr.js';
import { inSharedMemory } from '../../math/memory.js';
import { once } from '../../math/once.js';
import type { EngineName } from '../../options/names.js';
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
import { type LeastSquaresSystem, leastSquaresSystem } from './least-squares-fold.js';

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

/** Mean activities of many users: rows × features. */
type FoldMany = (rows: HistoryRows, options?: FoldManyOptions) => Promise<Float32Array>;

/** The fold-in into a member with Gamma factors; edge passes use means. */
export interface GammaFold {
  readonly foldMany: FoldMany;
  /** The Gammas of one user, in float64; their means are the row. */
  foldOne(own: OwnItems): FoldedVertex;
  /** The part of a user's history that the fit uses. */
  history(own: OwnItems): OwnItems;
  /** Whether counts are Poisson; otherwise an edge is either there or not. */
  readonly multigraph: boolean;
  readonly priorShape: number;
}

/** The fold-in into a member with least-squares factors: one user's row solves the system. */
export interface LeastSquaresFold {
  readonly foldMany: FoldMany;
  readonly system: LeastSquaresSystem;
}

/** The part of a member that its fold-in needs. */
type FoldedMember<Kind extends FoldRule['kind']> = Pick<RankerMember, 'features' | 'items'> & {
  readonly fold: Extract<FoldRule, { readonly kind: Kind }>;
};

export function memberFold(
  { features, items, fold }: FoldedMember<FoldRule['kind']>,
  multigraph: boolean,
): GammaFold | LeastSquaresFold {
  if (fold.kind === 'poisson') return poissonFold({ features, items, fold }, multigraph);
  if (fold.kind === 'hierarchical') return hierarchicalFold({ features, items, fold });
  return leastSquaresFold({ features, items, fold });
}

/** The fold-in of a cross-fitted member: a few half-steps from the prior with posterior means, as in its fit. */
export function poissonFold(
  { features, items, fold }: FoldedMember<'poisson'>,
  multigraph: boolean,
): GammaFold {
  const { steps, weighed, hyper } = fold;
  const fixed = { count: items.length / features, means: items };
  const base: FoldBase = { features, multigraph: weighed ?? multigraph, prior: hyper.users, fixed };
  const mass = once(() => sideMass(fixed, features));
  const history = (own: OwnItems) => (weighed ? { items: own.items, counts: weighedCounts(own) } : own);
  return {
    foldMany({ offsets, neighbors, ...known }, { engine = 'auto', threads, ...options } = {}) {
      const counts = weighed ? weighedCounts({ items: neighbors, ...known }) : known.counts;
      return onEngine(engine, { edges: neighbors.length * 0.5, features }, threads, (choice) =>
        foldMeans(choice.engine, base, { offsets, neighbors, counts }, steps, options),
      );
    },
    foldOne(own) {
      const { items: neighbors, counts } = history(own);
      return foldVertex(base, neighbors, { iterations: steps, counts, otherMass: mass() });
    },
    history,
    multigraph: base.multigraph,
    priorShape: hyper.users.shape,
  };
}

/** The counts of a user's items as a member with weighed edges has them. */
function weighedCounts({ items, counts, weights }: OwnItems): Float32Array {
  return Float32Array.from({ length: items.length }, (_, e) => (counts?.[e] ?? 1) * (weights?.[e] ?? 1));
}

/** The Gamma distribution of a weight that is exactly 1, for rows without a weight. */
const WEIGHT_ONE = { weightShape: Number.MAX_SAFE_INTEGER, weightRate: Number.MAX_SAFE_INTEGER };

/** The fold-in of a hierarchical Poisson factorization; counts are ignored. */
export function hierarchicalFold({ features, items: means, fold }: FoldedMember<'hierarchical'>): GammaFold {
  const { steps, ...prior } = fold;
  const mass = once(() => columnSums(means, features));
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
      const { shape, rate } = foldHierarchicalVertex(means, items, features, mass(), fold);
      return { ...WEIGHT_ONE, featureShape: shape, featureRate: rate };
    },
    history: ({ items }) => ({ items }),
    multigraph: true,
    priorShape: fold.shape,
  };
}

/** The fold-in of least-squares factors; counts are ignored. */
function leastSquaresFold(member: FoldedMember<'least-squares'>): LeastSquaresFold {
  const { features, items, fold } = member;
  return {
    system: leastSquaresSystem(member),
    foldMany: ({ offsets, neighbors, weights }, { eligible, threads, signal, onProgress } = {}) =>
      foldInLeastSquares(items, { offsets, values: neighbors, weights }, eligible, {
        ...fold,
        features,
        threads,
        signal,
        onProgress,
      }),
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
