// The general graphex process. Users are the points (x, label) of a Poisson process with intensity η(dx) and labels
// below the size s. Items are the points (y, label) of one with intensity ρ(dy) and labels below α. Each pair is an
// edge with probability W(x, y); points without an edge are dropped.

import { InputError, throwIfAborted } from '../errors.js';
import { buildGraph } from '../graph/build.js';
import { type BipartiteGraph, type BySide, bySide, SIDES, type SideName } from '../graph/graph.js';
import { poisson } from '../math/count-samplers.js';
import { type Random, randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { withDefaults } from '../options/check-options.js';
import { type OptionsOf, value } from '../options/declare.js';
import { GRAPHEX } from '../options/library.js';
import { TASK } from '../options/shared.js';
import type { TaskOptions } from '../progress.js';

/** A finite measure: its total mass, and a function that draws a point from it. */
export interface FiniteIntensity {
  readonly mass: number;
  readonly sample: (random: Random) => number;
}

/**
 * An infinite measure, described from its most active end: `inverseTail(m)` is the point with mass m between it and that
 * end. Points up to mass `depth` are drawn in that order; their expected number is size · depth.
 */
export interface InfiniteIntensity {
  readonly inverseTail: (mass: number) => number;
  readonly depth: number;
}

/** The intensity of the points of a side, with finite or infinite total mass. */
export type Intensity = FiniteIntensity | InfiniteIntensity;

const INTENSITIES = { users: intensity('users'), items: intensity('items') };

/** The process and its sizes; declared in options/library.ts. */
export interface SampleGraphexOptions
  extends OptionsOf<Omit<typeof GRAPHEX, 'sizes' | 'probability'>>,
    TaskOptions {
  readonly users: Intensity;
  readonly items: Intensity;
  /** The sizes s and α: labels run from 0 to these. */
  readonly sizes: BySide<number>;
  /** W(x, y), from 0 to 1. */
  readonly probability: (x: number, y: number) => number;
}

/** The points of one side. */
export interface PointSet {
  /** The points x or y. */
  readonly positions: Float64Array;
  /** The point's label, from 0 to the size of the side. */
  readonly labels: Float64Array;
  /** The point's vertex in the graph, or −1 if it has no edge. */
  readonly vertices: Int32Array;
}

/** A graph drawn from a graphex, with the points behind it. */
export interface GraphexSample {
  readonly graph: BipartiteGraph;
  readonly users: PointSet;
  readonly items: PointSet;
}

const MOST_POINTS = 2 ** 27;

/**
 * Draws a graph from any graphex process, with the points behind it.
 * @example
 * import { sampleGraphex } from 'graphex';
 * const uniform = { mass: 1, sample: (random) => random.uniform() };
 * const { graph } = await sampleGraphex({
 *   users: uniform, items: uniform, sizes: { users: 20, items: 20 }, probability: (x, y) => 1 / (1 + x + y) ** 2, seed: 1,
 * });
 * console.log(graph.edges);
 */
export async function sampleGraphex(options: SampleGraphexOptions): Promise<GraphexSample> {
  const { seed } = withDefaults({ ...GRAPHEX, ...INTENSITIES, ...TASK }, options);
  const { probability, signal, onProgress } = options;
  for (const side of SIDES) checkIntensity(side, options[side], options.sizes[side]);
  if (options.decreasing && !('inverseTail' in options.items)) {
    throw new InputError(
      'decreasing needs an infinite measure of items: only its points are ordered by activity',
    );
  }
  const random = {
    users: randomStream(seed, STREAMS.userPoints),
    items: randomStream(seed, STREAMS.itemPoints),
    edges: randomStream(seed, STREAMS.pointEdges),
  };
  const points = bySide((side) => drawPoints(random[side], options[side], options.sizes[side]));
  const connect = options.decreasing ? connectByLeaps : connectAll;
  /** The points of the two sides that each edge joins. */
  const ends: BySide<number[]> = { users: [], items: [] };
  const [xs, ys] = [points.users.positions, points.items.positions];
  const every = Math.max(1, Math.floor(xs.length / 100));
  for (let i = 0; i < xs.length; i++) {
    connect(
      random.edges,
      (j) => checkedProbability(probability, xs[i], ys[j]),
      ys.length,
      (j) => {
        ends.users.push(i);
        ends.items.push(j);
      },
    );
    if (i % every === 0) {
      throwIfAborted(signal);
      onProgress?.({ stage: 'drawing edges', done: i, total: xs.length, unit: 'points' });
    }
  }
  const used = bySide((side) => numberUsed(points[side].positions.length, ends[side]));
  const graph = buildGraph({
    ...bySide((side) => Uint32Array.from(ends[side], (point) => used[side].vertices[point])),
    userCount: used.users.count,
    itemCount: used.items.count,
  });
  const { users, items } = bySide((side) =>
    Object.freeze({ ...points[side], vertices: used[side].vertices }),
  );
  return Object.freeze({ graph, users, items });
}

function intensity(side: SideName) {
  return value<Intensity>('object', `the intensity of the ${side}`, {
    required: true,
    only: {
      words: 'an object with mass and sample, or with inverseTail and depth',
      is: (given) => {
        const { mass, sample, inverseTail, depth } = given as Partial<FiniteIntensity & InfiniteIntensity>;
        const finite = typeof mass === 'number' && typeof sample === 'function';
        return finite || (typeof depth === 'number' && typeof inverseTail === 'function');
      },
    },
  });
}

function checkIntensity(side: SideName, intensity: Intensity, size: number): void {
  const mass = 'mass' in intensity ? intensity.mass : intensity.depth;
  const name = 'mass' in intensity ? 'mass' : 'depth';
  if (!(mass >= 0 && mass < Number.POSITIVE_INFINITY)) {
    throw new InputError(
      `${name} of ${side} is ${mass}; give a finite number, or describe an infinite measure by its inverse tail`,
    );
  }
  if (size * mass > MOST_POINTS) {
    throw new InputError(
      `size ${size} of ${side} times ${name} ${mass} gives ${(size * mass).toPrecision(3)} points; at most ${MOST_POINTS} are possible`,
    );
  }
}

function drawPoints(random: Random, intensity: Intensity, size: number): Omit<PointSet, 'vertices'> {
  const mass = 'mass' in intensity ? intensity.mass : intensity.depth;
  const positions = new Float64Array(poisson(random, size * mass));
  if ('mass' in intensity) {
    for (let i = 0; i < positions.length; i++) positions[i] = intensity.sample(random);
  } else {
    for (let i = 0; i < positions.length; i++) positions[i] = random.uniform() * mass;
    positions.sort();
    for (let i = 0; i < positions.length; i++) positions[i] = intensity.inverseTail(positions[i]);
  }
  return { positions, labels: positions.map(() => random.uniform() * size) };
}

function checkedProbability(probability: (x: number, y: number) => number, x: number, y: number): number {
  const p = probability(x, y);
  if (!(p >= 0 && p <= 1))
    throw new InputError(`W(${x}, ${y}) is ${p}; an edge probability must be from 0 to 1`);
  return p;
}

function connectAll(random: Random, p: (j: number) => number, n: number, add: (j: number) => void): void {
  for (let j = 0; j < n; j++) if (random.uniform() < p(j)) add(j);
}

/** Skips items at the probability of the first one, then accepts or rejects by the probability of the item reached. */
function connectByLeaps(random: Random, p: (j: number) => number, n: number, add: (j: number) => void): void {
  let bound = n > 0 ? p(0) : 0;
  for (let j = 0; bound > 0; j++) {
    // The number of skipped items is geometric.
    if (bound < 1) j += Math.floor(Math.log(random.uniform()) / Math.log1p(-bound));
    if (j >= n) return;
    const actual = p(j);
    if (random.uniform() * bound < actual) add(j);
    bound = actual;
  }
}

function numberUsed(points: number, ends: readonly number[]): { vertices: Int32Array; count: number } {
  const vertices = new Int32Array(points).fill(-1);
  for (const end of ends) vertices[end] = 0;
  let count = 0;
  for (let i = 0; i < points; i++) if (vertices[i] === 0) vertices[i] = count++;
  return { vertices, count };
}
