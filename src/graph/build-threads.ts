// Builds a graph from pairs with several threads. Rows are distributed into buckets of consecutive users, and each bucket
// is sorted on its own. Then the edges, in the order of users, are distributed and sorted by item in the same way. Memory
// is at most 16 bytes a row (24 with counts), of which the graph keeps 8 (16).

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
  type Distribution,
  type Rows,
} from './build-tasks.js';
import { type BipartiteGraph, createGraph } from './graph.js';
import type { VertexIds } from './ids.js';
import { cut, cutRows } from './pieces.js';

const BUILDING = taskModule('./build-tasks.js', import.meta.url);

interface VertexRows {
  /** Vertices of each row, below the number of ids, in shared memory. They are overwritten. */
  readonly users: Uint32Array;
  readonly items: Uint32Array;
  readonly counts: Uint32Array | undefined;
  readonly userIds: VertexIds;
  readonly itemIds: VertexIds;
  readonly multigraph: boolean;
}

/** Builds the same graph as `buildGraph`, bit for bit, on any number of threads. */
export async function buildGraphWithThreads(
  { users, items, counts, userIds, itemIds, multigraph }: VertexRows,
  { threads, signal }: Pick<TaskOptions, 'threads' | 'signal'>,
): Promise<BipartiteGraph> {
  const rows: Rows = { own: users, other: items, counts };
  const pool = await createPool(BUILDING, threadCount(threads));
  try {
    const work: Work = { pool, signal };
    const distributed = allocateRows(users.length, multigraph);
    const byUser = await sortRows(work, rows, distributed, userIds.length, itemIds.length);
    // The unused space of the rows holds the edges by item.
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

/** From the first to before the last. */
type Range = readonly [number, number];

interface Work {
  readonly pool: WorkerPool;
  readonly signal: AbortSignal | undefined;
}

/** Sorts rows of any order into the edges of one side. */
async function sortRows(
  work: Work,
  rows: Rows,
  into: Rows,
  ownCount: number,
  otherCount: number,
): Promise<EdgeRows> {
  const { own } = rows;
  const pieces = cut(own.length, piecesFor(own.length, work.pool.size));
  const plan = await planBuckets(work, own, pieces, ownCount);
  const tasks = pieces.map(
    ([from, to], p): DistributeRows => ({ rows, from, to, into, ...plan.distributions[p] }),
  );
  await work.pool.map('distributeRows', tasks, { signal: work.signal });
  return sortBuckets(work, plan, into, ownCount, otherCount);
}

/** Builds the edges of one side from those of the other. */
async function turnSide(work: Work, side: EdgeRows, into: Rows, ownCount: number): Promise<EdgeRows> {
  const { offsets, neighbors } = side;
  const pieces = cutRows(offsets, piecesFor(neighbors.length, work.pool.size));
  const ranges = pieces.map(([first, last]): Range => [offsets[first], offsets[last]]);
  const plan = await planBuckets(work, neighbors, ranges, ownCount);
  const tasks = pieces.map(
    ([first, last], p): DistributeEdges => ({ side, first, last, into, ...plan.distributions[p] }),
  );
  await work.pool.map('distributeEdges', tasks, { signal: work.signal });
  // They were distributed in the order of the given side, so the rows of each vertex are in order.
  return sortBuckets(work, plan, into, ownCount, 0);
}

async function sortBuckets(
  { pool, signal }: Work,
  { buckets }: BucketPlan,
  rows: Rows,
  ownCount: number,
  otherCount: number,
): Promise<EdgeRows> {
  const offsets = allocate(Uint32Array, ownCount + 1);
  // Start with the largest, so that no thread works on it alone at the end.
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

/** The fewest rows that are worth a message to a thread. */
const LEAST_PIECE = 1 << 16;
/** Several pieces per thread, so that a slow thread delays little. */
const PIECES_PER_THREAD = 4;

function piecesFor(rows: number, threads: number): number {
  return Math.max(1, Math.min(PIECES_PER_THREAD * threads, Math.ceil(rows / LEAST_PIECE)));
}

const MOST_BINS_BITS = 16;

/** Counts vertices in bins, so that the counts of each piece stay small. */
function binsOf(count: number): { shift: number; bins: number } {
  const last = Math.max(0, count - 1);
  const shift = Math.max(0, 32 - Math.clz32(last) - MOST_BINS_BITS);
  return { shift, bins: (last >>> shift) + 1 };
}

/** The fewest rows of a bucket: worth a message, small enough for a cache, and no more buckets than cache lines. */
const LEAST_BUCKET = 1 << 16;
const MOST_BUCKETS = 1024;

type BucketPlan = Awaited<ReturnType<typeof planBuckets>>;

/** Counts the vertices of the rows of each piece by bin, and joins adjacent bins into a bucket while it is small. */
async function planBuckets(
  { pool, signal }: Work,
  own: Uint32Array,
  pieces: readonly Range[],
  count: number,
) {
  const { shift, bins } = binsOf(count);
  const tasks = pieces.map(([from, to]): CountBins => ({ own, from, to, shift, bins }));
  const binCounts = await pool.map<CountBins, Uint32Array>('countBins', tasks, { signal });
  const sums = new Float64Array(bins);
  let rows = 0;
  for (const counts of binCounts) {
    for (let b = 0; b < bins; b++) {
      sums[b] += counts[b];
      rows += counts[b];
    }
  }
  const wanted = Math.max(LEAST_BUCKET, Math.ceil(rows / MOST_BUCKETS));
  const bucketOf = new Uint16Array(bins);
  const buckets: Pick<Bucket, 'from' | 'to' | 'first' | 'last'>[] = [];
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
  /** For each piece, where its rows go. */
  const distributions = binCounts.map((counts): Distribution => {
    const cursor = Uint32Array.from(next);
    for (let b = 0; b < bins; b++) next[bucketOf[b]] += counts[b];
    return { shift, bucketOf, cursor };
  });
  return { buckets, distributions };
}
