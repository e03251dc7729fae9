// Parquet tables of whole numbers → a finished graph: several threads compared with the reader that goes row by row.
//
//   npm run build && node scripts/run-ts.js bench/reading.ts [rows] [--repeats 3] [--threads 1,2]
//
// Checks first that both graphs are equal to the last bit. Every timing is a process of its own, so that memory is that of the
// reading alone. The processes take turns, so that other work on the machine slows both. Prints ratios of one run.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fingerprint } from '../src/graph/fingerprint.js';
import type { BipartiteGraph } from '../src/graph/graph.js';
import { fillParquet } from '../src/ingest/formats/parquet.js';
import { readWithThreads } from '../src/ingest/formats/parquet-threads.js';
import { TableTarget } from '../src/ingest/intake/target.js';
import { literal, withDuckDB } from '../test/ingest/duckdb.js';
import { flag } from './flag.js';

const FILES = 4;

interface Timing {
  readonly seconds: number;
  readonly cpu: number;
  readonly megabytes: number;
  readonly graph: string;
}

if (process.argv[2] === 'one') await timeOne(Number(process.argv[3]), process.argv.slice(4));
else {
  const folder = mkdtempSync(join(tmpdir(), 'reading-'));
  try {
    await compare(folder, /^[\d.e]+$/.test(process.argv[2] ?? '') ? Number(process.argv[2]) : 2e7);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compare(folder: string, rows: number): Promise<void> {
  const paths = Array.from({ length: FILES }, (_, f) => join(folder, `rows-${f}.parquet`));
  const [users, items] = [Math.ceil(rows / 200), Math.ceil(rows / 2000)];
  await withDuckDB(cpus().length, async (connection) => {
    for (const path of paths) {
      await connection.run(
        `COPY (SELECT CAST(${users} * pow(random(), 1.5) AS INTEGER) u, CAST(${items} * pow(random(), 2) AS INTEGER) i
         FROM range(${Math.ceil(rows / FILES)})) TO ${literal(path)} (FORMAT parquet)`,
      );
    }
  });
  const threads = flag('--threads', '1,2').split(',').map(Number);
  const all = [0, ...threads];
  const best = new Map<number, Timing>();
  for (let r = 0; r < Number(flag('--repeats', '3')); r++) {
    for (const own of all) {
      const now: Timing = JSON.parse(
        execFileSync(process.execPath, [fileURLToPath(import.meta.url), 'one', String(own), ...paths], {
          encoding: 'utf8',
        }),
      );
      const before = best.get(own);
      if (now.graph !== (best.get(0) ?? now).graph)
        throw new Error(`${own} threads: ${now.graph}, row by row: ${best.get(0)?.graph}`);
      if (!before || now.seconds < before.seconds) best.set(own, now);
    }
  }
  const unit = best.get(0)!;
  console.log(`${rows} rows in ${FILES} files, ${unit.graph.split(' ')[0]} edges, proved equal`);
  for (const [own, { seconds, cpu, megabytes }] of best) {
    const who = own === 0 ? 'row by row' : `${own} thread${own === 1 ? '' : 's'}`;
    console.log(
      `${who.padEnd(12)} ${(seconds / unit.seconds).toFixed(3)} of its time, ${(cpu / unit.cpu).toFixed(3)} of its CPU time, ${megabytes} MB at most (${seconds.toFixed(2)} s)`,
    );
  }
}

async function timeOne(threads: number, paths: readonly string[]): Promise<void> {
  const began = performance.now();
  let graph: BipartiteGraph;
  if (threads === 0) {
    const target = new TableTarget({}, undefined, true);
    for (const path of paths) await fillParquet(path, {}, target);
    graph = target.finish('all').graph;
  } else {
    const result = await readWithThreads(paths, { threads });
    if (!result) throw new Error('the tables are not plain');
    graph = result.graph;
  }
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage();
  const hash = createHash('sha256');
  for (const side of [graph.users, graph.items]) hash.update(side.offsets).update(side.neighbors);
  const timing: Timing = {
    seconds,
    cpu: (user + system) / 1e6,
    megabytes: Math.round(process.resourceUsage().maxRSS / 1024),
    graph: `${graph.edges} ${fingerprint(graph)} ${hash.digest('hex')}`,
  };
  process.stdout.write(JSON.stringify(timing));
}
