// The server under load, on loopback alone: highest throughput, times at half of it, behaviour at twice of it, batches
// against the bare ranking, health throughout; in the same run a bare handler that echoes, and the ranking in process.
//
//   npm run build && node scripts/run-ts.js bench/serve.ts [seconds a stage] [requests of the soak]
//
// Proved first: what the server answers is what the library answers.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { createServer } from 'node:http';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import autocannon from 'autocannon';
import { Hono } from 'hono';
import type { Ranker } from '../src/fit/model.js';
import { VertexIds } from '../src/graph/ids.js';
import { gamma } from '../src/math/distributions.js';
import { allocate } from '../src/math/memory.js';
import { randomStream } from '../src/math/random.js';
import { createRecommender } from '../src/predict/recommender.js';
import { saveModel } from '../src/store/model.js';
import { VERSION } from '../src/version.js';

const seconds = Number(process.argv[2] ?? 10);
const soak = Number(process.argv[3] ?? 0);
const LIKES = 20;
const N = 20;
const CLIENTS = 16;

/** A ranker of random means: what a server does with it does not depend on them. */
function randomRanker(items: number, features: number): Ranker {
  const random = randomStream(1, items, features);
  const means = allocate(Float32Array, items * features);
  for (let i = 0; i < means.length; i++) means[i] = gamma(random, 0.3) * 0.01;
  const hyper = { sigma: 0.2, tau: 1, shape: 1 / features, rate: 1, size: 1000 };
  return {
    type: 'ranker',
    method: 'ranking',
    multigraph: false,
    users: { count: 1, ids: VertexIds.range(1), degree: Uint32Array.of(items) },
    items: { count: items, ids: VertexIds.range(items), degree: new Uint32Array(items).fill(1) },
    scores: {
      kind: 'factors',
      members: [
        {
          features,
          items: means,
          users: undefined,
          userMass: new Float64Array(features).fill(1),
          fold: { kind: 'poisson', steps: 3, hyper: { users: hyper, items: hyper } },
          seed: 1,
          iterations: 1,
          converged: true,
        },
      ],
    },
    seen: {
      offsets: Uint32Array.of(0, items),
      neighbors: Uint32Array.from({ length: items }, (_, item) => item),
      counts: undefined,
    },
    provenance: {
      version: VERSION,
      engine: 'none',
      seed: 1,
      fingerprint: '0',
      options: {},
      iterations: 1,
      converged: true,
      seconds: 0,
    },
  };
}

function histories(items: number, count: number): number[][] {
  const random = randomStream(2, items);
  return Array.from({ length: count }, () => [
    ...new Set(Array.from({ length: LIKES }, () => random.below(items))),
  ]);
}

/** `graphex serve` in a process of its own. */
async function startServer(path: string): Promise<{ process: ChildProcess; url: string }> {
  const child = spawn(
    process.execPath,
    ['bin/graphex.js', 'serve', path, '--port', '0', '--json', '--quiet'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const line = await new Promise<string>((resolve) =>
    child.stdout?.once('data', (data) => resolve(String(data))),
  );
  return { process: child, url: JSON.parse(line).url };
}

const body = (likes: readonly number[]) => JSON.stringify({ likes, n: N });

async function shoot(
  url: string,
  path: string,
  bodies: readonly string[],
  options: Partial<autocannon.Options>,
) {
  let next = 0;
  return autocannon({
    url: `${url}${path}`,
    connections: CLIENTS,
    duration: seconds,
    requests: [
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        setupRequest: (request) => ({ ...request, body: bodies[next++ % bodies.length] }),
      },
    ],
    ...options,
  });
}

/** Asks for health ten times a second until told to stop; the slowest answer in milliseconds. */
function watchHealth(url: string): () => Promise<number> {
  let worst = 0;
  let watching = true;
  const loop = (async () => {
    while (watching) {
      const began = performance.now();
      await (await fetch(`${url}/health/live`)).text();
      worst = Math.max(worst, performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return async () => {
    watching = false;
    await loop;
    return worst;
  };
}

async function residentMegabytes(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\d+)/m.exec(text)?.[1]) / 2 ** 20;
}

async function echo(): Promise<{ url: string; close: () => void }> {
  const app = new Hono();
  app.post('/v1/recommend', async (c) => c.json(await c.req.json()));
  const server = createAdaptorServer({ fetch: app.fetch }) as ReturnType<typeof createServer>;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

const folder = mkdtempSync(join(tmpdir(), 'graphex-bench-'));
const print = (text: string) => process.stdout.write(`${text}\n`);
print(
  `${cpus()[0].model}, ${cpus().length} cores, Node ${process.version}; ${seconds} s a stage, ${CLIENTS} clients`,
);
try {
  for (const [items, features] of [
    [20_000, 100],
    [200_000, 64],
  ]) {
    print(`\n${items} items, K = ${features}; new users with ${LIKES} likes, lists of ${N}`);
    const ranker = randomRanker(items, features);
    const path = join(folder, `${items}.safetensors`);
    await saveModel(path, ranker);
    const users = histories(items, 1000);
    const bodies = users.map(body);
    const recommender = createRecommender(ranker);
    const askers = users.map((likes) => ({ likes }));
    const { process: child, url } = await startServer(path);
    try {
      await prove(url, recommender, users);
      const bare = await echo();
      const echoed = await shoot(bare.url, '/v1/recommend', bodies, {});
      bare.close();
      const began = performance.now();
      let alone = 0;
      while (performance.now() - began < 1000 * seconds) {
        await recommender.recommend(askers[alone++ % askers.length], { n: N, threads: 1 });
      }
      const inProcess = (1000 * alone) / (performance.now() - began);
      await recommender.recommendMany(askers, { n: N });
      const batchBegan = performance.now();
      await recommender.recommendMany(askers, { n: N });
      const bareBatch = (1000 * askers.length) / (performance.now() - batchBegan);

      const health = watchHealth(url);
      const highest = await shoot(url, '/v1/recommend', bodies, {});
      const rate = highest.requests.average;
      print(
        `highest              ${rate.toFixed(0)} answers/s (echo ${echoed.requests.average.toFixed(0)}, in process ${inProcess.toFixed(0)})`,
      );
      const half = await shoot(url, '/v1/recommend', bodies, {
        overallRate: Math.max(1, Math.round(rate / 2)),
      });
      print(
        `half of it           p50 ${half.latency.p50} ms, p99 ${half.latency.p99} ms; not 2xx: ${half.non2xx}`,
      );
      const twice = await shoot(url, '/v1/recommend', bodies, {
        connections: 20 * CLIENTS,
        overallRate: Math.round(2 * rate),
      });
      const statuses = Object.entries(twice.statusCodeStats ?? {}).map(
        ([status, { count }]) => `${status}: ${count}`,
      );
      print(
        `twice of it          p99 ${twice.latency.p99} ms; ${statuses.join(', ')}; errors ${twice.errors}`,
      );
      const batch = JSON.stringify({ requests: users.map((likes) => ({ likes, n: N })) });
      const batches = await shoot(url, '/v1/recommend/batch', [batch], { connections: 1 });
      const batched = batches.requests.average * users.length;
      print(
        `batches of 1,000     ${batched.toFixed(0)} users/s, ${(batched / bareBatch).toFixed(2)} of the bare ranking (${bareBatch.toFixed(0)})`,
      );
      const before = await residentMegabytes(url);
      if (soak > 0) {
        await shoot(url, '/v1/recommend', bodies, { amount: soak });
        print(
          `after ${soak} more     ${before.toFixed(0)} → ${(await residentMegabytes(url)).toFixed(0)} MiB resident`,
        );
      } else print(`memory               ${before.toFixed(0)} MiB resident`);
      print(`health               slowest answer ${(await health()).toFixed(0)} ms`);
    } finally {
      await recommender.close();
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Single answers and a batch are those of the library. */
async function prove(
  url: string,
  recommender: ReturnType<typeof createRecommender>,
  users: readonly number[][],
) {
  const some = users.slice(0, 20);
  const lists = await recommender.recommendMany(
    some.map((likes) => ({ likes })),
    { n: N },
  );
  for (const [u, likes] of some.entries()) {
    const response = await fetch(`${url}/v1/recommend`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: body(likes),
    });
    const answer = (await response.json()) as { items: { item: string }[] };
    const [theirs, ours] = [answer.items.map(({ item }) => item), lists[u].map(({ item }) => item)];
    if (theirs.join() !== ours.join())
      throw new Error(`user ${u}: ${theirs} from the server, ${ours} from the library`);
  }
}
