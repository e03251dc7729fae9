// What the constants of the server's queue are worth: servers that differ in one constant take turns.
//
//   npm run build && node scripts/run-ts.js bench/queue.ts [seconds a stage] [rounds] [only=NAME,…]
//
// A variant is a copy of dist in which one constant has another value. Each round asks for single lists at half of the highest rate,
// then at twice that rate, then at half of it while two clients post long batches with explanations. It prints the medians over the rounds.

import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { saveModel } from '../src/store/model-file.js';
import { pacedLoad } from './serve-load.js';
import { body, histories, N, randomRanker, shoot, startServer } from './serve-target.js';

const VARIANTS: Readonly<Record<string, readonly [file: string, from: string, to: string]>> = {
  'as built': ['work-queue', '', ''],
  'no shrinking under overload': ['work-queue', 'OVERLOADED_AFTER = 25', 'OVERLOADED_AFTER = 1e9'],
  'shrinks at once': ['work-queue', 'OVERLOADED_AFTER = 25', 'OVERLOADED_AFTER = 0'],
  'pieces in the order of arrival': ['work-queue', 'PIECE_STEP = 10', 'PIECE_STEP = 0'],
  'no time slices': ['queries', 'SLICE = 25', 'SLICE = 1e9'],
  'one request at a time': ['queries', 'BATCH_SIZE = 16', 'BATCH_SIZE = 1'],
  'workers of equal priority': ['serving-tasks', 'NICER = 1', 'NICER = 0'],
};

const [seconds, rounds] = [Number(process.argv[2] ?? 3), Number(process.argv[3] ?? 5)];
const only = process.argv
  .find((word) => word.startsWith('only='))
  ?.slice(5)
  .split(',');
const names = Object.keys(VARIANTS).filter((name) => !only || name === 'as built' || only.includes(name));
const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1];
const folder = mkdtempSync(join(tmpdir(), 'graphex-queue-'));
const [items, features] = [20_000, 100];

function copyWith([file, from, to]: readonly [string, string, string], at: string): void {
  for (const name of ['dist', 'bin', 'package.json'])
    cpSync(resolve(name), join(at, name), { recursive: true });
  symlinkSync(resolve('node_modules'), join(at, 'node_modules'));
  const path = join(at, 'dist/serve', `${file}.js`);
  const text = readFileSync(path, 'utf8');
  if (!text.includes(from)) throw new Error(`${path} has no ${from}`);
  writeFileSync(path, text.replace(from, to));
}

const children: { kill(): void }[] = [];
try {
  const path = join(folder, 'model.safetensors');
  await saveModel(path, randomRanker(items, features));
  const users = histories(items, 1000);
  const bodies = users.map(body);
  const batch = JSON.stringify({
    requests: users.slice(0, 200).map((likes) => ({ likes, n: N, explain: true })),
  });
  const servers = new Map<string, string>();
  for (const [at, name] of names.entries()) {
    const own = join(folder, String(at));
    copyWith(VARIANTS[name], own);
    const { process: child, url } = await startServer(path, ['--threads', '1'], join(own, 'bin/graphex.js'));
    children.push(child);
    servers.set(name, url);
    await shoot(url, '/v1/recommend', bodies, { duration: 1 });
  }
  const highest = await shoot(servers.get('as built')!, '/v1/recommend', bodies, { duration: 2 });
  const rate = highest.requests.average;
  process.stdout.write(`highest rate ${rate.toFixed(0)}/s; ${seconds} s a stage, ${rounds} rounds\n`);
  const found = new Map<string, number[][]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 ? [...names].reverse() : names) {
      const url = servers.get(name)!;
      const at = (times: number) =>
        pacedLoad({ url, path: '/v1/recommend', bodies, rate: times * rate, seconds });
      const half = await at(0.5);
      const twice = await at(2);
      const [single, batches] = await Promise.all([
        at(0.25),
        shoot(url, '/v1/recommend/batch', [batch], { duration: seconds, connections: 2 }),
      ]);
      found
        .get(name)!
        .push([
          half.p50,
          half.p99,
          twice.p99,
          (twice.statuses['200'] ?? 0) / seconds,
          single.p99,
          batches.requests.average,
        ]);
    }
  }
  const titles = ['half p50', 'half p99', 'twice p99', 'twice answers/s', 'with batches p99', 'batches/s'];
  process.stdout.write(`| | ${titles.join(' | ')} |\n`);
  for (const [name, values] of found) {
    const cells = titles.map((_, at) => median(values.map((one) => one[at])).toPrecision(3));
    process.stdout.write(`| ${name} | ${cells.join(' | ')} |\n`);
  }
} finally {
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
