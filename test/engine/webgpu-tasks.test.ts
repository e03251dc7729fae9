import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CutOptions, cutRows } from '../../src/engine/webgpu/edge-tasks.js';

const otherRows = 97;

/** Rows of the given lengths with ascending neighbours. */
function edgesOf(lengths: readonly number[]) {
  const offsets = new Uint32Array(lengths.length + 1);
  for (const [i, length] of lengths.entries()) offsets[i + 1] = offsets[i] + length;
  const neighbors = Uint32Array.from(
    lengths.flatMap((length) => Array.from({ length }, (_, e) => Math.floor((e * otherRows) / length))),
  );
  return { offsets, neighbors, counts: undefined };
}

const lengths = fc.array(fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 900 })), {
  maxLength: 40,
});
const options: fc.Arbitrary<CutOptions> = fc.record({
  block: fc.integer({ min: 1, max: 300 }),
  short: fc.integer({ min: 0, max: 20 }),
  chunkEdges: fc.integer({ min: 1, max: 2000 }),
  tiles: fc.integer({ min: 1, max: 9 }),
  otherRows: fc.constant(otherRows),
});

test('tasks hold every edge once, slots follow the order of edges, and no limit is passed', () => {
  fc.assert(
    fc.property(lengths, options, (rows, cut) => {
      const edges = edgesOf(rows);
      const plan = cutRows(edges, cut);
      const bySlot: { row: number; start: number; count: number }[] = [];
      for (const { chunk, short, records } of plan.groups) {
        for (let t = 0; t < records.length; t += 4) {
          const [row, slot, start, count] = records.subarray(t, t + 4) as unknown as [
            number,
            number,
            number,
            number,
          ];
          expect(bySlot[slot]).toBeUndefined();
          bySlot[slot] = { row, start: start + chunk * cut.chunkEdges, count };
          expect(count).toBeGreaterThan(0);
          expect(count).toBeLessThanOrEqual(cut.block);
          expect(count <= cut.short).toBe(short);
          expect(start + count).toBeLessThanOrEqual(cut.chunkEdges);
        }
      }
      expect(bySlot.length).toBe(plan.slots);
      let at = 0;
      for (const { row, start, count } of bySlot) {
        expect(start).toBe(at);
        expect(start).toBeGreaterThanOrEqual(edges.offsets[row]);
        expect(start + count).toBeLessThanOrEqual(edges.offsets[row + 1]);
        at += count;
      }
      expect(at).toBe(edges.neighbors.length);
      for (let i = 0; i < rows.length; i++) {
        for (let s = plan.firstSlot[i]; s < plan.firstSlot[i + 1]; s++) expect(bySlot[s].row).toBe(i);
      }
    }),
  );
});

test('tasks of long rows lie within a tile and run tile by tile, longest first', () => {
  const edges = edgesOf([800, 800, 5]);
  const cut = { block: 50, short: 8, chunkEdges: 10_000, tiles: 4, otherRows };
  const { groups } = cutRows(edges, cut);
  const [long] = groups.filter(({ short }) => !short);
  const tileRows = Math.ceil(otherRows / cut.tiles);
  const tiles: number[] = [];
  for (let t = 0; t < long!.records.length; t += 4) {
    const start = long!.records[t + 2];
    const count = long!.records[t + 3];
    const tile = Math.floor(edges.neighbors[start] / tileRows);
    expect(Math.floor(edges.neighbors[start + count - 1] / tileRows)).toBe(tile);
    tiles.push(tile);
  }
  expect(tiles).toEqual(tiles.toSorted((a, b) => a - b));
  expect(groups.filter(({ short }) => short).map(({ records }) => records.length)).toEqual([4]);
});

test('an index without edges has no tasks', () => {
  const plan = cutRows(edgesOf([0, 0]), { block: 8, short: 2, chunkEdges: 64, tiles: 1, otherRows });
  expect(plan).toMatchObject({ groups: [], slots: 0, mostSlots: 0 });
});
