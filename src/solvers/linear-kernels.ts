// The kernels of the linear solvers, and the addresses that a worker passes to them.

import type { RowLists } from '../math/csr.js';
import type { Heap } from '../wasm/heap.js';

/** The exports of kernels/linear.ts and kernels/ridge.ts. */
export interface LinearKernels {
  linearGram(
    offsets: number,
    neighbors: number,
    weights: number,
    rows: number,
    columns: number,
    lambda: number,
    p: number,
    out: number,
  ): void;
  linearSums(offsets: number, values: number, first: number, last: number, table: number, out: number): void;
  linearDots(a: number, b: number, scale: number, rows: number, out: number): void;
  linearAxpy(alpha: number, x: number, y: number, rows: number): void;
  linearDirection(beta: number, scale: number, r: number, p: number, rows: number): void;
  linearTurn(table: number, rows: number, stride: number, matrix: number, scratch: number): void;
  alsGram(table: number, rows: number, stride: number, factor: number, gram: number, packed: number): void;
  alsRows(
    own: number,
    other: number,
    offsets: number,
    neighbors: number,
    weights: number,
    first: number,
    last: number,
    stride: number,
    packed: number,
    lambda: number,
    base: number,
    steps: number,
    tolerance: number,
    scratch: number,
  ): void;
}

export interface WorkerPlace {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  /** Counters: a worker takes its scratch from the first, and each next block from the second. */
  readonly places: Int32Array;
  readonly next: Int32Array;
  /** Address of each worker's scratch. */
  readonly scratch: readonly number[];
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

export function instantiate({ module, memory }: Pick<WorkerPlace, 'module' | 'memory'>): LinearKernels {
  const instance = new WebAssembly.Instance(module, { env: { memory, abort: () => {} } });
  return instance.exports as unknown as LinearKernels;
}
