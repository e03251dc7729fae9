// Lists of the best items, for many queries to one table of items. The items are packed once. A lane of this thread and a pool of workers
// wait for the next query.

import { throwIfAborted } from '../errors.js';
import { createCounter, inSharedMemory } from '../math/memory.js';
import { once } from '../math/once.js';
import { createQueue } from '../math/queue.js';
import { threadCount } from '../parallel/pool.js';
import { createTurns } from '../parallel/turns.js';
import type { TaskOptions } from '../progress.js';
import { Heap } from '../wasm/heap.js';
import { instantiate } from '../wasm/instantiate.js';
import { inLanes, type Lanes } from '../wasm/lanes.js';
import { loadKernels } from '../wasm/load.js';
import { RANKING, SMALL } from './cpu.js';
import { createLane, laneBytes, packedItemBytes, packItems, type RankLane, ROWS_PER_BLOCK } from './lane.js';
import { emptyLists, type ItemWeightScores, type LaneQuery, type RankQuery, type TopLists } from './query.js';
import {
  type FactorJob,
  type FactorRows,
  rankFactorRows,
  rankingReport,
  rankNextBlock,
  storeList,
} from './topn-tasks.js';

export interface ListQuery {
  /** Most items of a list. */
  readonly n: number;
  /** Per row, items to leave out. */
  readonly excluded: RankQuery['excluded'];
  /** Bits of items that no row lists. */
  readonly without?: LaneQuery['without'];
}

export type ListMaker = ReturnType<typeof createListMaker>;

/** Makes lists from a packed table of items, count × features. For lists by rows alone, `features` is 0. */
export function createListMaker(items: Float32Array, count: number, features: number) {
  let closed = false;
  let pool: { readonly workers: Lanes; readonly lanes: readonly number[] } | undefined;
  /** Queries to the workers run one after the other, because they share the lanes. */
  const { inOrder, idle } = createQueue(() => checkOpen(closed));
  const setUp = once(async () => {
    const { module } = await loadKernels();
    const heap = new Heap();
    const packed = heap.allocate(packedItemBytes(count, Math.max(1, features)));
    const lane = heap.allocate(laneBytes(count, Math.max(1, features)));
    if (features > 0) {
      const everything = Uint32Array.from({ length: count }, (_, item) => item);
      packItems(items, everything, features, heap.memory, packed);
    }
    // For this thread; workers create their own.
    const kernels = instantiate(module, heap.memory);
    return { module, heap, kernels, packed, lane };
  });
  const stop = async () => {
    if (!pool) return;
    const { workers, lanes } = pool;
    pool = undefined;
    const { heap } = await setUp();
    for (const lane of lanes) heap.release(lane);
    await workers.close();
  };

  async function inPool(job: Omit<FactorJob, 'lanes' | 'places'>, lanes: number, options: TaskOptions) {
    const { heap } = await setUp();
    if (pool && pool.lanes.length !== lanes) await stop();
    pool ??= {
      workers: inLanes(RANKING, lanes),
      lanes: Array.from({ length: lanes }, () => heap.allocate(laneBytes(count, features))),
    };
    const { workers, lanes: addresses } = pool;
    const { signal } = options;
    const asked = { ...job, lanes: addresses, places: createCounter() };
    const report = rankingReport(job, options.onProgress);
    try {
      await workers.all('rankFactorRows', rankFactorRows, asked, signal, job.rows.length, report);
    } catch (error) {
      // Do not reuse the memory after a worker has died.
      if (!signal?.aborted) await stop();
      throw error;
    }
    report();
  }

  /** Ranks in this thread. A lane holds nothing between blocks, so several queries may alternate. */
  async function here(job: FactorRows, lane: RankLane, { signal, onProgress }: TaskOptions) {
    const rest = createTurns(signal);
    const report = rankingReport(job, onProgress);
    while (rankNextBlock(job, lane)) if (await rest()) report();
  }

  return {
    /**
     * The best items by products with the rows of `users` (rows × features), best first, ties to the smaller item. `itemWeights` are
     * added to the products.
     */
    async byFactors(
      users: Float32Array,
      query: ListQuery,
      options: TaskOptions = {},
      itemWeights?: ItemWeightScores,
    ): Promise<TopLists> {
      throwIfAborted(options.signal);
      checkOpen(closed);
      const rows = users.length / features;
      const lists = emptyLists(rows, Math.min(query.n, count));
      if (lists.listed === 0 || rows === 0) return lists;
      const { module, heap, kernels, packed, lane } = await setUp();
      const job = {
        module,
        memory: heap.memory,
        next: createCounter(),
        items: packed,
        features,
        itemWeights,
        rows: Uint32Array.from({ length: rows }, (_, row) => row),
        query: rankQuery(query, count, lists.listed),
        answer: { ranks: [], shown: [] },
        lists,
      };
      const small = rows * count * features < SMALL;
      const lanes = small ? 1 : threadCount(options.threads, Math.ceil(rows / ROWS_PER_BLOCK));
      if (lanes === 1) {
        await here({ ...job, users }, createLane(kernels, heap.memory, lane, features, job.query), options);
        return lists;
      }
      await inOrder(() => inPool({ ...job, users: inSharedMemory(users) }, lanes, options));
      return lists;
    },
    /** The best items by scores that a function writes, row by row, in this thread. */
    async byRows(
      rows: number,
      write: (row: number, out: Float32Array) => void,
      query: ListQuery,
      { signal, onProgress }: TaskOptions = {},
    ): Promise<TopLists> {
      checkOpen(closed);
      const lists = emptyLists(rows, Math.min(query.n, count));
      if (lists.listed === 0 || rows === 0) return lists;
      const { heap, kernels, lane: address } = await setUp();
      const asked = rankQuery(query, count, lists.listed);
      const lane = createLane(kernels, heap.memory, address, Math.max(1, features), asked);
      const out = lane.row(0);
      for (let row = 0; row < rows; row++) {
        if (row % 256 === 0) {
          throwIfAborted(signal);
          onProgress?.({ stage: 'ranking', done: row, total: rows, unit: 'users' });
        }
        write(row, out);
        storeList(lane, 0, row, row, lists);
      }
      return lists;
    },
    /** Gives `take` the products of each row of `users` with all items, in this thread. `take` may change them. */
    async eachRow(
      users: Float32Array,
      take: (row: number, products: Float32Array) => void,
      { signal }: TaskOptions = {},
    ): Promise<void> {
      checkOpen(closed);
      const { heap, kernels, packed, lane: address } = await setUp();
      const rows = users.length / features;
      const asked = rankQuery({ n: 0, excluded: undefined }, count, 0);
      const lane = createLane(kernels, heap.memory, address, features, asked);
      const rest = createTurns(signal);
      for (let first = 0; first < rows; first += ROWS_PER_BLOCK) {
        const length = Math.min(ROWS_PER_BLOCK, rows - first);
        const block = Uint32Array.from({ length }, (_, b) => first + b);
        lane.scoreFactors(users, block, packed);
        for (const [b, row] of block.entries()) take(row, lane.row(b));
        await rest();
      }
    },
    async close(): Promise<void> {
      closed = true;
      await idle();
      await stop();
    },
  };
}

function checkOpen(closed: boolean): void {
  if (closed) throw new Error('this recommender is closed');
}

function rankQuery({ excluded, without }: ListQuery, candidates: number, listed: number): LaneQuery {
  return { candidates, views: [], excluded, without, depth: listed, top: listed };
}
