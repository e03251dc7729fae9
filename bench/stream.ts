// A graph larger than memory: iterations that read one shard at a time within a limit of memory, compared with iterations that have
// all shards in memory.
//
//   npm run build && node scripts/run-ts.js bench/stream.ts [rows] [--memory 4G] [-k 32] [--shards 64] [--iterations 10]
//     [--users 2000000] [--items 50000] [--threads 2] [--cgroup /sys/fs/cgroup/memory/NAME] [--parts FOLDER]
//
// Each fit runs in a process of its own. The bench checks that both end with the same bits before it prints a figure. `--cgroup`
// names a control group with the same limit. The fit within the limit joins it, so that the system enforces the limit, for the file
// cache, too. `--parts` keeps the shards, and uses those that are there. Every row is an edge, except for a few repeated ones.

import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ALONE } from '../src/comm/communicator.js';
import { fitAscentShards } from '../src/shard/partition-ascent.js';
import { openPartition } from '../src/shard/partition-folder.js';
import { partitionGraph } from '../src/shard/partition-graph.js';
import { literal, withDuckDB } from '../test/ingest/duckdb.js';
import { flag } from './flag.js';

interface Measured {
  /** Seconds of an iteration, after the first few. */
  readonly seconds: number;
  /** Seconds before that. */
  readonly before: number;
  readonly megabytes: number;
  /** Gigabytes that the process had read from the disk. */
  readonly read: number;
  readonly inTurn: number;
  readonly hash: string;
  readonly edges: number;
}

const memory = flag('--memory', '4G');
const features = Number(flag('-k', '32'));
const shards = Number(flag('--shards', '64'));
const iterations = Number(flag('--iterations', '10'));
const threads = Number(flag('--threads', '2'));
const [users, items] = [Number(flag('--users', '2000000')), Number(flag('--items', '50000'))];

async function measure(folder: string, within: boolean): Promise<Measured> {
  const cgroup = flag('--cgroup', '');
  if (within && cgroup) appendFileSync(join(cgroup, 'cgroup.procs'), String(process.pid));
  const parts = await openPartition(folder);
  const began = performance.now();
  // The loop reports progress every few iterations.
  const steps: { readonly done: number; readonly at: number }[] = [];
  const fit = await fitAscentShards(parts, ALONE, {
    ...{ features, iterations, threads, tolerance: 1e-12, seed: 1 },
    ...(within && { within: { memory, path: join(folder, 'model'), byShard: true } }),
    onProgress: ({ done, unit }) => {
      if (unit === 'iterations' && done > 0) steps.push({ done, at: performance.now() });
    },
  });
  await fit.close();
  const [first, last] = [steps[0], steps[steps.length - 1]];
  if (!(last.done > first.done)) throw new Error('give more --iterations: none was timed');
  const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  const read = /^read_bytes: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1];
  return {
    seconds: (last.at - first.at) / 1000 / (last.done - first.done),
    before: (first.at - began) / 1000,
    megabytes: Math.round(Number(peak) / 1024),
    read: Number(read) / 1e9,
    ...{ inTurn: fit.streamedShards, hash: fit.stateHash, edges: parts.edges },
  };
}

const HOW = ['within', 'whole'] as const;
if ((HOW as readonly string[]).includes(process.argv[2])) {
  process.stdout.write(JSON.stringify(await measure(process.argv[3], process.argv[2] === 'within')));
} else {
  const rows = /^[\d.e]+$/.test(process.argv[2] ?? '') ? Number(process.argv[2]) : 1e7;
  const folder = mkdtempSync(join(process.env.BENCH_FOLDER ?? tmpdir(), 'stream-'));
  const parts = flag('--parts', join(folder, 'parts'));
  try {
    if (!existsSync(parts)) {
      const data = join(folder, 'rows.parquet');
      await withDuckDB(threads, async (connection) => {
        await connection.run('SET preserve_insertion_order = false');
        await connection.run(
          `COPY (SELECT CAST(floor(${users} * pow(random(), 1.3)) AS INTEGER) u, CAST(floor(${items} * pow(random(), 1.4)) AS INTEGER) i
           FROM range(${rows})) TO ${literal(data)} (FORMAT parquet)`,
        );
      });
      await partitionGraph(data, parts, { shards, memory: '2G', threads });
      rmSync(data);
    }
    const [own, whole] = HOW.map((how): Measured => {
      const flags = process.argv.slice(2).filter((value, at) => at > 0 || value.startsWith('-'));
      const all = [fileURLToPath(import.meta.url), how, parts, ...flags];
      return JSON.parse(execFileSync(process.execPath, all, { encoding: 'utf8' }));
    });
    if (own.hash !== whole.hash) throw new Error(`the bits differ: ${own.hash}, ${whole.hash}`);
    const nanoseconds = (seconds: number) => ((seconds / own.edges) * 1e9).toFixed(1);
    console.log(
      `${own.edges} edges, K = ${features}, ${threads} threads, ${own.inTurn} of ${shards} shards in turn within ${memory}: ` +
        `${own.megabytes} MB resident at most, ${nanoseconds(own.seconds)} ns an edge and iteration, ` +
        `${own.before.toFixed(0)} s until the first were timed, ${own.read.toFixed(1)} GB read from the disk`,
    );
    console.log(
      `all in memory: ${whole.megabytes} MB, ${nanoseconds(whole.seconds)} ns; ` +
        `in turn takes ${(own.seconds / whole.seconds).toFixed(2)} times as long`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
