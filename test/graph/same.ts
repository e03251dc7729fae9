import { expect } from 'vitest';
import type { BipartiteGraph } from '../../src/graph/graph.js';

/** Requires the same graph to the last bit; a matcher would compare every number separately. */
export function expectSameGraph(found: BipartiteGraph, expected: BipartiteGraph): void {
  for (const side of ['users', 'items'] as const) {
    const [own, wanted] = [found[side], expected[side]];
    expect(own.count).toBe(wanted.count);
    expect(own.ids.kind).toBe(wanted.ids.kind);
    expect(sameNumbers(own.offsets, wanted.offsets), `${side}: offsets`).toBe(true);
    expect(sameNumbers(own.neighbors, wanted.neighbors), `${side}: neighbors`).toBe(true);
    expect(own.counts === undefined).toBe(wanted.counts === undefined);
    if (own.counts && wanted.counts)
      expect(sameNumbers(own.counts, wanted.counts), `${side}: counts`).toBe(true);
    const values = [own.ids.values, wanted.ids.values];
    if (values.every((value) => value instanceof Float64Array)) {
      expect(sameNumbers(...(values as [Float64Array, Float64Array])), `${side}: ids`).toBe(true);
    } else expect(values[0]).toEqual(values[1]);
  }
  const sizes = ({ edges, total, multigraph }: BipartiteGraph) => [edges, total, multigraph];
  expect(sizes(found)).toEqual(sizes(expected));
}

function sameNumbers(a: Uint32Array | Float64Array, b: Uint32Array | Float64Array): boolean {
  const bytes = ({ buffer, byteOffset, byteLength }: Uint32Array | Float64Array) =>
    Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
  return bytes(a).equals(bytes(b));
}
