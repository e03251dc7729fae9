// Profiles of the items, from which a fit starts: the leading singular vectors of the edges, rotated until each item lies in few of
// them (varimax). They follow from the data alone, so every seed starts near the same optimum. They are computed from a sample of the
// users, which every rank has whole.

import { type BipartiteGraph, type BySide, bySide, type GraphSide } from '../../graph/graph.js';
import { lengths, pickRows, type RowLists, transposeLists } from '../../math/csr.js';
import { largest } from '../../math/nth-largest.js';
import { randomStream, textHash } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import { leadingDirections, type Rows, withDirectionWorkers } from '../../solvers/leading-directions.js';

/** The sample has about this many edges, divided by the number of features. Smaller samples lack features that few edges have. */
const SAMPLE_WORK = 6e7;
/** Multiplications by the matrix of edges and its transpose. */
const MULTIPLICATIONS = 16;
/** Rotations look at the items with the most edges: ROTATED_ITEMS, or ROTATED_PER_FEATURE for each feature if that is more. */
const ROTATED_ITEMS = 1000;
const ROTATED_PER_FEATURE = 2;
const ROTATION_SWEEPS = 4;
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
  const rows = pickRows({ offsets, neighbors, counts: undefined }, drawn);
  return { offsets: rows.offsets, values: rows.neighbors };
}

interface ProfileOptions {
  /** Each run begins with another random basis. Default 0. */
  readonly run?: number;
  readonly threads?: number | undefined;
}

/** Profiles of the items of a graph. */
export function graphProfiles(
  { users, items, edges }: BipartiteGraph,
  features: number,
  options: ProfileOptions,
): Promise<Float32Array> {
  const all = { items: items.count, edges };
  return itemProfiles((share) => sampleUsers(users, share), all, features, options);
}

/**
 * Items × features, where each row has the mean 1; items that the sample lacks have ones. Degrees are raised by their mean, so that
 * vertices with few edges do not get directions of their own. `draw` returns the items of the users in the sample.
 */
export function itemProfiles(
  draw: (share: number) => RowLists | Promise<RowLists>,
  all: { readonly items: number; readonly edges: number },
  features: number,
  { run = 0, threads }: ProfileOptions = {},
): Promise<Float32Array> {
  const share = sampledShare(all.edges, features);
  const work = { edges: share * all.edges, directions: features, multiplications: MULTIPLICATIONS };
  return withDirectionWorkers(work, threads, async (workers) => {
    const sample = await draw(share);
    const { edges, sampled } = renumbered(sample, all.items);
    const degrees = bySide((side) => lengths(edges[side]));
    const scales = bySide((side) => {
      const mean = sample.values.length / degrees[side].length;
      return Float64Array.from(degrees[side], (d) => 1 / Math.sqrt(d + mean));
    });
    const random = randomStream(SEED + run, STREAMS.profiles, BASIS_DRAW);
    const count = Math.max(ROTATED_ITEMS, ROTATED_PER_FEATURE * features);
    const rotated = largest(sampled.length, count, (item) => degrees.items[item]);
    const basis = await leadingDirections(edges, scales, features, MULTIPLICATIONS, random, {
      workers,
      turns: (rows) => rotation(rows, rotated, features),
    });
    return profilesOf(basis, sampled, all.items, features);
  });
}

/** The items in the lists, and both sides of the edges with these items numbered from 0. */
function renumbered(lists: RowLists, items: number): { edges: BySide<RowLists>; sampled: Uint32Array } {
  const { offsets, values: byItem } = transposeLists(lists, items);
  const number = new Uint32Array(items);
  const sampled = new Uint32Array(items);
  let count = 0;
  for (let item = 0; item < items; item++) {
    if (offsets[item + 1] === offsets[item]) continue;
    number[item] = count;
    offsets[count] = offsets[item];
    sampled[count++] = item;
  }
  offsets[count] = byItem.length;
  const values = new Uint32Array(byItem.length);
  for (let e = 0; e < values.length; e++) values[e] = number[lists.values[e]];
  return {
    edges: {
      users: { offsets: lists.offsets, values },
      items: { offsets: offsets.subarray(0, count + 1), values: byItem },
    },
    sampled: sampled.subarray(0, count),
  };
}

/** The rotation of columns by pairs after which the squares of the given rows vary most (varimax). */
function rotation({ values, stride }: Rows, rows: readonly number[], width: number): Float64Array {
  const columns = Array.from({ length: width }, (_, k) =>
    Float64Array.from(rows, (row) => values[row * stride + k]),
  );
  const turns = columns.map((_, k) => new Float64Array(width).fill(1, k, k + 1));
  for (let sweep = 0, moved = true; moved && sweep < ROTATION_SWEEPS; sweep++) {
    moved = false;
    for (let p = 0; p < width; p++) {
      for (let q = p + 1; q < width; q++) {
        const [cosine, sine] = angleOf(columns[p], columns[q]);
        if (Math.abs(sine) < SMALL_SINE) continue;
        turn(columns[p], columns[q], cosine, sine);
        turn(turns[p], turns[q], cosine, sine);
        moved = true;
      }
    }
  }
  return Float64Array.from({ length: width * width }, (_, at) => turns[at % width][Math.floor(at / width)]);
}

/** Cosine and sine of Kaiser's angle. Square roots instead of trigonometry add no differences between machines. */
function angleOf(x: Float64Array, y: Float64Array): readonly [number, number] {
  const { length } = x;
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

/**
 * The positive part of each column of `basis`, with the sign that has the larger third moment; rows get the mean 1. Row i is that
 * of the item sampled[i]; other items have ones.
 */
function profilesOf(
  basis: Float32Array,
  sampled: Uint32Array,
  items: number,
  features: number,
): Float32Array {
  const skewness = new Float64Array(features);
  for (let from = 0; from < basis.length; from += features) {
    for (let k = 0; k < features; k++) {
      const value = basis[from + k];
      skewness[k] += value * value * value;
    }
  }
  const profiles = new Float32Array(items * features).fill(1);
  for (let i = 0; i < sampled.length; i++) {
    const from = i * features;
    const to = sampled[i] * features;
    let sum = 0;
    for (let k = 0; k < features; k++) {
      const value = Math.max(0, skewness[k] < 0 ? -basis[from + k] : basis[from + k]);
      profiles[to + k] = value;
      sum += value;
    }
    for (let k = to; k < to + features; k++) profiles[k] = sum > 0 ? (features * profiles[k]) / sum : 1;
  }
  return profiles;
}
