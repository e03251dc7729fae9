// How well the parts of a split resemble the whole graph. A part drawn by vertices is a smaller graph of the same kind;
// a part drawn by edges prefers vertices with many edges.

import { type BipartiteGraph, type BySide, bySide, degrees, type SideName } from '../graph/graph.js';
import { mean } from '../math/moments.js';
import { positions } from '../sample/split.js';
import type { Split } from '../sample/split-types.js';
import { tailIndexHalf } from './tail-index.js';

export type SplitBias = BySide<ReturnType<typeof sideBias>>;

export function compareSplit(graph: BipartiteGraph, split: Split): SplitBias {
  return bySide((side) => compareSide(side, graph, split));
}

function compareSide(side: SideName, graph: BipartiteGraph, split: Split) {
  const whole = degrees(graph[side]);
  const heldOut =
    split.method === 'pq' || (split.method === 'new-items' && side === 'items')
      ? whole.filter((_, v) => split.assignment[side].drawn[v] === 1)
      : Uint32Array.from(positions(graph[side].ids, split.test[side].ids), (v) => whole[v]);
  return sideBias(whole, heldOut, {
    train: degrees(split.train[side]),
    foldIn: degrees(split.foldIn[side]),
    test: degrees(split.test[side]),
  });
}

/** Computes the bias from degrees: of the whole side, of the held-out vertices in the whole graph, and in each part. */
export function sideBias(
  whole: Uint32Array,
  heldOut: Uint32Array,
  { train, foldIn, test }: Readonly<Record<'train' | 'foldIn' | 'test', Uint32Array>>,
) {
  return {
    whole: describe(whole),
    train: describe(train),
    foldIn: describe(foldIn),
    test: describe(test),
    /**
     * Mean degree, in the whole graph, of the held-out vertices (with `edges`: of those with a held-out edge). Divided by
     * the whole graph's mean degree it is 1 if the split prefers no vertex.
     */
    heldOutDegree: mean(heldOut),
  };
}

function describe(list: Uint32Array) {
  return {
    vertices: list.length,
    /** Edges per vertex of this side, within the part; 0 in an empty part. */
    meanDegree: list.length === 0 ? 0 : mean(list),
    /** σ̂ at p = ½, within the part. */
    sigma: tailIndexHalf(list),
  };
}
