import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collectLists, transposeLists } from '../../src/math/csr.js';
import { randomStream } from '../../src/math/random.js';
import type { RowLists } from '../../src/predict/scoring/scorer.js';
import {
  createTiles,
  pairsMet,
  storeColumns,
  TILE,
  tileScratchBytes,
} from '../../src/solvers/pair-counts.js';
import { Heap } from '../../src/wasm/heap.js';
import { loadKernels } from '../../src/wasm/load.js';
import { listOf } from '../evaluate/brute-force.js';

/** Random lists of members 0 … members − 1; the first list has all of them. */
function randomLists(lists: number, members: number, share: number, seed: number): RowLists {
  const random = randomStream(seed, 23);
  return collectLists(lists, (list, add) => {
    for (let m = 0; m < members; m++) if (list === 0 || random.uniform() < share) add(m);
  });
}

async function tilesOf(columns: RowLists, weights: Uint8Array) {
  const { module } = await loadKernels();
  const heap = new Heap();
  const counted = storeColumns(heap, columns, weights);
  const scratch = heap.allocate(tileScratchBytes(counted));
  return { ...createTiles(module, counted, scratch), wide: counted.wide };
}

const alike = (members: number) => new Uint8Array(members).fill(1);
/** Powers of two that never fall, up to 2^(classes − 1). */
const rising = (members: number, classes: number) =>
  Uint8Array.from({ length: members }, (_, m) => 1 << Math.floor((m * classes) / members));
const commonOf = (a: readonly number[], b: ReadonlySet<number>, weights?: Uint8Array) =>
  a.reduce((sum, member) => sum + (b.has(member) ? (weights?.[member] ?? 1) : 0), 0);

describe('tiles of counts', () => {
  it('count the members that each column shares with each target, for all lengths and weights', async () => {
    const sizes = fc.record({
      members: fc.integer({ min: 1, max: 300 }),
      columns: fc.integer({ min: 1, max: 40 }),
      targets: fc.integer({ min: 1, max: TILE }),
      share: fc.constantFrom(0, 0.02, 0.3, 0.95),
      classes: fc.integer({ min: 1, max: 8 }),
      seed: fc.nat(1000),
    });
    await fc.assert(
      fc.asyncProperty(sizes, async ({ members, columns: count, targets: width, share, classes, seed }) => {
        const columns = randomLists(count, members, share, seed);
        // The tile begins in the middle of the targets.
        const targets = randomLists(width + 3, members, 0.5, seed + 1);
        const weights = rising(members, classes);
        const tiles = await tilesOf(columns, weights);
        tiles.count(targets, 0, 3); // leaves nothing behind
        tiles.count(targets, 3, width + 3);
        for (let t = 0; t < width; t++) {
          const own = new Set(listOf(targets, t + 3));
          for (let c = 0; c < count; c++) {
            expect(tiles.counts[c * TILE + t]).toBe(commonOf(listOf(columns, c), own, weights));
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  it('count beyond 16 bits for long columns', async () => {
    const members = 140_000;
    const columns = randomLists(2, members, 0.5, 5);
    const targets = randomLists(9, members, 0.7, 6);
    for (const weights of [alike(members), rising(members, 8)]) {
      const tiles = await tilesOf(columns, weights);
      expect(tiles.wide).toBe(true);
      tiles.count(targets, 0, 9);
      for (const t of [0, 1, 8]) {
        const own = new Set(listOf(targets, t));
        for (const c of [0, 1]) {
          expect(tiles.counts[c * TILE + t]).toBe(commonOf(listOf(columns, c), own, weights));
        }
      }
      expect(tiles.counts[0]).toBe(weights.reduce((sum, weight) => sum + weight, 0));
    }
  });

  it.each([
    [65_535, false],
    [65_536, true],
  ])('count columns of %d members to the last, with 4 bytes each: %s', async (members, wide) => {
    const all = randomLists(1, members, 1, 9);
    const tiles = await tilesOf(all, alike(members));
    expect(tiles.wide).toBe(wide);
    tiles.count(all, 0, 1);
    expect(tiles.counts[0]).toBe(members);
  });

  it('are used if members have long lists, and not if lists are short', async () => {
    const long = randomLists(400, 300, 0.5, 7);
    const short = randomLists(400, 300, 0.002, 8);
    for (const [columns, faster] of [
      [long, true],
      [short, false],
    ] as const) {
      const tiles = await tilesOf(columns, alike(300));
      const rows = transposeLists(columns, 300);
      const pairs = pairsMet(columns, rows, 1, 1 + TILE);
      let met = 0;
      for (let t = 1; t <= TILE; t++) for (const m of listOf(columns, t)) met += listOf(rows, m).length;
      expect(pairs).toBe(met);
      expect(tiles.isFaster(pairs)).toBe(faster);
    }
  });
});
