import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { buildGraph } from '../../src/graph/build.js';
import { buildGraphWithThreads } from '../../src/graph/build-threads.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { VertexIds } from '../../src/graph/ids.js';
import { allocateFrom } from '../../src/math/memory.js';
import { randomStream } from '../../src/math/random.js';
import { expectSameGraph } from './same.js';

interface List {
  readonly users: readonly number[];
  readonly items: readonly number[];
  readonly counts?: readonly number[] | undefined;
  readonly userCount: number;
  readonly itemCount: number;
  readonly multigraph?: boolean;
}

function together(list: List, threads: number, signal?: AbortSignal): Promise<BipartiteGraph> {
  return buildGraphWithThreads(
    {
      users: allocateFrom(list.users),
      items: allocateFrom(list.items),
      counts: list.counts && allocateFrom(list.counts),
      userIds: VertexIds.range(list.userCount),
      itemIds: VertexIds.range(list.itemCount),
      multigraph: list.multigraph ?? false,
    },
    { threads, signal },
  );
}

function expectEqual(found: BipartiteGraph, list: List): void {
  expectSameGraph(found, buildGraph(list));
}

/** Rows whose vertices follow a power law, so that some have very many rows. */
function drawn(rows: number, userCount: number, itemCount: number, counted: boolean, sorted = false): List {
  const random = randomStream(7, rows);
  const draw = (count: number) => Math.floor(count * random.uniform() ** 3);
  const pairs = Array.from({ length: rows }, () => [draw(userCount), draw(itemCount)]);
  if (sorted) pairs.sort(([a, b], [c, d]) => a - c || b - d);
  return {
    users: pairs.map(([user]) => user),
    items: pairs.map(([, item]) => item),
    counts: counted ? pairs.map(() => 1 + Math.floor(9 * random.uniform())) : undefined,
    userCount,
    itemCount,
    multigraph: counted,
  };
}

afterEach(() => vi.unstubAllGlobals());

describe('a graph that threads build', () => {
  it.each([
    ['of many rows and few vertices', drawn(150_000, 900, 70, false)],
    ['of more vertices than bins', drawn(150_000, 400_000, 150_000, false)],
    ['with counts', drawn(150_000, 3000, 500, true)],
    ['of rows in order', drawn(150_000, 3000, 500, false, true)],
    ['of one item', { ...drawn(150_000, 90_000, 1, false) }],
    ['of one user', { ...drawn(150_000, 1, 90_000, true) }],
  ])('is that of one thread: %s', async (_, list) => {
    const expected = buildGraph(list);
    for (const threads of [1, 3]) expectSameGraph(await together(list, threads), expected);
  });

  it('equals that of one thread for all kinds of small tables, without shared memory', async () => {
    vi.stubGlobal('SharedArrayBuffer', undefined);
    const row = fc.tuple(fc.nat(6), fc.nat(4), fc.integer({ min: 1, max: 3 }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 40 }),
        fc.boolean(),
        fc.boolean(),
        async (rows, kept, counted) => {
          const list: List = {
            users: rows.map(([user]) => user),
            items: rows.map(([, item]) => item),
            counts: counted ? rows.map(([, , count]) => count) : undefined,
            ...{ userCount: 7, itemCount: 5, multigraph: kept },
          };
          expectEqual(await together({ ...list, counts: kept ? list.counts : undefined }, 1), list);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('refuses counts of one pair whose sum overflows', async () => {
    const list = { users: [0, 0], items: [0, 0], counts: [2 ** 32 - 1, 1], userCount: 1, itemCount: 1 };
    await expect(together({ ...list, multigraph: true }, 2)).rejects.toThrow(
      /counts of one pair add up to 4294967296/,
    );
  });

  it('stops on request', async () => {
    const controller = new AbortController();
    const building = together(drawn(300_000, 900, 70, false), 2, controller.signal);
    controller.abort(new Error('enough'));
    await expect(building).rejects.toThrow('enough');
  });
});
