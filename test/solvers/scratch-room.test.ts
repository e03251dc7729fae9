import { afterEach, describe, expect, it, vi } from 'vitest';
import { itemKnn } from '../../src/evaluate/baselines/item-knn.js';
import { collectLists, transposeLists } from '../../src/math/csr.js';
import { createItemRegression } from '../../src/solvers/item-regression.js';
import { scratchRoom, TILE } from '../../src/solvers/pair-counts.js';
import { ridge } from '../../src/solvers/ridge.js';
import { Heap } from '../../src/wasm/heap.js';
import { dataOf, scoresOf, shownOnly } from '../evaluate/baseline-data.js';

type Room = ReturnType<typeof scratchRoom>;

/** A fixed amount of memory in place of the real one, and a record of the requests. */
const room = vi.hoisted(() => ({ given: {} as Partial<Room>, tiles: [] as number[] }));

vi.mock('../../src/solvers/pair-counts.js', async (original) => {
  const real = await original<typeof import('../../src/solvers/pair-counts.js')>();
  const scratchRoom: typeof real.scratchRoom = (blocks, tile, beside) => {
    room.tiles.push(tile);
    return { ...real.scratchRoom(blocks, tile, beside), ...room.given };
  };
  return { ...real, scratchRoom };
});

afterEach(() => {
  room.given = {};
  room.tiles = [];
  vi.restoreAllMocks();
});

const GIB = 2 ** 30;

describe('scratch of workers', () => {
  it('is allocated for as many workers as fit in memory', () => {
    expect(scratchRoom(1000, GIB / 8)).toEqual({ workers: 16, tile: GIB / 8 });
    expect(scratchRoom(3, GIB / 8)).toEqual({ workers: 3, tile: GIB / 8 });
    expect(scratchRoom(1000, GIB / 8, GIB / 8)).toEqual({ workers: 8, tile: GIB / 8 });
    expect(scratchRoom(1000, 2 * GIB)).toEqual({ workers: 1, tile: 2 * GIB });
    expect(scratchRoom(1000, 0)).toEqual({ workers: 1000, tile: 0 });
  });

  it('has no tile if not even one worker has room for it', () => {
    expect(scratchRoom(1000, 2 * GIB + 1)).toEqual({ workers: 1000, tile: 0 });
    expect(scratchRoom(1000, 2 * GIB, GIB)).toEqual({ workers: 2, tile: 0 });
    expect(scratchRoom(1000, 0, 3 * GIB)).toEqual({ workers: 1, tile: 0 });
  });
});

/** Every item in about seven of ten lists, in a pattern that no two items share. */
const patterned = (users: number, items: number) =>
  collectLists(users, (user, add) => {
    for (let item = 0; item < items; item++) if ((user * (item + 7) + item) % 10 < 7) add(item);
  });

const knn = async (users: number, count: number, threads: number) => {
  const data = dataOf(patterned(users, count), count, 3);
  const setting = { neighbours: 20, shrinkage: 5, history: 0.4, candidates: 0.6, users: 0.25 };
  const scorer = await (await itemKnn.fit(data, setting, { threads })).scorer(shownOnly(data, data.users));
  return Float32Array.from([0, 1, 7].flatMap((row) => scoresOf(scorer, row, data.candidates)));
};
const slim = async (users: number, count: number, threads: number) => {
  const lists = patterned(users, count);
  const regression = await createItemRegression(
    { users: lists, items: transposeLists(lists, count) },
    { threads },
  );
  return (await regression.solve({ neighbours: 8, lambda: 20, dropout: 0.5 }, { threads })).weights;
};
const ease = async (users: number, count: number, threads: number) => {
  const inputs = patterned(users, count);
  const targets = transposeLists(inputs, count);
  return ridge({ inputs, columns: count, targets, lambda: 100, tolerance: 0.1 }, { threads });
};

describe.each([
  { name: 'item-kNN', run: knn, large: [4000, 1250] },
  { name: 'SLIM', run: slim, large: [1500, 400] },
  { name: 'EASE', run: ease, large: [1000, 420] },
] as const)('$name', ({ run, large }) => {
  it('gives the same numbers without room for tiles', async () => {
    const [users, items] = [600, 2 * TILE + 10];
    const want = await run(users, items, 1);
    const allocate = vi.spyOn(Heap.prototype, 'allocate');
    room.given = { tile: 0 };
    const found = await run(users, items, 1);
    expect(found.length).toBeGreaterThan(0);
    expect(found).toEqual(want);
    const [tile] = room.tiles;
    expect(tile).toBeGreaterThan(16 * users);
    expect(allocate.mock.calls.flat()).not.toContain(tile);
  });

  it('starts no more workers than there is room for, with the same numbers', async () => {
    const [users, items] = large;
    const allocate = vi.spyOn(Heap.prototype, 'allocate');
    const scratches = () => allocate.mock.calls.flat().filter((bytes) => bytes === room.tiles.at(-1)).length;
    const want = await run(users, items, 3);
    expect(scratches()).toBe(3); // so this was large enough for workers
    allocate.mockClear();
    room.given = { workers: 1 };
    const found = await run(users, items, 3);
    expect(scratches()).toBe(1);
    expect(found).toEqual(want);
  });
});
