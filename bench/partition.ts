// Rows of Parquet → shards within a limit of memory, compared with DuckDB's distinct and sort of the same file within the same limit.
//
//   npm run build && node scripts/run-ts.js bench/partition.ts [rows] [--memory 2G] [--shards 64] [--rounds 1]
//
// Checks first that both find the same number of edges. Each runs in a process of its own, in turn. Prints the ratio of their times
// and the largest resident memory of each.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { partitionGraph } from '../src/shard/partition-graph.js';
import { literal, withDuckDB } from '../test/ingest/duckdb.js';
import { flag } from './flag.js';

interface Measured {
  readonly seconds: number;
  readonly megabytes: number;
  readonly edges: number;
}

const memory = flag('--memory', '2G');
const shards = Number(flag('--shards', '64'));
const THREADS = 2;

const work: Readonly<Record<string, (data: string, folder: string) => Promise<number>>> = {
  async graphex(data, folder) {
    const { edges } = await partitionGraph(data, join(folder, 'cut'), { shards, memory, force: true });
    return edges;
  },
  async duckdb(data, folder) {
    const sorted = literal(join(folder, 'sorted.parquet'));
    return withDuckDB(THREADS, async (connection) => {
      await connection.run(`SET memory_limit = '${memory}B'`);
      await connection.run(`SET temp_directory = ${literal(join(folder, 'spilled'))}`);
      await connection.run(
        `COPY (SELECT DISTINCT u, i FROM ${literal(data)} ORDER BY u, i) TO ${sorted} (FORMAT parquet)`,
      );
      const rows = await connection.runAndReadAll(`SELECT count(*)::INTEGER FROM ${sorted}`);
      return Number(rows.getRows()[0][0]);
    });
  },
};

if (process.argv[2] in work) {
  const [, , who, data, folder] = process.argv;
  const began = performance.now();
  const edges = await work[who](data, folder);
  const seconds = (performance.now() - began) / 1000;
  const megabytes = Math.round(process.resourceUsage().maxRSS / 1024);
  process.stdout.write(JSON.stringify({ seconds, megabytes, edges } satisfies Measured));
} else {
  const rows = /^[\d.e]+$/.test(process.argv[2] ?? '') ? Number(process.argv[2]) : 1e7;
  const folder = mkdtempSync(join(process.env.BENCH_FOLDER ?? tmpdir(), 'partition-'));
  try {
    const data = join(folder, 'rows.parquet');
    await withDuckDB(THREADS, (connection) =>
      connection.run(
        `COPY (SELECT CAST(${rows / 100} * pow(random(), 1.5) AS INTEGER) u, CAST(${rows / 1000} * pow(random(), 2) AS INTEGER) i
         FROM range(${rows})) TO ${literal(data)} (FORMAT parquet)`,
      ),
    );
    for (let r = 0; r < Number(flag('--rounds', '1')); r++) {
      const [ours, theirs] = ['graphex', 'duckdb'].map((who): Measured => {
        const own = [fileURLToPath(import.meta.url), who, data, folder];
        const flags = ['--memory', memory, '--shards', String(shards)];
        return JSON.parse(execFileSync(process.execPath, [...own, ...flags], { encoding: 'utf8' }));
      });
      if (ours.edges !== theirs.edges) throw new Error(`${ours.edges} edges, DuckDB has ${theirs.edges}`);
      console.log(
        `${rows} rows, ${ours.edges} edges: ${(ours.seconds / theirs.seconds).toFixed(2)} times DuckDB's distinct and sort; ` +
          `${ours.megabytes} MB resident at most of ${memory}, DuckDB ${theirs.megabytes}`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
