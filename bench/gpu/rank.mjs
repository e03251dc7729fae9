// Full rankings on the GPU and on the CPU: checks that the ranks are the same, then measures the time.

import { rankByFactors } from '../../dist/topn/cpu.js';
import { createWebgpuTopN } from '../../dist/topn/webgpu.js';
import { createRandom } from './draws.mjs';

/** Skewed like posterior means: few features of a vertex are active, and vertices differ in weight. */
function table(rows, features, random) {
  const values = new Float32Array(new SharedArrayBuffer(4 * rows * features));
  for (let r = 0; r < rows; r++) {
    const weight = random.uniform() ** -0.7;
    for (let k = 0; k < features; k++) values[r * features + k] = weight * random.uniform() ** 8;
  }
  return values;
}

function lists(rows, mean, parity, candidates, random) {
  const offsets = new Uint32Array(rows + 1);
  const values = [];
  for (let r = 0; r < rows; r++) {
    const wanted = 1 + Math.floor((mean / 2) * random.uniform() ** -0.5);
    const own = new Set();
    for (let i = 0; i < wanted; i++) own.add(2 * Math.floor((candidates / 2) * random.uniform()) + parity);
    values.push(...[...own].sort((a, b) => a - b));
    offsets[r + 1] = values.length;
  }
  return { offsets, values: Uint32Array.from(values) };
}

/** Rows of a table: what was ranked, share of ranks that are the same, seconds of each way. */
export async function timeRankings(users, items, features, threads) {
  const random = createRandom(9);
  const tables = {
    users: table(users, features, random),
    items: table(items, features, random),
    features,
  };
  const candidates = Uint32Array.from({ length: items }, (_, i) => i);
  const query = {
    candidates: items,
    views: [{ without: new Uint32Array(0), relevant: lists(users, 20, 0, items, random) }],
    excluded: lists(users, 60, 1, items, random),
    depth: 1000,
    top: 20,
  };
  const row = { users, items, features, products: users * items * features };
  let expected;
  for (const n of threads) {
    const start = performance.now();
    expected = await rankByFactors(tables, candidates, query, { threads: n });
    row[`cpu, ${n ?? 'all'} threads, s`] = (performance.now() - start) / 1000;
  }
  const start = performance.now();
  const topN = await createWebgpuTopN();
  const found = await topN.rank(tables, candidates, query);
  row['gpu, first, s'] = (performance.now() - start) / 1000;
  const again = performance.now();
  await topN.rank(tables, candidates, query);
  row['gpu, s'] = (performance.now() - again) / 1000;
  await topN.close();
  // The sums have another order, so neighbours in a ranking may change places, but not distant ranks.
  let same = 0;
  let farthest = 0;
  const [a, b] = [found.ranks[0], expected.ranks[0]];
  for (let i = 0; i < a.length; i++) {
    if (a[i] === b[i]) same++;
    else if (a[i] > 0 && b[i] > 0) farthest = Math.max(farthest, Math.abs(a[i] - b[i]));
  }
  row['same ranks'] = same / a.length;
  row['farthest apart'] = farthest;
  if (row['same ranks'] < 0.99 || farthest > 5) throw new Error(`NOT PROVED: ${JSON.stringify(row)}`);
  return row;
}
