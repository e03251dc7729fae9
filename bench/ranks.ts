// Ranks on one host: strong scaling over 1, 2 and 4 of them, what they exchange, and how fast data become parts.
//
//   npm run build && node scripts/run-ts.js bench/ranks.ts [edges] [-k 32] [--items 10000] [--rows 5e6]
//
// Everything is printed as ratios of one run: the machine may have other work. All numbers of ranks have one thread each and
// are proved to come to the same bits. `--rows` are partitioned beside DuckDB's own sort of the same file; 0 leaves that out.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { ALONE, type Communicator } from '../src/comm/communicator.js';
import { launchedRanks, openMpi } from '../src/comm/mpi.js';
import { fitParts } from '../src/shard/fit.js';
import { partitionGraph } from '../src/shard/partition.js';
import { openParts } from '../src/shard/parts.js';
import { flag } from './flag.js';

const edges = /^[\d.e]+$/.test(process.argv[2] ?? '') ? Number(process.argv[2]) : 2e6;
const features = Number(flag('-k', '32'));
const items = Number(flag('--items', '10000'));
const rows = Number(flag('--rows', '5e6'));
/** Iterations that are timed come after so many. */
const BEFORE = 5;
const TIMED = 15;
const SHARDS = 8;

interface Measured {
  /** Of an iteration. */
  readonly ms: number;
  readonly exchangeMs: number;
  /** Of rank 0 alone: what it computes, and what MPI spins while it waits. */
  readonly cpuMs: number;
  readonly bytes: number;
  readonly state: string;
}

/** The same ranks, counting what they add up and how long that takes. */
function counting(communicator: Communicator, told: { bytes: number; ms: number }): Communicator {
  return {
    ...communicator,
    async sum(values) {
      const began = performance.now();
      await communicator.sum(values);
      told.ms += performance.now() - began;
      if (communicator.size > 1) told.bytes += values.byteLength;
    },
  };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function asRank(folder: string): Promise<void> {
  const launched = launchedRanks();
  const communicator = launched ? await openMpi(launched) : ALONE;
  const told = { bytes: 0, ms: 0 };
  const points: { at: number; cpu: number; bytes: number; ms: number }[] = [];
  const fitted = await fitParts(await openParts(folder), counting(communicator, told), {
    ...({ features, iterations: BEFORE + TIMED, tolerance: 0, threads: 1, engine: 'cpu', seed: 1 } as const),
    start: 'cold',
    onProgress: ({ unit }) => {
      if (unit === 'iterations') points.push({ at: performance.now(), cpu: cpuMs(), ...told });
    },
  });
  const [first, last] = [points[0], points[points.length - 1]];
  const measured: Measured = {
    ms: (last.at - first.at) / TIMED,
    exchangeMs: (last.ms - first.ms) / TIMED,
    cpuMs: (last.cpu - first.cpu) / TIMED,
    bytes: (last.bytes - first.bytes) / TIMED,
    state: fitted.hash,
  };
  if (communicator.rank === 0) process.stdout.write(`${JSON.stringify(measured)}\n`);
  await communicator.close();
}

function onRanks(folder: string, ranks: number): Measured {
  const own = [process.execPath, process.argv[1], String(edges), '-k', String(features), '--rank', folder];
  const launcher = ['mpirun', '--oversubscribe', '--bind-to', 'none', '-n', String(ranks)];
  const [command, ...rest] = ranks === 1 ? own : [...launcher, ...own];
  const env = { ...process.env, OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' };
  const { status, stdout, stderr } = spawnSync(command, rest, { encoding: 'utf8', env });
  if (status !== 0) throw new Error(`${command} with ${ranks} ranks: ${stderr}`);
  return JSON.parse(stdout);
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

async function main(folder: string): Promise<void> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  await connection.run("SET memory_limit = '1GB'");
  const write = (path: string, count: number) =>
    connection.run(
      `COPY (SELECT CAST(${4 * items} * pow(random(), 1.5) AS INTEGER) AS u, CAST(${items} * pow(random(), 2) AS INTEGER) AS i
       FROM range(${count})) TO '${path}' (FORMAT parquet)`,
    );
  if (rows > 0) {
    const [data, sorted] = [join(folder, 'rows.parquet'), join(folder, 'sorted.parquet')];
    await write(data, rows);
    const order = () =>
      connection.run(
        `COPY (SELECT DISTINCT u, i FROM '${data}' ORDER BY u, i) TO '${sorted}' (FORMAT parquet)`,
      );
    const cut = () =>
      partitionGraph(data, join(folder, 'cut'), { shards: SHARDS, memory: '1G', force: true });
    const ratios: number[] = [];
    for (let r = 0; r < 3; r++) ratios.push((await seconds(cut)) / (await seconds(order)));
    ratios.sort((a, b) => a - b);
    console.log(
      `partition of ${rows} rows: ${ratios[1].toFixed(2)} times DuckDB's distinct and sort of them (${ratios[0].toFixed(2)} to ${ratios[2].toFixed(2)})`,
    );
  }
  await write(join(folder, 'few.parquet'), edges);
  const parts = join(folder, 'parts');
  const cut = await partitionGraph(join(folder, 'few.parquet'), parts, { shards: SHARDS });
  console.log(`${cut.edges} edges, ${cut.users} × ${cut.items}, ${features} features, one thread each`);
  const one = onRanks(parts, 1);
  for (const ranks of [1, 2, 4]) {
    const now = ranks === 1 ? one : onRanks(parts, ranks);
    if (now.state !== one.state) throw new Error(`${ranks} ranks came to other bits than one`);
    const sent =
      ranks === 1 ? '' : `, ${(now.bytes / (8 * cut.items * features)).toFixed(3)} of 8·I·K bytes added up`;
    console.log(
      `${ranks} ranks: ${(now.ms / one.ms).toFixed(2)} of the time of one, ${(now.cpuMs / one.cpuMs).toFixed(2)} of its CPU time on rank 0, ${((100 * now.exchangeMs) / now.ms).toFixed(0)} % of it in exchange, waiting included${sent}`,
    );
  }
}

const asked = process.argv.indexOf('--rank');
if (asked >= 0) await asRank(process.argv[asked + 1]);
else {
  const folder = mkdtempSync(join(tmpdir(), 'ranks-'));
  try {
    await main(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
