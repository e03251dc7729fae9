// Checks every kernel variant before it is timed: against the float64 reference on small graphs, and sampled rows of a large
// graph recomputed here in float64.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createReferenceEngine } from '../../dist/engine/reference/reference-engine.js';
import { createWebgpuEngine } from '../../dist/engine/webgpu/webgpu-engine.js';
import { evidenceBound, logCountFactorials } from '../../dist/fit/ascent/bound.js';
import { buildGraph } from '../../dist/graph/build.js';
import { createRandom } from './draws.mjs';
import { skewedGraph, startValues } from './graphs.mjs';

const HYPER = {
  users: { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 40 },
  items: { sigma: -0.1, tau: 0.7, shape: 0.25, rate: 0.4, size: 20 },
};

/** Runs a few half-steps on an engine and reads all its results. */
async function replay(engine, graph, features, iterations) {
  const users = await engine.createTable(
    features,
    startValues(graph.users, features, HYPER.users, 2),
    'geometric',
  );
  const items = await engine.createTable(
    features,
    startValues(graph.items, features, HYPER.items, 3),
    'geometric',
  );
  const byUser = await engine.createIndex(graph.users);
  const byItem = await engine.createIndex(graph.items);
  for (let t = 0; t < iterations; t++) {
    await engine.update(users, byUser, items, { hyper: HYPER.users, activity: 'geometric' });
    await engine.update(items, byItem, users, { hyper: HYPER.items, activity: 'geometric' });
  }
  const edges = await engine.edgeTerm(users, byUser, items);
  const bound = await evidenceBound(
    engine,
    { users, items },
    HYPER,
    edges,
    logCountFactorials(graph.users.counts),
  );
  const result = { edges, bound, users: await engine.read(users), items: await engine.read(items) };
  result.unseenMass = (await engine.totals(users)).unseenMass;
  for (const handle of [users, items, byUser, byItem]) engine.free(handle);
  return result;
}

/** Largest difference relative to the larger of the value and the mean size of its array. */
export function worst(actual, expected) {
  let scale = 0;
  for (const x of expected) scale += Math.abs(x) / expected.length;
  let most = 0;
  for (let i = 0; i < expected.length; i++) {
    const difference = Math.abs(actual[i] - expected[i]) / Math.max(Math.abs(expected[i]), scale, 1e-30);
    most = Math.max(most, Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference);
  }
  return most;
}

function differences(actual, expected) {
  const states = ['users', 'items'].flatMap((side) =>
    Object.keys(expected[side]).map((field) => worst(actual[side][field], expected[side][field])),
  );
  return {
    state: Math.max(...states, worst(actual.unseenMass, expected.unseenMass)),
    bound: worst([actual.bound, actual.edges], [expected.bound, expected.edges]),
  };
}

/** Every variant at several K, simple and multigraph; returns rows of a table. */
export async function proveVariants(variants, featureCounts) {
  const shape = {
    edges: 60_000,
    users: { count: 3000, median: 9, cap: 2000 },
    items: { count: 900, median: 15, cap: 2500 },
  };
  const simple = skewedGraph('small', shape, 1, 7);
  const random = createRandom(5);
  const users = [];
  for (let u = 0; u < simple.userCount; u++) {
    for (let e = simple.users.offsets[u]; e < simple.users.offsets[u + 1]; e++) users.push(u);
  }
  const counts = users.map(() => 1 + Math.floor(3 * random.uniform() ** 3));
  const multi = buildGraph({
    users,
    items: simple.users.neighbors,
    counts,
    userCount: simple.userCount,
    itemCount: simple.itemCount,
    multigraph: true,
  });
  const reference = createReferenceEngine();
  const engines = new Map();
  for (const [name, tuning] of Object.entries(variants))
    engines.set(name, await createWebgpuEngine({ tuning }));
  const rows = [];
  for (const features of featureCounts) {
    for (const [kind, graph] of [
      ['simple', simple],
      ['multi', multi],
    ]) {
      if (kind === 'multi' && features % 8 !== 0) continue;
      const expected = await replay(reference, graph, features, 2);
      for (const [name, engine] of engines) {
        const found = differences(await replay(engine, graph, features, 2), expected);
        rows.push({ variant: name, features, kind, ...found, ok: found.state < 2e-4 && found.bound < 1e-5 });
      }
    }
  }
  for (const engine of engines.values()) await engine.close();
  return rows;
}

/** The golden files on the gpu engine; the largest differences of bound and state over 200 iterations. */
export async function proveGolden(folder) {
  const rows = [];
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
    const golden = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    const graph = buildGraph({
      users: golden.edges.map((e) => e[0]),
      items: golden.edges.map((e) => e[1]),
      counts: golden.edges.map((e) => e[2]),
      userCount: golden.users,
      itemCount: golden.items,
      multigraph: golden.multigraph,
    });
    const engine = await createWebgpuEngine();
    // The files hold plain arrays; an engine takes typed ones.
    const flat = (side) => ({
      weightShape: Float64Array.from(side.weightShape),
      weightRate: Float64Array.from(side.weightRate),
      featureShape: Float64Array.from(side.featureShape.flat()),
      featureRate: Float64Array.from(side.featureRate.flat()),
    });
    const users = await engine.createTable(golden.features, flat(golden.initial.user), 'geometric');
    const items = await engine.createTable(golden.features, flat(golden.initial.item), 'geometric');
    const byUser = await engine.createIndex(graph.users);
    const byItem = await engine.createIndex(graph.items);
    const hyper = { users: golden.hyper.user, items: golden.hyper.item };
    let bound = 0;
    let fall = 0;
    let before = Number.NEGATIVE_INFINITY;
    let state = 0;
    for (let t = 0; t < golden.boundAfterHalfSteps.length; t++) {
      await engine.update(users, byUser, items, { hyper: hyper.users, activity: 'geometric' });
      await engine.update(items, byItem, users, { hyper: hyper.items, activity: 'geometric' });
      const edges = await engine.edgeTerm(users, byUser, items);
      const value = await evidenceBound(
        engine,
        { users, items },
        hyper,
        edges,
        logCountFactorials(graph.users.counts),
      );
      const expected = golden.boundAfterHalfSteps[t][1];
      bound = Math.max(bound, Math.abs(value / expected - 1));
      fall = Math.max(fall, (before - value) / Math.abs(value));
      before = value;
      const target = golden.states[String(t + 1)];
      if (target) {
        for (const [table, side] of [
          [users, flat(target.user)],
          [items, flat(target.item)],
        ]) {
          const actual = await engine.read(table);
          for (const field of Object.keys(actual)) state = Math.max(state, worst(actual[field], side[field]));
        }
      }
    }
    await engine.close();
    rows.push({ file, bound, fall, state });
  }
  return rows;
}

/** Sampled rows and the longest one after one half-step, against float64 made here from the same start. */
export function proveRows(rows, other, own, before, otherValues, hyper, after, features) {
  const random = createRandom(11);
  const count = rows.offsets.length - 1;
  const otherCount = otherValues.weightShape.length;
  const mass = new Float64Array(features);
  for (let j = 0; j < otherCount; j++) {
    const weight = otherValues.weightShape[j] / otherValues.weightRate[j];
    for (let k = 0; k < features; k++) {
      mass[k] +=
        (weight * otherValues.featureShape[j * features + k]) / otherValues.featureRate[j * features + k];
    }
  }
  let longest = 0;
  for (let i = 0; i < count; i++) {
    if (rows.offsets[i + 1] - rows.offsets[i] > rows.offsets[longest + 1] - rows.offsets[longest]) {
      longest = i;
    }
  }
  const picked = [longest, ...Array.from({ length: 200 }, () => Math.floor(random.uniform() * count))];
  let most = 0;
  for (const i of picked) {
    const sum = new Float64Array(features);
    for (let e = rows.offsets[i]; e < rows.offsets[i + 1]; e++) {
      const j = rows.neighbors[e];
      let lambda = 0;
      for (let k = 0; k < features; k++) lambda += own(i, k) * other(j, k);
      const w = -1 / Math.expm1(-lambda);
      for (let k = 0; k < features; k++) sum[k] += w * other(j, k);
    }
    let expected = 0;
    let rate = hyper.tau;
    for (let k = 0; k < features; k++) {
      sum[k] *= own(i, k);
      expected += sum[k];
      rate += (before.featureShape[i * features + k] / before.featureRate[i * features + k]) * mass[k];
    }
    const shape = expected - hyper.sigma;
    most = Math.max(most, worst([after.weightShape[i], after.weightRate[i]], [shape, rate]));
    const shapes = Array.from(sum, (e) => hyper.shape + e);
    const rates = Array.from(mass, (m) => hyper.rate + (shape / rate) * m);
    most = Math.max(
      most,
      worst(after.featureShape.subarray(i * features, (i + 1) * features), shapes),
      worst(after.featureRate.subarray(i * features, (i + 1) * features), rates),
    );
  }
  return most;
}
