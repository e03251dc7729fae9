import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError } from '../../src/errors.js';
import { buildGraph } from '../../src/graph/build.js';
import { degrees, SIDES, transpose } from '../../src/graph/graph.js';

const edgeList = fc
  .record({ userCount: fc.integer({ min: 1, max: 12 }), itemCount: fc.integer({ min: 1, max: 9 }) })
  .chain(({ userCount, itemCount }) =>
    fc.record({
      userCount: fc.constant(userCount),
      itemCount: fc.constant(itemCount),
      rows: fc.array(
        fc.tuple(
          fc.nat({ max: userCount - 1 }),
          fc.nat({ max: itemCount - 1 }),
          fc.integer({ min: 1, max: 1000 }),
        ),
        { maxLength: 80 },
      ),
      multigraph: fc.boolean(),
    }),
  );

describe('buildGraph', () => {
  it('holds exactly the pairs that were given, with counts added, in both orders', () => {
    fc.assert(
      fc.property(edgeList, ({ userCount, itemCount, rows, multigraph }) => {
        const expected = new Map<string, number>();
        for (const [u, i, count] of rows) {
          const key = `${u} ${i}`;
          expected.set(key, multigraph ? (expected.get(key) ?? 0) + count : 1);
        }
        const graph = buildGraph({
          users: rows.map((r) => r[0]),
          items: rows.map((r) => r[1]),
          counts: rows.map((r) => r[2]),
          userCount,
          itemCount,
          multigraph,
        });
        expect(graph.edges).toBe(expected.size);
        expect(graph.total).toBe([...expected.values()].reduce((sum, n) => sum + n, 0));
        for (const name of SIDES) {
          const side = graph[name];
          const found = new Map<string, number>();
          for (let v = 0; v < side.count; v++) {
            for (let e = side.offsets[v]; e < side.offsets[v + 1]; e++) {
              if (e > side.offsets[v]) expect(side.neighbors[e]).toBeGreaterThan(side.neighbors[e - 1]);
              const other = side.neighbors[e];
              found.set(
                name === 'users' ? `${v} ${other}` : `${other} ${v}`,
                side.counts ? side.counts[e] : 1,
              );
            }
          }
          expect(found).toEqual(expected);
          expect(side.neighbors.buffer).toBeInstanceOf(SharedArrayBuffer);
        }
      }),
    );
  });

  it('gives degrees and exchanges the roles without copying', () => {
    const graph = buildGraph({ users: [0, 0, 1, 0], items: [1, 2, 2, 1], userCount: 2, itemCount: 3 });
    expect([...degrees(graph.users)]).toEqual([2, 1]);
    expect([...degrees(graph.items)]).toEqual([0, 1, 2]);
    const turned = transpose(graph);
    expect(turned.users).toBe(graph.items);
    expect(Object.isFrozen(turned)).toBe(true);
  });

  it('refuses vertices out of range and counts that overflow', () => {
    expect(() => buildGraph({ users: [0, 2], items: [0, 0], userCount: 2, itemCount: 1 })).toThrow(
      InputError,
    );
    expect(() => buildGraph({ users: [0], items: [-1], userCount: 1, itemCount: 1 })).toThrow(
      /1 rows name items/,
    );
    const large = { users: [0, 0], items: [0, 0], counts: [2 ** 32 - 1, 1], userCount: 1, itemCount: 1 };
    expect(() => buildGraph({ ...large, multigraph: true })).toThrow(/4294967296/);
    expect(buildGraph(large).total).toBe(1);
  });

  it('refuses more rows than it can number, before any work', () => {
    const endless = { length: 2 ** 31 } as ArrayLike<number>;
    expect(() => buildGraph({ users: endless, items: endless, userCount: 1, itemCount: 1 })).toThrow(
      /2147483648 rows: a graph holds at most 2147483647 edges/,
    );
  });

  it('accepts an empty list', () => {
    const graph = buildGraph({ users: [], items: [], userCount: 0, itemCount: 0 });
    expect([graph.edges, graph.users.count, graph.items.count]).toEqual([0, 0, 0]);
  });
});
