// Large skewed graphs, fast: degrees of both sides are log-normal with a cap, drawn from a seed.

import { Alias, createRandom } from './draws.mjs';

/**
 * @typedef {{ offsets: Uint32Array, neighbors: Uint32Array, counts: undefined }} Rows
 * @typedef {{ name: string, users: Rows, items: Rows, userCount: number, itemCount: number, edges: number,
 *   most: { users: number, items: number } }} Graph
 * @typedef {{ count: number, median: number, cap: number }} Side
 */

/** Sizes, medians and largest degrees as the data sets' publishers and the model's page give them. */
export const SHAPES = {
  netflix: {
    edges: 100_480_507,
    users: { count: 480_189, median: 96, cap: 17_653 },
    items: { count: 17_770, median: 561, cap: 232_944 },
  },
  echonest: {
    edges: 48_373_586,
    users: { count: 1_019_318, median: 27, cap: 4_400 },
    items: { count: 384_546, median: 13, cap: 110_479 },
  },
};

/** A graph of about the given shape, or of a fraction of it on both sides. */
export function skewedGraph(name, shape, fraction = 1, seed = 1) {
  const random = createRandom(seed);
  const scale = (side) => ({ ...side, count: Math.max(4, Math.round(side.count * fraction)) });
  const userSide = scale(shape.users);
  const itemSide = scale(shape.items);
  const wanted = shape.edges * fraction;
  const itemCap = Math.min(itemSide.cap * fraction, 0.6 * userSide.count);
  const degree = logNormal(userSide, wanted, Math.min(userSide.cap, 0.8 * itemSide.count), random);
  const popularity = new Alias(logNormal(itemSide, wanted, itemCap, random));

  // Items of one user after another, without repeats.
  const userOf = new Uint32Array(userSide.count + 1);
  const drawn = new Uint32Array(Math.ceil(wanted * 1.3) + 1000);
  const seen = new Uint32Array(itemSide.count).fill(0xffffffff);
  let edges = 0;
  for (let u = 0; u < userSide.count; u++) {
    userOf[u] = edges;
    const want = Math.max(1, Math.round(degree[u]));
    const tries = 4 * want + 16;
    for (let t = 0, got = 0; t < tries && got < want && edges < drawn.length; t++) {
      const item = popularity.draw(random);
      if (seen[item] === u) continue;
      seen[item] = u;
      drawn[edges++] = item;
      got++;
    }
  }
  userOf[userSide.count] = edges;
  // Twice transposed: neighbours ascend on both sides.
  const items = transpose({ offsets: userOf, neighbors: drawn.subarray(0, edges) }, itemSide.count);
  const users = transpose(items, userSide.count);
  const most = { users: mostEdges(users.offsets), items: mostEdges(items.offsets) };
  return { name, users, items, userCount: userSide.count, itemCount: itemSide.count, edges, most };
}

/** The same graph without items that have no edge: a fit accepts none. Every user has an edge. */
export function withoutIsolated({ users, items, edges }) {
  const renumbered = new Uint32Array(items.offsets.length - 1);
  const offsets = [0];
  for (let j = 0; j < renumbered.length; j++) {
    renumbered[j] = offsets.length - 1;
    if (items.offsets[j + 1] > items.offsets[j]) offsets.push(items.offsets[j + 1]);
  }
  return {
    users: { ...users, neighbors: users.neighbors.map((j) => renumbered[j]) },
    items: { ...items, offsets: Uint32Array.from(offsets) },
    edges,
  };
}

/** Weights with that median whose sum is `total`: the spread follows from the mean; none exceeds the cap. */
function logNormal({ count, median }, total, cap, random) {
  const mean = total / count;
  const spread = Math.sqrt(2 * Math.log(Math.max(1.05, mean / median)));
  const normal = Float64Array.from({ length: count }, () => Math.exp(spread * random.normal()));
  let scale = median;
  for (let round = 0; round < 20; round++) {
    let sum = 0;
    for (const x of normal) sum += Math.min(cap, scale * x);
    scale *= total / sum;
  }
  return normal.map((x) => Math.min(cap, scale * x));
}

function mostEdges(offsets) {
  let most = 0;
  for (let i = 0; i + 1 < offsets.length; i++) most = Math.max(most, offsets[i + 1] - offsets[i]);
  return most;
}

export function transpose({ offsets, neighbors }, otherCount) {
  const result = new Uint32Array(otherCount + 1);
  for (let e = 0; e < neighbors.length; e++) result[neighbors[e] + 1]++;
  for (let v = 0; v < otherCount; v++) result[v + 1] += result[v];
  const cursor = result.slice(0, otherCount);
  const turned = new Uint32Array(neighbors.length);
  for (let v = 0; v + 1 < offsets.length; v++) {
    for (let e = offsets[v]; e < offsets[v + 1]; e++) turned[cursor[neighbors[e]]++] = v;
  }
  return { offsets: result, neighbors: turned, counts: undefined };
}

/** A start for a fit: weights from degrees, features noisy around their prior mean. */
export function startValues({ offsets }, features, hyper, seed) {
  const random = createRandom(seed);
  const rows = offsets.length - 1;
  const values = {
    weightShape: new Float32Array(rows),
    weightRate: new Float32Array(rows),
    featureShape: new Float32Array(rows * features),
    featureRate: new Float32Array(rows * features),
  };
  const total = offsets[rows];
  for (let i = 0; i < rows; i++) {
    const degree = offsets[i + 1] - offsets[i];
    values.weightShape[i] = Math.max(degree - hyper.sigma, 0.5);
    values.weightRate[i] = Math.sqrt(total * features) * (0.9 + 0.2 * random.uniform());
    for (let k = 0; k < features; k++) {
      values.featureShape[i * features + k] = hyper.shape + (degree / features) * (0.5 + random.uniform());
      values.featureRate[i * features + k] = hyper.rate + degree / features;
    }
  }
  return values;
}
