// A table of two columns → a finished graph, against DuckDB's read_csv + distinct + order by on the same file. The
// result is checked edge by edge before anything is timed. Every timing is a process of its own, so that memory is that
// of the reading alone. Arguments: rows (default 10,000,000), repeats (default 3).

import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BipartiteGraph } from '../src/graph/graph.js';
import { readGraph } from '../src/ingest/read.js';
import { randomStream } from '../src/math/random.js';
import { literal, withDuckDB } from '../test/ingest/duckdb.js';

const QUERY = (file: string) =>
  `SELECT DISTINCT * FROM read_csv(${literal(file)}, header = true) ORDER BY ALL`;

interface Timing {
  readonly seconds: number;
  readonly megabytes: number;
}

if (process.argv[2] === 'graphex' || process.argv[2] === 'duckdb')
  await timeOne(process.argv[2], process.argv[3]);
else await compare(Number(process.argv[2] ?? 10_000_000), Number(process.argv[3] ?? 3));

async function compare(rows: number, repeats: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'graphex-bench-'));
  try {
    write(`${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.versions.node}, ${rows} rows`);
    const files = {
      integer: writeTable(join(folder, 'integers.csv'), rows, String, String),
      text: writeTable(
        join(folder, 'texts.csv'),
        rows,
        (u) => `user-${u.toString(36)}`,
        (i) => `item ${i.toString(36)}`,
      ),
    };
    for (const file of Object.values(files)) if (rows <= 20_000_000) await check(file);
    const best: Record<string, Timing> = {};
    for (let r = 0; r < repeats; r++) {
      for (const [kind, file] of Object.entries(files)) {
        for (const who of ['duckdb', 'graphex']) {
          const timing = spawnTiming(who, file);
          const name = `${who} ${kind}`;
          if (!best[name] || timing.seconds < best[name].seconds) best[name] = timing;
        }
      }
    }
    const unit = best['duckdb integer'].seconds;
    for (const [name, { seconds, megabytes }] of Object.entries(best)) {
      write(
        `${name.padEnd(16)} ${seconds.toFixed(2)} s  ${(seconds / unit).toFixed(2)} × DuckDB's integers  ${megabytes} MB`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Heavy-tailed degrees: low ids are drawn most often. Three rows in a hundred repeat a pair. */
function writeTable(
  path: string,
  rows: number,
  user: (u: number) => string,
  item: (i: number) => string,
): string {
  const random = randomStream(1);
  const file = openSync(path, 'w');
  let text = 'user,item\n';
  for (let row = 0; row < rows; row++) {
    text += `${user(Math.floor(200_000 * random.uniform() ** 2))},${item(Math.floor(40_000 * random.uniform() ** 3))}\n`;
    if (text.length > 1 << 20) {
      writeSync(file, text);
      text = '';
    }
  }
  writeSync(file, text);
  closeSync(file);
  write(`${path}: ${Math.round(statSync(path).size / 1e6)} MB`);
  return path;
}

/** Compares all our edges, in order, with all rows of DuckDB. */
async function check(file: string): Promise<void> {
  const { graph, read } = await readGraph(file);
  const edges = edgesInOrder(graph);
  await withDuckDB(cpus().length, async (connection) => {
    const result = await connection.stream(QUERY(file));
    for await (const chunk of result) {
      const users = chunk.getColumnValues(0);
      const items = chunk.getColumnValues(1);
      for (let i = 0; i < users.length; i++) {
        const [user, item] = edges.next().value ?? [];
        if (user !== String(users[i]) || item !== String(items[i])) {
          throw new Error(
            `${file}: DuckDB has ${users[i]}, ${items[i]} where the graph has ${user}, ${item}`,
          );
        }
      }
    }
  });
  if (!edges.next().done) throw new Error(`${file}: the graph has more edges than DuckDB has rows`);
  write(
    `checked: ${graph.users.count} × ${graph.items.count}, ${graph.edges} edges, ${read.merged} rows merged`,
  );
}

function* edgesInOrder(graph: BipartiteGraph): Generator<[string, string]> {
  const { users, items } = graph;
  for (let u = 0; u < users.count; u++) {
    for (let e = users.offsets[u]; e < users.offsets[u + 1]; e++) {
      yield [users.ids.at(u), items.ids.at(users.neighbors[e])];
    }
  }
}

function spawnTiming(who: string, file: string): Timing {
  const output = execFileSync(process.execPath, [fileURLToPath(import.meta.url), who, file], {
    encoding: 'utf8',
  });
  return JSON.parse(output);
}

async function timeOne(who: 'graphex' | 'duckdb', file: string): Promise<void> {
  const began = performance.now();
  if (who === 'graphex') await readGraph(file);
  else
    await withDuckDB(cpus().length, (connection) => connection.run(`CREATE TABLE edges AS ${QUERY(file)}`));
  const seconds = (performance.now() - began) / 1000;
  write(JSON.stringify({ seconds, megabytes: Math.round(process.resourceUsage().maxRSS / 1024) }));
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}
