import { expect, it } from 'vitest';
import { buildGraph } from '../../src/graph/build.js';
import { VertexIds } from '../../src/graph/ids.js';
import { dropEdgesOfItems } from '../../src/graph/subgraph.js';

const PAIRS = [
  [0, 0, 2],
  [0, 2, 1],
  [1, 1, 5],
  [2, 0, 1],
  [2, 1, 3],
  [2, 2, 4],
] as const;

const graphOf = (pairs: readonly (readonly [number, number, number])[], multigraph: boolean) =>
  buildGraph({
    users: pairs.map(([user]) => user),
    items: pairs.map(([, item]) => item),
    counts: multigraph ? pairs.map(([, , count]) => count) : undefined,
    userCount: 3,
    itemCount: 3,
    userIds: VertexIds.texts(['ada', 'bo', 'cy']),
    itemIds: VertexIds.texts(['x', 'y', 'z']),
    multigraph,
  });

it.each([false, true])(
  'items lose their edges and keep their place, as do users left without one (counts: %s)',
  (counts) => {
    const dropped = dropEdgesOfItems(graphOf(PAIRS, counts), Uint8Array.of(1, 0, 1));
    const rest = PAIRS.filter(([, item]) => item !== 1);
    expect(rest.some(([user]) => user === 1)).toBe(false);
    expect(dropped).toEqual(graphOf(rest, counts));
  },
);
