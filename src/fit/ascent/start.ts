// Where a fit begins. Every start gives each vertex its degree, spread over the features: the scale makes the expected number
// of edges right from the first sweep. Noise breaks the symmetry between features. The noise of a vertex depends on the seed
// and its id alone, so a part of the data starts as it would within the whole.

import type { SideHyper, TableValues } from '../../engine/engine.js';
import type { BipartiteGraph, GraphSide, SideName } from '../../graph/graph.js';
import { SIDES } from '../../graph/graph.js';
import type { VertexIds } from '../../graph/ids.js';
import { exponential } from '../../math/distributions.js';
import { type Random, randomStream, textHash } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import type { FitSettings } from '../options.js';
import type { BothHyper } from './bound.js';

/**
 * Ascent begins with noise in a few vertices only; the others take their features from those around them. Noise in all of
 * them is noise that the warm phase does not get rid of: bounds end up to 4 % lower (docs/appendix/performance.md).
 */
const NOISY_SHARE = 0.05;
/** … but in enough to tell the features apart: in all, where there are few. */
const NOISY_LEAST = 200;
const NOISY_PER_FEATURE = 4;

/** Fewer sweeps than this do not carry features from a few vertices to all, nor do exact ones alone. */
export const SHORTEST = 80;

/** What decides how much noise there is. */
export type StartSettings = Pick<FitSettings, 'features' | 'start' | 'iterations'>;

/** The share of a side's vertices that begin with noise. */
export function noisyShare(vertices: number, { features, start, iterations }: StartSettings): number {
  if (start === 'cold' || iterations < SHORTEST) return 1;
  const least = Math.max(NOISY_LEAST, NOISY_PER_FEATURE * features);
  return Math.min(1, Math.max(NOISY_SHARE, least / vertices));
}

/** Starting tables of both sides. */
export function startValues(
  graph: BipartiteGraph,
  hyper: BothHyper,
  settings: StartSettings,
  seed: number,
): Record<SideName, TableValues> {
  const start = (side: SideName) => {
    const noisy = noisyShare(graph[side].count, settings);
    return startOf(side, vertexStart(graph[side]), graph.total, hyper, settings.features, seed, noisy);
  };
  return { users: start('users'), items: start('items') };
}

/** Vertices of a side, all or some of them, with the sum of counts that each has in all of the data. */
export interface StartingVertices {
  readonly ids: VertexIds;
  readonly strength: (vertex: number) => number;
}

export function vertexStart(side: GraphSide): StartingVertices {
  return { ids: side.ids, strength: (vertex) => rowTotal(side, vertex) };
}

/** The starting table of such vertices; `total` is the sum of all counts, `noisy` the share of them that have noise. */
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
  // Masses in the ratio of the sizes (1 where there are none), with Σ_k M^U_k M^I_k = total count.
  const ratio = hyper.users.size > 0 && hyper.items.size > 0 ? hyper.users.size / hyper.items.size : 1;
  const both = Math.sqrt(total / features);
  const mass = side === 'users' ? both * Math.sqrt(ratio) : both / Math.sqrt(ratio);
  return (strength) => (mass * strength) / Math.max(total, 1);
}

type TableOf<Numbers> = Readonly<Record<keyof TableValues, Numbers>>;
/** A table whose rows can be written one by one. */
export type WritableTable = TableOf<Float64Array> | TableOf<Float32Array>;

/** A table of zeros, to be filled. */
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

/** Of float64. */
export const wideTable = (rows: number, features: number): TableOf<Float64Array> =>
  emptyTable(rows, features, (length) => new Float64Array(length));

/** The stream of the draw that gives a vertex noise or none. */
const NOISE_DRAW = 1;

/** Writes the start of a vertex into its row; the mean of its weight depends on its strength, those of its features are about 1. */
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
  return (values, i) => {
    const strength = strengthOf(i);
    writeWeight(values, i, strength, hyper.sigma, meanWeight);
    const ofVertex = random.derive(...textHash(ids.at(i)));
    writeFeatures(values, i, { strength, shape: hyper.shape, features, noisy, random: ofVertex });
  };
}

/** Writes the weight of a vertex with that strength. */
export function writeWeight(
  { weightShape, weightRate }: Pick<WritableTable, 'weightShape' | 'weightRate'>,
  i: number,
  strength: number,
  sigma: number,
  meanWeight: (strength: number) => number,
): void {
  weightShape[i] = Math.max(strength - sigma, 0.5);
  weightRate[i] = weightShape[i] / meanWeight(Math.max(strength, 0.5));
}

/** Writes the features of a vertex with that strength. */
export function writeFeatures(
  { featureShape, featureRate }: Pick<WritableTable, 'featureShape' | 'featureRate'>,
  i: number,
  vertex: {
    readonly strength: number;
    readonly shape: number;
    readonly features: number;
    readonly noisy: number;
    /** The vertex's own stream. */
    readonly random: Random;
  },
): void {
  const { strength, shape, features, noisy, random } = vertex;
  const share = strength / features;
  const quiet = noisy < 1 && random.derive(NOISE_DRAW).uniform() >= noisy;
  for (let k = i * features; k < (i + 1) * features; k++) {
    featureShape[k] = shape + share * (quiet ? 1 : 0.5 + 0.5 * exponential(random));
    featureRate[k] = shape + share;
  }
}

/** Sum of a vertex's counts: its degree, in a simple graph. */
export function rowTotal(side: GraphSide, i: number): number {
  const first = side.offsets[i];
  const last = side.offsets[i + 1];
  if (!side.counts) return last - first;
  let sum = 0;
  for (let e = first; e < last; e++) sum += side.counts[e];
  return sum;
}
