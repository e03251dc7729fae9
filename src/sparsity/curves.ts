// Density against sampling level. Sampling the users to level p, with all items kept, leaves pE edges, pU users and
// Σ_j (1−(1−p)^d_j) items in expectation. The density of the sample therefore describes the *items*: how many remain.

import type { GraphSide } from '../graph/graph.js';
import type { Random } from '../math/random.js';
import { type DegreeCounts, expectedSurvivors } from './degree-counts.js';

/** Density of the whole graph after sampling one side to `level`. */
export interface CurvePoint {
  readonly level: number;
  /** Ratio of the expected counts, exact given the degrees. */
  readonly expected: number;
  /** One density per replicate; replicates without a vertex at this level are left out. */
  readonly sampled: readonly number[];
}

/** The expected density when the `own` side is sampled; `other` are the degrees of the other side. */
export function expectedDensity(own: DegreeCounts, other: DegreeCounts, level: number): number {
  return own.sum / (own.count * expectedSurvivors(other, level));
}

/** Largest number of levels of a curve: an index of a level, plus one, fits in seven bits. */
export const MOST_LEVELS = 127;
/** Replicates that share a pass over the edges, a byte each. */
export const REPLICATES_PER_PASS = 4;

/**
 * Samples one replicate per stream (up to four), all levels of all replicates in one pass. Each sampled vertex draws a
 * uniform. A vertex of the other side survives level p exactly if the smallest uniform of its neighbours is below p.
 * Levels ascend; a density is undefined if nothing is left. Each stream's result is independent of the others.
 */
export function sampledDensities(
  own: GraphSide,
  other: GraphSide,
  levels: readonly number[],
  streams: readonly Random[],
): (number | undefined)[][] {
  const top = levels.length;
  const entry = levelTable(levels);
  // For each vertex and replicate, a byte: the first level that includes the vertex; `top` if none does.
  const first = new Uint32Array(own.count);
  const totals = streams.map((random, replicate) => {
    const vertices = new Float64Array(top + 1);
    const edges = new Float64Array(top + 1);
    for (let v = 0; v < own.count; v++) {
      const at = entry(random.uniform());
      first[v] |= at << (8 * replicate);
      vertices[at]++;
      edges[at] += own.offsets[v + 1] - own.offsets[v];
    }
    return { vertices, edges };
  });
  // For each replicate, the vertices of the other side by the first level that includes them.
  const others = new Float64Array(256 * REPLICATES_PER_PASS);
  const { offsets, neighbors, count } = other;
  const none = Math.imul(top, 0x01010101);
  for (let v = 0; v < count; v++) {
    let least = none;
    const end = offsets[v + 1];
    for (let e = offsets[v]; e < end; e++) {
      const at = first[neighbors[e]];
      // The smaller of each pair of bytes: bit 7 of (least | 128) − at stays where least ≥ at.
      const lower = Math.imul((((least | HIGH_BITS) - at) & HIGH_BITS) >>> 7, 255);
      least = (at & lower) | (least & ~lower);
      if (least === 0) break; // all in at the lowest level: nothing can be lower
    }
    others[least & 255]++;
    others[256 + ((least >>> 8) & 255)]++;
    others[512 + ((least >>> 16) & 255)]++;
    others[768 + (least >>> 24)]++;
  }
  return totals.map(({ vertices, edges }, replicate) => {
    let v = 0;
    let e = 0;
    let o = 0;
    return levels.map((_, l) => {
      v += vertices[l];
      e += edges[l];
      o += others[256 * replicate + l];
      return v > 0 ? e / (v * o) : undefined;
    });
  });
}

const HIGH_BITS = 0x80808080 | 0;

/** Maps u to the index of the first level that is at least u, by a table of cells with a short walk in each. */
function levelTable(levels: readonly number[]): (u: number) => number {
  const cells = 1024;
  const start = new Uint16Array(cells);
  for (let c = 0, l = 0; c < cells; c++) {
    while (l < levels.length && levels[l] < c / cells) l++;
    start[c] = l;
  }
  return (u) => {
    let l = start[Math.floor(u * cells)];
    while (l < levels.length && levels[l] < u) l++;
    return l;
  };
}
