// The server under load, on loopback alone. It measures the highest throughput, times at half of that rate and at twice of it,
// batches, and health checks all the time. For comparison, the same run has a handler that only echoes, and the ranking in process.
// The highest throughput is that of 16 clients who send the next request immediately (autocannon). autocannon sends a fixed rate in
// bursts at the beginning of every second, so the other stages have a generator of their own (serve-load.ts).
//
//   npm run build && node scripts/run-ts.js bench/serve.ts [seconds a stage] [requests of the soak] [flags of graphex serve]
//
// The bench first checks that the server answers what the library answers.

import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRecommender } from '../src/predict/recommender.js';
import { saveModel } from '../src/store/model-file.js';
import { echoServer, type MeasuredLoad, pacedLoad, watchHealth } from './serve-load.js';
import { body, CLIENTS, histories, LIKES, N, randomRanker, shoot, startServer } from './serve-target.js';

const seconds = Number(process.argv[2] ?? 10);
const soak = Number(process.argv[3] ?? 0);
/** Number of items of the model that answers the long run. */
const SOAKED = 20_000;

async function residentMegabytes(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\d+)/m.exec(text)?.[1]) / 2 ** 20;
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
    const queries = users.map((likes) => ({ likes }));
    const { process: child, url } = await startServer(path, process.argv.slice(4));
    try {
      await prove(url, recommender, users);
      const bare = await echoServer();
      const echoed = await shoot(bare.url, '/v1/recommend', bodies, { duration: seconds });
      const began = performance.now();
      let alone = 0;
      while (performance.now() - began < 1000 * seconds) {
        await recommender.recommend(queries[alone++ % queries.length], { n: N, threads: 1 });
      }
      const inProcess = (1000 * alone) / (performance.now() - began);
      await recommender.recommendMany(queries, { n: N });
      const batchBegan = performance.now();
      await recommender.recommendMany(queries, { n: N });
      const bareBatch = (1000 * queries.length) / (performance.now() - batchBegan);

      await shoot(url, '/v1/recommend', bodies, { duration: 2 });
      const health = watchHealth(url);
      const highest = await shoot(url, '/v1/recommend', bodies, { duration: seconds });
      const rate = highest.requests.average;
      print(
        `highest              ${rate.toFixed(0)} answers/s (echo ${echoed.requests.average.toFixed(0)}, in process ${inProcess.toFixed(0)})`,
      );
      const at = (times: number, where: string) =>
        pacedLoad({ url: where, path: '/v1/recommend', bodies, rate: times * rate, seconds });
      const echoHealth = watchHealth(bare.url);
      const halfEcho = await at(0.5, bare.url);
      const bareHealth = await echoHealth.stop();
      const half = await at(0.5, url);
      print(`half of it           ${timesOf(half)}; echo at the same rate ${timesOf(halfEcho)}`);
      const twice = await at(2, url);
      print(
        `twice of it          ${timesOf(twice)}, ${(twice.p99 / half.p99).toFixed(1)} times that of half`,
      );
      await bare.close();
      const batch = JSON.stringify({ requests: users.map((likes) => ({ likes, n: N })) });
      const batches = await shoot(url, '/v1/recommend/batch', [batch], { connections: 1, duration: seconds });
      const batched = batches.requests.average * users.length;
      print(
        `batches of 1,000     ${batched.toFixed(0)} users/s, ${(batched / bareBatch).toFixed(2)} of the bare ranking (${bareBatch.toFixed(0)})`,
      );
      print(
        `health               slowest answer ${(await health.stop()).toFixed(0)} ms (echo at half the load ${bareHealth.toFixed(0)})`,
      );
      if (soak > 0 && items === SOAKED) await soakTest(url, bodies, rate);
      else print(`memory               ${(await residentMegabytes(url)).toFixed(0)} MiB resident`);
    } finally {
      await recommender.close();
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function timesOf({ p50, p99, statuses, errors }: MeasuredLoad): string {
  const seen = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
  return `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms (${seen.join(', ')}; ${errors} lost)`;
}

/** Memory while `soak` requests are answered at half the highest rate or less: it must not grow. */
async function soakTest(url: string, bodies: readonly string[], highest: number): Promise<void> {
  const rate = Math.min(highest / 2, soak / 600);
  const PARTS = 12;
  for (let part = 1; part <= PARTS; part++) {
    const { statuses, errors } = await pacedLoad({
      url,
      path: '/v1/recommend',
      bodies,
      rate,
      seconds: soak / PARTS / rate,
    });
    print(
      `soak ${part}/${PARTS}  ${JSON.stringify(statuses)}, ${errors} lost; ${(await residentMegabytes(url)).toFixed(0)} MiB resident`,
    );
  }
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
