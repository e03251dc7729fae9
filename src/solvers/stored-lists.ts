// Lists in the memory of the kernels, and the addresses that a worker passes to them.

import type { RowLists } from '../math/csr.js';
import { createCounter } from '../math/memory.js';
import type { Heap } from '../wasm/heap.js';

export type WorkerPlace = ReturnType<typeof placeOn>;

/**
 * Where the workers of a new job compute. `scratch`: the address of each worker's scratch. Of the two counters, a worker takes its scratch
 * from `places`, and each next block from `next`.
 */
export function placeOn(heap: Heap, module: WebAssembly.Module, scratch: readonly number[]) {
  return { module, memory: heap.memory, places: createCounter(), next: createCounter(), scratch };
}

/** Addresses of lists of row numbers and of their weights (0: none), and how many there are. */
export type StoredLists = ReturnType<typeof storeLists>;

/** Copies lists into the kernels' memory, with their weights. */
export function storeLists(heap: Heap, lists: RowLists) {
  const offsets = heap.allocate(4 * lists.offsets.length);
  const neighbors = heap.allocate(4 * lists.values.length);
  heap.u32(offsets, lists.offsets.length).set(lists.offsets);
  heap.u32(neighbors, lists.values.length).set(lists.values);
  const weights = lists.weights ? heap.allocate(4 * lists.weights.length) : 0;
  if (lists.weights) heap.f32(weights, lists.weights.length).set(lists.weights);
  return { offsets, neighbors, weights, rows: lists.offsets.length - 1 };
}
