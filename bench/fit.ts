// Speed and memory of a fit on the cpu engine: checked first, then timed.
//
//   npm run build && node scripts/run-ts.js bench/fit.ts [netflix] [echonest] [edges …] [-k 32] [--threads 1,2] [--fraction 1]
//
// `netflix` and `echonest` are graphs of the size and skew of these data sets, whose tables exceed every cache. There the bench first
// compares the engine that gathers by tiles with one that does not, and then times both in turns. A number of edges stands for a
// graph of 40,000 × 40,000 vertices, whose engine is compared with the reference. Prints ns per edge of a whole iteration (both
// half-steps, digammas, unseen masses), the cost of a bound, and the memory beyond the graph. Scaling over 16 cores: `bench/fit.ts netflix echonest --threads 1,2,4,8,16`.

import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createCpuEngine } from '../src/engine/cpu/cpu-engine.js';
import { DEFAULT_TILES } from '../src/engine/cpu/tiles.js';
import type { Engine, SideHyper, TableValues } from '../src/engine/engine.js';
import { createReferenceEngine } from '../src/engine/reference/reference-engine.js';
import { buildGraph } from '../src/graph/build.js';
import { AliasTable } from '../src/math/alias.js';
import type { EdgeRows } from '../src/math/csr.js';
import { gamma } from '../src/math/distributions.js';
import { inSharedMemory } from '../src/math/memory.js';
import { randomStream } from '../src/math/random.js';
import { flag } from './flag.js';

const VERTICES = 40_000;
const SHAPES = ['netflix', 'echonest'];
const features = Number(flag('-k', '32'));
const threadCounts = flag('--threads', '1,2').split(',').map(Number);
const fraction = Number(flag('--fraction', '1'));
const given = process.argv
  .slice(2)
  .filter((word, i, all) => !/^-/.test(word) && !/^-/.test(all[i - 1] ?? ''));
const wanted = given.length > 0 ? given : [...SHAPES, '1e6', '10e6'];
const hyper: SideHyper = { sigma: 0.2, tau: 1, shape: 0.1, rate: 0.1, size: 1000 };

/** A graph as an engine sees it, and where its tables start. */
interface Task {
  readonly edges: number;
  readonly users: EdgeRows;
  readonly items: EdgeRows;
  readonly start: { readonly users: TableValues; readonly items: TableValues };
}

/** Heavy-tailed degrees on both sides: weights (rank + 10)^−0.6, in random order. */
function heavyTailed(edges: number, vertices: number): Task {
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
  const graph = buildGraph({ users, items, userCount: vertices, itemCount: vertices });
  const values = (path: number) => startValues(vertices, features, path);
  return {
    edges: graph.edges,
    users: graph.users,
    items: graph.items,
    start: { users: values(0), items: values(1) },
  };
}

/** The graphs of bench/gpu, which are drawn fast. */
async function skewed(name: string): Promise<Task> {
  const { SHAPES, skewedGraph, startValues } = await import(
    pathToFileURL(resolve('bench/gpu/graphs.mjs')).href
  );
  const graph = skewedGraph(name, SHAPES[name], fraction);
  const shared = ({ offsets, neighbors }: EdgeRows): EdgeRows => ({
    ...{ offsets: inSharedMemory(offsets), neighbors: inSharedMemory(neighbors), counts: undefined },
  });
  const values = (rows: EdgeRows, seed: number): TableValues => startValues(rows, features, hyper, seed);
  return {
    ...{ edges: graph.edges, users: shared(graph.users), items: shared(graph.items) },
    start: { users: values(graph.users, 2), items: values(graph.items, 3) },
  };
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

async function open(engine: Engine, task: Task) {
  const users = await engine.createTable(features, task.start.users, 'geometric');
  const items = await engine.createTable(features, task.start.items, 'geometric');
  const byUser = await engine.createIndex(task.users);
  const byItem = await engine.createIndex(task.items);
  return {
    async iterate(edgeTerm: boolean) {
      await engine.update(users, byUser, items, { hyper, activity: 'geometric', edgeTerm });
      await engine.update(items, byItem, users, { hyper, activity: 'geometric' });
    },
    bound: async () => (await engine.rowTerms(users, hyper)) + (await engine.rowTerms(items, hyper)),
    edgeTerm: () => engine.edgeTerm(users, byUser, items),
    read: () => engine.read(items),
    close: () => engine.close(),
  };
}

type Run = Awaited<ReturnType<typeof open>>;

/** How far two engines are apart: the edge term, and the worst shape of an item's feature. */
async function compare(actual: Run, expected: Run): Promise<{ term: number; shape: number }> {
  const term = Math.abs((await actual.edgeTerm()) / (await expected.edgeTerm()) - 1);
  const [a, e] = [(await actual.read()).featureShape, (await expected.read()).featureShape];
  let shape = 0;
  for (let i = 0; i < a.length; i++) shape = Math.max(shape, Math.abs(a[i] - e[i]) / (1 + Math.abs(e[i])));
  return { term, shape };
}

function prove(what: string, { term, shape }: { term: number; shape: number }, most: number): void {
  if (!(term < 1e-5 && shape < most)) throw new Error(`cpu differs from ${what}: ${term}, ${shape}`);
  console.log(
    `proved: edge term within ${term.toExponential(1)}, shapes within ${shape.toExponential(1)} of ${what}`,
  );
}

/** Ten iterations on a small graph agree with the reference. */
async function proveSmall(): Promise<void> {
  const task = heavyTailed(20_000, 500);
  const expected = await open(createReferenceEngine(), task);
  const actual = await open(await createCpuEngine({ threads: 2 }), task);
  for (let t = 0; t < 10; t++) {
    await expected.iterate(false);
    await actual.iterate(false);
  }
  prove('the reference', await compare(actual, expected), 1e-3);
  await actual.close();
}

interface Timing {
  /** Wall clock, ms. */
  readonly wall: number;
  /** CPU time of all threads, ms: it depends less on other work than the wall clock. */
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

const perEdge = (ms: number, { edges }: Task) => ((ms * 1e6) / edges).toFixed(1).padStart(8);

/** A graph whose tables exceed every cache, with and without tiles in turns. */
async function timeShape(name: string): Promise<void> {
  const task = await skewed(name);
  const vertices = [task.users, task.items].map(({ offsets }) => offsets.length - 1).join(' × ');
  console.log(`\n${name}: ${vertices}, ${task.edges} edges`);
  for (const threads of threadCounts) {
    const plain = await open(
      await createCpuEngine({ threads, tiles: { ...DEFAULT_TILES, cache: Infinity } }),
      task,
    );
    await plain.iterate(false);
    const before = process.memoryUsage().rss;
    const tiled = await open(await createCpuEngine({ threads }), task);
    await tiled.iterate(false);
    const memory = process.memoryUsage().rss - before;
    if (threads === threadCounts[0]) prove('the engine without tiles', await compare(tiled, plain), 2e-5);
    const times = { plain: { wall: Infinity, cpu: Infinity }, tiled: { wall: Infinity, cpu: Infinity } };
    for (let round = 0; round < 3; round++) {
      for (const [key, run] of [['plain', plain] as const, ['tiled', tiled] as const]) {
        const { wall, cpu } = await best(1, () => run.iterate(false));
        times[key] = { wall: Math.min(times[key].wall, wall), cpu: Math.min(times[key].cpu, cpu) };
      }
    }
    const { plain: without, tiled: by } = times;
    console.log(
      `threads ${threads}: ${perEdge(by.wall, task)} ns/edge by tiles (CPU ${perEdge(by.cpu, task).trim()}), ` +
        `${perEdge(without.wall, task).trim()} without (CPU ${perEdge(without.cpu, task).trim()}): ` +
        `${(by.wall / without.wall).toFixed(2)} times; ${(memory / 2 ** 20).toFixed(0)} MiB beyond the graph`,
    );
    await plain.close();
    await tiled.close();
  }
}

async function timeSquare(edges: number): Promise<void> {
  const task = heavyTailed(edges, VERTICES);
  for (const threads of threadCounts) {
    const before = process.memoryUsage().rss;
    const run = await open(await createCpuEngine({ threads }), task);
    await run.iterate(true);
    const repeats = edges > 2e7 ? 3 : 7;
    const plain = await best(repeats, () => run.iterate(false));
    const withTerm = await best(repeats, () => run.iterate(true));
    const rows = await best(3, async () => void (await run.bound()));
    const memory = (process.memoryUsage().rss - before) / 2 ** 20;
    console.log(
      `${String(task.edges).padEnd(12)} ${String(threads).padEnd(7)} ${perEdge(plain.wall, task)} ${perEdge(plain.cpu, task)}` +
        `     ${perEdge(withTerm.cpu, task)} (CPU)    ${rows.cpu.toFixed(0).padStart(6)}        ${memory.toFixed(0)} MiB`,
    );
    await run.close();
  }
}

console.log(`${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, K = ${features}`);
for (const name of wanted.filter((word) => SHAPES.includes(word))) await timeShape(name);
const squares = wanted.filter((word) => !SHAPES.includes(word)).map(Number);
if (squares.length > 0) {
  await proveSmall();
  console.log(
    'edges        threads  ns/edge  CPU ns/edge  with edge term  row terms ms  memory beyond the graph',
  );
  for (const edges of squares) await timeSquare(edges);
}
