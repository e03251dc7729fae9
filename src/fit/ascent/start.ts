// Starting values of a fit. Each vertex gets its degree, spread over the features, so the expected number of edges is right from
// the first sweep. Items lean a little towards their profiles (profiles.ts); users take their features from them in the first
// half-step. Noise breaks ties. The noise of a vertex depends only on the seed and its id, so it is the same in a shard and in all data.

import { byField, type SideHyper, type TableValues } from '../../engine/engine.js';
import {
  type BipartiteGraph,
  type BySide,
  bySide,
  SIDES,
  type SideName,
  type WeighedSide,
} from '../../graph/graph.js';
import type { VertexIds } from '../../graph/ids.js';
import { exponential } from '../../math/distributions.js';
import { randomStream, textHash } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import type { BothHyper } from './bound.js';

/** How far items lean towards their profiles: the first sweeps with means choose among them. */
const LEANING = 0.1;
/** Noise of the items in a start from profiles; of both sides in a start without them. */
const SLIGHT_NOISE = 0.02;
const NOISE = 0.5;

/** What makes features differ at the start of a side. */
export interface Differences {
  /** Standard deviation of a factor of every feature. */
  readonly noise: number;
  /** Items × features, rows of mean 1. */
  readonly profiles?: Float32Array | undefined;
}

export function differencesOf(profiles: Float32Array | undefined): BySide<Differences> {
  if (!profiles) return { users: { noise: NOISE }, items: { noise: NOISE } };
  return { users: { noise: 0 }, items: { noise: SLIGHT_NOISE, profiles } };
}

/** Starting tables of both sides. */
export function startValues(
  graph: BipartiteGraph,
  hyper: BothHyper,
  features: number,
  seed: number,
  differences: BySide<Differences>,
): BySide<TableValues> {
  return bySide((side) =>
    startOf(side, vertexStart(graph[side]), graph.total, hyper, features, seed, differences[side]),
  );
}

/** Some or all vertices of a side, each with its strength: the sum of its counts in all data. */
export interface StartingVertices {
  readonly ids: VertexIds;
  readonly strength: (vertex: number) => number;
}

export function vertexStart(side: WeighedSide): StartingVertices {
  return { ids: side.ids, strength: (vertex) => rowTotal(side, vertex) };
}

/** The starting table of `vertices`. `total` is the sum of all counts. */
export function startOf(
  side: SideName,
  vertices: StartingVertices,
  total: number,
  hyper: BothHyper,
  features: number,
  seed: number,
  differences: Differences = { noise: NOISE },
): TableValues {
  const values = emptyTable(vertices.ids.length, features);
  const weight = meanWeights(side, total, hyper, features);
  const begin = startRow(vertices, side, hyper[side], features, seed, weight, differences);
  for (let i = 0; i < vertices.ids.length; i++) begin(values, i);
  return values;
}

/** E[γ_i] in proportion to the degree, Σ_i E[γ_i] = mass. */
function meanWeights(
  side: SideName,
  total: number,
  hyper: BothHyper,
  features: number,
): (strength: number) => number {
  // The masses have the ratio of the sizes (1 if there are none), and Σ_k M^U_k M^I_k = total count.
  const ratio = hyper.users.size > 0 && hyper.items.size > 0 ? hyper.users.size / hyper.items.size : 1;
  const both = Math.sqrt(total / features);
  const mass = side === 'users' ? both * Math.sqrt(ratio) : both / Math.sqrt(ratio);
  return (strength) => (mass * strength) / Math.max(total, 1);
}

/** A table of zeros. */
export function emptyTable(rows: number, features: number): TableValues {
  return byField(features, (_, width) => new Float32Array(rows * width));
}

/** Returns a function that writes a vertex's starting row: its mean weight follows from its strength, its features average about 1. */
export function startRow(
  { ids, strength: strengthOf }: StartingVertices,
  name: SideName,
  hyper: SideHyper,
  features: number,
  seed: number,
  meanWeight: (strength: number) => number,
  { noise, profiles }: Differences = { noise: NOISE },
): (values: TableValues, i: number) => void {
  const random = randomStream(seed, STREAMS.start, SIDES.indexOf(name));
  const width = 2 * Math.sqrt(3) * noise;
  return ({ weightShape, weightRate, featureShape, featureRate }, i) => {
    const strength = strengthOf(i);
    weightShape[i] = Math.max(strength - hyper.sigma, 0.5);
    weightRate[i] = weightShape[i] / meanWeight(Math.max(strength, 0.5));
    const share = strength / features;
    const [from, to] = [i * features, (i + 1) * features];
    featureRate.fill(hyper.shape + share, from, to);
    if (noise === 0 && !profiles) {
      featureShape.fill(hyper.shape + share, from, to);
      return;
    }
    const ofVertex = random.derive(...textHash(ids.at(i)));
    for (let k = from; k < to; k++) {
      // Noise that only breaks ties is uniform, which costs a fifth of an exponential.
      const among = profiles
        ? share * (1 - LEANING + LEANING * profiles[k]) * (1 + width * (ofVertex.uint32() / 2 ** 32 - 0.5))
        : share * (1 - noise + noise * exponential(ofVertex));
      featureShape[k] = hyper.shape + among;
    }
  };
}

/** Sum of a vertex's counts; in a simple graph its degree. */
export function rowTotal(side: Pick<WeighedSide, 'offsets' | 'counts'>, i: number): number {
  const first = side.offsets[i];
  const last = side.offsets[i + 1];
  if (!side.counts) return last - first;
  let sum = 0;
  for (let e = first; e < last; e++) sum += side.counts[e];
  return sum;
}
