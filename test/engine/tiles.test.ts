// Tables beyond the cache are gathered from by tiles. Small tables with small tiles walk the same paths: rows that are too
// short for tiles, rows by tiles, and rows that are cut into pieces.

import { describe, expect, test } from 'vitest';
import { createCpuEngine } from '../../src/engine/cpu/cpu-engine.js';
import {
  cutRows,
  DEFAULT_TILES,
  type RowCut,
  type TiledRows,
  type TileLimits,
  tilingOf,
} from '../../src/engine/cpu/tiles.js';
import { DEFAULT_LIMITS, UNIT_FIELDS, UNIT_PIECE, UNIT_TILE } from '../../src/engine/cpu/units.js';
import { randomStream } from '../../src/math/random.js';
import { type Problem, randomProblem } from './random-problem.js';

const LIMITS = { edges: 192, rows: 48 };
const TILES: TileLimits = { near: 0, few: 0, cache: 1024, tile: 2048, least: 4, sums: Infinity };
/** No table exceeds this size. */
const NO_TILES: TileLimits = { ...TILES, near: Infinity, cache: Infinity };

const shape = { users: 700, items: 500, edges: 30_000, features: 13 };
const problems = new Map(
  [false, true].map((multigraph) => [multigraph, randomProblem({ ...shape, multigraph }, 8)] as const),
);

function cutOf(
  { graph, features }: Problem,
  side: 'users' | 'items',
): RowCut & { readonly tiled: TiledRows } {
  const other = graph[side === 'users' ? 'items' : 'users'].count;
  const tiling = tilingOf({ rows: other, stride: 4 * Math.ceil(features / 4) }, TILES);
  const cut = cutRows(graph[side], { first: 0, last: graph[side].count }, LIMITS, tiling);
  return { ...cut, tiled: cut.tiled! };
}

function unitsOf(units: Uint32Array): Uint32Array[] {
  return Array.from({ length: units.length / UNIT_FIELDS }, (_, u) =>
    units.subarray(u * UNIT_FIELDS, (u + 1) * UNIT_FIELDS),
  );
}

test.each(['users', 'items'] as const)(
  'each edge of %s is walked once, and in the stage of its tile',
  (side) => {
    const problem = problems.get(false)!;
    const { offsets, neighbors } = problem.graph[side];
    const { stages, rows, tiled, pieces } = cutOf(problem, side);
    const other = problem.graph[side === 'users' ? 'items' : 'users'].count;
    const { inTile } = tilingOf({ rows: other, stride: 16 }, TILES);
    const walked = new Uint8Array(neighbors.length);
    const kinds = { short: 0, tiled: tiled.rows.length, pieces };
    for (const [stage, units] of stages.entries()) {
      for (const [what, first, last, firstEdge, lastEdge, at] of unitsOf(units)) {
        const stretches =
          what === UNIT_PIECE
            ? [[firstEdge, lastEdge]]
            : Array.from({ length: last - first }, (_, s) => {
                const begin = at + first + s;
                return [tiled.begins[begin], tiled.begins[begin + tiled.rows.length]];
              });
        const edges = stretches.reduce((sum, [begin, end]) => sum + end - begin, 0);
        expect(edges).toBeLessThanOrEqual(LIMITS.edges);
        expect(last - first).toBeLessThanOrEqual(LIMITS.rows);
        if (what === UNIT_TILE) expect(edges).toBe(lastEdge);
        for (const [begin, end] of stretches) {
          for (let e = begin; e < end; e++) {
            walked[e]++;
            // A piece that would be too short goes on into the tiles that follow.
            if (what === UNIT_TILE || e === begin) expect(Math.floor(neighbors[e] / inTile)).toBe(stage);
          }
        }
      }
    }
    const byTiles = new Set(tiled.rows);
    for (const [what, first, last, , edges, slot] of unitsOf(rows)) {
      if (what !== 0) continue;
      let whole = 0;
      for (let i = first; i < last; i++) {
        if (byTiles.has(i)) continue;
        kinds.short++;
        whole += offsets[i + 1] - offsets[i];
        for (let e = offsets[i]; e < offsets[i + 1]; e++) walked[e]++;
      }
      expect(edges).toBe(whole);
      expect(whole).toBeLessThanOrEqual(LIMITS.edges);
      if (slot < tiled.rows.length) expect(tiled.rows[slot]).toBeGreaterThanOrEqual(first);
      if (slot > 0) expect(tiled.rows[slot - 1]).toBeLessThan(first);
    }
    expect(walked.every((times) => times === 1)).toBe(true);
    for (const count of Object.values(kinds)) expect(count, JSON.stringify(kinds)).toBeGreaterThan(10);
  },
);

test('tiles need at most 4 bytes an edge in addition to the index', () => {
  const random = randomStream(3, 79);
  for (const features of [8, 32, 100, 512]) {
    const otherRows = Math.ceil((400 * 2 ** 20) / (4 * features));
    const tiling = tilingOf({ rows: otherRows, stride: features }, DEFAULT_TILES);
    // Rows that are just long enough for tiles, some that are longer, and some that are just too long for a window.
    const offsets = new Uint32Array(61);
    for (let i = 0; i < 60; i++) {
      const degree = i < 40 ? tiling.least + (i % 3) * random.below(200) : DEFAULT_LIMITS.edges + i;
      offsets[i + 1] = offsets[i] + degree;
    }
    const neighbors = new Uint32Array(offsets[60]);
    for (let i = 0; i < 60; i++) {
      const row = neighbors.subarray(offsets[i], offsets[i + 1]);
      row.forEach((_, e) => {
        row[e] = Math.floor((e * otherRows) / row.length);
      });
    }
    const { pieces, ...cut } = cutRows(
      { offsets, neighbors },
      { first: 0, last: 60 },
      DEFAULT_LIMITS,
      tiling,
    );
    const tiled = cut.tiled!;
    expect(tiled.rows.length).toBe(40);
    expect(pieces).toBeGreaterThan(60);
    const lists = tiled.rows.byteLength + tiled.begins.byteLength;
    const bytes = lists + 4 * features * tiled.rows.length + 8 * features * pieces;
    expect(bytes / neighbors.length).toBeLessThan(4);
  }
});

async function run(problem: Problem, threads: number, tiles: TileLimits) {
  const { graph, hyper, features, start } = problem;
  const engine = await createCpuEngine({ threads, limits: LIMITS, tiles });
  try {
    const users = await engine.createTable(features, start.users, 'geometric');
    const items = await engine.createTable(features, start.items, 'geometric');
    const byUser = await engine.createIndex(graph.users);
    const byItem = await engine.createIndex(graph.items);
    const ofUsers = { hyper: hyper.users, activity: 'geometric', edgeTerm: true } as const;
    const ofItems = { hyper: hyper.items, activity: 'geometric' } as const;
    const terms: (number | undefined)[] = [];
    for (let t = 0; t < 3; t++) {
      terms.push(await engine.update(users, byUser, items, ofUsers));
      await engine.update(items, byItem, users, ofItems);
    }
    // A range of rows, and the two halves by themselves.
    await engine.update(users, byUser, items, { ...ofUsers, rows: { first: 100, last: 333 } });
    const counts = await engine.createCounts(items, 1e4);
    terms.push(await engine.count(items, byItem, users, counts, { edgeTerm: true }));
    const counted = Float64Array.from(await engine.readCounts(counts), (n) => Number(n) / counts.scale);
    await engine.finish(items, counts, { ...ofItems, otherMass: (await engine.totals(users)).mass });
    terms.push(await engine.edgeTerm(users, byUser, items));
    return { users: await engine.read(users), items: await engine.read(items), counted, terms };
  } finally {
    await engine.close();
  }
}

describe.each([false, true])('multigraph %s', (multigraph) => {
  const problem = problems.get(multigraph)!;

  test('tiles change a result by rounding alone', async () => {
    const [plain, tiled] = [await run(problem, 2, NO_TILES), await run(problem, 2, TILES)];
    expect(tiled).not.toEqual(plain);
    const close = (a: ArrayLike<number>, b: ArrayLike<number>) => {
      for (let i = 0; i < a.length; i++)
        expect(Math.abs(a[i] - b[i])).toBeLessThan(2e-5 * (0.1 + Math.abs(b[i])));
    };
    for (const side of ['users', 'items'] as const) {
      for (const field of ['weightShape', 'weightRate', 'featureShape', 'featureRate'] as const) {
        close(tiled[side][field], plain[side][field]);
      }
    }
    close(tiled.counted, plain.counted);
    close(tiled.terms as number[], plain.terms as number[]);
  });

  test('prefetching gives the same bits', async () => {
    expect(await run(problem, 2, { ...NO_TILES, near: 0 })).toEqual(await run(problem, 2, NO_TILES));
  });

  test('1, 2, 3 and 8 threads give the same bits', async () => {
    const one = await run(problem, 1, TILES);
    for (const threads of [2, 3, 8]) expect(await run(problem, threads, TILES)).toEqual(one);
  });
});
