// Profiles of items: they find planted groups, and follow from the data alone.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { ascend } from '../../src/fit/ascent/ascent.js';
import { itemProfiles, sampledShare, sampleUsers } from '../../src/fit/ascent/profiles.js';
import { buildGraph } from '../../src/graph/build.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import type { RowLists } from '../../src/math/csr.js';
import { randomStream } from '../../src/math/random.js';

const GROUPS = 4;
const ITEMS = 80;

/** Users with most of their items in one of four groups of items. */
function grouped(users: number): BipartiteGraph {
  const random = randomStream(8);
  const [from, to]: [number[], number[]] = [[], []];
  for (let u = 0; u < users; u++) {
    for (let j = 0; j < ITEMS; j++) {
      const rate = j % GROUPS === u % GROUPS ? 0.3 : 0.02;
      if (random.uniform() > rate) continue;
      from.push(u);
      to.push(j);
    }
  }
  return buildGraph({ users: from, items: to, userCount: users, itemCount: ITEMS });
}

const graph = grouped(200);
const all: RowLists = sampleUsers(graph.users, 1);
const profilesOf = (users: RowLists, { run = 0, items = ITEMS, features = GROUPS } = {}) =>
  itemProfiles(() => users, { items, edges: users.values.length }, features, { run });

/** For each item, the feature with the highest profile. */
function highest(profiles: Float32Array): number[] {
  return Array.from({ length: ITEMS }, (_, j) => {
    const row = profiles.subarray(j * GROUPS, (j + 1) * GROUPS);
    return row.indexOf(Math.max(...row));
  });
}

test('each group of items has a feature of its own, and rows have the mean 1', async () => {
  const profiles = await profilesOf(all);
  const found = highest(profiles);
  for (let j = 0; j < ITEMS; j++) expect(found[j]).toBe(found[j % GROUPS]);
  expect(new Set(found).size).toBe(GROUPS);
  for (let j = 0; j < ITEMS; j++) {
    const row = profiles.subarray(j * GROUPS, (j + 1) * GROUPS);
    expect(row.reduce((a, b) => a + b) / GROUPS).toBeCloseTo(1, 6);
    expect(Math.min(...row)).toBeGreaterThanOrEqual(0);
  }
});

test('every start of several begins with another basis, and finds the groups too', async () => {
  const [first, second] = await Promise.all([0, 1].map((run) => profilesOf(all, { run })));
  expect(second).not.toEqual(first);
  expect(new Set(highest(second)).size).toBe(GROUPS);
});

test('the order of users changes nothing but the last digits of float32', async () => {
  const order = Array.from({ length: 200 }, (_, u) => 199 - u);
  const rows = order.map((u) => all.values.slice(all.offsets[u], all.offsets[u + 1]));
  const offsets = new Uint32Array(201);
  for (const [at, row] of rows.entries()) offsets[at + 1] = offsets[at] + row.length;
  const turned = { offsets, values: Uint32Array.from(rows.flatMap((row) => [...row])) };
  const [one, other] = await Promise.all([all, turned].map((users) => profilesOf(users)));
  for (let at = 0; at < one.length; at++) expect(other[at]).toBeCloseTo(one[at], 3);
});

test('a sample of users is drawn by their ids and has about the asked share', () => {
  const large = grouped(2000);
  const rows = sampleUsers(large.users, 0.25).offsets.length - 1;
  expect(rows).toBeGreaterThan(420);
  expect(rows).toBeLessThan(580);
  // Users of a part of the data are drawn alike.
  const part = grouped(500);
  const drawn = sampleUsers(part.users, 0.25).offsets.length - 1;
  expect(drawn).toBeGreaterThan(80);
  expect(drawn).toBeLessThan(170);
  expect(sampledShare(1000, 30)).toBe(1);
  expect(sampledShare(1e8, 30)).toBeCloseTo(0.02, 12);
  expect(sampledShare(0, 30)).toBe(1);
});

test('profiles are finite if there are fewer users than features, or no user at all', async () => {
  const few = { offsets: all.offsets.slice(0, 3), values: all.values.slice(0, all.offsets[2]) };
  const none = { offsets: Uint32Array.of(0), values: new Uint32Array(0) };
  for (const users of [few, none]) {
    for (const value of await profilesOf(users, { features: 10 })) expect(value).toBeGreaterThanOrEqual(0);
  }
});

test('items that no user of the sample has are left even', async () => {
  const profiles = await profilesOf(all, { items: ITEMS + 2 });
  for (const value of profiles.subarray(ITEMS * GROUPS)) expect(value).toBe(1);
});

test('a fit keeps no profiles while it runs', async () => {
  const [count, features] = [40_000, 32];
  const numbers = Uint32Array.from({ length: 2 * count }, (_, e) => e % count);
  const items = numbers.map((user, e) => (e < count ? user : (7 * user + 3) % count));
  const ring = buildGraph({ users: numbers, items, userCount: count, itemCount: count });
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const bytes = () => {
    collect();
    return process.memoryUsage().arrayBuffers;
  };
  const before = bytes();
  const aborter = new AbortController();
  let during = Number.POSITIVE_INFINITY;
  const fit = ascend(ring, {
    features,
    iterations: 120,
    tolerance: 1e-300,
    engine: 'cpu',
    threads: 1,
    signal: aborter.signal,
    onProgress: ({ stage, done = 0 }) => {
      if (stage !== 'fitting') return;
      during = Math.min(during, bytes());
      if (done >= 40) aborter.abort();
    },
  });
  await expect(fit).rejects.toThrow();
  // Profiles have four bytes for each item and feature.
  expect(during - before).toBeLessThan(2 * count * features);
});
