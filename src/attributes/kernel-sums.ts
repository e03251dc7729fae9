// Sparse sums by the kernels, with the same bits as SparseSums. All arrays that are given must lie in the kernels' memory.

import { instantiate } from '../wasm/instantiate.js';
import { BLOCK, type Sums } from './similarity.js';

/** Numbers that sums of `size` numbers are padded to. */
export const paddedSums = (size: number) => BLOCK * Math.ceil(size / BLOCK);

/** Zeroed bytes that `size` sums need, if at most `n` of the largest are asked for. */
export const sumsBytes = (size: number, n: number) =>
  4.5 * paddedSums(size) + align(size / BLOCK) + 2 * room(n);

const align = (bytes: number) => 16 * Math.ceil(bytes / 16);
const room = (n: number) => align(4 * (CANDIDATES * Math.max(1, n) + BLOCK));
const EVERY = 2 ** 32 - 1;
/** Candidates are reduced to the largest `n` once there are this many times `n` of them. */
const CANDIDATES = 4;

export function createKernelSums(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
  at: number,
  size: number,
  n: number,
): Sums {
  const kernels = instantiate(module, memory);
  const count = Math.ceil(size / BLOCK);
  const runs = at + 4 * paddedSums(size);
  const blocks = runs + paddedSums(size) / 2;
  const found = blocks + align(size / BLOCK);
  const sizes = found + room(n);
  const values = new Float32Array(memory.buffer, at, size);
  return {
    addLists({ offsets, targets, weights }, entries, { first, end, factor, longest = EVERY }) {
      kernels.sumLists(
        at,
        blocks,
        count,
        offsets.byteOffset,
        targets.byteOffset,
        weights.byteOffset,
        entries.targets.byteOffset + 4 * first,
        entries.weights.byteOffset + 4 * first,
        end - first,
        longest,
        factor,
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
        at,
        importance?.byteOffset ?? 0,
        blocks,
        count,
        most,
        CANDIDATES * most,
        runs,
        found,
        sizes,
        to.rows.byteOffset + 4 * first,
        to.values.byteOffset + 4 * first,
      );
    },
    clear: () => kernels.sumClear(at, blocks, count),
  };
}
