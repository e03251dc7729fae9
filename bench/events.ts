// Events beside recommendations: the times of recommendations at half of their highest rate, with and without 2,000 events
// a second in batches of 100. The stages alternate, so that both have the same machine.
//
//   npm run build && node scripts/run-ts.js bench/events.ts [seconds a stage] [pairs of stages] [flags of graphex serve]
//
// Proved first: what was acknowledged is in the store.

import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomStream } from '../src/math/random.js';
import { saveModel } from '../src/store/model-file.js';
import { type LoadResult, pacedLoad } from './serve-load.js';
import { body, histories, N, randomRanker, shoot, startServer } from './serve-target.js';

const seconds = Number(process.argv[2] ?? 10);
const pairs = Number(process.argv[3] ?? 4);
const ITEMS = 20_000;
const FEATURES = 100;
const USERS = 2000;
const BATCH = 100;
/** Arrivals are random: with this rate on average, more than 2,000 a second come in a stage of 8 s. */
const EVENTS = 2300;
const BATCHES = 500;
const print = (text: string) => process.stdout.write(`${text}\n`);
const folder = mkdtempSync(join(tmpdir(), 'graphex-events-'));
const random = randomStream(3, 1);
const userName = () => `u${random.below(USERS)}`;

const shown = ({ sent, p50, p99, statuses, errors }: LoadResult) =>
  `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms (${sent} sent, ${JSON.stringify(statuses)}, ${errors} lost)`;
const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Half of the recommendations are for users of the store, half for somebody new. */
const bodies = histories(ITEMS, 1000).map((likes, i) =>
  i % 2 === 0 ? body(likes) : JSON.stringify({ user: userName(), n: N }),
);
const batches = Array.from({ length: BATCHES }, () =>
  JSON.stringify(
    Array.from({ length: BATCH }, () => ({ user: userName(), item: String(random.below(ITEMS)) })),
  ),
);

print(`${cpus()[0].model}, ${cpus().length} cores, Node ${process.version}; ${seconds} s a stage`);
const path = join(folder, 'model.safetensors');
await saveModel(path, randomRanker(ITEMS, FEATURES));
const { process: server, url } = await startServer(path, [
  '--store',
  join(folder, 'events.duckdb'),
  ...process.argv.slice(4),
]);
try {
  const recommendations = (rate: number) => pacedLoad({ url, path: '/v1/recommend', bodies, rate, seconds });
  const events = () => pacedLoad({ url, path: '/v1/events', bodies: batches, rate: EVENTS / BATCH, seconds });
  const stored = async () =>
    Number(/^graphex_events_total (\d+)/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]);

  const first = await events();
  const accepted = BATCH * (first.statuses['202'] ?? 0);
  if ((await stored()) !== accepted) throw new Error(`${accepted} acknowledged, ${await stored()} stored`);
  await shoot(url, '/v1/recommend', bodies, { duration: 2 });
  const { requests } = await shoot(url, '/v1/recommend', bodies, { duration: seconds });
  const rate = requests.average / 2;
  print(`highest ${requests.average.toFixed(0)} answers/s; ${rate.toFixed(0)} in the stages`);
  const without: number[] = [];
  const beside: number[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const alone = await recommendations(rate);
    const [busy, posted] = await Promise.all([recommendations(rate), events()]);
    without.push(alone.p99);
    beside.push(busy.p99);
    print(`alone        ${shown(alone)}`);
    print(
      `with events  ${shown(busy)}; ${((BATCH * posted.sent) / seconds).toFixed(0)} events/s in batches: ${shown(posted)}; load ${loadavg()[0].toFixed(1)}`,
    );
  }
  print(
    `p99, medians: ${median(without).toFixed(1)} and ${median(beside).toFixed(1)} ms, ratio ${(median(beside) / median(without)).toFixed(2)}`,
  );
} finally {
  server.kill('SIGTERM');
  await new Promise((resolve) => server.once('exit', resolve));
  rmSync(folder, { recursive: true, force: true });
}
