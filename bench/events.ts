// Times of recommendations at half of their highest rate, with and without 2,000 events a second in batches of 100. Short windows
// of both kinds alternate, so that both see the same state of the machine.
//
//   npm run build && node scripts/run-ts.js bench/events.ts [seconds a window] [pairs of windows] [flags of graphex serve]
//
// A window in which a client could not run for STALLED milliseconds is left out and counted: its p99 measures the client. The bench
// first checks that every acknowledged event is in the store.

import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomStream } from '../src/math/random.js';
import { saveModel } from '../src/store/model-file.js';
import { type MeasuredLoad, pacedLoad } from './serve-load.js';
import { body, histories, N, randomRanker, shoot, startServer } from './serve-target.js';

const seconds = Number(process.argv[2] ?? 4);
const pairs = Number(process.argv[3] ?? 8);
const ITEMS = 20_000;
const FEATURES = 100;
const USERS = 2000;
const BATCH = 100;
/** Arrivals are random. With this mean rate, most windows have more than 2,000 events a second. */
const EVENTS = 2400;
const STALLED = 20;
const BATCHES = 500;
const print = (text: string) => process.stdout.write(`${text}\n`);
const folder = mkdtempSync(join(tmpdir(), 'graphex-events-'));
const random = randomStream(3, 1);
const userName = () => `u${random.below(USERS)}`;

const shown = ({ sent, p50, p99, statuses, errors, stall }: MeasuredLoad) =>
  `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms (${sent} sent, ${JSON.stringify(statuses)}, ${errors} lost; longest stall of the client ${stall.toFixed(0)} ms)`;
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

print(`${cpus()[0].model}, ${cpus().length} cores, Node ${process.version}; ${seconds} s a window`);
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
  print(`highest ${requests.average.toFixed(0)} answers/s; ${rate.toFixed(0)} in the windows`);
  const windows: { readonly alone: MeasuredLoad; readonly busy: MeasuredLoad; readonly events: number }[] =
    [];
  for (let pair = 0; pair < pairs; pair++) {
    const withEvents = () => Promise.all([recommendations(rate), events()]);
    // Each kind goes first in half of the pairs.
    const first = pair % 2 === 0 ? await recommendations(rate) : undefined;
    const [busy, posted] = await withEvents();
    const alone = first ?? (await recommendations(rate));
    windows.push({ alone, busy, events: (BATCH * (posted.statuses['202'] ?? 0)) / seconds });
    print(`alone        ${shown(alone)}`);
    print(`with events  ${shown(busy)}; load ${loadavg()[0].toFixed(1)}`);
    print(`  batches    ${shown(posted)}`);
  }
  const kept = windows.filter(({ alone, busy }) => Math.max(alone.stall, busy.stall) <= STALLED);
  const summary = (name: string, list: typeof windows) => {
    if (list.length === 0) return print(`${name}: none`);
    const middle = (read: (one: (typeof windows)[number]) => number) => median(list.map(read));
    const [alone, busy] = [middle((one) => one.alone.p99), middle((one) => one.busy.p99)];
    print(
      `${name}: ${list.length} of ${pairs}; medians: p50 ${middle((one) => one.alone.p50).toFixed(1)} and ${middle((one) => one.busy.p50).toFixed(1)} ms, ` +
        `p99 ${alone.toFixed(1)} and ${busy.toFixed(1)} ms, ratio ${(busy / alone).toFixed(2)}, ` +
        `of single pairs ${middle((one) => one.busy.p99 / one.alone.p99).toFixed(2)}; ${middle((one) => one.events).toFixed(0)} events/s`,
    );
  };
  summary('all pairs', windows);
  summary(`pairs without a stall over ${STALLED} ms`, kept);
} finally {
  server.kill('SIGTERM');
  await new Promise((resolve) => server.once('exit', resolve));
  rmSync(folder, { recursive: true, force: true });
}
