// Where a fit begins. Every start gives each vertex its degree, spread over the features: the scale makes the expected number
// of edges right from the first sweep. Noise breaks the symmetry between features. The noise of a vertex depends on the seed
// and its id alone, so a part of the data starts as it would within the whole.

import type { SideHyper, TableValues } from '../engine/engine.js';
import type { BipartiteGraph, GraphSide, SideName } from '../graph/graph.js';
import { SIDES } from '../graph/graph.js';
import type { VertexIds } from '../graph/ids.js';
import { exponential } from '../math/distributions.js';
import { randomStream, textHash } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import type { BothHyper } from './bound.js';
import type { FitSettings } from './options.js';

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
  // Masses in the ratio of the sizes (1 where there are none), with Σ_k M^U_k M^I_k = total count.
  const ratio = hyper.users.size > 0 && hyper.items.size > 0 ? hyper.users.size / hyper.items.size : 1;
  const both = Math.sqrt(total / features);
  const mass = side === 'users' ? both * Math.sqrt(ratio) : both / Math.sqrt(ratio);
  const values = emptyTable(vertices.ids.length, features);
  // E[γ_i] in proportion to the degree, Σ_i E[γ_i] = mass.
  const weight = (strength: number) => (mass * strength) / Math.max(total, 1);
  const begin = startRow(vertices, side, hyper[side], features, seed, weight, noisy);
  for (let i = 0; i < vertices.ids.length; i++) begin(values, i);
  return values;
}

type Float64Table = Readonly<Record<keyof TableValues, Float64Array>>;
/** A table whose rows can be written one by one. */
export type WritableTable = Float64Table | Readonly<Record<keyof TableValues, Float32Array>>;

/** A table of zeros, to be filled. */
export function emptyTable(rows: number, features: number): Float64Table {
  return {
    weightShape: new Float64Array(rows),
    weightRate: new Float64Array(rows),
    featureShape: new Float64Array(rows * features),
    featureRate: new Float64Array(rows * features),
  };
}

/** The stream of a vertex's coin: noise or none. */
const COIN = 1;

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
    const ofVertex = random.derive(...textHash(ids.at(i)));
    const strength = strengthOf(i);
    values.weightShape[i] = Math.max(strength - hyper.sigma, 0.5);
    values.weightRate[i] = values.weightShape[i] / meanWeight(Math.max(strength, 0.5));
    const share = strength / features;
    const quiet = noisy < 1 && ofVertex.derive(COIN).uniform() >= noisy;
    for (let k = i * features; k < (i + 1) * features; k++) {
      values.featureShape[k] = hyper.shape + share * (quiet ? 1 : 0.5 + 0.5 * exponential(ofVertex));
      values.featureRate[k] = hyper.shape + share;
    }
  };
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
