// A server with a store that is killed, whose refits are killed and whose disk is full: every event that was acknowledged
// is there once. Real processes, sockets and DuckDB. GRAPHEX_LONG=1 kills twenty times as often.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, createReadStream, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { openEventStore } from '../../src/events/event-store.js';
import { fit } from '../../src/fit/fit.js';
import { randomStream } from '../../src/math/random.js';
import { simulate } from '../../src/process/poisson-model.js';
import { loadModel, saveModel } from '../../src/store/model-file.js';
import { scratchFolder } from '../ingest/scratch.js';

vi.setConfig({ testTimeout: 600_000 });
const root = join(import.meta.dirname, '../..');
const scratch = scratchFolder();
const path = scratch.path('model.safetensors');
const random = randomStream(17, 0x9);
const KILLS = process.env.GRAPHEX_LONG ? 60 : 3;
const CLIENTS = [0, 1, 2, 3];
const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
let items: string[];

beforeAll(async () => {
  const side = { sigma: 0.3, tau: 1, shape: 0.3, rate: 0.3, size: 40 };
  const { graph } = await simulate({ users: side, items: side, features: 4, seed: 1 });
  await saveModel(path, (await fit(graph, { features: 4, iterations: 10, threads: 1 })).model);
  const model = await loadModel(path);
  items = Array.from({ length: model.items.count }, (_, i) => model.items.ids.at(i));
});

/** A small disk, if this process may mount one. */
const disk = ((): string | undefined => {
  const folder = scratch.path('disk');
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    process.stdout.write('skipped: a test of a full disk, which needs the right to mount one\n');
    return undefined;
  }
})();
// Before the folder itself is removed.
afterAll(() => void (disk && execFileSync('umount', [disk])));

let child: ChildProcess;
let url: string;
afterEach(() => void child?.kill('SIGKILL'));

/** `graphex serve` in a process of its own, under limits of the shell. */
async function start(store: string, shell = ''): Promise<void> {
  const serve = `exec node bin/graphex.js serve '${path}' --port 0 --json --quiet --threads 1 --store '${store}'`;
  // A write beyond the limit of a file's size is an error, not the end of the process.
  child = spawn('bash', ['-c', `trap "" XFSZ; ${shell} ${serve}`], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout?.once('data', (data) => resolve(String(data)));
    child.once('exit', (status) => reject(new Error(`the server ended with ${status}`)));
  });
  url = JSON.parse(line).url;
}

async function kill(): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

/** Files of the server may have at most this many bytes. */
const limitFiles = (bytes: number | 'unlimited') =>
  execFileSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:unlimited`]);

/** The answer; undefined if the server is gone. */
async function ask(where: string, body?: unknown) {
  try {
    const response = await fetch(`${url}${where}`, {
      ...(body !== undefined && {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: what a client gets is whatever the server sends
    return { status: response.status, body: (await response.json()) as any };
  } catch {
    return undefined;
  }
}

/** The event with an id that ends with client, batch and position, so that a retry posts the same event. */
function eventOf(id: string) {
  const [client, , i] = id.split(' ').slice(-3);
  return { user: `user ${client}`, item: `${'long item '.repeat(8)}${i}`, id };
}

/** Posts batches from several clients until `isOver`; returns the ids of events that were acknowledged. */
async function postUntil(
  name: string,
  isOver: (status: number | undefined, acknowledged: number) => boolean,
) {
  const acknowledged: string[] = [];
  const statuses = new Set<number | undefined>();
  const problems = new Set<string>();
  await Promise.all(
    CLIENTS.map(async (client) => {
      for (let batch = 0; ; batch++) {
        const events = Array.from({ length: 50 }, (_, i) => {
          return eventOf(`${name} ${client} ${batch} ${i}`);
        });
        const answer = await ask('/v1/events', events);
        if (answer?.body.detail) problems.add(answer.body.detail);
        statuses.add(answer?.status);
        if (answer?.status === 202) acknowledged.push(...events.map(({ id }) => id));
        if (isOver(answer?.status, acknowledged.length)) break;
      }
    }),
  );
  return { acknowledged, statuses: [...statuses].sort(), problems: [...problems] };
}

/** Posts now and then until some events are acknowledged. */
async function postAgain(name: string, attempts = 100): Promise<string[]> {
  for (let i = 0; i < attempts; i++) {
    const { acknowledged } = await postUntil(
      `${name} ${i}`,
      (status, count) => status !== 202 || count > 500,
    );
    if (acknowledged.length > 0) return acknowledged;
    await sleep(100);
  }
  return [];
}

/** Ids of acknowledged events that the store lacks, and the number of those that it has twice. */
async function broken(store: string, acknowledged: readonly string[]) {
  const opened = await openEventStore(store);
  const events = await Promise.all(CLIENTS.map((client) => opened.eventsOf(`user ${client}`, 1_000_000)));
  await opened.close();
  const stored = events.flat().map(({ id }) => id as string);
  const known = new Set(stored);
  return { lost: acknowledged.filter((id) => !known.has(id)).length, twice: stored.length - known.size };
}
const SOUND = { lost: 0, twice: 0 };

describe('no acknowledged event is lost', () => {
  it('after kill -9 of the server and of its refits at random moments, each event once', async () => {
    const store = scratch.path('killed.duckdb');
    const all: string[] = [];
    let refits = 0;
    for (let n = 0; n < KILLS; n++) {
      await start(store);
      // Posts the last events, some of them unanswered, once more: each counts once.
      const again = all.slice(-50).map(eventOf);
      if (again.length > 0) expect((await ask('/v1/events', again))?.status).toBe(202);
      const ended = (async () => {
        await sleep(300 + 1200 * random.uniform());
        await kill();
      })();
      const killRefit = async () => {
        await ask('/v1/refit', {});
        for (;;) {
          const answer = await ask('/v1/models');
          if (!answer || answer.body.refit.running === false) return;
          const pid = answer.body.refit.process;
          if (pid === undefined) continue;
          await sleep(400 * random.uniform());
          if (random.uniform() < 0.5 && spawnSync('kill', ['-9', String(pid)]).status === 0) refits++;
          return;
        }
      };
      const [{ acknowledged }] = await Promise.all([
        postUntil(`kill ${n}`, (status) => status === undefined),
        killRefit(),
        ended,
      ]);
      all.push(...acknowledged);
    }
    process.stdout.write(`${all.length} events acknowledged, ${refits} refits killed\n`);
    expect(all.length).toBeGreaterThan(500);
    expect(await broken(store, all)).toEqual(SOUND);
    // The model that is served is whole, and refits that were killed leave nothing.
    await start(store);
    expect((await ask('/v1/recommend', { likes: [items[3]] }))?.status).toBe(200);
    expect(readdirSync(join(path, '..')).filter((name) => /\.part$|\.refit\./.test(name))).toEqual([]);
  });

  it('when the disk is full: 503, and events are accepted again once there is space', async () => {
    const store = scratch.path('full.duckdb');
    // In blocks of 1024 bytes: the log of the database grows until it reaches the limit.
    await start(store, 'ulimit -S -f 1600;');
    const full = await postUntil('full', (status) => status !== 202);
    expect(full.statuses).toEqual([202, 503]);
    expect(full.acknowledged.length).toBeGreaterThan(0);
    expect(full.problems.join()).toMatch(
      /full\.duckdb: the disk is full or cannot be written; free some space/,
    );
    expect((await ask('/v1/recommend', { likes: [items[3]] }))?.status).toBe(200);
    // The database is opened again in vain, and the reason is told once.
    limitFiles(1);
    await sleep(1100);
    const again = await ask('/v1/events', { user: 'ann', item: items[3] });
    expect(again?.status).toBe(503);
    expect(again?.body.detail.split('full.duckdb: ')).toHaveLength(2);
    limitFiles('unlimited');
    const after = await postAgain('after');
    expect(after.length).toBeGreaterThan(0);
    await kill();
    expect(await broken(store, [...full.acknowledged, ...after])).toEqual(SOUND);
  });

  it('when a query still holds the database that a full disk has broken', async () => {
    const store = scratch.path('held.duckdb');
    await start(store);
    // The export for a refit waits until somebody reads the pipe.
    const pipe = `${store}.refit.parquet`;
    execFileSync('mkfifo', [pipe]);
    const before = await postAgain('before');
    expect((await ask('/v1/refit', {}))?.status).toBe(202);
    await sleep(200);
    limitFiles(1);
    const full = await postUntil('full', (status) => status !== 202);
    expect(full.statuses).toContain(503);
    limitFiles('unlimited');
    // No new database may be opened before the broken one has ended, because its end would remove the new log.
    const during = await postAgain('during', 20);
    createReadStream(pipe).resume();
    const after = await postAgain('after');
    expect(after.length).toBeGreaterThan(0);
    await kill();
    rmSync(pipe, { force: true });
    expect(await broken(store, [...before, ...full.acknowledged, ...during, ...after])).toEqual(SOUND);
  });

  it.skipIf(!disk)('when the disk is full while the log is written to the database', async () => {
    const store = await openEventStore(join(disk as string, 'events.duckdb'));
    const acknowledged: string[] = [];
    const post = async (batch: string) => {
      const events = Array.from({ length: 5000 }, (_, i) => ({
        user: `user ${i % 4}`,
        item: `${'long item '.repeat(40)}${i}`,
        time: i,
        weight: 1,
        id: `${batch} ${i}`,
      }));
      await store.add(events);
      acknowledged.push(...events.map(({ id }) => id));
    };
    let why = '';
    for (let at = 0; why === ''; at++) await post(`${at}`).catch(({ message }) => (why = message));
    expect(why).toMatch(/the disk is full.*checkpoint/);
    // The store as a process leaves it that is killed now.
    const copy = scratch.path('checkpoint.duckdb');
    for (const end of ['', '.wal']) cpSync(`${store.path}${end}`, `${copy}${end}`);
    expect((await broken(copy, acknowledged)).lost).toBe(0);
    execFileSync('mount', ['-o', 'remount,size=200m', disk as string]);
    for (let at = 0, before = acknowledged.length; at < 50 && acknowledged.length === before; at++) {
      await sleep(100);
      await post(`after ${at}`).catch(() => {});
    }
    await store.close();
    expect(store.failure).toBeUndefined();
    expect(await broken(store.path, acknowledged)).toEqual(SOUND);
  });
});
