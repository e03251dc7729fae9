import { describe, expect, it } from 'vitest';
import type { BipartiteGraph, GraphSide } from '../../src/graph/graph.js';
import { degrees } from '../../src/graph/graph.js';
import { poisson } from '../../src/math/count-samplers.js';
import { gamma } from '../../src/math/distributions.js';
import { expectedLaplace } from '../../src/math/quadrature.js';
import { randomStream } from '../../src/math/random.js';
import { sampleAtoms } from '../../src/process/ggp.js';
import {
  expectSimulation,
  featureMass,
  type ModelParameters,
  PAPER_SIMULATION,
  SMALL_SIMULATION,
} from '../../src/process/parameters.js';
import { type Simulation, simulate } from '../../src/process/poisson-model.js';
import { expectMean, expectSameMoments } from './statistics.js';

const SPARSE: ModelParameters = {
  users: { sigma: 0.3, tau: 1, shape: 0.5, rate: 0.5, size: 6 },
  items: { sigma: -0.4, tau: 2, shape: 1.5, rate: 0.7, size: 8 },
  features: 3,
};

const COUNTS = ['users', 'items', 'edges', 'total', 'ones'] as const;
type Counts = Record<(typeof COUNTS)[number], number>;

function countsOf(graph: BipartiteGraph): Counts {
  const ones = degrees(graph.users).reduce((n, d) => n + (d === 1 ? 1 : 0), 0);
  return { users: graph.users.count, items: graph.items.count, edges: graph.edges, total: graph.total, ones };
}

/** The definition, pair by pair, with atoms far below any cut that `simulate` would choose. */
function bruteForce({ users, items, features }: ModelParameters, seed: number): Counts {
  const random = randomStream(seed, 99);
  const side = (prior: ModelParameters['users']) =>
    Array.from(sampleAtoms(random, prior, prior.sigma < 0 ? 0 : 1e-6), (w) =>
      Array.from({ length: features }, () => (w * gamma(random, prior.shape)) / prior.rate),
    );
  const [rows, columns] = [side(users), side(items)];
  const columnUsed = new Uint8Array(columns.length);
  const result: Counts = { users: 0, items: 0, edges: 0, total: 0, ones: 0 };
  for (const row of rows) {
    let degree = 0;
    columns.forEach((column, j) => {
      let count = 0;
      for (let k = 0; k < features; k++) count += poisson(random, row[k] * column[k]);
      result.total += count;
      if (count > 0) {
        degree++;
        columnUsed[j] = 1;
      }
    });
    result.edges += degree;
    if (degree > 0) result.users++;
    if (degree === 1) result.ones++;
  }
  result.items = columnUsed.reduce((a, b) => a + b, 0);
  return result;
}

/** Compares element by element. A matcher would build a readable difference of a million elements. */
function same(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return a.length === b.length;
}

describe('the sparse Poisson matrix model', () => {
  it('has the distribution of its definition: vertices, edges, multiplicities and users of degree 1', async () => {
    const runs = 400;
    const drawn: Counts[] = [];
    const wanted: Counts[] = [];
    for (let seed = 1; seed <= runs; seed++) {
      drawn.push(countsOf((await simulate({ ...SPARSE, seed, multigraph: true })).graph));
      wanted.push(bruteForce(SPARSE, seed));
    }
    for (const name of COUNTS) {
      expectSameMoments(
        drawn.map((c) => c[name]),
        wanted.map((c) => c[name]),
        name,
      );
    }
    expectMean(
      drawn.map((c) => c.total),
      expectSimulation(SPARSE, 1e-4).latentEdges,
      'latent edges',
    );
  });

  it('keeps its distribution when the cut is halved or divided by ten', async () => {
    const side = { sigma: 0.5, tau: 1, shape: 0.3, rate: 0.3, size: 10 };
    const prior = { users: side, items: side, features: 4 };
    const at = async (tolerance: number) => {
      const counts: Counts[] = [];
      let cut = 0;
      let belowCut = 0;
      for (let seed = 1; seed <= 250; seed++) {
        const run = await simulate({ ...prior, seed: seed + Math.round(1e6 * tolerance), tolerance });
        counts.push(countsOf(run.graph));
        cut = run.cut.users;
        belowCut += run.belowCut.users / 250;
      }
      return { counts, cut, belowCut };
    };
    const coarse = await at(1e-3);
    const halved = await at(1e-3 * 2 ** -1.5);
    const tenth = await at(1e-3 * 10 ** -1.5);
    expect(halved.cut / coarse.cut).toBeCloseTo(0.5, 6);
    expect(tenth.cut / coarse.cut).toBeCloseTo(0.1, 6);
    for (const name of COUNTS) {
      for (const other of [halved, tenth]) {
        expectSameMoments(
          coarse.counts.map((c) => c[name]),
          other.counts.map((c) => c[name]),
          name,
        );
      }
    }
    // Without the mass below the cut, the coarse cut would lose this many users per graph: far more than the test above
    // tolerates.
    expect(coarse.belowCut).toBeGreaterThan(3);
    expect(tenth.belowCut).toBeLessThan(coarse.belowCut / 2);
  });

  it('is the same on any number of threads', async () => {
    const side = { ...SMALL_SIMULATION.users, size: 200 };
    const options = { users: side, items: side, features: 30, seed: 5, truth: true, multigraph: true };
    const runs = [];
    for (const threads of [1, 3]) runs.push(await simulate({ ...options, threads }));
    const [one, ...others] = runs;
    expect(one.graph.total).toBeGreaterThan(1e6);
    for (const other of others) {
      for (const key of ['users', 'items'] as const) {
        for (const part of ['offsets', 'neighbors', 'counts'] as const) {
          expect(same(other.graph[key][part]!, one.graph[key][part]!), `${part} of ${key}`).toBe(true);
        }
        expect(same(other.truth![key].weights, one.truth![key].weights)).toBe(true);
        expect(same(other.truth![key].features, one.truth![key].features)).toBe(true);
      }
      expect({ ...other, graph: 0, truth: 0 }).toEqual({ ...one, graph: 0, truth: 0 });
    }
  });

  it('gives a valid graph: both orders agree, rows ascend, no vertex is isolated', async () => {
    for (const multigraph of [false, true]) {
      const { graph } = await simulate({ ...SMALL_SIMULATION, seed: 3, multigraph });
      expect(graph.multigraph).toBe(multigraph);
      const pairs = (side: GraphSide, turn: boolean) => {
        const result = new Set<number>();
        let total = 0;
        for (let v = 0; v < side.count; v++) {
          expect(side.offsets[v + 1]).toBeGreaterThan(side.offsets[v]);
          for (let e = side.offsets[v]; e < side.offsets[v + 1]; e++) {
            const other = side.neighbors[e];
            if (e > side.offsets[v] && !(other > side.neighbors[e - 1]))
              throw new Error(`row ${v} does not ascend`);
            total += side.counts ? side.counts[e] : 1;
            const [user, item] = turn ? [other, v] : [v, other];
            result.add(
              (user * graph.items.count + item) * 1000 + (side.counts ? Math.min(999, side.counts[e]) : 0),
            );
          }
        }
        expect(total).toBe(graph.total);
        return result;
      };
      const byUser = pairs(graph.users, false);
      expect(byUser.size).toBe(graph.edges);
      expect(pairs(graph.items, true)).toEqual(byUser);
      expect(graph.users.counts !== undefined).toBe(multigraph);
    }
  });

  it('a simple graph is the multigraph of the same seed without its counts', async () => {
    const simple = (await simulate({ ...SMALL_SIMULATION, seed: 4 })).graph;
    const multi = (await simulate({ ...SMALL_SIMULATION, seed: 4, multigraph: true })).graph;
    expect(same(simple.users.neighbors, multi.users.neighbors)).toBe(true);
    expect(simple.total).toBe(simple.edges);
    expect(multi.total).toBeGreaterThan(multi.edges);
  });

  it('returns the true parameters of the vertices that remain', async () => {
    const run: Simulation = await simulate({ ...SMALL_SIMULATION, seed: 6, multigraph: true, truth: true });
    const { graph, truth, cut, belowCut } = run;
    const features = SMALL_SIMULATION.features;
    for (const [side, other] of [
      ['users', 'items'],
      ['items', 'users'],
    ] as const) {
      const { weights, features: values } = truth![side];
      expect(weights.length).toBe(graph[side].count);
      expect(values.length).toBe(graph[side].count * features);
      // Mass per feature of the other side, its mass below the cut included; unseen atoms hold next to nothing of it.
      const mass = new Float64Array(features).fill(run.missingMass[other] / features);
      truth![other].weights.forEach((w, j) => {
        for (let k = 0; k < features; k++) mass[k] += w * truth![other].features[j * features + k];
      });
      // Given the rest, the counts of a vertex are Poisson: each busy vertex adds 1 to the Pearson statistic on average.
      let statistic = 0;
      let busy = 0;
      for (let v = 0; v < graph[side].count; v++) {
        let rate = 0;
        for (let k = 0; k < features; k++) rate += weights[v] * values[v * features + k] * mass[k];
        let count = 0;
        for (let e = graph[side].offsets[v]; e < graph[side].offsets[v + 1]; e++)
          count += graph[side].counts![e];
        if (rate < 30) continue;
        busy++;
        statistic += (count - rate) ** 2 / rate;
      }
      expect(busy).toBeGreaterThan(300);
      expect(Math.abs(statistic / busy - 1) / Math.sqrt(2 / busy)).toBeLessThan(4.5);
      // Vertices below the cut come last, are lighter than the cut and have one edge.
      const degree = degrees(graph[side]);
      for (let v = graph[side].count - belowCut[side]; v < graph[side].count; v++) {
        expect(degree[v]).toBe(1);
        expect(weights[v]).toBeLessThanOrEqual(cut[side]);
      }
      expect(belowCut[side]).toBeGreaterThan(0);
      expect(weights.subarray(0, graph[side].count - belowCut[side]).every((w) => w > cut[side])).toBe(true);
    }
    expect((await simulate({ ...SPARSE })).truth).toBeUndefined();
  });

  it('expects the size of the paper’s set before any work', () => {
    const expected = expectSimulation(PAPER_SIMULATION, 1e-4);
    expect(expected.latentEdges).toBeCloseTo(43.2e6, 0);
    // The paper has 40,565 and 40,768; one draw spreads by 2 %.
    const { users, items, features } = PAPER_SIMULATION;
    const itemMass = new Float64Array(features).fill(featureMass(items));
    const vertices = users.size * expectedLaplace(users, itemMass);
    expect(Math.abs(vertices / 40_565 - 1)).toBeLessThan(0.05);
    expect(expected.cut.users).toBeLessThan(1e-5);
    expect(expected.atoms.users).toBeGreaterThan(vertices);
  });

  it('tolerance, seed and every parameter of a side have an effect', async () => {
    const base = await simulate(SPARSE);
    const key = ({ graph, cut }: Simulation) => JSON.stringify([countsOf(graph), cut]);
    expect(key(await simulate({ ...SPARSE, seed: 2 }))).not.toBe(key(base));
    expect(key(await simulate({ ...SPARSE, tolerance: 1e-2 }))).not.toBe(key(base));
    expect(key(await simulate({ ...SPARSE, features: 5 }))).not.toBe(key(base));
    for (const side of ['users', 'items'] as const) {
      for (const name of ['sigma', 'tau', 'shape', 'rate', 'size'] as const) {
        const changed = { ...SPARSE, [side]: { ...SPARSE[side], [name]: SPARSE[side][name] * 0.6 } };
        expect(key(await simulate(changed)), `${name} of ${side}`).not.toBe(key(base));
      }
    }
  });

  it.each<[string, object, RegExp]>([
    [
      'sigma',
      { users: { ...SPARSE.users, sigma: 1 } },
      /^users\.sigma 1: expected a number.* below 1; .*number of edges is infinite/,
    ],
    ['sigma', { users: { ...SPARSE.users, sigma: Number.NaN } }, /users\.sigma NaN/],
    [
      'tau',
      { items: { ...SPARSE.items, tau: 0 } },
      /^items\.tau 0: expected a number.*number of edges is infinite/,
    ],
    ['shape', { items: { ...SPARSE.items, shape: -1 } }, /items\.shape -1/],
    ['rate', { items: { ...SPARSE.items, rate: 0 } }, /items\.rate 0/],
    ['size', { users: { ...SPARSE.users, size: 0 } }, /users\.size 0: expected a number, above 0/],
    ['features', { features: 0 }, /^features 0: expected a whole number, at least 1/],
    ['features', { features: 2.5 }, /features 2.5/],
    ['tolerance', { tolerance: 0 }, /tolerance 0: expected a number, above 0 and below 1/],
    [
      'edges',
      { users: { ...SPARSE.users, size: 1e6 }, items: { ...SPARSE.items, size: 1e6 } },
      /give \d\.\d\de\+12 edges in expectation/,
    ],
    [
      'atoms',
      { users: { ...SPARSE.users, sigma: 0.9, size: 1e5 }, features: 30 },
      /edges in expectation.* atoms of users/,
    ],
  ])('refuses a bad %s before any work', async (_name, change, message) => {
    await expect(simulate({ ...SPARSE, ...change })).rejects.toThrow(message);
    await expect(simulate({ ...SPARSE, ...change })).rejects.toMatchObject({ name: 'InputError' });
  });

  it('an empty draw is an empty graph', async () => {
    const side = { sigma: -0.5, tau: 1, shape: 1, rate: 1, size: 1e-6 };
    const { graph } = await simulate({ users: side, items: side, features: 2 });
    expect([graph.users.count, graph.items.count, graph.edges, graph.total]).toEqual([0, 0, 0, 0]);
  });

  it('reports progress and stops on request', async () => {
    const stages: string[] = [];
    await simulate({
      ...SMALL_SIMULATION,
      onProgress: ({ stage, done, total }) => stages.push(`${stage} ${done}/${total}`),
    });
    expect(stages.length).toBeGreaterThan(3);
    const last = stages.at(-1)!.split(' ').at(-1)!.split('/');
    expect(last[0]).toBe(last[1]);
    const stop = new AbortController();
    const run = simulate({ ...SMALL_SIMULATION, signal: stop.signal, onProgress: () => stop.abort() });
    await expect(run).rejects.toMatchObject({ name: 'AbortError' });
  });
});
