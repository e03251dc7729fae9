// Tables of scores in the memory of the kernels: a row for each user, a column for each held-back item. Products of sparse rows
// with dense ones fill them, and the recall of their lists is counted.

import type { SparseWeights } from '../../topn/query.js';
import { Heap } from '../../wasm/heap.js';
import { instantiate, type Kernels } from '../../wasm/instantiate.js';
import { loadKernels } from '../../wasm/load.js';
import { rowLists } from '../scoring/scorer.js';

const LISTS = [100, 20] as const;

async function openKernels() {
  const { module } = await loadKernels();
  const heap = new Heap();
  return { heap, kernels: instantiate(module, heap.memory) };
}

/** Copies sparse weights into the memory: the addresses of their offsets, targets and weights. */
export function storeSparse(heap: Heap, { offsets, targets, weights }: SparseWeights) {
  const at = [offsets, targets, weights].map(({ length }) => heap.allocate(4 * length));
  heap.u32(at[0], offsets.length).set(offsets);
  heap.u32(at[1], targets.length).set(targets);
  heap.f32(at[2], weights.length).set(weights);
  return at as [number, number, number];
}

/** Views of sparse weights that `storeSparse` has copied to `at`; the memory may not grow afterwards. */
export function storedSparse(
  heap: Heap,
  at: ReturnType<typeof storeSparse>,
  { offsets, targets, weights }: SparseWeights,
): SparseWeights {
  return {
    offsets: heap.u32(at[0], offsets.length),
    targets: heap.u32(at[1], targets.length),
    weights: heap.f32(at[2], weights.length),
  };
}

/** The address of a table. */
export type ScoreTable = number;

export type ScoreTables = Awaited<ReturnType<typeof createScoreTables>>;

/** Tables for users who want some of `items` items: positions for each user. */
export async function createScoreTables(items: number, wanted: readonly (readonly number[])[]) {
  const { heap, kernels } = await openKernels();
  const users = wanted.length;
  const stride = 4 * Math.ceil(items / 4);
  const bytes = 4 * stride;
  const { offsets, values } = rowLists(wanted);
  const [starts, positions] = [offsets, values].map((list) => {
    const at = heap.allocate(4 * list.length);
    heap.u32(at, list.length).set(list);
    return at;
  });
  const [factor, scratch] = [heap.allocate(bytes), heap.allocate(bytes)];
  const create = (): ScoreTable => heap.allocate(users * bytes);
  const row = (table: ScoreTable, user: number) => heap.f32(table + user * bytes, items);
  return {
    create,
    row,
    /** For each user, the products of the rows of `columns`, one for each item, with the dense row that `write` fills. */
    products(
      columns: SparseWeights,
      width: number,
      write: (user: number, dense: Float32Array) => void,
    ): ScoreTable {
      const table = create();
      const by = rowProducts(heap, kernels, columns, width);
      const dense = new Float32Array(width);
      for (let user = 0; user < users; user++) {
        dense.fill(0);
        write(user, dense);
        by.add(dense, (products) => row(table, user).set(products));
      }
      by.end();
      by.release();
      return table;
    },
    copy(table: ScoreTable): ScoreTable {
      const copied = create();
      heap.f32(copied, users * stride).set(heap.f32(table, users * stride));
      return copied;
    },
    add(to: ScoreTable, part: number, table: ScoreTable): void {
      kernels.addScaled(table, part, to, (users * stride) / 4);
    },
    /**
     * The mean over the users of the recall of held-back items in lists of 20 and of 100. A score is that of `table`, plus a part of that
     * of another table, times the factor of its item. Items that share the last score share the places.
     */
    recall(
      table: ScoreTable,
      factors: Float32Array,
      more: { readonly table: ScoreTable; readonly part: number } = { table: 0, part: 0 },
    ): number {
      heap.f32(factor, items).set(factors);
      const scores = [table, more.table, more.part, factor, items, users] as const;
      return kernels.recallInLists(...scores, starts, positions, ...LISTS, scratch);
    },
    release: (table: ScoreTable) => heap.release(table),
  };
}

/** Products of sparse rows with dense ones of length `width`. Four are multiplied together, in a quarter of the time. */
export async function createRowProducts(sparse: SparseWeights, width: number) {
  const { heap, kernels } = await openKernels();
  return rowProducts(heap, kernels, sparse, width);
}

function rowProducts(heap: Heap, kernels: Kernels, sparse: SparseWeights, width: number) {
  const rows = sparse.offsets.length - 1;
  const [four, out] = [heap.allocate(16 * width), heap.allocate(16 * rows)];
  const at = storeSparse(heap, sparse);
  const [given, found] = [heap.f32(four, 4 * width), heap.f32(out, 4 * rows)];
  const products = new Float32Array(rows);
  let takers: ((products: Float32Array) => void)[] = [];
  const end = () => {
    if (takers.length === 0) return;
    kernels.sparseProducts(...at, rows, four, out);
    for (const [lane, take] of takers.entries()) {
      for (let r = 0, i = lane; r < rows; r++, i += 4) products[r] = found[i];
      take(products);
    }
    takers = [];
  };
  return {
    /** Gives `take` the products with `dense`: now, or when three more rows were added, or at the end. It may not keep them. */
    add(dense: Float32Array, take: (products: Float32Array) => void): void {
      for (let j = 0, i = takers.length; j < width; j++, i += 4) given[i] = dense[j];
      if (takers.push(take) === 4) end();
    },
    end,
    release(): void {
      for (const address of [...at, four, out]) heap.release(address);
    },
  };
}
