// `check` (all curves, 10 replicates, both sides) and `split` on a graph of 10 million edges: checked first, then timed.
//
//   npm run build && node scripts/run-ts.js bench/check.ts [edges]

import { cpus } from 'node:os';
import { buildGraph } from '../src/graph/build.js';
import type { BipartiteGraph } from '../src/graph/graph.js';
import { meanAndSpread } from '../src/math/moments.js';
import { randomStream } from '../src/math/random.js';
import { split, unseenByTraining } from '../src/sample/split.js';
import { checkSparsity } from '../src/sparsity/check.js';
import { compareSplit } from '../src/sparsity/split-bias.js';

const edges = Number(process.argv[2] ?? 10_000_000);
const REPEATS = 3;

/** Power-law weights on both sides. Equal pairs merge, so the graph has a few edges less than were drawn. */
function heavyTailed(users: number, items: number, exponent: number): BipartiteGraph {
  const random = randomStream(1);
  const draw = (n: number) => Math.min(n - 1, Math.floor(n * random.uniform() ** exponent));
  const pairs = { users: new Uint32Array(edges), items: new Uint32Array(edges) };
  for (let e = 0; e < edges; e++) {
    pairs.users[e] = draw(users);
    pairs.items[e] = draw(items);
  }
  const used = (list: Uint32Array, n: number) => {
    const index = new Uint32Array(n);
    for (const v of list) index[v] = 1;
    let count = 0;
    for (let v = 0; v < n; v++) if (index[v]) index[v] = count++;
    for (let e = 0; e < list.length; e++) list[e] = index[list[e]];
    return count;
  };
  return buildGraph({ ...pairs, userCount: used(pairs.users, users), itemCount: used(pairs.items, items) });
}

async function prove(graph: BipartiteGraph): Promise<void> {
  const { curves, density } = await checkSparsity(graph);
  for (const side of ['users', 'items'] as const) {
    for (const { level, expected, sampled } of curves[side]) {
      const { mean, spread } = meanAndSpread(sampled);
      if (Math.abs(mean - expected) > 6 * (spread / Math.sqrt(sampled.length)) + 1e-3 * expected) {
        throw new Error(`${side} at ${level}: exact ${expected}, replicates ${mean} ± ${spread}`);
      }
    }
    const last = curves[side].at(-1)!;
    if (Math.abs(last.expected / density - 1) > 1e-12)
      throw new Error(`${side}: level 1 is not the whole graph`);
  }
  const parts = split(graph);
  const total = parts.train.edges + parts.foldIn.edges + parts.test.edges;
  if (total !== graph.edges) throw new Error(`the parts have ${total} edges, the graph ${graph.edges}`);
  const share = parts.test.edges / graph.edges / (parts.testUsers * parts.testItems);
  if (Math.abs(share - 1) > 0.2) throw new Error(`the test part has ${share} times its expected edges`);
}

async function time(work: () => unknown): Promise<string> {
  const seconds: number[] = [];
  for (let r = 0; r < REPEATS; r++) {
    const start = performance.now();
    await work();
    seconds.push((performance.now() - start) / 1000);
  }
  seconds.sort((a, b) => a - b);
  return `${seconds[REPEATS >> 1].toFixed(2)} s (${seconds.map((s) => s.toFixed(2)).join(', ')})`;
}

console.log(`${cpus().length} × ${cpus()[0].model}, node ${process.versions.node}; median of ${REPEATS}\n`);
console.log(
  '| graph | users × items | edges | check, 10 replicates | split, pq | split, edges | bias report |',
);
console.log('|---|---|---|---|---|---|---|');
for (const [name, users, items, exponent] of [
  ['few large vertices', 40_000, 40_000, 1.6],
  ['many small vertices', 2_000_000, 2_000_000, 1.2],
] as const) {
  const graph = heavyTailed(users, items, exponent);
  await prove(graph);
  const parts = split(graph);
  const row = [
    name,
    `${graph.users.count} × ${graph.items.count}`,
    graph.edges,
    await time(() => checkSparsity(graph)),
    await time(() => split(graph)),
    await time(() => split(graph, { method: 'edges' })),
    await time(() => [compareSplit(graph, parts), unseenByTraining(parts)]),
  ];
  console.log(`| ${row.join(' | ')} |`);
}
