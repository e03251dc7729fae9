// How many rows a table is said to have before it is read.

import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { previewBlob } from '../../src/ingest/preview.js';
import { estimateRows } from '../../src/page/row-estimate.js';

/** Ids grow, so the first rows are shorter than the others. */
const growing = (count: number) =>
  new TextEncoder().encode(Array.from({ length: count }, (_, e) => `${e},${7 * e}\n`).join(''));
const estimated = async (name: string, bytes: Uint8Array<ArrayBuffer>) => {
  const blob = new Blob([bytes]);
  return estimateRows(blob, await previewBlob({ name, blob }));
};

test('a small table has the lines that are counted, in gzip too', async () => {
  for (const count of [1, 2, 1000]) {
    expect(await estimated('t.csv', growing(count))).toBe(count);
    expect(await estimated('t.csv.gz', new Uint8Array(gzipSync(growing(count))))).toBe(count);
  }
  expect(await estimated('t.csv', new TextEncoder().encode('a,b\nc,d'))).toBe(2);
});

test('a large table is estimated from several places, and a gzip file from its beginning', async () => {
  const count = 1_000_000;
  const bytes = growing(count);
  expect(Math.abs((await estimated('t.csv', bytes)) / count - 1)).toBeLessThan(0.03);
  const packed = new Uint8Array(gzipSync(bytes, { level: 1 }));
  expect(Math.abs((await estimated('t.csv.gz', packed)) / count - 1)).toBeLessThan(0.06);
});
