// The oracle of replicas must be right itself: graphs of a given state have the expected numbers of vertices and edges,
// computed by hand.

import { expect, test } from 'vitest';
import { drawReplica } from '../../bench/exact-replica.js';
import type { GibbsSide } from '../../src/fit/gibbs/chain-state.js';
import { summarizeChains } from '../../src/math/diagnostics.js';
import { randomStream } from '../../src/math/random.js';

const K = 2;
const DRAWS = 20_000;

/** Two seen vertices, one unseen atom, and mass below the cut. */
function side(scale: number): GibbsSide {
  const missing = Float64Array.of(0.2 * scale, 0.05 * scale);
  const unseenAtoms = {
    weights: Float64Array.of(0.3),
    features: Float64Array.of(0.5, 1.5),
    missing,
    cut: 0.1,
  };
  return {
    weights: Float64Array.of(scale, 0.5),
    features: Float64Array.of(1, 0.2, 0.1, 2),
    unseen: Float64Array.of(missing[0] + 0.15, missing[1] + 0.45),
    unseenAtoms,
  };
}

/** Activities, a row per atom; the mass below the cut apart. */
function activities({ weights, features, unseenAtoms }: GibbsSide): number[][] {
  const rows = (w: Float64Array, f: Float64Array) => [...w].map((x, v) => [x * f[v * K], x * f[v * K + 1]]);
  return [...rows(weights, features), ...rows(unseenAtoms!.weights, unseenAtoms!.features)];
}

test('graphs of a state have the expected vertices, edges and counts', () => {
  const state = { users: side(1.2), items: side(0.8) };
  const dot = (a: readonly number[], b: readonly number[]) => a[0] * b[0] + a[1] * b[1];
  const users = activities(state.users);
  const items = activities(state.items);
  const mass = (rows: number[][], dust: Float64Array) =>
    [0, 1].map((k) => rows.reduce((sum, row) => sum + row[k], dust[k]));
  const [userDust, itemDust] = [state.users.unseenAtoms!.missing, state.items.unseenAtoms!.missing];
  const [userMass, itemMass] = [mass(users, userDust), mass(items, itemDust)];
  const met = (rate: number) => 1 - Math.exp(-rate);
  const total = dot(userMass, itemMass);
  // Every edge below the cut goes to a new vertex.
  const ofAtoms = dot(mass(users, new Float64Array(K)), mass(items, new Float64Array(K)));
  const expected = {
    users: users.reduce((sum, u) => sum + met(dot(u, itemMass)), dot([...userDust], itemMass)),
    items: items.reduce((sum, i) => sum + met(dot(i, userMass)), dot([...itemDust], userMass)),
    edges: users.flatMap((u) => items.map((i) => met(dot(u, i)))).reduce((a, b) => a + b, total - ofAtoms),
    total,
  };
  const drawn = Array.from({ length: DRAWS }, (_, r) => drawReplica(state, K, randomStream(4, r)));
  for (const [name, value] of Object.entries(expected)) {
    const { mean, standardDeviation } = summarizeChains([drawn.map((d) => d[name as keyof typeof d])]);
    expect(Math.abs(mean - value), name).toBeLessThan((4 * standardDeviation) / Math.sqrt(DRAWS));
  }
});
