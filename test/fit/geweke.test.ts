// Geweke's joint-distribution test: draws of (parameters, graph) from the simulator, and draws from a chain that
// alternates "graph given parameters" with "parameters given graph" by the sampler, have the same distribution only if
// sampler and simulator are both right.

import { describe, expect, test } from 'vitest';
import type { SideHyper } from '../../src/engine/engine.js';
import type { GibbsSide, GibbsState } from '../../src/fit/gibbs/chain-state.js';
import { createGibbsSampler } from '../../src/fit/gibbs/sampler.js';
import { buildGraph } from '../../src/graph/build.js';
import { poisson } from '../../src/math/count-samplers.js';
import { summarizeChains } from '../../src/math/diagnostics.js';
import { type Random, randomStream } from '../../src/math/random.js';
import { type FeatureAtoms, sampleTiltedAtoms } from '../../src/process/unseen.js';

const K = 2;
const LONG = process.env.GRAPHEX_LONG === '1';
const FORWARD = LONG ? 40_000 : 4_000;
/** Sweeps of the chain; counts mix more slowly. */
const sweepsOf = ({ multigraph }: Setting) => (LONG ? 400_000 : multigraph ? 15_000 : 8_000);

interface Setting {
  readonly users: SideHyper;
  readonly items: SideHyper;
  readonly multigraph: boolean;
}

interface Atoms {
  readonly weights: Float64Array;
  readonly features: Float64Array;
}

interface World {
  readonly users: Atoms;
  readonly items: Atoms;
  /** users × items: total latent counts. */
  readonly counts: Int32Array;
}

function drawAtoms(hyper: SideHyper, cut: number, random: Random): Atoms {
  return sampleTiltedAtoms(random, { hyper, otherMass: new Float64Array(K), cut });
}

function drawCounts(users: Atoms, items: Atoms, random: Random): Int32Array {
  const counts = new Int32Array(users.weights.length * items.weights.length);
  for (let i = 0; i < users.weights.length; i++) {
    for (let j = 0; j < items.weights.length; j++) {
      let rate = 0;
      for (let k = 0; k < K; k++) rate += users.features[i * K + k] * items.features[j * K + k];
      counts[i * items.weights.length + j] = poisson(random, rate * users.weights[i] * items.weights[j]);
    }
  }
  return counts;
}

/** The statistics that both ways are compared by: functions of the parameters, of the graph, and of both. */
function statistics({ users, items, counts }: World, multigraph: boolean): number[] {
  const I = items.weights.length;
  const userDegree = new Float64Array(users.weights.length);
  const itemDegree = new Float64Array(I);
  let edges = 0;
  let squares = 0;
  counts.forEach((count, at) => {
    if (count === 0) return;
    const g = multigraph ? count : 1;
    edges += g;
    userDegree[Math.floor(at / I)] += g;
    itemDegree[at % I] += g;
  });
  const sum = (values: Float64Array) => values.reduce((a, b) => a + b, 0);
  let weightOfSeen = 0;
  userDegree.forEach((d, i) => {
    squares += d * d;
    if (d > 0) weightOfSeen += users.weights[i];
  });
  return [
    userDegree.filter((d) => d > 0).length,
    itemDegree.filter((d) => d > 0).length,
    edges,
    squares,
    sum(users.weights),
    sum(items.weights),
    weightOfSeen,
    sum(users.features) / Math.max(1, users.weights.length),
    sum(items.weights.map((w, j) => w * items.features[j * K])),
  ];
}

const NAMES = ['V_U', 'V_I', 'edges', 'Σd²', 'Σγ', 'Σω', 'Σγ seen', 'θ mean', 'Σωβ'];

/** One alternation: parameters given the graph of `world`, then a fresh graph given them. */
function alternate(
  world: World,
  setting: Setting,
  cuts: { users: number; items: number },
  random: Random,
): World {
  const I = world.items.weights.length;
  const edges = { users: [] as number[], items: [] as number[], counts: [] as number[] };
  const number = { users: new Map<number, number>(), items: new Map<number, number>() };
  const seen = (side: 'users' | 'items', v: number) => {
    if (!number[side].has(v)) number[side].set(v, number[side].size);
    return number[side].get(v)!;
  };
  world.counts.forEach((count, at) => {
    if (count === 0) return;
    edges.users.push(seen('users', Math.floor(at / I)));
    edges.items.push(seen('items', at % I));
    edges.counts.push(count);
  });
  const graph = buildGraph({
    users: edges.users,
    items: edges.items,
    counts: edges.counts,
    userCount: number.users.size,
    itemCount: number.items.size,
    multigraph: setting.multigraph,
  });
  const state: GibbsState = {
    users: divide(world.users, number.users),
    items: divide(world.items, number.items),
  };
  createGibbsSampler({ graph, features: K, hyper: setting, cuts }).sweep(state, random);
  const users = join(state.users);
  const items = join(state.items);
  return { users, items, counts: drawCounts(users, items, random) };
}

/** The seen atoms as the sampler's rows, the others as its unseen mass. */
function divide(atoms: Atoms, number: Map<number, number>): GibbsSide {
  const weights = new Float64Array(number.size);
  const features = new Float64Array(number.size * K);
  const unseen = new Float64Array(K);
  for (let v = 0; v < atoms.weights.length; v++) {
    const row = number.get(v);
    if (row !== undefined) weights[row] = atoms.weights[v];
    for (let k = 0; k < K; k++) {
      if (row === undefined) unseen[k] += atoms.weights[v] * atoms.features[v * K + k];
      else features[row * K + k] = atoms.features[v * K + k];
    }
  }
  return { weights, features, unseen, unseenAtoms: undefined };
}

function join(side: GibbsSide): Atoms {
  const unseen: Atoms = (side.unseenAtoms as FeatureAtoms | undefined) ?? {
    weights: new Float64Array(0),
    features: new Float64Array(0),
  };
  return {
    weights: Float64Array.from([...side.weights, ...unseen.weights]),
    features: Float64Array.from([...side.features, ...unseen.features]),
  };
}

const side = (sigma: number, size: number): SideHyper => ({ sigma, tau: 1.2, shape: 0.7, rate: 0.9, size });
const SETTINGS: Record<string, Setting> = {
  'dense, simple': { users: side(-0.6, 4), items: side(-0.4, 3), multigraph: false },
  'dense, multi': { users: side(-0.6, 4), items: side(-0.4, 3), multigraph: true },
  'sparse, simple': { users: side(0.3, 3), items: side(0.1, 3), multigraph: false },
  'sparse, multi': { users: side(0.3, 3), items: side(-0.5, 3), multigraph: true },
};

describe('forward and alternating draws agree', () => {
  test.each(Object.entries(SETTINGS))('%s', { timeout: 600_000 }, (_name, setting) => {
    // Both ways use the same cut, so that both describe exactly the same finite set of atoms.
    const cutOf = (hyper: SideHyper) => (hyper.sigma < 0 ? 0 : 0.05);
    const cuts = { users: cutOf(setting.users), items: cutOf(setting.items) };
    const random = randomStream(20, setting.multigraph ? 1 : 0, Math.round(100 * setting.users.sigma));
    const fresh = () => {
      const users = drawAtoms(setting.users, cuts.users, random);
      const items = drawAtoms(setting.items, cuts.items, random);
      return { users, items, counts: drawCounts(users, items, random) };
    };
    const forward = NAMES.map(() => new Float64Array(FORWARD));
    for (let t = 0; t < FORWARD; t++) {
      statistics(fresh(), setting.multigraph).forEach((x, s) => {
        forward[s][t] = x;
      });
    }
    const sweeps = sweepsOf(setting);
    const chain = NAMES.map(() => new Float64Array(sweeps));
    let world: World = fresh();
    for (let t = 0; t < sweeps; t++) {
      world = alternate(world, setting, cuts, random);
      statistics(world, setting.multigraph).forEach((x, s) => {
        chain[s][t] = x;
      });
    }
    NAMES.forEach((name, s) => {
      const f = summarizeChains([forward[s]]);
      const c = summarizeChains([chain[s]]);
      const error = Math.sqrt(
        f.standardDeviation ** 2 / FORWARD + c.standardDeviation ** 2 / c.effectiveSamples,
      );
      expect(
        Math.abs(f.mean - c.mean) / error,
        `${name}: ${f.mean} forward, ${c.mean} alternating`,
      ).toBeLessThan(4);
      expect(c.effectiveSamples, name).toBeGreaterThan(300);
    });
  });
});
