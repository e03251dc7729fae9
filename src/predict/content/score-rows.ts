// Spreads the items that attributes score over threads. Few items are scored in the caller's thread, without kernels.

import { paddedSums, sumsBytes } from '../../attributes/kernel-sums.js';
import { listTotals, SparseSums } from '../../attributes/similarity.js';
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
  given: Omit<ContentRows, 'found' | 'totals'>,
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
      ...{ nearRows: new Uint32Array(near), nearValues: new Float32Array(near) },
      ...{ rows: new Uint32Array(width), values: new Float32Array(width) },
    };
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
  const whole = (length: number) => {
    const at = heap.allocate(4 * length);
    return () => heap.u32(at, length);
  };
  const numbers = (length: number, room = length) => {
    const at = heap.allocate(4 * room);
    return () => heap.f32(at, length);
  };
  const inMemory = (of: SparseWeights) => {
    const views = [whole(of.offsets.length), whole(of.targets.length), numbers(of.weights.length)] as const;
    return () => {
      const [offsets, targets, weights] = [views[0](), views[1](), views[2]()];
      offsets.set(of.offsets);
      targets.set(of.targets);
      weights.set(of.weights);
      return { offsets, targets, weights };
    };
  };
  const sparse = [
    inMemory(rows.vectors),
    inMemory(rows.lists),
    rows.passed && inMemory(rows.passed),
  ] as const;
  const places = [whole(near), numbers(near), whole(width), numbers(width)] as const;
  const important = numbers(rows.known, paddedSums(rows.known));
  const importance = important();
  importance.set(rows.importance);
  const found = {
    ...perRow,
    ...{ nearRows: places[0](), nearValues: places[1](), rows: places[2](), values: places[3]() },
  };
  const job = {
    ...{
      ...rows,
      module,
      memory: heap.memory,
      workers: createCounter(),
      next: createCounter(),
      scratch,
      most,
    },
    ...{ vectors: sparse[0](), lists: sparse[1](), passed: sparse[2]?.(), importance, found },
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
