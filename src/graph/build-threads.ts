// Pairs → graph by several threads: the rows are distributed into buckets of consecutive users, each of which is sorted by itself;
// then the edges, which lie in the order of users, are distributed and sorted the same way by item. Memory is 16 bytes a row at most
// (24 with counts), of which the graph keeps 8 (16).

import type { EdgeRows } from '../math/csr.js';
import { allocate } from '../math/memory.js';
import { createPool, taskModule, threadCount, type WorkerPool } from '../parallel/pool.js';
import type { TaskOptions } from '../progress.js';
import { firstOf } from './build.js';
import {
  allocateRows,
  type Bucket,
  type CountBins,
  type DistributeEdges,
  type DistributeRows,
  type Rows,
} from './build-tasks.js';
import { type BipartiteGraph, createGraph } from './graph.js';
import type { VertexIds } from './ids.js';
import { cut, cutRows } from './pieces.js';

const BUILDING = taskModule('./build-tasks.js', import.meta.url);

export interface VertexRows {
  /** Vertices of each row, below the number of ids, in memory that threads share. They are used up. */
  readonly users: Uint32Array;
  readonly items: Uint32Array;
  readonly counts: Uint32Array | undefined;
  readonly userIds: VertexIds;
  readonly itemIds: VertexIds;
  readonly multigraph: boolean;
}

/** The graph that `buildGraph` makes of the same rows, to the last bit, on any number of threads. */
export async function buildGraphWithThreads(
  { users, items, counts, userIds, itemIds, multigraph }: VertexRows,
  { threads, signal }: Pick<TaskOptions, 'threads' | 'signal'>,
): Promise<BipartiteGraph> {
  const rows: Rows = { own: users, other: items, counts };
  const pool = await createPool(BUILDING, threadCount(threads));
  try {
    const work: Work = { pool, signal };
    const distributed = allocateRows(users.length, multigraph);
    const byUser = await sortSide(work, rows, distributed, userIds.length, itemIds.length);
    // What is left of the rows has room for the edges by item.
    const spare: Rows = {
      own: users,
      other: items,
      counts: multigraph ? (counts ?? allocate(Uint32Array, users.length)) : undefined,
    };
    const byItem = await turnSide(work, byUser, spare, itemIds.length);
    return createGraph({ userIds, itemIds, byUser, byItem });
  } finally {
    await pool.close();
  }
}

interface Work {
  readonly pool: WorkerPool;
  readonly signal: AbortSignal | undefined;
}

/** Rows in any order → the edges of one side. */
async function sortSide(
  { pool, signal }: Work,
  rows: Rows,
  into: Rows,
  ownCount: number,
  otherCount: number,
): Promise<EdgeRows> {
  const pieces = cut(rows.own.length, piecesFor(rows.own.length, pool.size));
  const { shift, bins } = binsOf(ownCount);
  const binCounts = pieces.map(([from, to]): CountBins => ({ own: rows.own, from, to, shift, bins }));
  const plan = planBuckets(await pool.map('countBins', binCounts, { signal }), shift, ownCount);
  const tasks = pieces.map(
    ([from, to], p): DistributeRows => ({
      rows,
      from,
      to,
      shift,
      bucketOf: plan.bucketOf,
      cursor: plan.cursors[p],
      into,
    }),
  );
  await pool.map('distributeRows', tasks, { signal });
  return sortBuckets({ pool, signal }, plan, into, ownCount, otherCount);
}

/** The edges of one side → those of the other. */
async function turnSide(
  { pool, signal }: Work,
  side: EdgeRows,
  into: Rows,
  ownCount: number,
): Promise<EdgeRows> {
  const { offsets, neighbors, counts } = side;
  const edges = neighbors.length;
  const pieces = cutRows(offsets, piecesFor(edges, pool.size));
  const { shift, bins } = binsOf(ownCount);
  const binCounts = pieces.map(
    ([first, last]): CountBins => ({ own: neighbors, from: offsets[first], to: offsets[last], shift, bins }),
  );
  const plan = planBuckets(await pool.map('countBins', binCounts, { signal }), shift, ownCount);
  const tasks = pieces.map(
    ([first, last], p): DistributeEdges => ({
      ...{ offsets, neighbors, counts, first, last, shift, bucketOf: plan.bucketOf },
      ...{ cursor: plan.cursors[p], into },
    }),
  );
  await pool.map('distributeEdges', tasks, { signal });
  // They were distributed in the order of the given side, so the rows of one vertex are in order.
  return sortBuckets({ pool, signal }, plan, into, ownCount, 0);
}

async function sortBuckets(
  { pool, signal }: Work,
  { buckets }: BucketPlan,
  rows: Rows,
  ownCount: number,
  otherCount: number,
): Promise<EdgeRows> {
  const offsets = allocate(Uint32Array, ownCount + 1);
  // The largest first, so that no thread is left alone with it in the end.
  const order = buckets.map((_, b) => b).sort((a, b) => sizeOf(buckets[b]) - sizeOf(buckets[a]));
  const tasks = order.map((b): Bucket => ({ ...buckets[b], rows, otherCount, offsets }));
  const results = await pool.map<Bucket, number>('sortBucket', tasks, { signal });
  const sorted = new Uint32Array(buckets.length);
  for (const [place, b] of order.entries()) sorted[b] = results[place];
  let edges = 0;
  for (const [b, { first, last, from }] of buckets.entries()) {
    const own = sorted[b];
    for (let v = first; v < last; v++) offsets[v] += edges;
    if (edges < from) {
      rows.other.copyWithin(edges, from, from + own);
      rows.counts?.copyWithin(edges, from, from + own);
    }
    edges += own;
  }
  offsets[ownCount] = edges;
  return {
    offsets,
    neighbors: firstOf(rows.other, edges),
    counts: rows.counts && firstOf(rows.counts, edges),
  };
}

const sizeOf = ({ from, to }: { from: number; to: number }): number => to - from;

/** Rows that are worth a message to a thread. */
const LEAST_PIECE = 1 << 16;
/** Several to a thread, so that one that is slow holds up little. */
const PIECES_PER_THREAD = 4;

function piecesFor(rows: number, threads: number): number {
  return Math.max(1, Math.min(PIECES_PER_THREAD * threads, Math.ceil(rows / LEAST_PIECE)));
}

const MOST_BINS_BITS = 16;

/** Vertices are counted in bins, so that the counts of every piece stay small. */
function binsOf(count: number): { shift: number; bins: number } {
  const last = Math.max(0, count - 1);
  const shift = Math.max(0, 32 - Math.clz32(last) - MOST_BINS_BITS);
  return { shift, bins: (last >>> shift) + 1 };
}

/** Rows of a bucket: enough to be worth a message, few enough for a cache, and no more buckets than a cache has lines for. */
const LEAST_BUCKET = 1 << 16;
const MOST_BUCKETS = 1024;

export interface BucketPlan {
  readonly bucketOf: Uint16Array;
  readonly buckets: readonly Pick<Bucket, 'from' | 'to' | 'first' | 'last'>[];
  /** For each piece, where its rows of each bucket go. */
  readonly cursors: readonly Uint32Array[];
}

/** Bins side by side become a bucket while it is small. `binCounts`: the bins of each piece. */
function planBuckets(binCounts: readonly Uint32Array[], shift: number, count: number): BucketPlan {
  const bins = binCounts[0].length;
  const sums = new Float64Array(bins);
  let rows = 0;
  for (const own of binCounts) {
    for (let b = 0; b < bins; b++) {
      sums[b] += own[b];
      rows += own[b];
    }
  }
  const wanted = Math.max(LEAST_BUCKET, Math.ceil(rows / MOST_BUCKETS));
  const bucketOf = new Uint16Array(bins);
  const buckets: { from: number; to: number; first: number; last: number }[] = [];
  let size = 0;
  let start = 0;
  let begin = 0;
  for (let b = 0; b < bins; b++) {
    size += sums[b];
    bucketOf[b] = buckets.length;
    if (size < wanted && b + 1 < bins && size + sums[b + 1] <= 2 * wanted) continue;
    const last = Math.min(count, (b + 1) * 2 ** shift);
    buckets.push({ from: start, to: start + size, first: begin * 2 ** shift, last });
    start += size;
    size = 0;
    begin = b + 1;
  }
  const next = Float64Array.from(buckets, ({ from }) => from);
  const cursors = binCounts.map((own) => {
    const cursor = Uint32Array.from(next);
    for (let b = 0; b < bins; b++) next[bucketOf[b]] += own[b];
    return cursor;
  });
  return { bucketOf, buckets, cursors };
}
