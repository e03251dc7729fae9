import { describe, expect, it } from 'vitest';
import { VertexIds } from '../../src/graph/ids.js';
import { BipartiteGraph } from '../../src/graph/public.js';
import { fromShared, toShared } from '../../src/graph/transfer.js';
import { isShared } from '../../src/math/memory.js';
import { split } from '../../src/sample/split.js';
import { expectSameGraph } from './same.js';

/** As a worker gets it. */
const crossed = <T>(value: T): T => fromShared(structuredClone(toShared(value)));

describe('a value that crosses threads', () => {
  it('is the same split in the other thread: edges, assignment and ids that can be looked up', () => {
    const graph = BipartiteGraph.fromPairs(
      Array.from({ length: 400 }, (_, e) => [`u${e % 41}`, `é${(e * 7) % 57}`] as const),
    );
    const parts = split(graph, { testUsers: 0.3, testItems: 0.3, seed: 2 });
    const there = crossed(parts);
    expect(there.train.users.ids).toBeInstanceOf(VertexIds);
    for (const part of ['train', 'foldIn', 'test'] as const) expectSameGraph(there[part], parts[part]);
    const { ids, drawn } = there.assignment.items;
    expect(Array.from(drawn)).toEqual(Array.from(parts.assignment.items.drawn));
    expect(ids.find('é3')).toBe(parts.assignment.items.ids.find('é3'));
  });

  it('keeps whole-number ids, and has each array once, in shared memory', () => {
    const offsets = new Uint32Array([0, 2]);
    const ids = VertexIds.integers(Float64Array.of(3, 2 ** 53));
    const value = { a: { offsets }, b: [{ offsets }], ids, again: ids, none: undefined, zero: null };
    const there = crossed(value);
    expect(there.ids.kind).toBe('integer');
    expect(there.ids.at(1)).toBe(String(2 ** 53));
    expect(there.again).toBe(there.ids);
    expect(isShared(there.a.offsets)).toBe(true);
    expect(there.b[0].offsets).toBe(there.a.offsets);
    expect(there).toMatchObject({ none: undefined, zero: null });
  });
});
