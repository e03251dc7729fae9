// Profiles of the items, from which a fit starts: the leading singular vectors of the edges, rotated until each item lies in few of
// them (varimax). They follow from the data alone, so every seed starts near the same optimum. They are computed in float64 from a sample
// of the users, which every rank has whole.

import type { GraphSide } from '../../graph/graph.js';
import { collectLists, type RowLists } from '../../math/csr.js';
import { randomStream, textHash } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import { leadingDirections } from '../../solvers/leading-directions.js';

/** The sample has about this many edges, divided by the number of features. */
const SAMPLE_WORK = 3e7;
/** Multiplications by the matrix of edges. */
const MULTIPLICATIONS = { iterations: 8, between: 2 };
/** Rotations look at the items with the most edges: ROTATED_ITEMS, or ROTATED_PER_FEATURE for each feature if that is more. */
const ROTATED_ITEMS = 1000;
const ROTATED_PER_FEATURE = 2;
const ROTATION_SWEEPS = 8;
/** An angle whose sine is smaller is not rotated. */
const SMALL_SINE = 1e-3;
/** Draws do not depend on the seed of the fit. */
const SEED = 1;
const [SAMPLE_DRAW, BASIS_DRAW] = [0, 1];

/** The fraction of the users in the sample. */
export function sampledShare(edges: number, features: number): number {
  return Math.min(1, SAMPLE_WORK / features / Math.max(edges, 1));
}

/** The items of the users in the sample. A user is drawn by its id. */
export function sampleUsers({ ids, count, offsets, neighbors }: GraphSide, share: number): RowLists {
  if (share >= 1) return { offsets, values: neighbors };
  const random = randomStream(SEED, STREAMS.profiles, SAMPLE_DRAW);
  const drawn: number[] = [];
  for (let i = 0; i < count; i++) {
    if (random.derive(...textHash(ids.at(i))).uniform() < share) drawn.push(i);
  }
  return collectLists(drawn.length, (row, add) => {
    for (let e = offsets[drawn[row]]; e < offsets[drawn[row] + 1]; e++) add(neighbors[e]);
  });
}

/**
 * Items × features, where each row has the mean 1. Degrees are raised by their mean, so that vertices with few edges do not get
 * directions of their own.
 */
export function itemProfiles(users: RowLists, items: number, features: number): Float64Array {
  const rows = users.offsets.length - 1;
  const degree = { users: new Float64Array(rows), items: new Float64Array(items) };
  for (let u = 0; u < rows; u++) degree.users[u] = users.offsets[u + 1] - users.offsets[u];
  for (const item of users.values) degree.items[item]++;
  const scale = (of: Float64Array) => of.map((d) => 1 / Math.sqrt(d + users.values.length / of.length));
  const scales = { users: scale(degree.users), items: scale(degree.items) };
  const random = randomStream(SEED, STREAMS.profiles, BASIS_DRAW);
  const basis = leadingDirections(users, scales, features, MULTIPLICATIONS, random);
  rotate(basis, mostEdges(degree.items, Math.max(ROTATED_ITEMS, ROTATED_PER_FEATURE * features)), features);
  return asProfiles(basis, features);
}

function mostEdges(degree: Float64Array, count: number): Uint32Array {
  const order = Uint32Array.from(degree, (_, item) => item).sort((a, b) => degree[b] - degree[a] || a - b);
  return order.subarray(0, count);
}

/** Rotates pairs of columns until the squares of the given rows vary most (varimax). */
function rotate(basis: Float64Array, rows: Uint32Array, width: number): void {
  const { length } = rows;
  const columns = Array.from({ length: width }, (_, k) =>
    Float64Array.from(rows, (row) => basis[row * width + k]),
  );
  const turns = Array.from({ length: width }, (_, k) => new Float64Array(width).fill(1, k, k + 1));
  for (let sweep = 0, moved = true; moved && sweep < ROTATION_SWEEPS; sweep++) {
    moved = false;
    for (let p = 0; p < width; p++) {
      for (let q = p + 1; q < width; q++) {
        const [cosine, sine] = angleOf(columns[p], columns[q], length);
        if (Math.abs(sine) < SMALL_SINE) continue;
        turn(columns[p], columns[q], cosine, sine);
        turn(turns[p], turns[q], cosine, sine);
        moved = true;
      }
    }
  }
  const row = new Float64Array(width);
  for (let first = 0; first < basis.length; first += width) {
    row.set(basis.subarray(first, first + width));
    for (let k = 0; k < width; k++) {
      let sum = 0;
      for (let l = 0; l < width; l++) sum += turns[k][l] * row[l];
      basis[first + k] = sum;
    }
  }
}

/** Cosine and sine of Kaiser's angle. Square roots instead of trigonometry give the same bits on every machine. */
function angleOf(x: Float64Array, y: Float64Array, length: number): readonly [number, number] {
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0; i < length; i++) {
    const u = x[i] * x[i] - y[i] * y[i];
    const v = 2 * x[i] * y[i];
    a += u;
    b += v;
    c += u * u - v * v;
    d += 2 * u * v;
  }
  // The tangent of four times the angle is sine4 / cosine4.
  const sine4 = d - (2 * a * b) / length;
  const cosine4 = c - (a * a - b * b) / length;
  const size = Math.sqrt(sine4 * sine4 + cosine4 * cosine4);
  if (!(size > 0)) return [1, 0];
  const cosine2 = Math.sqrt(Math.max(0, (1 + cosine4 / size) / 2));
  const sine2 = (sine4 < 0 ? -1 : 1) * Math.sqrt(Math.max(0, (1 - cosine4 / size) / 2));
  const cosine = Math.sqrt((1 + cosine2) / 2);
  return [cosine, sine2 / (2 * cosine)];
}

function turn(x: Float64Array, y: Float64Array, cosine: number, sine: number): void {
  for (let i = 0; i < x.length; i++) {
    const own = x[i];
    x[i] = cosine * own + sine * y[i];
    y[i] = cosine * y[i] - sine * own;
  }
}

/** Replaces each column by its positive part, with the sign that has the larger third moment; rows get the mean 1. */
function asProfiles(basis: Float64Array, width: number): Float64Array {
  const skewness = new Float64Array(width);
  for (let at = 0; at < basis.length; at++) skewness[at % width] += basis[at] * basis[at] * basis[at];
  for (let first = 0; first < basis.length; first += width) {
    let sum = 0;
    for (let k = 0; k < width; k++) {
      const value = Math.max(0, skewness[k] < 0 ? -basis[first + k] : basis[first + k]);
      basis[first + k] = value;
      sum += value;
    }
    for (let k = first; k < first + width; k++) basis[k] = sum > 0 ? (width * basis[k]) / sum : 1;
  }
  return basis;
}
