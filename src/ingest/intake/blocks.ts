/** A growing list of whole numbers below 2^32, in blocks, so that growth copies nothing. */
export class NumberBlocks {
  readonly #blocks: Uint32Array[] = [];
  #last: Uint32Array = new Uint32Array(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    const at = this.#length & MASK;
    if (at === 0) {
      this.#last = new Uint32Array(BLOCK);
      this.#blocks.push(this.#last);
    }
    this.#last[at] = value;
    this.#length++;
  }

  get(index: number): number {
    return this.#blocks[index >>> BITS][index & MASK];
  }

  set(index: number, value: number): void {
    this.#blocks[index >>> BITS][index & MASK] = value;
  }

  /** Keeps only the first `length` values. */
  truncate(length: number): void {
    this.#length = length;
    this.#blocks.length = (length + MASK) >>> BITS;
    this.#last = this.#blocks.at(-1) ?? new Uint32Array(0);
  }

  /** The filled parts of the blocks, in order; writing to them changes the list. */
  *parts(): Generator<Uint32Array> {
    for (let start = 0; start < this.#length; start += BLOCK) {
      yield this.#blocks[start >>> BITS].subarray(0, Math.min(BLOCK, this.#length - start));
    }
  }

  /** All values in one array, after which the list is empty. Frees each block once it is copied. */
  drain(): Uint32Array {
    const result = new Uint32Array(this.#length);
    let start = 0;
    for (const part of this.parts()) {
      result.set(part, start);
      this.#blocks[start >>> BITS] = this.#last;
      start += part.length;
    }
    this.truncate(0);
    return result;
  }
}

const BITS = 18;
const BLOCK = 1 << BITS;
const MASK = BLOCK - 1;
