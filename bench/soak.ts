// A soak of a living service: events, recommendations and refits; two kills of a refit, one of the server, one full disk.
//
//   npm run build && node scripts/run-ts.js bench/soak.ts [minutes, default 30] [recommendations a second] [events a second] [refits]
//
// At the end it checks that every acknowledged event is in the store once, and that all answers were 2xx, 429 or 503.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fit } from '../src/fit/fit.js';
import { loadDuckDb } from '../src/ingest/formats/duckdb-package.js';
import { randomStream } from '../src/math/random.js';
import { simulate } from '../src/process/poisson-model.js';
import type { EventRecord } from '../src/serve/request-log.js';
import { loadModel, saveModel } from '../src/store/model-file.js';

const minutes = Number(process.argv[2] ?? 30);
const rate = Number(process.argv[3] ?? 50);
const eventRate = Number(process.argv[4] ?? 1000);
const BATCH = 100;
const USERS = 2000;
/**
 * Users of a group take the items of the group, some more often than others. The items in fashion change: each group has
 * ITEMS_IN_FASHION at a time, and NEW_ITEMS others appear in the whole run. More would make refits ever longer.
 */
const GROUPS = 8;
const ITEMS_IN_FASHION = 60;
const NEW_ITEMS = 60;
/** Refits in the whole run, if each ends before the next is due. */
const refits = Number(process.argv[5] ?? 15);
const print = (text: string) => process.stdout.write(`${text}\n`);
const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const folder = mkdtempSync(join(tmpdir(), 'graphex-soak-'));
const path = join(folder, 'model.safetensors');
const store = join(folder, 'events.duckdb');
const port = 20_000 + (process.pid % 20_000);
const url = `http://127.0.0.1:${port}`;
const random = randomStream(11, 1);
const statuses: Record<string, number> = {};
/** Answers with 503 by route and kind of problem. */
const refused: Record<string, number> = {};
const acknowledged = new Set<string>();
/** In MiB. */
const memory: { readonly minute: number; readonly resident: number; readonly heap: number }[] = [];
let unreachable = 0;
let over = false;
let began = 0;
let items: string[] = [];
let server: ChildProcess | undefined;

/** Shows what the server says of its refits and its store. */
function readLog(line: string): void {
  if (!line.includes('"event":"')) return;
  const { time, event, detail } = JSON.parse(line) as EventRecord;
  if (event === 'refit' || event === 'refit-failed' || event === 'store-failed')
    print(`  ${time} ${event}: ${detail}`);
}

async function startServer(): Promise<void> {
  const every = `${Math.max(10, Math.round((60 * minutes) / refits))}s`;
  const command = [
    'bin/graphex.js',
    'serve',
    path,
    '--port',
    String(port),
    '--store',
    store,
    '--refit',
    every,
  ];
  server = spawn('bash', ['-c', `trap "" XFSZ; exec ${process.execPath} ${command.join(' ')}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (server.stderr) createInterface({ input: server.stderr }).on('line', readLog);
  for (let i = 0; i < 600; i++) {
    if (
      await fetch(`${url}/health/ready`).then(
        (answer) => answer.ok,
        () => false,
      )
    )
      return;
    await sleep(100);
  }
  throw new Error('the server does not start');
}

async function ask(where: string, body?: unknown): Promise<{ status: number; body: never } | undefined> {
  try {
    const answer = await fetch(`${url}${where}`, {
      ...(body !== undefined && {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    const json = (await answer.json()) as never;
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    if (answer.status === 503) {
      const why = `${where} ${(json as { type: string }).type}`;
      refused[why] = (refused[why] ?? 0) + 1;
    }
    return { status: answer.status, body: json };
  } catch {
    // The server was killed and is starting again.
    unreachable++;
    return undefined;
  }
}

/** Calls `work` at a rate, whether or not earlier calls have ended. */
async function paced(perSecond: number, work: (at: number) => Promise<void>): Promise<void> {
  const open = new Set<Promise<void>>();
  const began = performance.now();
  for (let at = 0; !over; at++) {
    const wait = began + (1000 * at) / perSecond - performance.now();
    if (wait > 0) await sleep(wait);
    while (open.size > 64) await Promise.race(open);
    const one: Promise<void> = work(at).finally(() => open.delete(one));
    open.add(one);
  }
  await Promise.all(open);
}

const userName = (number: number) => `soak ${number}`;

function takenItem(number: number): string {
  const first = Math.floor((NEW_ITEMS * (performance.now() - began)) / (60_000 * minutes));
  const place = first + Math.floor(ITEMS_IN_FASHION * random.uniform() ** 2);
  return items[(number % GROUPS) + GROUPS * (place % Math.floor(items.length / GROUPS))];
}

async function postEvents(at: number): Promise<void> {
  const events = Array.from({ length: BATCH }, (_, i) => {
    const number = random.below(USERS);
    return { user: userName(number), item: takenItem(number), id: `${at} ${i}` };
  });
  const answer = await ask('/v1/events', events);
  if (answer?.status === 202) for (const { id } of events) acknowledged.add(id);
}

async function recommend(): Promise<void> {
  await ask('/v1/recommend', { user: userName(random.below(USERS)), n: 20 });
}

async function watchMemory(): Promise<void> {
  while (!over) {
    const text = await fetch(`${url}/metrics`).then(
      (answer) => answer.text(),
      () => '',
    );
    const mebibytes = (name: string) => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1]) / 2 ** 20;
    const [resident, heap] = [
      mebibytes('process_resident_memory_bytes'),
      mebibytes('nodejs_heap_size_used_bytes'),
    ];
    if (resident > 0) memory.push({ minute: (performance.now() - began) / 60_000, resident, heap });
    await sleep(2000);
  }
}

/** Prints the progress of a refit twice a minute, so that one that never ends can be located. */
async function watchRefits(): Promise<void> {
  while (!over) {
    const answer = await ask('/v1/models');
    const refit = (answer?.body as { refit?: { progress?: string; process?: number } } | undefined)?.refit;
    if (refit?.process !== undefined)
      print(`  refit ${refit.process}: ${refit.progress ?? ''} (load ${loadavg()[0].toFixed(0)})`);
    for (let i = 0; i < 30 && !over; i++) await sleep(1000);
  }
}

async function killRefit(): Promise<string> {
  await ask('/v1/refit', {});
  for (let i = 0; i < 200; i++) {
    const answer = await ask('/v1/models');
    const pid = (answer?.body as { refit?: { process?: number } } | undefined)?.refit?.process;
    if (pid !== undefined) {
      process.kill(pid, 'SIGKILL');
      return `killed the refit ${pid}`;
    }
    await sleep(50);
  }
  return 'no refit was running';
}

const faults: readonly [share: number, fault: () => Promise<string>][] = [
  [0.2, killRefit],
  [
    0.4,
    async () => {
      server?.kill('SIGKILL');
      await sleep(500);
      await startServer();
      return 'killed the server and started it again';
    },
  ],
  [
    0.6,
    async () => {
      const limit = (bytes: string) =>
        spawnSync('prlimit', ['--pid', String(server?.pid), `--fsize=${bytes}:unlimited`]);
      limit('1');
      await sleep(5000);
      limit('unlimited');
      return 'the disk was full for 5 s';
    },
  ],
  [0.8, killRefit],
];

try {
  const side = { sigma: 0.3, tau: 1, shape: 0.3, rate: 0.3, size: 200 };
  const { graph } = await simulate({ users: side, items: side, features: 8, seed: 1 });
  await saveModel(path, (await fit(graph, { features: 8, iterations: 10 })).model);
  const model = await loadModel(path);
  items = Array.from({ length: model.items.count }, (_, i) => model.items.ids.at(i));
  print(`${cpus()[0].model}, ${cpus().length} cores, Node ${process.version}`);
  print(`${minutes} minutes, ${rate} recommendations/s, ${eventRate} events/s, ${items.length} items`);
  await startServer();
  began = performance.now();
  const work = [paced(rate, recommend), paced(eventRate / BATCH, postEvents), watchMemory(), watchRefits()];
  for (const [share, fault] of faults) {
    await sleep(Math.max(0, began + share * 60_000 * minutes - performance.now()));
    print(`minute ${((performance.now() - began) / 60_000).toFixed(1)}: ${await fault()}`);
  }
  await sleep(Math.max(0, began + 60_000 * minutes - performance.now()));
  const { body } = (await ask('/v1/models')) as { body: { generations: readonly { accepted: boolean }[] } };
  over = true;
  await Promise.all(work);
  server?.kill('SIGTERM');
  await new Promise((resolve) => server?.once('exit', resolve));

  const { DuckDBInstance } = await loadDuckDb('the soak');
  const connection = await (await DuckDBInstance.create(store, {})).connect();
  const rows = await connection.runAndReadAll(
    'SELECT id, count(*)::INTEGER FROM events WHERE id IS NOT NULL GROUP BY id',
  );
  const found = new Map(rows.getRowsJson() as [string, number][]);
  const lost = [...acknowledged].filter((id) => !found.has(id)).length;
  const twice = [...found.values()].filter((times) => times > 1).length;
  const wrong = Object.keys(statuses).filter((status) => !/^(2\d\d|429|503)$/.test(status));
  print(`answers ${JSON.stringify(statuses)}; ${unreachable} while the server was down`);
  print(`503 by route and problem: ${JSON.stringify(refused)}`);
  print(
    `refits that ended: ${body.generations.length}; ${body.generations.filter(({ accepted }) => accepted).length} took over`,
  );
  print(`events acknowledged ${acknowledged.size}, lost ${lost}, stored twice ${twice}`);
  const every = minutes / 15;
  const shown = memory.filter(
    ({ minute }, i) => i === 0 || Math.floor(minute / every) > Math.floor(memory[i - 1].minute / every),
  );
  print(
    `memory by minute: ${shown.map(({ minute, resident, heap }) => `${minute.toFixed(1)}: ${resident.toFixed(0)} MiB (heap ${heap.toFixed(0)})`).join(', ')}`,
  );
  const third = memory.slice(-Math.ceil(memory.length / 6));
  const early = memory.slice(Math.floor(memory.length / 2), Math.floor(memory.length / 2) + third.length);
  const mean = (list: typeof memory) => list.reduce((sum, { resident }) => sum + resident, 0) / list.length;
  print(
    `memory ${mean(early).toFixed(0)} MiB after half of the time, ${mean(third).toFixed(0)} MiB at the end`,
  );
  if (lost > 0 || twice > 0 || wrong.length > 0)
    throw new Error(`the service broke its word: ${lost}, ${twice}, ${wrong}`);
} finally {
  over = true;
  server?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
