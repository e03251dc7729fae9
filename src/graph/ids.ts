/** The names of one side's vertices, both ways: index → id and id → index. */
export class VertexIds {
  readonly #values: Float64Array | readonly string[];
  #index: Map<string, number> | undefined;

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
    return new VertexIds(Float64Array.from({ length: n }, (_, i) => i));
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

  /** The vertex of that id, or −1. */
  find(id: string | number): number {
    if (!this.#index) {
      this.#index = new Map();
      for (let i = 0; i < this.#values.length; i++) this.#index.set(String(this.#values[i]), i);
    }
    return this.#index.get(String(id)) ?? -1;
  }

  /** The ids of the given vertices, in that order. */
  pick(indexes: ArrayLike<number>): VertexIds {
    const values = this.#values;
    if (values instanceof Float64Array) {
      return new VertexIds(Float64Array.from(indexes, (i) => values[i]!));
    }
    return new VertexIds(Array.from(indexes, (i) => values[i]!));
  }
}
