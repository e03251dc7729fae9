import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/graph/build.js';
import { fingerprint } from '../../src/graph/fingerprint.js';
import { fingerprintAside } from '../../src/graph/fingerprint-aside.js';
import { transpose } from '../../src/graph/graph.js';
import { VertexIds } from '../../src/graph/ids.js';

type Row = readonly [user: string, item: string, count: number];

/** A graph with vertices in order of first sight, so that the order of rows shows. */
function graphOf(rows: readonly Row[], multigraph = true) {
  const users = [...new Set(rows.map((r) => r[0]))];
  const items = [...new Set(rows.map((r) => r[1]))];
  return buildGraph({
    users: rows.map((r) => users.indexOf(r[0])),
    items: rows.map((r) => items.indexOf(r[1])),
    counts: rows.map((r) => r[2]),
    userCount: users.length,
    itemCount: items.length,
    userIds: VertexIds.texts(users),
    itemIds: VertexIds.texts(items),
    multigraph,
  });
}

const rowsOf = fc.uniqueArray(fc.tuple(fc.string(), fc.string(), fc.integer({ min: 1, max: 9 })), {
  minLength: 1,
  maxLength: 30,
  selector: (row) => JSON.stringify(row.slice(0, 2)),
});

describe('fingerprint', () => {
  it('does not depend on the order of rows and vertices', () => {
    fc.assert(
      fc.property(rowsOf, (rows) => {
        expect(fingerprint(graphOf([...rows].reverse()))).toBe(fingerprint(graphOf(rows)));
      }),
    );
  });

  it('changes with any id, count, edge or role', () => {
    fc.assert(
      fc.property(rowsOf, fc.nat(), (rows, n) => {
        const at = n % rows.length;
        const [user, item, count] = rows[at];
        const original = fingerprint(graphOf(rows));
        const changed = (row: Row) => fingerprint(graphOf(rows.with(at, row as [string, string, number])));
        expect(changed([`${user}x`, item, count])).not.toBe(original);
        expect(changed([user, `${item}x`, count])).not.toBe(original);
        expect(changed([user, item, count + 1])).not.toBe(original);
        if (rows.length > 1) expect(fingerprint(graphOf(rows.toSpliced(at, 1)))).not.toBe(original);
        expect(fingerprint(graphOf(rows, false))).not.toBe(original);
      }),
    );
    const graph = graphOf([['a', 'b', 1]]);
    expect(fingerprint(transpose(graph))).not.toBe(fingerprint(graph));
  });

  it('is the same for numbers and for their texts', () => {
    const list = { users: [0, 1], items: [1, 0], userCount: 2, itemCount: 2 };
    const numbers = buildGraph({ ...list, userIds: VertexIds.integers(Float64Array.of(3, 10)) });
    const texts = buildGraph({ ...list, userIds: VertexIds.texts(['3', '10']) });
    expect(fingerprint(texts)).toBe(fingerprint(numbers));
    expect(fingerprint(numbers)).toMatch(/^[0-9a-f]{16}$/);
  });

  it.each([false, true])('is the same by a thread of its own: multigraph %s', async (multigraph) => {
    const rows = Array.from({ length: 500 }, (_, at): Row => [`${at % 37}`, `${at % 91}`, 1 + (at % 3)]);
    const graph = graphOf(rows, multigraph);
    expect(await fingerprintAside(graph, 1)).toBe(fingerprint(graph));
    expect(await fingerprintAside(graph)).toBe(fingerprint(graph));
  });

  it('is the same if no thread can start', async () => {
    const graph = graphOf([['a', 'b', 1]]);
    const threads = process.getBuiltinModule('node:worker_threads');
    const { Worker } = threads;
    threads.Worker = class {
      constructor() {
        throw new Error('EAGAIN');
      }
    } as unknown as typeof Worker;
    try {
      expect(await fingerprintAside(graph, 1)).toBe(fingerprint(graph));
    } finally {
      threads.Worker = Worker;
    }
  });

  it('has no collision among many small graphs', () => {
    const seen = new Set<string>();
    for (let user = 0; user < 100; user++) {
      for (let item = 0; item < 100; item++) seen.add(fingerprint(graphOf([[`${user}`, `${item}`, 1]])));
    }
    expect(seen.size).toBe(10_000);
  });
});
