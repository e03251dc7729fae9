import { concat } from '../math/memory.js';

/** The longest id, in bytes of UTF-8; the same for every format and for pairs in memory. */
export const MAX_ID_BYTES = 1 << 16;

/** The names of one side's vertices, both ways: index → id and id → index. */
export class VertexIds {
  readonly #values: Float64Array | readonly string[];
  /** Built at the first look-up if the ids are not in ascending order. */
  #index: Map<string, number> | undefined;
  #ascending: boolean | undefined;

  private constructor(values: Float64Array | readonly string[]) {
    this.#values = values;
  }

  /** Whole-number ids (exact up to 2^53). */
  static integers(values: Float64Array): VertexIds {
    return new VertexIds(values);
  }

  static texts(values: readonly string[]): VertexIds {
    return new VertexIds(values);
  }

  /** The ids 0 … n−1. */
  static range(n: number): VertexIds {
    const values = new Float64Array(n);
    for (let i = 0; i < n; i++) values[i] = i;
    return new VertexIds(values);
  }

  get length(): number {
    return this.#values.length;
  }

  get kind(): 'integer' | 'text' {
    return this.#values instanceof Float64Array ? 'integer' : 'text';
  }

  /** The raw values, for writers and hashes. */
  get values(): Float64Array | readonly string[] {
    return this.#values;
  }

  /** The id of vertex `index`, as text. */
  at(index: number): string {
    return String(this.#values[index]);
  }

  /** The vertex with this id, or −1. */
  find(id: string | number): number {
    const values = this.#values;
    this.#ascending ??= isAscending(values);
    if (!this.#ascending) {
      if (!this.#index) {
        this.#index = new Map();
        for (let i = 0; i < values.length; i++) this.#index.set(String(values[i]), i);
      }
      return this.#index.get(String(id)) ?? -1;
    }
    // Graphs keep their vertices sorted by id, so a bisection needs no index in memory.
    const wanted = values instanceof Float64Array ? Number(id) : String(id);
    let low = 0;
    let high = values.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (values[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    return low < values.length && String(values[low]) === String(id) ? low : -1;
  }

  /** For each of the other's ids, its vertex here, or −1. */
  findAll(other: VertexIds): Int32Array {
    const found = new Int32Array(other.length);
    const [values, wanted] = [this.#values, other.#values];
    let next = 0;
    for (let i = 0; i < found.length; i++) {
      // Most ids follow each other in both; only the rest need a search.
      found[i] = next < values.length && values[next] === wanted[i] ? next : this.find(other.at(i));
      if (found[i] >= 0) next = found[i] + 1;
    }
    return found;
  }

  /** The ids of the given vertices, in that order. */
  pick(indexes: ArrayLike<number>): VertexIds {
    const values = this.#values;
    if (values instanceof Float64Array) {
      const picked = new Float64Array(indexes.length);
      for (let i = 0; i < picked.length; i++) picked[i] = values[indexes[i]];
      return new VertexIds(picked);
    }
    return new VertexIds(Array.from(indexes, (i) => values[i]));
  }
}

/**
 * Distinct texts as the ids of a graph, in order: whole numbers by value if all of them are, else texts by code unit. `order` has
 * the place of each id among the texts.
 */
export function sortIds(texts: readonly string[], whole: boolean): { ids: VertexIds; order: Uint32Array } {
  const order = Uint32Array.from(texts.keys());
  if (whole) {
    const values = Float64Array.from(texts, Number);
    order.sort((a, b) => values[a] - values[b]);
    return { ids: VertexIds.integers(values.sort()), order };
  }
  order.sort((a, b) => (texts[a] < texts[b] ? -1 : 1));
  return { ids: VertexIds.texts(Array.from(order, (at) => texts[at])), order };
}

function isAscending(values: Float64Array | readonly string[]): boolean {
  for (let i = 1; i < values.length; i++) if (!(values[i - 1] < values[i])) return false;
  return true;
}

/** All ids, one list after another: whole numbers only if all are. */
export function joinIds(all: readonly VertexIds[]): VertexIds {
  const values = all.map((ids) => ids.values);
  return values.every((some) => some instanceof Float64Array)
    ? VertexIds.integers(concat(Float64Array, values))
    : VertexIds.texts(values.flatMap((some) => Array.from(some, String)));
}
