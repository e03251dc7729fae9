// Lists in the memory of the kernels, and the addresses that a worker passes to them.

import type { RowLists } from '../math/csr.js';
import { createCounter } from '../math/memory.js';
import type { Heap } from '../wasm/heap.js';

export interface WorkerPlace {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  /** Counters: a worker takes its scratch from the first, and each next block from the second. */
  readonly places: Int32Array;
  readonly next: Int32Array;
  /** Address of each worker's scratch. */
  readonly scratch: readonly number[];
}

/** A new job's place: both counters start at 0. */
export function placeOn(heap: Heap, module: WebAssembly.Module, scratch: readonly number[]): WorkerPlace {
  return { module, memory: heap.memory, places: createCounter(), next: createCounter(), scratch };
}

/** Addresses of lists of row numbers and of their weights (0: none), and how many there are. */
export interface StoredLists {
  readonly offsets: number;
  readonly neighbors: number;
  readonly weights: number;
  readonly rows: number;
}

/** Copies lists into the kernels' memory, with their weights. */
export function storeLists(heap: Heap, lists: RowLists): StoredLists {
  const offsets = heap.allocate(4 * lists.offsets.length);
  const neighbors = heap.allocate(4 * lists.values.length);
  heap.u32(offsets, lists.offsets.length).set(lists.offsets);
  heap.u32(neighbors, lists.values.length).set(lists.values);
  const weights = lists.weights ? heap.allocate(4 * lists.weights.length) : 0;
  if (lists.weights) heap.f32(weights, lists.weights.length).set(lists.weights);
  return { offsets, neighbors, weights, rows: lists.offsets.length - 1 };
}
