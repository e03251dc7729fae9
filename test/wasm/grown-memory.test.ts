import { expect, it } from 'vitest';
import { grownBuffer } from '../../src/wasm/grown-memory.js';

it('a memory that still has its buffer from before it grew is read again', () => {
  const [before, after] = [new SharedArrayBuffer(64), new SharedArrayBuffer(128)];
  const grown: number[] = [];
  const stale = {
    buffer: before,
    grow(pages: number) {
      grown.push(pages);
      stale.buffer = after;
      return 1;
    },
  };
  const memory = stale as unknown as WebAssembly.Memory;
  expect(grownBuffer(memory, 64)).toBe(before);
  expect(grownBuffer(memory, 65)).toBe(after);
  expect(grownBuffer(memory, 128)).toBe(after);
  expect(grown).toEqual([0]);
});
