// Reads Parquet tables of whole numbers with several threads. The graph has the same bits as that of the reader of rows. That reader reads
// all other tables, and reports all errors.

import { stat } from 'node:fs/promises';
import { throwIfAborted } from '../../errors.js';
import { readAt } from '../../files/chunks.js';
import { withFile } from '../../files/plain-file.js';
import { MAX_COUNT, MAX_EDGES } from '../../graph/build.js';
import { buildGraphWithThreads } from '../../graph/build-threads.js';
import type { BipartiteGraph } from '../../graph/graph.js';
import { VertexIds } from '../../graph/ids.js';
import { cut } from '../../graph/pieces.js';
import { allocate, createCounter } from '../../math/memory.js';
import { createPool, taskModule, threadCount, type WorkerPool } from '../../parallel/pool.js';
import { freeMemory } from '../../parallel/spawn.js';
import type { ParquetColumn } from '../../parquet/footer.js';
import { isParquet } from '../../parquet/magic.js';
import { mostUnpacked, withParquet } from '../../parquet/rows.js';
import { NO_GRAPH, type RowSpill, readCounts } from '../intake/collect.js';
import { IdColumn, MAX_SMALL } from '../intake/id-column.js';
import { rankInPlace } from '../intake/number-ranks.js';
import { TableTarget } from '../intake/target.js';
import type { ReaderOptions, ReadResult } from '../options.js';
import { sourceTitle } from '../sources.js';
import { columnsOf } from './parquet.js';
import {
  type ColumnGroup,
  type ColumnSource,
  type ColumnTask,
  type IdTask,
  SPENT_UNIT,
} from './parquet-tasks.js';

const GROUPS = taskModule('./parquet-tasks.js', import.meta.url);

/** With fewer rows, threads take longer to start than the rows to read. */
const LEAST_ROWS = 1 << 20;
/** A file with more rows per byte repeats rows, which the reader of rows merges while it reads. */
const ROWS_PER_BYTE = 8;
/** The most memory of a row, without and with counts, and the share of free memory that may be used. */
const ROW_BYTES = 20;
const COUNTED_ROW_BYTES = 32;
const SHARE_OF_FREE = 0.75;

/** The graph of these files; undefined unless all of them are large plain tables of whole numbers. */
export async function readWithThreads(
  paths: readonly string[],
  options: ReaderOptions,
  least = LEAST_ROWS,
): Promise<ReadResult | undefined> {
  if (options.filter || options.value) return undefined;
  const target = new TableTarget(options, undefined, paths.length > 1);
  try {
    const groups = await groupsOf(paths, options, target);
    const rows = sumRows(groups ?? []);
    const { spill } = options;
    const rowBytes = options.multigraph ? COUNTED_ROW_BYTES : ROW_BYTES;
    const fits = spill
      ? spill.batch >= least && groups?.every((group) => group.rows <= spill.batch)
      : rows < MAX_EDGES - 1 && rows * rowBytes <= SHARE_OF_FREE * (freeMemory() ?? 0);
    if (!groups || rows < least || !fits) return undefined;
    const graph = spill
      ? await spillRows(groups, spill, options)
      : await buildGraphWithThreads(await readRows(groups, options), options);
    const nothing = { rejected: 0, where: 0, weight: 0 };
    return target.finish(sourceTitle(paths), {
      graph,
      read: readCounts({ rows, kept: spill ? rows : graph.edges }, options, nothing),
    });
  } catch {
    // The reader of rows will report the same error, with its row.
    throwIfAborted(options.signal);
    options.spill?.restart();
    return undefined;
  }
}

const sumRows = (groups: readonly { readonly rows: number }[]): number =>
  groups.reduce((sum, group) => sum + group.rows, 0);

/** The row groups of all files; undefined if a file or a column is of another kind. */
async function groupsOf(
  paths: readonly string[],
  options: ReaderOptions,
  target: TableTarget,
): Promise<ColumnGroup[] | undefined> {
  const groups: ColumnGroup[] = [];
  for (const path of paths) {
    throwIfAborted(options.signal);
    const found = path === '-' ? undefined : await stat(path);
    // Files of the system have no size, and reading them may wait.
    if (!found?.isFile() || found.size === 0) return undefined;
    if (!isParquet(await withFile(path, 'r', (file) => readAt(file, 0, 4)))) return undefined;
    const { size } = found;
    const limit = { spent: createCounter(), mostSpent: Math.ceil(mostUnpacked(size) / SPENT_UNIT) };
    const plain = await withParquet(path, async (footer) => {
      const chosen = columnsOf(footer, path, { ...options, ...target.sameColumns() });
      const [users, items] = [footer.columns[chosen.users], footer.columns[chosen.items]];
      const count = chosen.count === undefined ? undefined : footer.columns[chosen.count];
      const columns = [users, items, ...(count ? [count] : [])];
      if (!columns.every(({ meaning }) => meaning.kind === 'whole')) return false;
      let rows = 0;
      for (const group of footer.groups) {
        const source = (column: ParquetColumn, least: number, most: number): ColumnSource => ({
          path,
          identity: footer.identity,
          column,
          chunk: group.chunk(column),
          rows: group.rows,
          least,
          most,
          ...limit,
        });
        groups.push({
          rows: group.rows,
          users: source(users, 0, MAX_SMALL),
          items: source(items, 0, MAX_SMALL),
          count: count && source(count, 1, MAX_COUNT),
        });
        rows += group.rows;
      }
      target.close(path, 'parquet', chosen);
      return rows <= ROWS_PER_BYTE * size;
    });
    if (!plain) return undefined;
  }
  return groups;
}

/** All rows, as vertices. */
async function readRows(groups: readonly ColumnGroup[], options: ReaderOptions) {
  const pool = await createPool(GROUPS, threadCount(options.threads, 2 * groups.length));
  try {
    const { most, ...read } = await readColumns(pool, groups, options);
    const userIds = await numberIds(pool, read.users, most.users, options.signal);
    const itemIds = await numberIds(pool, read.items, most.items, options.signal);
    return { ...read, userIds, itemIds, multigraph: options.multigraph ?? false };
  } finally {
    await pool.close();
  }
}

/** Passes the rows to the spill; the threads that read rows distribute them. */
async function spillRows(
  groups: readonly ColumnGroup[],
  spill: RowSpill,
  { multigraph = false, threads, signal, onProgress }: ReaderOptions,
): Promise<BipartiteGraph> {
  const total = sumRows(groups);
  let done = 0;
  await spill.takeColumns(groups, multigraph && groups[0].count !== undefined, {
    threads,
    signal,
    onRows(rows) {
      done += rows;
      onProgress?.({ stage: 'reading', done, total, unit: 'rows' });
    },
  });
  spill.finish({ users: new IdColumn(), items: new IdColumn() });
  return NO_GRAPH;
}

/** The numbers of the columns, and the largest of them. */
async function readColumns(
  pool: WorkerPool,
  groups: readonly ColumnGroup[],
  { multigraph, signal, onProgress }: ReaderOptions,
) {
  const all = sumRows(groups);
  const users = allocate(Uint32Array, all);
  const items = allocate(Uint32Array, all);
  const counts = multigraph && groups[0].count ? allocate(Uint32Array, all) : undefined;
  const tasks: ColumnTask[] = [];
  let at = 0;
  for (const group of groups) {
    tasks.push({ ...group.users, into: users, at });
    tasks.push({ ...group.items, into: items, at });
    if (group.count) tasks.push({ ...group.count, into: counts, at });
    at += group.rows;
  }
  const columns = groups[0].count ? 3 : 2;
  let read = 0;
  const largest = await pool.map<ColumnTask, number>('readColumn', tasks, {
    signal,
    onResult: (_, task) => {
      read += tasks[task].rows;
      onProgress?.({ stage: 'reading', done: Math.floor(read / columns), total: all, unit: 'rows' });
    },
  });
  const most = { users: 0, items: 0 };
  for (const [task, { into }] of tasks.entries()) {
    if (into === users) most.users = Math.max(most.users, largest[task]);
    if (into === items) most.items = Math.max(most.items, largest[task]);
  }
  return { users, items, counts, most };
}

/** Number of pieces of the ids per thread. */
const PIECES_PER_THREAD = 4;

/** Replaces ids by vertices in the order of the ids, and returns the ids. */
async function numberIds(
  pool: WorkerPool,
  ids: Uint32Array,
  largest: number,
  signal: AbortSignal | undefined,
): Promise<VertexIds> {
  // Too sparse for a table of all numbers.
  if (largest >= 16 * ids.length + (1 << 20)) {
    return VertexIds.integers(Float64Array.from(rankInPlace(ids)));
  }
  const table = allocate(Uint32Array, largest + 1);
  const tasks = cut(ids.length, PIECES_PER_THREAD * pool.size).map(
    ([from, to]): IdTask => ({ ids, from, to, table }),
  );
  await pool.map('noteIds', tasks, { signal });
  let count = 0;
  for (let id = 0; id <= largest; id++) count += table[id];
  const values = new Float64Array(count);
  count = 0;
  for (let id = 0; id <= largest; id++) {
    if (table[id] === 0) continue;
    values[count] = id;
    table[id] = count++;
  }
  await pool.map('placeIds', tasks, { signal });
  return VertexIds.integers(values);
}
