// Random graphs, hyperparameters and states for property tests.

import type { Engine, SideHyper, TableValues } from '../../src/engine/engine.js';
import { buildGraph } from '../../src/graph/build.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { poisson } from '../../src/math/count-samplers.js';
import type { EdgeRows } from '../../src/math/csr.js';
import { gamma } from '../../src/math/distributions.js';
import { type Random, randomStream } from '../../src/math/random.js';

export interface Problem {
  readonly graph: BipartiteGraph;
  readonly features: number;
  readonly hyper: { readonly users: SideHyper; readonly items: SideHyper };
  readonly start: { readonly users: TableValues; readonly items: TableValues };
}

export interface ProblemShape {
  readonly users: number;
  readonly items: number;
  readonly edges: number;
  readonly features: number;
  readonly multigraph: boolean;
  readonly dense?: boolean;
}

/** Puts the problem's tables and edges into an engine, in the state before a geometric sweep. */
export async function placed(engine: Engine, { graph, features, start }: Problem) {
  const tables = {
    users: await engine.createTable(features, start.users, 'geometric'),
    items: await engine.createTable(features, start.items, 'geometric'),
  };
  const index = {
    users: await engine.createIndex(graph.users),
    items: await engine.createIndex(graph.items),
  };
  return { tables, index };
}

/** Heavy-tailed on both sides; every vertex has an edge. */
export function randomGraph(shape: ProblemShape, random: Random): BipartiteGraph {
  const users: number[] = [];
  const items: number[] = [];
  const counts: number[] = [];
  const add = (user: number, item: number) => {
    users.push(user);
    items.push(item);
    counts.push(shape.multigraph ? 1 + smallCount(random) : 1);
  };
  const skewed = (n: number) => Math.floor(n * random.uniform() ** 2);
  for (let i = 0; i < shape.users; i++) add(i, skewed(shape.items));
  for (let j = 0; j < shape.items; j++) add(skewed(shape.users), j);
  while (users.length < shape.edges) add(skewed(shape.users), skewed(shape.items));
  return buildGraph({
    users,
    items,
    counts,
    userCount: shape.users,
    itemCount: shape.items,
    multigraph: shape.multigraph,
  });
}

function smallCount(random: Random): number {
  return poisson(random, 0.7);
}

export function randomHyper(random: Random, dense: boolean): SideHyper {
  return {
    sigma: dense ? -0.05 - random.uniform() : random.uniform() * 0.7,
    tau: 0.3 + 2 * random.uniform(),
    shape: 0.05 + 0.5 * random.uniform(),
    rate: 0.05 + 0.5 * random.uniform(),
    size: dense ? 0 : 1 + 20 * random.uniform(),
  };
}

export function randomValues(rows: number, features: number, random: Random): TableValues {
  const draw = (n: number, low: number) => Float64Array.from({ length: n }, () => low + gamma(random, 1));
  return {
    weightShape: draw(rows, 0.5),
    weightRate: draw(rows, 0.5),
    featureShape: draw(rows * features, 0.1),
    featureRate: draw(rows * features, 0.3),
  };
}

export function randomProblem(shape: ProblemShape, seed: number): Problem {
  const random = randomStream(seed, 77);
  const graph = randomGraph(shape, random);
  return {
    graph,
    features: shape.features,
    hyper: {
      users: randomHyper(random, shape.dense ?? false),
      items: randomHyper(random, (shape.dense ?? false) && seed % 2 === 0),
    },
    start: {
      users: randomValues(shape.users, shape.features, random),
      items: randomValues(shape.items, shape.features, random),
    },
  };
}

export interface RowsProblem {
  readonly features: number;
  readonly rows: EdgeRows;
  readonly hyper: SideHyper;
  readonly own: TableValues;
  readonly other: TableValues;
}

/** Rows of given degrees, of which some may be 0, as when vertices are folded in; the neighbours of a row are distinct. */
export function problemOfDegrees(
  degrees: readonly number[],
  features: number,
  multigraph: boolean,
  seed: number,
): RowsProblem {
  const random = randomStream(seed, 78);
  const others = Math.max(...degrees) + 3;
  const neighbors = degrees.flatMap((degree) => {
    const start = random.below(others);
    return Array.from({ length: degree }, (_, e) => (start + e) % others).sort((a, b) => a - b);
  });
  const offsets = new Uint32Array(degrees.length + 1);
  for (const [row, degree] of degrees.entries()) offsets[row + 1] = offsets[row] + degree;
  return {
    features,
    rows: {
      offsets,
      neighbors: Uint32Array.from(neighbors),
      counts: multigraph ? Uint32Array.from(neighbors, () => 1 + smallCount(random)) : undefined,
    },
    hyper: randomHyper(random, false),
    own: randomValues(degrees.length, features, random),
    other: randomValues(others, features, random),
  };
}

/**
 * Features and degrees at the borders of the cpu engine's batches (at most 128 edges, 16 where rows are as wide as 512
 * features) and of its blocks of 16 rows: one edge less and one more, in one row and in several that share a batch, with
 * empty rows before, between and after them.
 */
export const BATCH_BORDERS = [
  { features: 8, degrees: bordersOf(128) },
  { features: 512, degrees: bordersOf(16) },
] as const;

function bordersOf(n: number): readonly number[] {
  const one = [0, n - 1, 0, n, 0, 0, n + 1, 0, 2 * n - 1, 2 * n, 2 * n + 1];
  const shared = [n / 2, n / 2, 0, n / 2, 0, n / 2 + 1, 1, n - 2, 1, 0, n - 1, 1, 1, n - 1, 2, 0];
  return [...one, ...shared, ...Array<number>(20).fill(0), n, 0, 1, 0];
}
