// What shards and ranks cost, on generated data: the sharded engine compared with the plain one, strong and weak scaling over MPI
// ranks, the bytes they send compared with the formula, and the fraction of the time in the exchange.
//
//   npm run build && node scripts/run-ts.js bench/scale.ts [edges] [-k 32] [--items 41700] [--users 41700] [--shards 10]
//     [--runs 1x1,2x1,4x1,1x2] [--weak 1x1,2x1] [--threads 2] [--rounds 3] [--only plain|strong|weak] [--launcher "mpirun …"]
//
// 2x1 is 2 ranks of 1 thread. The first of `--runs` is what the others are compared with; `--weak` has as many edges and users
// for each rank as the first has. Figures are ratios of medians over rounds in which all take turns, so that other
// work on the machine slows all. The bench first checks that all end with the same bits (the plain engine: the same numbers).

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { ALONE, type Communicator } from '../src/comm/communicator.js';
import { launchedRanks, openMpi } from '../src/comm/mpi.js';
import { createCpuEngine } from '../src/engine/cpu/cpu-engine.js';
import type { Engine, SideHyper, Table, TableValues } from '../src/engine/engine.js';
import { createShardedEngine, type ShardedEngine } from '../src/engine/sharded/sharded-engine.js';
import { type EdgeRows, transposeRows } from '../src/math/csr.js';
import { allocate } from '../src/math/memory.js';
import { randomStream } from '../src/math/random.js';
import { flag } from './flag.js';

interface Shape {
  readonly edges: number;
  readonly users: number;
  readonly items: number;
  readonly features: number;
  readonly shards: number;
}

const shape: Shape = {
  edges: /^[\d.e]+$/.test(process.argv[2] ?? '') ? Number(process.argv[2]) : 10e6,
  users: Number(flag('--users', '41700')),
  items: Number(flag('--items', '41700')),
  features: Number(flag('-k', '32')),
  shards: Number(flag('--shards', '10')),
};
const hyper: SideHyper = { sigma: 0.2, tau: 1, shape: 0.1, rate: 0.1, size: 1000 };
const BEFORE = 3;
const TIMED = Number(flag('--iterations', '10'));
const ROUNDS = Number(flag('--rounds', '3'));

/** Rows of users with ascending items: degrees are Pareto, items of a power law. A shard is the same wherever it is made. */
function shardRows({ edges, users, items, shards }: Shape, shard: number): EdgeRows {
  const random = randomStream(1, shard);
  const count = Math.floor(((shard + 1) * users) / shards) - Math.floor((shard * users) / shards);
  const offsets = allocate(Uint32Array, count + 1);
  const mean = edges / users;
  const degrees = Uint32Array.from({ length: count }, () =>
    Math.min(items / 4, 1 + 0.55 * mean * random.uniform() ** -0.5),
  );
  const neighbors = allocate(
    Uint32Array,
    degrees.reduce((sum, degree) => sum + degree, 0),
  );
  let end = 0;
  for (let i = 0; i < count; i++) {
    const row = new Uint32Array(degrees[i]);
    for (let e = 0; e < row.length; e++) row[e] = items * random.uniform() ** 1.7;
    row.sort();
    for (let e = 0; e < row.length; e++) if (e === 0 || row[e] > row[e - 1]) neighbors[end++] = row[e];
    offsets[i + 1] = end;
  }
  return { offsets, neighbors: neighbors.subarray(0, end), counts: undefined };
}

function joinedRows(parts: readonly EdgeRows[]): EdgeRows {
  const offsets = allocate(Uint32Array, 1 + parts.reduce((sum, part) => sum + part.offsets.length - 1, 0));
  const neighbors = allocate(
    Uint32Array,
    parts.reduce((sum, part) => sum + part.neighbors.length, 0),
  );
  let row = 0;
  let edge = 0;
  for (const part of parts) {
    neighbors.set(part.neighbors, edge);
    for (let i = 1; i < part.offsets.length; i++) offsets[++row] = edge + part.offsets[i];
    edge += part.neighbors.length;
  }
  return { offsets, neighbors, counts: undefined };
}

/** Values that follow from the row's number alone. */
function values(first: number, rows: number, features: number, side: number): TableValues {
  const draw = (n: number, low: number, salt: number, from: number) => {
    const drawn = new Float32Array(n);
    for (let i = 0; i < n; i++) {
      const mixed = Math.imul((from + i) ^ (side << 28), 0x9e3779b1) ^ Math.imul(salt, 0x85ebca6b);
      drawn[i] = low + (Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d) >>> 8) / 2 ** 24;
    }
    return drawn;
  };
  const cells = rows * features;
  return {
    weightShape: draw(rows, 1, 1, first),
    weightRate: draw(rows, 1, 2, first),
    featureShape: draw(cells, 0.1, 3, first * features),
    featureRate: draw(cells, 5, 4, first * features),
  };
}

interface Data {
  readonly users: EdgeRows;
  readonly items: EdgeRows;
  readonly first: number;
  readonly bounds: readonly number[];
}

/** The shards of a rank. */
function dataOf(given: Shape, first: number, last: number): Data {
  const parts = Array.from({ length: last - first }, (_, s) => shardRows(given, first + s));
  const bounds = [0];
  for (const { offsets } of parts) bounds.push(bounds[bounds.length - 1] + offsets.length - 1);
  const users = joinedRows(parts);
  return {
    users,
    items: transposeRows(users, given.items),
    first: Math.floor((first * given.users) / given.shards),
    bounds,
  };
}

async function open(engine: Engine, { users, items, first }: Data, { features, items: count }: Shape) {
  const rows = users.offsets.length - 1;
  const own = await engine.createTable(features, values(first, rows, features, 0), 'geometric', true);
  const other = await engine.createTable(features, values(0, count, features, 1), 'geometric');
  const byUser = await engine.createIndex(users, { side: 'own', rows });
  const byItem = await engine.createIndex(items, { side: 'other', rows });
  return {
    tables: { users: own, items: other },
    async iterate() {
      await engine.update(own, byUser, other, { hyper, activity: 'geometric' });
      await engine.update(other, byItem, own, { hyper, activity: 'geometric' });
    },
    edgeTerm: () => engine.edgeTerm(own, byUser, other),
  };
}

const median = (of: readonly number[]) => of.toSorted((a, b) => a - b)[of.length >> 1];

// The sharded engine compared with the plain one, in one process. Each runs twice, in both orders, because the first one gets
// faster memory.
async function againstPlain(threads: number, wanted: readonly number[]): Promise<void> {
  const data = dataOf(shape, 0, shape.shards);
  const edges = data.users.neighbors.length;
  const users = data.users.offsets.length - 1;
  console.log(
    `${edges} edges, ${users} × ${shape.items}, ${shape.features} features, one rank of ${threads} threads`,
  );
  for (const shards of wanted) {
    const bounds = Array.from({ length: shards + 1 }, (_, s) => Math.floor((s * users) / shards));
    const engines: Engine[] = [];
    const create = async (isSharded: boolean) => {
      const local = await createCpuEngine({ threads });
      const engine = isSharded
        ? createShardedEngine(local, ALONE, () => ({ shards, first: 0, bounds }))
        : local;
      engines.push(engine);
      return { isSharded, ...(await open(engine, data, shape)) };
    };
    const all = [];
    for (const isSharded of [false, true, true, false]) all.push(await create(isSharded));
    for (let t = 0; t < BEFORE; t++) for (const one of all) await one.iterate();
    const [plain, sharded] = [await all[0].edgeTerm(), await all[1].edgeTerm()];
    const gap = Math.abs(sharded / plain - 1);
    if (!(gap < 1e-5)) throw new Error(`${shards} shards differ from one piece by ${gap}`);
    const times = { wall: all.map((): number[] => []), cpu: all.map((): number[] => []) };
    for (let r = 0; r < TIMED * ROUNDS; r++) {
      for (const [i, one] of all.entries()) {
        const [began, used] = [performance.now(), process.cpuUsage()];
        await one.iterate();
        times.wall[i].push(performance.now() - began);
        const { user, system } = process.cpuUsage(used);
        times.cpu[i].push((user + system) / 1000);
      }
    }
    const ratio = (of: readonly number[][]) =>
      (median(of[1]) + median(of[2])) / (median(of[0]) + median(of[3]));
    console.log(
      `${String(shards).padStart(3)} shards, ${(edges / (shape.items * shards)).toFixed(1)} edges an item and shard: ` +
        `${ratio(times.wall).toFixed(3)} times the plain engine's time, ${ratio(times.cpu).toFixed(3)} times its CPU time, proved to ${gap.toExponential(0)}`,
    );
    for (const engine of engines) await engine.close();
  }
}

interface Measured {
  /** One iteration on rank 0: its time, the time of the exchange, and the bytes that are added up. */
  readonly ms: number;
  readonly exchangeMs: number;
  readonly bytes: number;
  readonly edges: number;
  readonly state: string;
}

/** The same ranks, counting what they add up and how long that takes. */
function counting(communicator: Communicator, sent: { bytes: number; ms: number }): Communicator {
  return {
    ...communicator,
    async sum(values) {
      const began = performance.now();
      await communicator.sum(values);
      sent.ms += performance.now() - began;
      if (communicator.size > 1) sent.bytes += values.byteLength;
    },
  };
}

/** All tables: the rank that has a shard reads its table. */
async function stateOf(
  engine: ShardedEngine,
  communicator: Communicator,
  tables: Record<'users' | 'items', Table>,
  { first, last }: { first: number; last: number },
): Promise<string> {
  const hashOf = (of: TableValues) => {
    const hash = createHash('sha256');
    for (const field of Object.values(of))
      hash.update(new Uint8Array(field.buffer, field.byteOffset, field.byteLength));
    return hash.digest().readUIntBE(0, 6);
  };
  const hashes = new Float64Array(shape.shards);
  for (let s = first; s < last; s++) hashes[s] = hashOf(await engine.readPart(tables.users, s - first));
  await communicator.sum(hashes);
  return [...hashes, hashOf(await engine.read(tables.items))].map((n) => n.toString(16)).join(' ');
}

async function asRank(given: Shape, threads: number): Promise<void> {
  const launched = launchedRanks();
  const communicator = launched ? await openMpi(launched) : ALONE;
  const { rank, size } = communicator;
  const mine = {
    first: Math.floor((rank * given.shards) / size),
    last: Math.floor(((rank + 1) * given.shards) / size),
  };
  const data = dataOf(given, mine.first, mine.last);
  const sent = { bytes: 0, ms: 0 };
  const layout = { shards: given.shards, first: mine.first, bounds: data.bounds };
  const engine = createShardedEngine(
    await createCpuEngine({ threads }),
    counting(communicator, sent),
    () => layout,
  );
  const { tables, iterate } = await open(engine, data, given);
  for (let t = 0; t < BEFORE; t++) await iterate();
  const edges = Float64Array.of(data.users.neighbors.length);
  await communicator.sum(edges);
  [sent.bytes, sent.ms] = [0, 0];
  const began = performance.now();
  for (let t = 0; t < TIMED; t++) await iterate();
  const measured: Measured = {
    ms: (performance.now() - began) / TIMED,
    exchangeMs: sent.ms / TIMED,
    bytes: sent.bytes / TIMED,
    edges: edges[0],
    state: await stateOf(engine, communicator, tables, mine),
  };
  if (rank === 0) process.stdout.write(`${JSON.stringify(measured)}\n`);
  await engine.close();
  await communicator.close();
}

interface Run {
  readonly ranks: number;
  readonly threads: number;
}

const runsOf = (text: string): Run[] =>
  text.split(',').map((one) => {
    const [ranks, threads] = one.split('x').map(Number);
    return { ranks, threads };
  });

function onRanks({ ranks, threads }: Run, given: Shape): Measured {
  const flags = [
    '--users',
    given.users,
    '--items',
    given.items,
    '-k',
    given.features,
    '--shards',
    given.shards,
  ];
  const own = [
    process.execPath,
    process.argv[1],
    given.edges,
    ...flags,
    '--iterations',
    TIMED,
    '--as-rank',
    threads,
  ];
  const launcher = flag('--launcher', 'mpirun --oversubscribe --bind-to none').split(' ');
  const [command, ...rest] = (ranks === 1 ? own : [...launcher, '-n', ranks, ...own]).map(String);
  const env = { ...process.env, OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' };
  const { status, stdout, stderr } = spawnSync(command, rest, { encoding: 'utf8', env });
  if (status !== 0) throw new Error(`${command} with ${ranks} ranks: ${stderr}`);
  return JSON.parse(stdout);
}

/** The figures of each run over all rounds. Runs of the same data have the same bits. */
function takeTurns(runs: readonly (Run & { readonly given: Shape })[]): Measured[] {
  const all = runs.map((): Measured[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, run] of runs.entries()) all[i].push(onRanks(run, run.given));
  }
  return all.map((of, i) => {
    for (const { state } of of)
      if (state !== of[0].state) throw new Error(`${name(runs[i])}: other bits in another round`);
    return {
      ...of[0],
      ms: median(of.map(({ ms }) => ms)),
      exchangeMs: median(of.map(({ exchangeMs }) => exchangeMs)),
    };
  });
}

const name = ({ ranks, threads }: Run) => `${ranks} × ${threads}`;

function row({ ranks, threads }: Run, now: Measured, ratio: string, given: Shape): string {
  // In a ring, each rank sends 2 (n − 1) / n times the bytes that are added up.
  const sent = (2 * now.bytes * (ranks - 1)) / ranks;
  const formula = (16 * given.items * given.features * (ranks - 1)) / ranks;
  const bytes = ranks === 1 ? '| | |' : `| ${(sent / 2 ** 20).toFixed(1)} | ${(sent / formula).toFixed(3)} |`;
  return `| ${name({ ranks, threads })} | ${ratio} | ${((100 * now.exchangeMs) / now.ms).toFixed(0)} % ${bytes}`;
}

const HEAD = '| ranks × threads | time | in exchange | MiB sent | of the formula |\n|---|---|---|---|---|';

function strong(runs: readonly Run[]): void {
  const measured = takeTurns(runs.map((run) => ({ ...run, given: shape })));
  for (const [i, { state }] of measured.entries()) {
    if (state !== measured[0].state)
      throw new Error(`${name(runs[i])} came to other bits than ${name(runs[0])}`);
  }
  const [one] = measured;
  console.log(
    `\nstrong: ${one.edges} edges, ${shape.users} × ${shape.items}, ${shape.features} features, ${shape.shards} shards; the same bits`,
  );
  console.log(
    `${name(runs[0])}: ${((1e6 * one.ms) / one.edges).toFixed(2)} ns an edge and iteration\n${HEAD}`,
  );
  for (const [i, run] of runs.entries())
    console.log(row(run, measured[i], (measured[i].ms / one.ms).toFixed(3), shape));
}

/** The same number of edges, users and shards for each rank. */
function weak(runs: readonly Run[]): void {
  const [first] = runs;
  const grown = (run: Run): Shape => {
    const times = run.ranks / first.ranks;
    return { ...shape, edges: times * shape.edges, users: times * shape.users, shards: times * shape.shards };
  };
  const measured = takeTurns(runs.map((run) => ({ ...run, given: grown(run) })));
  console.log(
    `\nweak: ${shape.edges} edges and ${shape.users} users for each rank, ${shape.items} items\n${HEAD}`,
  );
  for (const [i, run] of runs.entries()) {
    // One rank with all of the data has the same bits.
    if (run.ranks > 1) {
      const alone = onRanks({ ranks: 1, threads: run.ranks * run.threads }, grown(run));
      if (alone.state !== measured[i].state) throw new Error(`${name(run)} came to other bits than one rank`);
    }
    console.log(row(run, measured[i], (measured[i].ms / measured[0].ms).toFixed(3), grown(run)));
  }
}

const asked = flag('--as-rank');
if (asked) await asRank(shape, Number(asked));
else {
  const only = flag('--only', '');
  const shardCounts = flag('--shard-counts', `1,4,${shape.shards}`).split(',').map(Number);
  if (only === '' || only === 'plain') await againstPlain(Number(flag('--threads', '2')), shardCounts);
  if (only === '' || only === 'strong') strong(runsOf(flag('--runs', '1x1,1x2,2x1,4x1')));
  if (only === '' || only === 'weak') weak(runsOf(flag('--weak', '1x1,2x1')));
}
