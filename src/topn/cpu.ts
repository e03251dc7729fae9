// Full rankings on the CPU. Scores are products of two tables, which a pool of workers ranks, or rows that a function writes, which this
// thread ranks. Either way only a few rows of scores exist at a time.

import { throwIfAborted } from '../errors.js';
import { createCounter, inSharedMemory } from '../math/memory.js';
import { createPool, taskModule, threadCount, type WorkerPool } from '../parallel/pool.js';
import type { TaskOptions } from '../progress.js';
import { Heap } from '../wasm/heap.js';
import { loadKernels } from '../wasm/load.js';
import { laneBytes, packedItemBytes, packItems, type RankKernels, RankLane, ROWS_PER_BLOCK } from './lane.js';
import { emptyLists, type TopLists } from './lists.js';
import {
  emptyAnswer,
  type FactorTables,
  type RankAnswer,
  type RankQuery,
  type RowScores,
  rowsToRank,
  type TopN,
  towardsCandidates,
} from './query.js';
import { type FactorJob, rankFactorRows } from './topn-tasks.js';

/** Below this many multiplications a pool of workers costs more than it saves. */
export const SMALL = 2e8;

export const RANKING = taskModule('./topn-tasks.js', import.meta.url);

export function createCpuTopN(threads?: number): TopN {
  const withThreads = (task: TaskOptions = {}) => ({ ...task, threads: task.threads ?? threads });
  return {
    name: 'cpu',
    rank: (tables, candidates, query, task) => rankByFactors(tables, candidates, query, withThreads(task)),
    top: (tables, candidates, rows, n, excluded, task) =>
      topByFactors(tables, candidates, rows, n, excluded, withThreads(task)),
    async close() {},
  };
}

/** Ranks many times with the same workers, which start when first needed. The answers are those of `rankByFactors`. */
export function openRanking(threads: number | undefined) {
  const open: OpenWorkers = { size: threadCount(threads), pool: undefined };
  return {
    async rank(
      tables: FactorTables,
      candidates: Uint32Array,
      query: RankQuery,
      signal?: AbortSignal,
    ): Promise<RankAnswer> {
      const answer = emptyAnswer(query);
      const task = { threads, signal };
      await runFactors(tables, candidates, query, rowsToRank(query), answer, undefined, task, open);
      return answer;
    },
    close: async () => (await open.pool)?.close(),
  };
}

/** Workers that outlive a ranking. */
interface OpenWorkers {
  readonly size: number;
  pool: Promise<WorkerPool> | undefined;
}

/** `TopN.rank` without a backend to close. */
export async function rankByFactors(
  tables: FactorTables,
  candidates: Uint32Array,
  query: RankQuery,
  options: TaskOptions = {},
): Promise<RankAnswer> {
  const answer = emptyAnswer(query);
  await runFactors(tables, candidates, query, rowsToRank(query), answer, undefined, options);
  return answer;
}

async function topByFactors(
  tables: FactorTables,
  candidates: Uint32Array,
  rows: Uint32Array,
  n: number,
  excluded: RankQuery['excluded'],
  options: TaskOptions = {},
): Promise<TopLists> {
  const listed = Math.min(n, candidates.length);
  const lists = emptyLists(rows.length, listed);
  const query: RankQuery = { candidates: candidates.length, views: [], excluded, depth: listed, top: listed };
  if (listed > 0) {
    await runFactors(tables, candidates, query, rows, { ranks: [], shown: [] }, lists, options);
  }
  return lists;
}

async function runFactors(
  tables: FactorTables,
  candidates: Uint32Array,
  query: RankQuery,
  rows: Uint32Array,
  answer: RankAnswer,
  lists: TopLists | undefined,
  { threads, signal, onProgress }: TaskOptions,
  open?: OpenWorkers,
): Promise<void> {
  throwIfAborted(signal);
  const { features, itemWeights, products } = tables;
  const small = rows.length * candidates.length * features < (open ? SMALL / 10 : SMALL);
  const needed = open ? open.size : threadCount(threads, Math.ceil(rows.length / ROWS_PER_BLOCK));
  const lanes = small ? 1 : needed;
  const { module } = await loadKernels();
  const heap = new Heap();
  const items = heap.allocate(packedItemBytes(candidates.length, features));
  const addresses = Array.from({ length: lanes }, () =>
    heap.allocate(laneBytes(candidates.length, features)),
  );
  packItems(tables.items, candidates, features, heap.memory, items);
  const job: FactorJob = {
    module,
    memory: heap.memory,
    places: createCounter(),
    next: createCounter(),
    lanes: addresses,
    items,
    users: small ? tables.users : inSharedMemory(tables.users),
    features,
    itemWeights: itemWeights && towardsCandidates(itemWeights, candidates, tables.items.length / features),
    products,
    rows,
    query,
    answer,
    lists,
  };
  if (small) {
    rankFactorRows(job);
    return;
  }
  if (open) open.pool ??= createPool(RANKING, lanes);
  const pool = (await open?.pool) ?? (await createPool(RANKING, lanes));
  try {
    await rankInPool(pool, job, { signal, onProgress });
  } finally {
    if (!open) await pool.close();
  }
  throwIfAborted(signal);
}

/** Ranks with all workers of a pool, block by block. An aborted ranking ends soon; the caller throws its reason. */
export async function rankInPool(
  pool: WorkerPool,
  job: FactorJob,
  { signal, onProgress }: TaskOptions,
): Promise<void> {
  const { next, rows } = job;
  const report = () =>
    onProgress?.({
      stage: 'ranking',
      done: Math.min(rows.length, ROWS_PER_BLOCK * Atomics.load(next, 0)),
      total: rows.length,
      unit: 'users',
    });
  // A counter beyond the last block stops the workers.
  const stop = () => Atomics.store(next, 0, rows.length);
  if (signal?.aborted) return;
  signal?.addEventListener('abort', stop, { once: true });
  const ticking = setInterval(report, 200);
  try {
    await pool.everywhere('rankFactorRows', job);
  } finally {
    clearInterval(ticking);
    signal?.removeEventListener('abort', stop);
  }
  if (!signal?.aborted) report();
}

/** `rankByFactors` for scores that a function writes, row by row, in this thread. */
export async function rankByRows(
  scores: RowScores,
  candidates: Uint32Array,
  query: RankQuery,
  { signal, onProgress }: TaskOptions = {},
): Promise<RankAnswer> {
  const answer = emptyAnswer(query);
  const { module } = await loadKernels();
  const heap = new Heap();
  const address = heap.allocate(laneBytes(candidates.length, 1));
  const instance = new WebAssembly.Instance(module, { env: { memory: heap.memory, abort: () => {} } });
  const lane = new RankLane(instance.exports as unknown as RankKernels, heap.memory, address, 1, query);
  const rows = rowsToRank(query);
  const out = lane.row(0);
  for (const [done, row] of rows.entries()) {
    if (done % 256 === 0) {
      throwIfAborted(signal);
      onProgress?.({ stage: 'ranking', done, total: rows.length, unit: 'users' });
    }
    scores(row, candidates, out);
    lane.rank(0, row, answer);
  }
  return answer;
}
