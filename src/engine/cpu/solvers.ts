// What ridge regression and least squares have in common: their workers, and lists in the memory of the kernels.

import type { TaskModule } from '../../parallel/pool.js';
import type { RowLists } from '../rank.js';
import type { Heap } from './wasm-heap.js';

/** Below this many additions a pool of workers costs more than it saves. */
export const SMALL = 1e8;

export const SOLVERS: TaskModule = {
  name: 'linear-tasks',
  base: import.meta.url,
  worker: () =>
    new Worker(new URL('./linear-tasks.js', import.meta.url), {
      type: 'module',
      name: 'graphex:linear-tasks',
    }),
  here: () => import('./linear-tasks.js'),
};

/** Brings lists to the kernels. */
export function storeLists(heap: Heap, lists: RowLists): { offsets: number; neighbors: number } {
  const offsets = heap.allocate(4 * lists.offsets.length);
  const neighbors = heap.allocate(4 * lists.values.length);
  heap.u32(offsets, lists.offsets.length).set(lists.offsets);
  heap.u32(neighbors, lists.values.length).set(lists.values);
  return { offsets, neighbors };
}
