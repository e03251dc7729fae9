// Speed and memory of a fit on the cpu engine: proved against the reference first, then timed.
//
//   npm run build && node scripts/run-ts.js bench/fit.ts [edges …] [-k 32]
//
// Prints ns per edge of a whole iteration (both half-steps, digammas, leftover masses) for 1 and 2 threads, the cost of
// a bound, and the memory beyond the graph.

import { cpus } from 'node:os';
import { createCpuEngine } from '../src/engine/cpu/engine.js';
import type { Engine, SideHyper, TableValues } from '../src/engine/engine.js';
import { createReferenceEngine } from '../src/engine/reference/engine.js';
import { buildGraph } from '../src/graph/build.js';
import type { BipartiteGraph } from '../src/graph/graph.js';
import { AliasTable } from '../src/math/alias.js';
import { gamma } from '../src/math/distributions.js';
import { randomStream } from '../src/math/random.js';

const VERTICES = 40_000;
const features = flag('-k', 32);
const sizes = process.argv.slice(2).filter((a, i, all) => /^[\d.e]+$/.test(a) && all[i - 1] !== '-k');
const edgeCounts = sizes.length > 0 ? sizes.map(Number) : [1e6, 10e6];
const hyper: SideHyper = { sigma: 0.2, tau: 1, shape: 0.1, rate: 0.1, size: 1000 };

function flag(name: string, fallback: number): number {
  const at = process.argv.indexOf(name);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
}

/** Heavy-tailed degrees on both sides: weights (rank + 10)^−0.6, in random order. */
function heavyTailed(edges: number, vertices: number): BipartiteGraph {
  const random = randomStream(1, edges);
  const weights = () => {
    const w = Float64Array.from({ length: vertices }, (_, i) => (i + 10) ** -0.6);
    for (let i = vertices - 1; i > 0; i--) {
      const j = random.below(i + 1);
      [w[i], w[j]] = [w[j], w[i]];
    }
    return AliasTable.of(w);
  };
  const [ofUsers, ofItems] = [weights(), weights()];
  const users = new Uint32Array(edges);
  const items = new Uint32Array(edges);
  for (let e = 0; e < edges; e++) {
    users[e] = ofUsers.sample(random);
    items[e] = ofItems.sample(random);
  }
  return buildGraph({ users, items, userCount: vertices, itemCount: vertices });
}

function startValues(rows: number, K: number, path: number): TableValues {
  const random = randomStream(2, path);
  const draw = (n: number, low: number) => Float32Array.from({ length: n }, () => low + gamma(random, 1));
  return {
    weightShape: draw(rows, 1),
    weightRate: draw(rows, 1),
    featureShape: draw(rows * K, 0.1),
    featureRate: draw(rows * K, 5),
  };
}

async function open(engine: Engine, graph: BipartiteGraph) {
  const users = await engine.createTable(features, startValues(graph.users.count, features, 0), 'exact');
  const items = await engine.createTable(features, startValues(graph.items.count, features, 1), 'exact');
  const byUser = await engine.createIndex(graph.users);
  const byItem = await engine.createIndex(graph.items);
  return {
    async iterate(edgeTerm: boolean) {
      await engine.update(users, byUser, items, { hyper, activity: 'exact', edgeTerm });
      await engine.update(items, byItem, users, { hyper, activity: 'exact' });
    },
    bound: async () => (await engine.rowTerms(users, hyper)) + (await engine.rowTerms(items, hyper)),
    edgeTerm: () => engine.edgeTerm(users, byUser, items),
    read: () => engine.read(items),
  };
}

/** Ten iterations on a small graph of the same kind agree with the reference. */
async function prove(): Promise<void> {
  const graph = heavyTailed(20_000, 500);
  const reference = createReferenceEngine();
  const cpu = await createCpuEngine({ threads: 2 });
  const [expected, actual] = [await open(reference, graph), await open(cpu, graph)];
  for (let t = 0; t < 10; t++) {
    await expected.iterate(false);
    await actual.iterate(false);
  }
  const gap = Math.abs((await actual.edgeTerm()) / (await expected.edgeTerm()) - 1);
  const [a, e] = [(await actual.read()).featureShape, (await expected.read()).featureShape];
  let worst = 0;
  for (let i = 0; i < a.length; i++) worst = Math.max(worst, Math.abs(a[i] - e[i]) / (1 + Math.abs(e[i])));
  await cpu.close();
  if (!(gap < 1e-5 && worst < 1e-3)) throw new Error(`cpu differs from the reference: ${gap}, ${worst}`);
  console.log(
    `proved: edge term within ${gap.toExponential(1)}, shapes within ${worst.toExponential(1)} of the reference`,
  );
}

interface Timing {
  /** Wall clock, ms. */
  readonly wall: number;
  /** CPU time of all threads, ms: what a machine that is shared with others does not stretch as much. */
  readonly cpu: number;
}

async function best(repeats: number, work: () => Promise<void>): Promise<Timing> {
  let [wall, cpu] = [Infinity, Infinity];
  for (let r = 0; r < repeats; r++) {
    const [began, used] = [performance.now(), process.cpuUsage()];
    await work();
    const { user, system } = process.cpuUsage(used);
    wall = Math.min(wall, performance.now() - began);
    cpu = Math.min(cpu, (user + system) / 1000);
  }
  return { wall, cpu };
}

console.log(`${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, K = ${features}`);
await prove();
console.log(
  'edges        threads  ns/edge  CPU ns/edge  with edge term  row terms ms  memory beyond the graph',
);
for (const wanted of edgeCounts) {
  const graph = heavyTailed(wanted, VERTICES);
  for (const threads of [1, 2]) {
    const before = process.memoryUsage().rss;
    const engine = await createCpuEngine({ threads });
    const run = await open(engine, graph);
    await run.iterate(true);
    const repeats = wanted > 2e7 ? 3 : 7;
    const plain = await best(repeats, () => run.iterate(false));
    const withTerm = await best(repeats, () => run.iterate(true));
    const rows = await best(3, async () => void (await run.bound()));
    const memory = (process.memoryUsage().rss - before) / 2 ** 20;
    const perEdge = (ms: number) => ((ms * 1e6) / graph.edges).toFixed(1);
    console.log(
      `${String(graph.edges).padEnd(12)} ${threads}        ${perEdge(plain.wall).padStart(6)}   ${perEdge(plain.cpu).padStart(6)}` +
        `       ${perEdge(withTerm.cpu).padStart(6)} (CPU)    ${rows.cpu.toFixed(0).padStart(6)}        ${memory.toFixed(0)} MiB`,
    );
    await engine.close();
  }
}
