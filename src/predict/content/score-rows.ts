// Spreads the items that attributes score over threads. Few items are scored in the caller's thread, without kernels.

import { paddedSums, sumsBytes } from '../../attributes/kernel-sums.js';
import { listTotals, SparseSums } from '../../attributes/similarity.js';
import { lengths } from '../../math/csr.js';
import { allocate, createCounter, inSharedMemory } from '../../math/memory.js';
import { taskModule, threadCount } from '../../parallel/pool.js';
import type { TaskOptions } from '../../progress.js';
import { Heap } from '../../wasm/heap.js';
import { inLanes } from '../../wasm/lanes.js';
import { loadKernels } from '../../wasm/load.js';
import {
  type AskedRows,
  contentBlocks,
  type FoundRows,
  scoreContentRow,
  scoreContentRows,
} from './content-rows.js';
import { storedSparse, storeSparse } from './score-tables.js';

const TASKS = taskModule('./content-rows.js', import.meta.url);

/** Fewer items than this are scored without kernels, and fewer than that by one thread. */
const FEW_ROWS = 64;
const ONE_THREAD = 1000;

export async function scoreRows(
  given: AskedRows,
  { threads, signal, onProgress }: TaskOptions,
): Promise<FoundRows> {
  const rows = { ...given, totals: listTotals(given.lists) };
  const count = rows.items.length;
  const [near, width] = [count * rows.near, rows.places[count]];
  const perRow = {
    nearCounts: allocate(Uint32Array, count),
    directs: allocate(Float64Array, count),
    sums: allocate(Float64Array, count),
    counts: allocate(Uint32Array, count),
  };
  if (count < FEW_ROWS) {
    const found = {
      ...perRow,
      nearRows: new Uint32Array(near),
      nearValues: new Float32Array(near),
      rows: new Uint32Array(width),
      values: new Float32Array(width),
    };
    const sums = new SparseSums(rows.known);
    for (let position = 0; position < count; position++) scoreContentRow({ ...rows, found }, position, sums);
    return found;
  }
  const { module } = await loadKernels();
  const blocks = contentBlocks(rows);
  const lanes = count < ONE_THREAD ? 1 : threadCount(threads, blocks);
  const heap = new Heap();
  const most = Math.max(rows.near, ...new Set(lengths({ offsets: rows.places })));
  const scratch = Array.from({ length: lanes }, () => heap.allocate(sumsBytes(rows.known, most)));
  const at = {
    vectors: storeSparse(heap, rows.vectors),
    lists: storeSparse(heap, rows.lists),
    passed: rows.passed && storeSparse(heap, rows.passed),
    importance: heap.allocate(4 * paddedSums(rows.known)),
    nearRows: heap.allocate(4 * near),
    nearValues: heap.allocate(4 * near),
    rows: heap.allocate(4 * width),
    values: heap.allocate(4 * width),
  };
  // Memory may move while it grows, so views come last.
  const importance = heap.f32(at.importance, rows.known);
  importance.set(rows.importance);
  const found = {
    ...perRow,
    nearRows: heap.u32(at.nearRows, near),
    nearValues: heap.f32(at.nearValues, near),
    rows: heap.u32(at.rows, width),
    values: heap.f32(at.values, width),
  };
  const job = {
    ...rows,
    module,
    memory: heap.memory,
    workers: createCounter(),
    next: createCounter(),
    scratch,
    most,
    vectors: storedSparse(heap, at.vectors, rows.vectors),
    lists: storedSparse(heap, at.lists, rows.lists),
    passed: rows.passed && storedSparse(heap, at.passed!, rows.passed),
    importance,
    found,
    totals: inSharedMemory(rows.totals),
    items: inSharedMemory(rows.items),
    factors: inSharedMemory(rows.factors),
    places: inSharedMemory(rows.places),
  };
  const run = inLanes(TASKS, lanes === 1 ? 0 : lanes);
  try {
    await run.all('scoreContentRows', scoreContentRows, job, signal, blocks, () => {
      const done = Math.min(count, Math.floor((count * Atomics.load(job.next, 0)) / blocks));
      onProgress?.({ stage: 'attributes', done, total: count, unit: 'items' });
    });
  } finally {
    await run.close();
  }
  return found;
}
