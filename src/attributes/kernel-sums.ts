// Sums of some of many numbers by the kernels, with the same bits as SparseSums. Lists and importance must lie in the kernels' memory.

import type { SparseWeights } from '../topn/query.js';
import { BLOCK, CANDIDATES, type RowValues, type Sums } from './similarity.js';

/** The exports of wasm/kernels/sums.ts. */
interface SumKernels {
  sumList(
    sums: number,
    blocks: number,
    targets: number,
    weights: number,
    count: number,
    factor: number,
  ): void;
  sumScale(sums: number, blocks: number, blockCount: number, factor: number): void;
  sumTotal(sums: number, blocks: number, blockCount: number): number;
  sumLargest(
    sums: number,
    importance: number,
    blocks: number,
    blockCount: number,
    n: number,
    most: number,
    found: number,
    sizes: number,
    scratch: number,
    guess: number,
  ): number;
  sumClear(sums: number, blocks: number, blockCount: number): void;
}

/** Numbers that sums of `size` numbers are padded to. */
export const paddedSums = (size: number) => BLOCK * Math.ceil(size / BLOCK);

/** Zeroed bytes that `size` sums need, if `largest` asks for at most `n`. */
export const sumsBytes = (size: number, n: number) =>
  4 * paddedSums(size) + align(size / BLOCK) + 3 * room(n);

const align = (bytes: number) => 16 * Math.ceil(bytes / 16);
const room = (n: number) => align(4 * (CANDIDATES * Math.max(1, n) + BLOCK));

/** Sums of rows that follow one another are alike: this part of the last bound is tried first. */
const GUESS = 0.8;

export function createKernelSums(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
  at: number,
  size: number,
  n: number,
): Sums {
  const instance = new WebAssembly.Instance(module, { env: { memory, abort: () => {} } });
  const kernels = instance.exports as unknown as SumKernels;
  const count = Math.ceil(size / BLOCK);
  const blocks = at + 4 * paddedSums(size);
  const found = blocks + align(size / BLOCK);
  const [sizes, scratch] = [found + room(n), found + 2 * room(n)];
  const values = new Float32Array(memory.buffer, at, size);
  const positions = new Uint32Array(memory.buffer, found, n);
  const least = new Float32Array(memory.buffer, scratch, 1);
  /** By the number that was asked for, a bound of the sizes that were found last. */
  const bounds = new Map<number, number>();
  return {
    addList({ targets, weights }: Omit<SparseWeights, 'offsets'>, first, end, factor) {
      const [from, by] = [targets.byteOffset + 4 * first, weights.byteOffset + 4 * first];
      if (end > first) kernels.sumList(at, blocks, from, by, end - first, factor);
    },
    drop(one) {
      values[one] = 0;
    },
    multiply: (factor) => kernels.sumScale(at, blocks, count, factor),
    total: () => kernels.sumTotal(at, blocks, count),
    largest(most, importance): RowValues {
      const asked = Math.max(1, most);
      const kept = kernels.sumLargest(
        ...([at, importance?.byteOffset ?? 0, blocks, count] as const),
        ...([asked, CANDIDATES * asked, found, sizes, scratch] as const),
        GUESS * (bounds.get(asked) ?? 0),
      );
      bounds.set(asked, least[0]);
      const rows = positions.slice(0, kept);
      const sums = new Float32Array(kept);
      for (let i = 0; i < kept; i++) sums[i] = values[rows[i]];
      return { rows, values: sums };
    },
    clear: () => kernels.sumClear(at, blocks, count),
  };
}
