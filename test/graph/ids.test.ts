import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VertexIds } from '../../src/graph/ids.js';

describe('VertexIds', () => {
  it('finds every text id, in any order of ids, and nothing else', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string(), { maxLength: 40 }),
        fc.string(),
        fc.boolean(),
        (ids, other, sort) => {
          const values = sort ? [...ids].sort((a, b) => (a < b ? -1 : 1)) : ids;
          const vertices = VertexIds.texts(values);
          for (const [v, id] of values.entries()) expect(vertices.find(id)).toBe(v);
          if (!ids.includes(other)) expect(vertices.find(other)).toBe(-1);
        },
      ),
    );
  });

  it('finds whole numbers by number and by text, but only as they are written', () => {
    for (const values of [
      [-5, 0, 7, 2 ** 52],
      [7, -5, 2 ** 52, 0],
    ]) {
      const ids = VertexIds.integers(Float64Array.from(values));
      for (const [v, id] of values.entries()) expect([ids.find(id), ids.find(String(id))]).toEqual([v, v]);
      for (const other of ['07', '7.0', ' 7', '', 'x', 8, Number.NaN]) expect(ids.find(other)).toBe(-1);
      expect(ids.kind).toBe('integer');
    }
  });

  it('finds all ids of another side as one by one, whatever their kinds and orders', () => {
    const side = fc.oneof(
      fc
        .uniqueArray(fc.integer({ min: -20, max: 20 }))
        .map((ids) => VertexIds.integers(Float64Array.from(ids))),
      fc
        .uniqueArray(fc.integer({ min: -20, max: 20 }))
        .map((ids) => VertexIds.integers(Float64Array.from(ids).sort())),
      fc.uniqueArray(fc.integer({ min: -20, max: 20 })).map((ids) => VertexIds.texts(ids.map(String))),
      fc.uniqueArray(fc.integer({ min: -20, max: 20 })).map((ids) => VertexIds.texts(ids.map(String).sort())),
    );
    fc.assert(
      fc.property(side, side, (known, asked) => {
        const each = Array.from({ length: asked.length }, (_, i) => known.find(asked.at(i)));
        expect([...known.findAll(asked)]).toEqual(each);
      }),
    );
  });

  it('picks in the order asked for', () => {
    const ids = VertexIds.texts(['a', 'b', 'c']).pick([2, 0]);
    expect([ids.at(0), ids.at(1), ids.length, ids.find('c')]).toEqual(['c', 'a', 2, 0]);
    expect(VertexIds.range(3).pick([1]).values).toEqual(Float64Array.of(1));
  });
});
