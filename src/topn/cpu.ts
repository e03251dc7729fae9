// Full rankings on the CPU. Scores are products of two tables, which a pool of workers ranks, or rows that a function writes, which this
// thread ranks. Either way only a few rows of scores exist at a time.

import { throwIfAborted } from '../errors.js';
import { createCounter, inSharedMemory } from '../math/memory.js';
import { taskModule, threadCount } from '../parallel/pool.js';
import type { TaskOptions } from '../progress.js';
import { Heap } from '../wasm/heap.js';
import { instantiate } from '../wasm/instantiate.js';
import { inLanes, type Lanes } from '../wasm/lanes.js';
import { loadKernels } from '../wasm/load.js';
import { createLane, laneBytes, packedItemBytes, packItems, ROWS_PER_BLOCK } from './lane.js';
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
import { type FactorJob, rankFactorRows, rankingReport } from './topn-tasks.js';

/** Below this many multiplications a pool of workers costs more than it saves. */
export const SMALL = 2e8;

export const RANKING = taskModule('./topn-tasks.js', import.meta.url);

/** It only ranks: list-maker.ts makes lists on the CPU. */
export function createCpuTopN(threads?: number): TopN {
  return {
    name: 'cpu',
    rank: (tables, candidates, query, task = {}) =>
      rankByFactors(tables, candidates, query, { ...task, threads: task.threads ?? threads }),
    async close() {},
  };
}

/** Ranks many times with the same workers, which start when first needed. The answers are those of `rankByFactors`. */
export function openRanking(threads: number | undefined) {
  const size = threadCount(threads);
  const open = { size, workers: inLanes(RANKING, size) };
  return {
    rank: (tables: FactorTables, candidates: Uint32Array, query: RankQuery, signal?: AbortSignal) =>
      rankByFactors(tables, candidates, query, { threads, signal }, open),
    close: open.workers.close,
  };
}

/** `TopN.rank` without a backend to close. `open`: workers that outlive the ranking. */
export async function rankByFactors(
  tables: FactorTables,
  candidates: Uint32Array,
  query: RankQuery,
  { threads, signal, onProgress }: TaskOptions = {},
  open?: { readonly size: number; readonly workers: Lanes },
): Promise<RankAnswer> {
  throwIfAborted(signal);
  const answer = emptyAnswer(query);
  const rows = rowsToRank(query);
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
    lists: undefined,
  };
  const workers = open && !small ? open.workers : inLanes(RANKING, small ? 0 : lanes);
  const report = rankingReport(job, onProgress);
  try {
    await workers.all('rankFactorRows', rankFactorRows, job, signal, rows.length, report);
  } finally {
    if (workers !== open?.workers) await workers.close();
  }
  if (!small) report();
  return answer;
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
  const lane = createLane(instantiate(module, heap.memory), heap.memory, address, 1, query);
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
