// Compact rankers: the sizes of their files, and how many places of the lists change if tables are stored in less precision.
//   node scripts/run-ts.js bench/rankers.ts DATA [features [members]]
//   node scripts/run-ts.js bench/rankers.ts size [users items features members]
// The first fits a ranker to DATA and compares lists of 20 of every user with those of the fitted tables; the second saves a
// ranker of random means, by default of 29,858 × 40,981 vertices with four members of 512 features.

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fit } from '../src/fit/fit.js';
import type { Ranker } from '../src/fit/model.js';
import { VertexIds } from '../src/graph/ids.js';
import { readGraph } from '../src/ingest/read.js';
import { allocate } from '../src/math/memory.js';
import { randomStream } from '../src/math/random.js';
import { PRECISIONS, USER_STORAGE } from '../src/options/names.js';
import { createRecommender } from '../src/predict/recommender.js';
import { loadModel, saveModel } from '../src/store/model-file.js';
import type { RankerStorage } from '../src/store/ranker-tensors.js';

const [what = 'size', ...numbers] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'graphex-rankers-'));
const WAYS: RankerStorage[] = PRECISIONS.flatMap((precision) =>
  USER_STORAGE.map((users) => ({ precision, users })),
);

async function saved(model: Ranker, way: RankerStorage): Promise<{ file: string; megabytes: number }> {
  const file = join(folder, `${way.precision}-${way.users}.safetensors`);
  await saveModel(file, model, way);
  return { file, megabytes: statSync(file).size / 1e6 };
}

/** Random means that vary as much as fitted ones, and the number of edges of such a set. */
function randomRanker([users = 29_858, items = 40_981, features = 512, members = 4]: number[]): Ranker {
  const random = randomStream(1, 1);
  const table = (rows: number) => {
    const values = allocate(Float32Array, rows * features);
    for (let at = 0; at < values.length; at++) values[at] = 1e-3 * random.uniform() ** 6;
    return values;
  };
  const degree = 34;
  const neighbors = new Uint32Array(users * degree);
  const ofItems = new Uint32Array(items);
  const step = Math.floor(items / degree);
  for (let u = 0; u < users; u++) {
    for (let e = 0; e < degree; e++) {
      const item = e * step + random.below(step);
      neighbors[u * degree + e] = item;
      ofItems[item]++;
    }
  }
  const hyper = { sigma: 0.2, tau: 1, shape: 1 / features, rate: 1 / features, size: 0 };
  return {
    type: 'ranker',
    method: 'ranking',
    multigraph: false,
    users: { count: users, ids: VertexIds.range(users), degree: new Uint32Array(users).fill(degree) },
    items: { count: items, ids: VertexIds.range(items), degree: ofItems },
    scores: {
      kind: 'factors',
      members: Array.from({ length: members }, (_, seed) => ({
        features,
        items: table(items),
        users: table(users),
        userMass: new Float64Array(features).fill(1),
        fold: { kind: 'poisson', steps: 3, hyper: { users: hyper, items: hyper } },
        seed,
        iterations: 40,
        converged: true,
      })),
    },
    seen: {
      offsets: Uint32Array.from({ length: users + 1 }, (_, u) => u * degree),
      neighbors,
      counts: undefined,
    },
    provenance: {
      ...{ version: '0', engine: 'none', seed: 1, fingerprint: '', options: {} },
      ...{ iterations: 40, converged: true, seconds: 0 },
    },
  };
}

async function lists(model: Ranker, likes: boolean): Promise<string[][]> {
  const recommender = createRecommender(model);
  const { users, items, seen } = model;
  const queries = Array.from({ length: seen!.offsets.length - 1 }, (_, u) => {
    if (!likes) return { user: users.ids.at(u) };
    const own = seen!.neighbors.subarray(seen!.offsets[u], seen!.offsets[u + 1]);
    return { likes: Array.from(own, (item) => items.ids.at(item)) };
  });
  const result = await recommender.recommendMany(queries, { n: 20 });
  await recommender.close();
  return result.map((list) => list.map(({ item }) => item));
}

function moved(before: readonly string[][], after: readonly string[][]): string {
  let places = 0;
  let other = 0;
  for (const [u, list] of before.entries()) {
    for (const [i, item] of list.entries()) {
      places++;
      if (after[u][i] !== item) other++;
    }
  }
  return `${other} of ${places} places moved (${((1000 * other) / places).toFixed(3)} in 1,000)`;
}

try {
  if (what === 'size') {
    const model = randomRanker(numbers.map(Number));
    for (const way of WAYS) {
      const { file, megabytes } = await saved(model, way);
      console.log(`${way.precision}, users ${way.users}: ${megabytes.toFixed(1)} MB`);
      rmSync(file);
    }
  } else {
    const [features, average = 2] = numbers.map(Number);
    const { graph } = await readGraph(what);
    const began = performance.now();
    const { model } = await fit(graph, { method: 'ranking', average, ...(features && { features }) });
    const K = model.scores.kind === 'factors' ? model.scores.members[0].features : 0;
    console.log(
      `${what}: ${graph.users.count} × ${graph.items.count}, ${graph.edges} edges, ${average} members of ${K} features, ` +
        `${((performance.now() - began) / 1000).toFixed(0)} s`,
    );
    const known = await lists(model, false);
    const fresh = await lists(model, true);
    for (const way of WAYS) {
      const { file, megabytes } = await saved(model, way);
      const loaded = (await loadModel(file)) as Ranker;
      const ask = { ...loaded, seen: model.seen };
      const found =
        way.users === 'none' ? [fresh, await lists(ask, true)] : [known, await lists(loaded, false)];
      console.log(
        `${way.precision}, users ${way.users}: ${megabytes.toFixed(2)} MB, ${moved(found[0], found[1])}`,
      );
      rmSync(file);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
