// Nearest neighbours of points. Few points are compared in all pairs, many within the leaves of random trees.

import type { Random } from '../../math/random.js';
import type { Turn } from '../../parallel/turns.js';

export interface Neighbours {
  /** count × each: the neighbours of each point. */
  readonly index: Uint32Array;
  /** Strength of each link, 0 to 1, as UMAP defines it. */
  readonly weight: Float32Array;
  readonly each: number;
}

const ALL_PAIRS_UP_TO = 3000;
const TREES = 8;
const LEAF = 60;

export async function nearestNeighbours(
  points: Float32Array,
  count: number,
  width: number,
  { neighbours, random, turn }: { neighbours: number; random: Random; turn: Turn },
): Promise<Neighbours> {
  const each = Math.max(0, neighbours);
  /** For each point the nearest of those compared so far, nearest first, and their squared distances. */
  const index = new Uint32Array(count * each);
  const distance = new Float32Array(count * each).fill(Number.POSITIVE_INFINITY);

  const insert = (of: number, other: number, d2: number) => {
    const start = of * each;
    let at = start + each - 1;
    if (each === 0 || !(d2 < distance[at])) return;
    for (let i = start; i < start + each && distance[i] <= d2; i++) {
      if (index[i] === other && distance[i] === d2) return;
    }
    for (; at > start && distance[at - 1] > d2; at--) {
      distance[at] = distance[at - 1];
      index[at] = index[at - 1];
    }
    distance[at] = d2;
    index[at] = other;
  };
  const compare = (a: number, b: number) => {
    let d2 = 0;
    for (let d = 0; d < width; d++) d2 += (points[a * width + d] - points[b * width + d]) ** 2;
    // Rounded as it is stored, so that `insert` recognises a pair that it already holds.
    const stored = Math.fround(d2);
    insert(a, b, stored);
    insert(b, a, stored);
  };
  const compareAll = async (group: Uint32Array) => {
    for (let a = 0; a < group.length; a++) {
      for (let b = 0; b < a; b++) compare(group[a], group[b]);
      await turn();
    }
  };

  const all = Uint32Array.from({ length: count }, (_, j) => j);
  if (count <= ALL_PAIRS_UP_TO) {
    await compareAll(all);
  } else {
    for (let tree = 0; tree < TREES; tree++) {
      for (const leaf of leaves(points, all.slice(), width, random)) await compareAll(leaf);
    }
  }
  const weight = new Float32Array(count * each);
  for (let j = 0; j < count; j++) {
    const own = distance.subarray(j * each, (j + 1) * each);
    weight.set(linkWeights(own), j * each);
    // Unused entries link a point to itself, which moves nothing.
    for (let i = 0; i < each; i++) if (!Number.isFinite(own[i])) index[j * each + i] = j;
  }
  return { index, weight, each };
}

/** The strengths of a point's links: the nearest has 1, and the spread is chosen so that they add up to log₂ of their number. */
function linkWeights(squares: Float32Array): number[] {
  const target = Math.log2(Math.max(2, squares.length));
  const distances = Array.from(squares, Math.sqrt);
  const weights = (spread: number) =>
    distances.map((distance) =>
      Number.isFinite(distance) ? Math.exp(-Math.max(0, distance - distances[0]) / spread) : 0,
    );
  let [low, high] = [0, Number.POSITIVE_INFINITY];
  let spread = 1;
  for (let step = 0; step < 40; step++) {
    const sum = weights(spread).reduce((total, one) => total + one, 0);
    if (Math.abs(sum - target) < 1e-4) break;
    if (sum > target) high = spread;
    else low = spread;
    spread = high === Number.POSITIVE_INFINITY ? spread * 2 : (low + high) / 2;
  }
  return weights(spread);
}

/** Cuts the points by planes half-way between two random points until each leaf is small. */
function* leaves(
  points: Float32Array,
  group: Uint32Array,
  width: number,
  random: Random,
): Generator<Uint32Array> {
  const open: Uint32Array[] = [group];
  while (open.length > 0) {
    const part = open.pop()!;
    if (part.length <= LEAF) {
      yield part;
      continue;
    }
    const pick = () => part[Math.floor(random.uniform() * part.length)];
    const [a, b] = [pick(), pick()];
    const side = (point: number) => {
      let dot = 0;
      for (let d = 0; d < width; d++) {
        const [p, q] = [points[a * width + d], points[b * width + d]];
        dot += (points[point * width + d] - (p + q) / 2) * (q - p);
      }
      return dot;
    };
    let first = 0;
    const ordered = new Uint32Array(part.length);
    let last = part.length;
    for (const point of part) {
      // Equal points are divided at random; otherwise the recursion would not end.
      const dot = side(point) || random.uniform() - 0.5;
      if (dot < 0) ordered[first++] = point;
      else ordered[--last] = point;
    }
    open.push(ordered.subarray(0, first), ordered.subarray(first));
  }
}
