// Thinning by random draws of ids: the same table whether it is thinned while it is read or afterwards.

import { expect, test } from 'vitest';
import { fingerprint } from '../../src/graph/fingerprint.js';
import { readBlob } from '../../src/ingest/blob.js';
import { parquetPieces } from '../../src/parquet/write.js';
import { thin } from '../../src/sample/thin.js';
import { edgeColumns } from '../../src/store/edge-rows.js';

const PAIRS = Array.from({ length: 6000 }, (_, e) => [`u${(e * e + 7 * e) % 811}`, String((e * 31) % 397)]);
const CSV = `user,item\n${PAIRS.map((pair) => pair.join(',')).join('\n')}\n`;
const read = (name: string, parts: BlobPart[], ...more: [object?, undefined?, typeof SHARES?]) =>
  readBlob({ name, blob: new Blob(parts) }, ...more);
const SHARES = { users: 0.5, items: 0.4, seed: 7 };

test('thinning while reading gives the table that thinning afterwards gives, in every format and order', async () => {
  const { graph } = await read('t.csv', [CSV]);
  const expected = thin(graph, SHARES);
  expect(expected.edges).toBeGreaterThan(500);
  const pieces: BlobPart[] = [];
  for await (const piece of parquetPieces([{ rows: graph.edges, columns: edgeColumns(graph) }]))
    pieces.push(piece as Uint8Array<ArrayBuffer>);
  const shuffled = PAIRS.toReversed().map(([user, item]) => JSON.stringify({ item, user }));
  for (const [name, parts] of [
    ['t.csv', [CSV]],
    ['t.jsonl', [shuffled.join('\n')]],
    ['t.parquet', pieces],
  ] as const) {
    const columns = { users: 'user', items: 'item' };
    const found = await read(name, [...parts], columns, undefined, SHARES);
    expect(fingerprint(found.graph), name).toBe(fingerprint(expected));
    expect(found.read.rows, name).toBe(name === 't.parquet' ? graph.edges : PAIRS.length);
  }
});

test('each side is kept by its share, by draws that depend on the seed', async () => {
  const { graph } = await read('t.csv', [CSV]);
  const kept = thin(graph, SHARES);
  for (const side of ['users', 'items'] as const) {
    const { count } = graph[side];
    const spread = 4 * Math.sqrt(count * SHARES[side] * (1 - SHARES[side]));
    expect(Math.abs(kept[side].count - count * SHARES[side])).toBeLessThan(spread);
  }
  expect(fingerprint(thin(graph, { ...SHARES, seed: 8 }))).not.toBe(fingerprint(kept));
  expect(fingerprint(thin(graph))).toBe(fingerprint(graph));
});

test('bad rows are still reported, and so are draws that keep nothing', async () => {
  await expect(
    read('t.csv', ['user,item\nann,tea\n,milk\n'], {}, undefined, { ...SHARES, items: 1 }),
  ).rejects.toThrow(/line 3: .*the id is empty/);
  await expect(
    read('t.csv', ['user,item\nann,tea\n'], {}, undefined, { users: 1e-9, items: 1e-9, seed: 1 }),
  ).rejects.toThrow('t.csv: the random draws keep none of its rows');
});
