// The kernel that selects floats, in both builds, against sorting.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { randomStream } from '../../src/math/random.js';
import { loadKernels } from '../../src/wasm/load.js';

await loadKernels(); // switches relaxed SIMD on where Node needs a flag for it

interface Exports {
  nthLargest(values: number, count: number, nth: number): number;
}

const AT = 65536;
const random = randomStream(5, 1);

const KINDS: readonly [string, () => number][] = [
  ['any sign', () => random.uniform() - 0.4],
  ['many ties', () => random.below(4) - 1],
  ['all equal', () => 0.5],
  ['far apart', () => (random.uniform() < 0.5 ? -1 : 1) * 10 ** (60 * random.uniform() - 30)],
  ['some left out', () => (random.uniform() < 0.6 ? Number.NEGATIVE_INFINITY : random.uniform())],
  ['zeros of both signs', () => [-0, 0, 1, -1][random.below(4)]],
];

test.each(['kernels', 'kernels-relaxed'])('%s select like a sorted list', (flavour) => {
  const memory = new WebAssembly.Memory({ initial: 16, maximum: 65536, shared: true });
  const url = new URL(`../../dist/wasm/${flavour}.wasm`, import.meta.url);
  const instance = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(url)), {
    env: { memory, abort: () => {} },
  });
  const kernels = instance.exports as unknown as Exports;
  for (const [, value] of KINDS) {
    for (const count of [1, 2, 3, 4, 7, 64, 301]) {
      const values = new Float32Array(memory.buffer, AT, count).map(value);
      new Float32Array(memory.buffer, AT, count).set(values);
      const sorted = values.slice().sort().reverse();
      for (const nth of new Set([1, 2, Math.ceil(count / 3), count])) {
        if (nth > count) continue;
        // Zeros of both signs are equal.
        expect(kernels.nthLargest(AT, count, nth) + 0).toBe(sorted[nth - 1] + 0);
      }
      expect(new Float32Array(memory.buffer, AT, count)).toEqual(values);
    }
  }
});
