// New users of a ranker: their means after a few half-steps from the prior, which are all that it keeps of anybody.

import type { Activity, Engine } from '../../engine/engine.js';
import { throwIfAborted } from '../../errors.js';
import type { BipartiteGraph, GraphSide } from '../../graph/graph.js';
import type { VertexIds } from '../../graph/ids.js';
import { inSharedMemory } from '../../math/memory.js';
import type { RankerMember } from '../model.js';
import { asTable, type FoldBase, type FoldInOptions, firstShapes, foldMatched, sideMass } from './fold-in.js';

/** A ranker's member as what new users are folded into; as its fit did, in a few steps with means throughout. */
export function memberFold(
  { features, items, fold }: RankerMember & { readonly fold: { readonly kind: 'poisson' } },
  multigraph: boolean,
): FoldBase & { readonly options: { readonly iterations: number; readonly activity: Activity } } {
  return {
    features,
    multigraph,
    prior: fold.hyper.users,
    fixed: { count: items.length / features, means: items },
    options: { iterations: fold.steps, activity: 'mean' },
  };
}

/** Means of new users of a ranker's member; `ids` name its items. */
export async function foldIntoMember(
  { options: { iterations }, ...base }: ReturnType<typeof memberFold>,
  ids: VertexIds,
  graph: BipartiteGraph,
  options: Omit<FoldInOptions, 'side'> = {},
): Promise<Float32Array> {
  return foldMatched(base, ids, graph, options, (engine, rows) =>
    foldMeans(engine, base, rows, iterations, options),
  );
}

/** What `foldRows` with means throughout comes to in a few half-steps: the rows' means, which are all that a ranker keeps. */
export async function foldMeans(
  engine: Engine,
  base: FoldBase,
  rows: Pick<GraphSide, 'count' | 'offsets' | 'neighbors' | 'counts'>,
  steps: number,
  options: Pick<FoldInOptions, 'eligible' | 'unseenShare' | 'signal'> = {},
): Promise<Float32Array> {
  const { features: K, multigraph, prior, fixed } = base;
  throwIfAborted(options.signal);
  const otherMass = sideMass(fixed, K, options);
  const total = otherMass.reduce((a, b) => a + b, 0);
  const weight = firstShapes(rows, prior).map((shape) => shape / (prior.tau + total));
  const own = await engine.foldFresh.createTable(rows.count, K);
  const other = await engine.createTable(K, asTable(fixed), 'mean');
  const index = await engine.createIndex({ ...rows, counts: multigraph ? rows.counts : undefined });
  const start = { weight, feature: 1 };
  await engine.foldFresh.make(own, index, other, { hyper: prior, otherMass, start, steps });
  const made = await engine.foldFresh.means(own);
  for (const handle of [own, other, index]) void engine.free(handle);
  return inSharedMemory(made);
}
