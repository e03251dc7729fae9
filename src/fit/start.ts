// Where a fit begins. Every start gives each vertex its degree, spread over the features with noise: the noise breaks
// the symmetry between features, the scale makes the expected number of edges right from the first sweep. The noise of a
// vertex depends on the seed and its id alone, so a part of the data starts as it would within the whole.

import type { SideHyper, TableValues } from '../engine/engine.js';
import type { BipartiteGraph, GraphSide, SideName } from '../graph/graph.js';
import { SIDES } from '../graph/graph.js';
import { exponential } from '../math/distributions.js';
import { type Random, randomStream, textHash } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import type { BothHyper } from './bound.js';

/** Starting tables of both sides. */
export function startValues(
  graph: BipartiteGraph,
  hyper: BothHyper,
  features: number,
  seed: number,
): Record<SideName, TableValues> {
  // Masses in the ratio of the sizes (1 where there are none), with Σ_k M^U_k M^I_k = total count.
  const ratio = hyper.users.size > 0 && hyper.items.size > 0 ? hyper.users.size / hyper.items.size : 1;
  const both = Math.sqrt(graph.total / features);
  const mass = { users: both * Math.sqrt(ratio), items: both / Math.sqrt(ratio) };
  const values = {} as Record<SideName, TableValues>;
  SIDES.forEach((side, which) => {
    const random = randomStream(seed, STREAMS.start, which);
    values[side] = sideStart(graph[side], graph.total, hyper[side], features, mass[side], random);
  });
  return values;
}

function sideStart(
  side: GraphSide,
  total: number,
  hyper: SideHyper,
  features: number,
  mass: number,
  random: Random,
): TableValues {
  const rows = side.count;
  const values = {
    weightShape: new Float64Array(rows),
    weightRate: new Float64Array(rows),
    featureShape: new Float64Array(rows * features),
    featureRate: new Float64Array(rows * features),
  };
  for (let i = 0; i < rows; i++) {
    const ofVertex = random.derive(...textHash(side.ids.at(i)));
    const strength = rowTotal(side, i);
    // E[γ_i] in proportion to the degree; Σ_i E[γ_i] = mass, and features of mean about 1.
    values.weightShape[i] = Math.max(strength - hyper.sigma, 0.5);
    values.weightRate[i] = values.weightShape[i] / ((mass * Math.max(strength, 0.5)) / Math.max(total, 1));
    const share = strength / features;
    for (let k = i * features; k < (i + 1) * features; k++) {
      values.featureShape[k] = hyper.shape + share * (0.5 + 0.5 * exponential(ofVertex));
      values.featureRate[k] = hyper.shape + share;
    }
  }
  return values;
}

function rowTotal(side: GraphSide, i: number): number {
  const first = side.offsets[i];
  const last = side.offsets[i + 1];
  if (!side.counts) return last - first;
  let sum = 0;
  for (let e = first; e < last; e++) sum += side.counts[e];
  return sum;
}
