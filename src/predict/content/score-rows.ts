// Spreads the items that attributes score over threads. Few items are scored in the caller's thread, without kernels.

import { paddedSums, sumsBytes } from '../../attributes/kernel-sums.js';
import { SparseSums } from '../../attributes/similarity.js';
import { allocate, createCounter, inSharedMemory } from '../../math/memory.js';
import { taskModule, threadCount } from '../../parallel/pool.js';
import type { TaskOptions } from '../../progress.js';
import type { SparseWeights } from '../../topn/query.js';
import { Heap } from '../../wasm/heap.js';
import { inLanes } from '../../wasm/lanes.js';
import { loadKernels } from '../../wasm/load.js';
import {
  type ContentRows,
  contentBlocks,
  type FoundRows,
  scoreContentRow,
  scoreContentRows,
} from './content-rows.js';

const TASKS = taskModule('./content-rows.js', import.meta.url);

/** Fewer items than this are scored without kernels, and fewer than that by one thread. */
const FEW_ROWS = 64;
const ONE_THREAD = 1000;

export async function scoreRows(
  rows: Omit<ContentRows, 'found'>,
  { threads, signal, onProgress }: TaskOptions,
): Promise<FoundRows> {
  const count = rows.items.length;
  const found: FoundRows = {
    nearCounts: allocate(Uint32Array, count),
    nearRows: allocate(Uint32Array, count * rows.near),
    nearValues: allocate(Float32Array, count * rows.near),
    directs: allocate(Float64Array, count),
    sums: allocate(Float64Array, count),
    counts: allocate(Uint32Array, count),
    rows: allocate(Uint32Array, rows.places[count]),
    values: allocate(Float32Array, rows.places[count]),
  };
  if (count < FEW_ROWS) {
    const sums = new SparseSums(rows.known);
    for (let position = 0; position < count; position++) scoreContentRow({ ...rows, found }, position, sums);
    return found;
  }
  const { module } = await loadKernels();
  const blocks = contentBlocks(rows);
  const lanes = count < ONE_THREAD ? 1 : threadCount(threads, blocks);
  const heap = new Heap();
  let most = rows.near;
  for (let i = 0; i < count; i++) most = Math.max(most, rows.places[i + 1] - rows.places[i]);
  const scratch = Array.from({ length: lanes }, () => heap.allocate(sumsBytes(rows.known, most)));
  // Memory may move while it grows, so views come last.
  const inMemory = (lists: SparseWeights) => {
    const [targets, weights] = [
      heap.allocate(4 * lists.targets.length),
      heap.allocate(4 * lists.targets.length),
    ];
    return () => {
      const views = {
        targets: heap.u32(targets, lists.targets.length),
        weights: heap.f32(weights, lists.targets.length),
      };
      views.targets.set(lists.targets);
      views.weights.set(lists.weights.subarray(0, lists.targets.length));
      return { offsets: inSharedMemory(lists.offsets), ...views };
    };
  };
  const padded = (values: Float32Array) => {
    const at = heap.allocate(4 * paddedSums(values.length));
    return () => {
      const view = heap.f32(at, values.length);
      view.set(values);
      return view;
    };
  };
  const [lists, passed] = [inMemory(rows.lists), rows.passed && inMemory(rows.passed)];
  const importance = padded(rows.importance);
  const { vectors } = rows;
  const job = {
    ...{
      ...rows,
      module,
      memory: heap.memory,
      workers: createCounter(),
      next: createCounter(),
      scratch,
      most,
      found,
    },
    vectors: {
      offsets: inSharedMemory(vectors.offsets),
      targets: inSharedMemory(vectors.targets),
      weights: inSharedMemory(vectors.weights),
    },
    ...{ lists: lists(), passed: passed?.(), importance: importance() },
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
