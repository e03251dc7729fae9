// The exact posterior predictive distribution of a small graph: chains of the sampler, and every few sweeps a graph drawn
// from the state, with its seen vertices and its unseen atoms. Draws of createReplicator from a fit are compared with it.

import type { GibbsSide } from '../src/fit/gibbs/chain-state.js';
import { type ChainTask, firstState } from '../src/fit/gibbs/chain-tasks.js';
import { createGibbsSampler } from '../src/fit/gibbs/sampler.js';
import type { SideName } from '../src/graph/graph.js';
import { AliasTable } from '../src/math/alias.js';
import { poisson } from '../src/math/count-samplers.js';
import { type Random, randomStream } from '../src/math/random.js';
import { serveTasks } from '../src/parallel/worker.js';

/** The statistics by which replicas are compared. In a simple graph, `total` (the sum of counts) equals `edges`. */
export const REPLICA_STATISTICS = ['users', 'items', 'edges', 'total'] as const;
export type ReplicaStatistic = (typeof REPLICA_STATISTICS)[number];

export interface ReplicaChainTask extends ChainTask {
  /** Sweeps from one drawn graph to the next. */
  readonly every: number;
}

export type ReplicaTrace = Record<ReplicaStatistic, Float64Array>;

/**
 * One chain, with the same states as the chain of that seed and number in gibbsPosterior, because graphs are drawn from streams
 * of their own.
 */
export function replicaChain(task: ReplicaChainTask): ReplicaTrace {
  const { problem, warmup, draws, every } = task;
  const random = randomStream(task.seed, 0x61bb, task.chain);
  const state = firstState(task, random.derive(0));
  const sampler = createGibbsSampler(problem);
  for (let t = 0; t < warmup; t++) sampler.sweep(state, random);
  const length = Math.floor(draws / every);
  const trace = Object.fromEntries(
    REPLICA_STATISTICS.map((name) => [name, new Float64Array(length)]),
  ) as ReplicaTrace;
  for (let r = 0; r < length; r++) {
    for (let t = 0; t < every; t++) sampler.sweep(state, random);
    const drawn = drawReplica(state, problem.features, random.derive(1, r));
    for (const name of REPLICA_STATISTICS) {
      trace[name][r] = name === 'total' && !problem.graph.multigraph ? drawn.edges : drawn[name];
    }
  }
  return trace;
}

/** A graph of a state. By feature, edges are Poisson and each of their ends is a vertex in proportion to its activity. */
export function drawReplica(
  state: Readonly<Record<SideName, GibbsSide>>,
  K: number,
  random: Random,
): Record<ReplicaStatistic, number> {
  const users = sideActivity(state.users, K);
  const items = sideActivity(state.items, K);
  const pairs = new Set<number>();
  const met = { users: new Set<number>(), items: new Set<number>() };
  const dust = { users: 0, items: 0 };
  let freshPairs = 0;
  let total = 0;
  for (let k = 0; k < K; k++) {
    const [u, i] = [users.tables[k], items.tables[k]];
    if (!u || !i) continue;
    const n = poisson(random, users.mass[k] * items.mass[k]);
    total += n;
    for (let e = 0; e < n; e++) {
      const user = u.sample(random);
      const item = i.sample(random);
      // Each edge below the cut has a vertex of its own, with degree one.
      if (user === users.atoms) dust.users++;
      else met.users.add(user);
      if (item === items.atoms) dust.items++;
      else met.items.add(item);
      if (user === users.atoms || item === items.atoms) freshPairs++;
      else pairs.add(user * items.atoms + item);
    }
  }
  return {
    users: met.users.size + dust.users,
    items: met.items.size + dust.items,
    edges: pairs.size + freshPairs,
    total,
  };
}

interface SideActivity {
  /** Seen vertices and unseen atoms; entry `atoms` of a table is the mass below the cut. */
  readonly atoms: number;
  readonly mass: Float64Array;
  readonly tables: readonly (AliasTable | undefined)[];
}

function sideActivity(side: GibbsSide, K: number): SideActivity {
  const unseen = side.unseenAtoms;
  const seen = side.weights.length;
  const atoms = seen + (unseen?.weights.length ?? 0);
  const mass = new Float64Array(K);
  const tables = Array.from(mass, (_, k) => {
    const activity = new Float64Array(atoms + 1);
    for (let v = 0; v < seen; v++) activity[v] = side.weights[v] * side.features[v * K + k];
    for (let v = seen; v < atoms; v++) {
      activity[v] = unseen!.weights[v - seen] * unseen!.features[(v - seen) * K + k];
    }
    activity[atoms] = unseen?.missing[k] ?? 0;
    mass[k] = activity.reduce((sum, x) => sum + x, 0);
    return mass[k] > 0 ? AliasTable.of(activity) : undefined;
  });
  return { atoms, mass, tables };
}

serveTasks('exact-replica', { replicaChain });
