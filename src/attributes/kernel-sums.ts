// Sparse sums by the kernels, with the same bits as SparseSums. All arrays that are given must lie in the kernels' memory.

import { BLOCK, CANDIDATES, type Sums } from './similarity.js';

/** The exports of wasm/kernels/sums.ts. */
interface SumKernels {
  sumLists(
    sums: number,
    blocks: number,
    blockCount: number,
    offsets: number,
    targets: number,
    weights: number,
    which: number,
    factors: number,
    count: number,
    longest: number,
    factor: number,
  ): void;
  sumLargest(
    sums: number,
    importance: number,
    blocks: number,
    blockCount: number,
    n: number,
    most: number,
    maxima: number,
    found: number,
    sizes: number,
    rows: number,
    values: number,
  ): number;
  sumClear(sums: number, blocks: number, blockCount: number): void;
}

/** Numbers that sums of `size` numbers are padded to. */
export const paddedSums = (size: number) => BLOCK * Math.ceil(size / BLOCK);

/** Zeroed bytes that `size` sums need, if at most `n` of the largest are asked for. */
export const sumsBytes = (size: number, n: number) =>
  5 * paddedSums(size) + align(size / BLOCK) + 2 * room(n);

const align = (bytes: number) => 16 * Math.ceil(bytes / 16);
const room = (n: number) => align(4 * (CANDIDATES * Math.max(1, n) + BLOCK));
const EVERY = 2 ** 32 - 1;

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
  const maxima = at + 4 * paddedSums(size);
  const blocks = maxima + paddedSums(size);
  const found = blocks + align(size / BLOCK);
  const sizes = found + room(n);
  const values = new Float32Array(memory.buffer, at, size);
  return {
    addLists({ offsets, targets, weights }, entries, { first, end, factor, longest = EVERY }) {
      kernels.sumLists(
        ...([at, blocks, count] as const),
        ...([offsets.byteOffset, targets.byteOffset, weights.byteOffset] as const),
        ...([entries.targets.byteOffset + 4 * first, entries.weights.byteOffset + 4 * first] as const),
        ...([end - first, longest, factor] as const),
      );
    },
    drop(one) {
      const sum = values[one];
      values[one] = 0;
      return sum;
    },
    writeLargest(most, to, first, importance) {
      if (most === 0) return 0;
      return kernels.sumLargest(
        ...([at, importance?.byteOffset ?? 0, blocks, count, most, CANDIDATES * most] as const),
        ...([
          maxima,
          found,
          sizes,
          to.rows.byteOffset + 4 * first,
          to.values.byteOffset + 4 * first,
        ] as const),
      );
    },
    clear: () => kernels.sumClear(at, blocks, count),
  };
}
