// Weights between items: every item from the few that share most users with it, by ridge regression with dropout. Restricted to
// those few the weights are in closed form and sparse, no items × items matrix is made, and they rank better than those of all
// items (docs/appendix/recommending.md). Counts of a multigraph are not looked at.

import { throwIfAborted } from '../../errors.js';
import { allocate, createCounter, inSharedMemory } from '../../math/memory.js';
import { createPool, type TaskModule, threadCount } from '../../parallel/pool.js';
import type { TaskOptions } from '../../progress.js';
import type { RowLists, SparseWeights } from '../rank.js';
import { ITEMS_PER_BLOCK, type ItemItemJob, solveItems } from './item-item-tasks.js';

const TASKS: TaskModule = {
  name: 'item-item-tasks',
  base: import.meta.url,
  worker: () =>
    new Worker(new URL('./item-item-tasks.js', import.meta.url), {
      type: 'module',
      name: 'graphex:item-item-tasks',
    }),
  here: () => import('./item-item-tasks.js'),
};

export interface ItemItemOptions extends TaskOptions {
  /** Inputs of each item, at most. */
  readonly neighbours: number;
  /** Added to the diagonal: `dropout` times an input's degree, and `lambda`. */
  readonly dropout: number;
  readonly lambda: number;
}

/** Below this many edges a pool of workers costs more than it saves. */
const SMALL = 20_000;

/** From each item, the weights towards the items that have it among their inputs; the same bits on any number of threads. */
export async function itemItem(
  { users, items }: { readonly users: RowLists; readonly items: RowLists },
  { neighbours, dropout, lambda, threads, signal, onProgress }: ItemItemOptions,
): Promise<SparseWeights> {
  throwIfAborted(signal);
  const count = items.offsets.length - 1;
  const small = items.values.length < SMALL;
  const shared = <T extends Uint32Array>(values: T) => (small ? values : inSharedMemory(values));
  const width = Math.min(neighbours, Math.max(1, count - 1));
  const job: ItemItemJob = {
    users: { offsets: shared(users.offsets), values: shared(users.values) },
    items: { offsets: shared(items.offsets), values: shared(items.values) },
    width,
    dropout,
    lambda,
    next: createCounter(),
    lengths: allocate(Uint32Array, count),
    inputs: allocate(Uint32Array, count * width),
    weights: allocate(Float32Array, count * width),
  };
  if (small) {
    solveItems(job);
    return fromInputs(job);
  }
  const pool = await createPool(TASKS, threadCount(threads, Math.ceil(count / ITEMS_PER_BLOCK)));
  // A counter beyond the last block tells the workers that none is left.
  const stop = () => Atomics.store(job.next, 0, count);
  signal?.addEventListener('abort', stop, { once: true });
  const ticking = setInterval(() => {
    const done = Math.min(count, ITEMS_PER_BLOCK * Atomics.load(job.next, 0));
    onProgress?.({ stage: 'weights between items', done, total: count, unit: 'items' });
  }, 200);
  try {
    await pool.everywhere('solveItems', job);
  } finally {
    clearInterval(ticking);
    signal?.removeEventListener('abort', stop);
    await pool.close();
  }
  throwIfAborted(signal);
  return fromInputs(job);
}

/** The weights by the item they come from; targets ascend, as items are taken in their order. */
function fromInputs({ lengths, inputs, weights, width }: ItemItemJob): SparseWeights {
  const count = lengths.length;
  const offsets = allocate(Uint32Array, count + 1);
  for (let item = 0; item < count; item++) {
    for (let e = item * width; e < item * width + lengths[item]; e++) offsets[inputs[e] + 1]++;
  }
  for (let item = 0; item < count; item++) offsets[item + 1] += offsets[item];
  const cursor = offsets.slice(0, count);
  const result = {
    offsets,
    targets: allocate(Uint32Array, offsets[count]),
    weights: allocate(Float32Array, offsets[count]),
  };
  for (let item = 0; item < count; item++) {
    for (let e = item * width; e < item * width + lengths[item]; e++) {
      const at = cursor[inputs[e]]++;
      result.targets[at] = item;
      result.weights[at] = weights[e];
    }
  }
  return Object.freeze(result);
}
