// Starting values of a fit. Each vertex gets its degree, spread over the features, so the expected number of edges is right from
// the first sweep. Noise breaks the symmetry between features. The noise of a vertex depends only on the seed and its id, so it
// is the same in a shard and in all data.

import type { SideHyper, TableValues } from '../../engine/engine.js';
import type { BipartiteGraph, SideName, WeighedSide } from '../../graph/graph.js';
import { SIDES } from '../../graph/graph.js';
import type { VertexIds } from '../../graph/ids.js';
import { exponential } from '../../math/distributions.js';
import { randomStream, textHash } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import type { BothHyper } from './bound.js';
import { type ScheduleSettings, SHORTEST_FIT } from './schedule.js';

/**
 * Ascent starts with noise in a few vertices; the others take their features from their neighbours. The warm phase does not
 * remove noise that is in all vertices, and the bound ends lower (docs/appendix/performance.md).
 */
const NOISY_SHARE = 0.05;
/** The least number of noisy vertices that makes the features differ; small data have noise in all vertices. */
const NOISY_LEAST = 200;
const NOISY_PER_FEATURE = 4;

/** The fraction of a side's vertices that start with noise. In a short fit, features would not spread from a few vertices to all. */
export function noisyShare(vertices: number, { features, start, iterations }: ScheduleSettings): number {
  if (start === 'cold' || iterations < SHORTEST_FIT) return 1;
  const least = Math.max(NOISY_LEAST, NOISY_PER_FEATURE * features);
  return Math.min(1, Math.max(NOISY_SHARE, least / vertices));
}

/** Starting tables of both sides. */
export function startValues(
  graph: BipartiteGraph,
  hyper: BothHyper,
  settings: ScheduleSettings,
  seed: number,
): Record<SideName, TableValues> {
  const start = (side: SideName) => {
    const noisy = noisyShare(graph[side].count, settings);
    return startOf(side, vertexStart(graph[side]), graph.total, hyper, settings.features, seed, noisy);
  };
  return { users: start('users'), items: start('items') };
}

/** Some or all vertices of a side, each with its strength: the sum of its counts in all data. */
export interface StartingVertices {
  readonly ids: VertexIds;
  readonly strength: (vertex: number) => number;
}

export function vertexStart(side: WeighedSide): StartingVertices {
  return { ids: side.ids, strength: (vertex) => rowTotal(side, vertex) };
}

/** The starting table of `vertices`. `total` is the sum of all counts, `noisy` the fraction of vertices with noise. */
export function startOf(
  side: SideName,
  vertices: StartingVertices,
  total: number,
  hyper: BothHyper,
  features: number,
  seed: number,
  noisy: number,
): TableValues {
  const values = wideTable(vertices.ids.length, features);
  const weight = meanWeights(side, total, hyper, features);
  const begin = startRow(vertices, side, hyper[side], features, seed, weight, noisy);
  for (let i = 0; i < vertices.ids.length; i++) begin(values, i);
  return values;
}

/** E[γ_i] in proportion to the degree, Σ_i E[γ_i] = mass. */
export function meanWeights(
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

type TableOf<Numbers> = Readonly<Record<keyof TableValues, Numbers>>;
/** A table whose rows can be written. */
export type WritableTable = TableOf<Float64Array> | TableOf<Float32Array>;

/** A table of zeros. */
export function emptyTable<Numbers>(
  rows: number,
  features: number,
  make: (length: number) => Numbers,
): TableOf<Numbers> {
  return {
    weightShape: make(rows),
    weightRate: make(rows),
    featureShape: make(rows * features),
    featureRate: make(rows * features),
  };
}

/** A float64 table of zeros. */
export const wideTable = (rows: number, features: number): TableOf<Float64Array> =>
  emptyTable(rows, features, (length) => new Float64Array(length));

/** The random stream that decides whether a vertex has noise. */
const NOISE_DRAW = 1;

/** Returns a function that writes a vertex's starting row: its mean weight follows from its strength, its features average about 1. */
export function startRow(
  { ids, strength: strengthOf }: StartingVertices,
  name: SideName,
  hyper: SideHyper,
  features: number,
  seed: number,
  meanWeight: (strength: number) => number,
  noisy: number,
): (values: WritableTable, i: number) => void {
  const random = randomStream(seed, STREAMS.start, SIDES.indexOf(name));
  return ({ weightShape, weightRate, featureShape, featureRate }, i) => {
    const strength = strengthOf(i);
    weightShape[i] = Math.max(strength - hyper.sigma, 0.5);
    weightRate[i] = weightShape[i] / meanWeight(Math.max(strength, 0.5));
    const ofVertex = random.derive(...textHash(ids.at(i)));
    const share = strength / features;
    const quiet = noisy < 1 && ofVertex.derive(NOISE_DRAW).uniform() >= noisy;
    for (let k = i * features; k < (i + 1) * features; k++) {
      featureShape[k] = hyper.shape + share * (quiet ? 1 : 0.5 + 0.5 * exponential(ofVertex));
      featureRate[k] = hyper.shape + share;
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
