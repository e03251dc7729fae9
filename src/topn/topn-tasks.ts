// What a worker of a ranking by factors does: it scores and ranks blocks of rows until none is left. Each row has its own place for the
// answers, so it does not matter which worker takes which block.

import { serveTasks } from '../parallel/worker.js';
import type { TaskOptions } from '../progress.js';
import { instantiate } from '../wasm/instantiate.js';
import { createLane, type RankLane, ROWS_PER_BLOCK } from './lane.js';
import {
  addItemWeights,
  type ItemWeightScores,
  type LaneQuery,
  type Products,
  type RankAnswer,
  type TopLists,
} from './query.js';

/** Rows to rank, in a worker or in the caller's thread. */
export interface FactorRows {
  /** The next block; workers increment it. */
  readonly next: Int32Array;
  /** Address of the packed items. */
  readonly items: number;
  /** Users × features. */
  readonly users: Float32Array;
  readonly features: number;
  /** Weights to add to the products, with candidate positions as targets. */
  readonly itemWeights: ItemWeightScores | undefined;
  readonly products?: Products | undefined;
  /** The rows (of `users` and of the query) to rank. */
  readonly rows: Uint32Array;
  readonly query: LaneQuery;
  readonly answer: RankAnswer;
  /** Receives lists of the best `listed` candidates, if requested: rows × listed. */
  readonly lists: TopLists | undefined;
}

export interface FactorJob extends FactorRows {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  /** A counter. Each worker increments it to get its lane. */
  readonly places: Int32Array;
  /** Address of each lane. */
  readonly lanes: readonly number[];
}

export function rankingReport(
  { rows, next }: Pick<FactorRows, 'rows' | 'next'>,
  onProgress: TaskOptions['onProgress'],
): () => void {
  const total = rows.length;
  return () => {
    const done = Math.min(total, ROWS_PER_BLOCK * Atomics.load(next, 0));
    onProgress?.({ stage: 'ranking', done, total, unit: 'users' });
  };
}

export function rankFactorRows(job: FactorJob): void {
  const kernels = instantiate(job.module, job.memory);
  const address = job.lanes[Atomics.add(job.places, 0, 1)];
  const lane = createLane(kernels, job.memory, address, job.features, job.query);
  while (rankNextBlock(job, lane));
}

/** Ranks the next block. Returns false if none is left. */
export function rankNextBlock(job: FactorRows, lane: RankLane): boolean {
  const { rows, next } = job;
  const first = ROWS_PER_BLOCK * Atomics.add(next, 0, 1);
  if (first >= rows.length) return false;
  const block = rows.subarray(first, first + ROWS_PER_BLOCK);
  scoreBlock(job, lane, block);
  for (let b = 0; b < block.length; b++) {
    if (job.itemWeights) addItemWeights(job.itemWeights, block[b], lane.row(b));
    if (job.lists) storeList(lane, b, first + b, block[b], job.lists);
    else lane.rank(b, block[b], job.answer);
  }
  return true;
}

/** The products of a block, from those that are known if there are any. */
function scoreBlock({ users, items, products, query }: FactorRows, lane: RankLane, block: Uint32Array) {
  const { candidates } = query;
  const known = products && block.every((row) => products.filled[row]);
  if (!known) lane.scoreFactors(users, block, items);
  for (let b = 0; products && b < block.length; b++) {
    const row = products.values.subarray(block[b] * candidates, (block[b] + 1) * candidates);
    if (known) lane.row(b).set(row);
    else row.set(lane.row(b));
    products.filled[block[b]] = 1;
  }
}

/** Stores the best candidates of a row of the block as list `at`. */
export function storeList(lane: RankLane, index: number, at: number, row: number, lists: TopLists): void {
  const best = lane.top(index, row, lists.listed);
  lists.positions.set(best.positions, at * lists.listed);
  lists.scores.set(best.scores, at * lists.listed);
  lists.counts[at] = best.positions.length;
}

serveTasks('topn-tasks', { rankFactorRows });
