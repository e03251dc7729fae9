// A first-fit allocator over one WebAssembly memory. Blocks are few, large and long-lived, so a list is enough.

import { FitError } from '../errors.js';
import { canShareMemory } from '../math/memory.js';

const PAGE = 65536;
/** The first page holds the module's own constants. */
const BASE = PAGE;
const MAX_PAGES = 65536;
/** A cache line. Vectors need 16 bytes; 64 keep two workers from writing to the same line of scratch. */
const ALIGN = 64;

export class Heap {
  readonly memory = new WebAssembly.Memory({
    initial: 16,
    maximum: MAX_PAGES,
    shared: canShareMemory(),
  });
  /** Free runs as [start, end), sorted, never adjacent. */
  #free: [number, number][] = [];
  #end = BASE;
  readonly #sizes = new Map<number, number>();

  /** The address of `bytes` zeroed bytes, aligned to cache lines. */
  allocate(bytes: number): number {
    const size = Math.max(1, Math.ceil(bytes / ALIGN)) * ALIGN;
    const run = this.#free.find(([start, end]) => end - start >= size);
    let address: number;
    if (run) {
      address = run[0];
      new Uint8Array(this.memory.buffer, address, size).fill(0);
      run[0] += size;
      if (run[0] === run[1]) this.#free = this.#free.filter((r) => r !== run);
    } else {
      address = this.#end;
      this.#grow(address + size);
      this.#end = address + size;
    }
    // New memory is already zero. The first writer maps its pages, so all threads share that work.
    this.#sizes.set(address, size);
    return address;
  }

  release(address: number): void {
    const size = this.#sizes.get(address);
    if (size === undefined) return;
    this.#sizes.delete(address);
    this.#free.push([address, address + size]);
    this.#free.sort((a, b) => a[0] - b[0]);
    const joined: [number, number][] = [];
    for (const run of this.#free) {
      const last = joined.at(-1);
      if (last && last[1] === run[0]) last[1] = run[1];
      else joined.push(run);
    }
    this.#free = joined;
  }

  f32(address: number, length: number): Float32Array {
    return new Float32Array(this.memory.buffer, address, length);
  }

  f64(address: number, length: number): Float64Array {
    return new Float64Array(this.memory.buffer, address, length);
  }

  u32(address: number, length: number): Uint32Array {
    return new Uint32Array(this.memory.buffer, address, length);
  }

  i64(address: number, length: number): BigInt64Array {
    return new BigInt64Array(this.memory.buffer, address, length);
  }

  #grow(end: number): void {
    const have = this.memory.buffer.byteLength / PAGE;
    const need = Math.ceil(end / PAGE);
    if (need <= have) return;
    const size = `the tables need ${Math.ceil(end / 2 ** 20)} MiB`;
    if (need > MAX_PAGES)
      throw new FitError(
        `${size}, and WebAssembly memory ends at 4096 MiB; use fewer features or the gpu engine`,
      );
    try {
      this.memory.grow(need - have);
    } catch {
      throw new FitError(
        `not enough memory: ${size}, which the machine could not give; ` +
          'close other programs, use fewer features, or sample the data first',
      );
    }
  }
}
