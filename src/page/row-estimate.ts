// How many rows a table has, estimated before it is read.

import type { TablePreview } from '../ingest/preview.js';

/** Bytes that are looked at: the beginning of a gzip file, after decompression, or each of several places of a text. */
const BEGINNING = 8 << 20;
const PLACE = 1 << 17;
const PLACES = 5;
const LINE = 0x0a;

/** From the lines of a part of the file; of Parquet, which has none, from the length of the first rows. */
export async function estimateRows(blob: Blob, looked: TablePreview): Promise<number> {
  // Parquet makes tables about three times smaller.
  if (looked.format === 'parquet') return byFirstRows(3 * blob.size, looked);
  const [first, second] = await bytesOf(blob, 0, 2);
  const { lines, bytes, all } = first === 0x1f && second === 0x8b ? await inGzip(blob) : await inPlaces(blob);
  return lines === 0 ? byFirstRows(all, looked) : Math.max(1, Math.round((all * lines) / bytes));
}

interface Counted {
  /** Lines and bytes of what was looked at. */
  readonly lines: number;
  readonly bytes: number;
  /** Bytes of the whole. */
  readonly all: number;
}

async function inPlaces(blob: Blob): Promise<Counted> {
  if (blob.size <= PLACE * PLACES) {
    const found = await bytesOf(blob, 0, blob.size);
    const { lines, bytes } = linesIn(found);
    // The last line may have no line break.
    return { lines: lines + (found.at(-1) === LINE ? 0 : 1), bytes, all: bytes };
  }
  let [lines, bytes] = [0, 0];
  for (let place = 0; place < PLACES; place++) {
    const from = Math.floor(((place + 0.5) * blob.size) / PLACES - PLACE / 2);
    const found = await bytesOf(blob, from, from + PLACE);
    lines += linesIn(found).lines;
    bytes += found.length;
  }
  return { lines, bytes, all: blob.size };
}

/** Reads the beginning. A gzip file ends with its size, which is wrong over 4 GiB and for a file in several members. */
async function inGzip(blob: Blob): Promise<Counted> {
  const end = new DataView((await bytesOf(blob, blob.size - 4, blob.size)).buffer).getUint32(0, true);
  const all = end > blob.size ? end : 4 * blob.size;
  let [lines, bytes] = [0, 0];
  const reader = blob.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  try {
    while (bytes < BEGINNING) {
      const { value, done } = await reader.read();
      if (done) return { lines, bytes, all: bytes };
      lines += linesIn(value).lines;
      bytes += value.length;
    }
  } catch {
    // A damaged file is refused when it is read.
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  return { lines, bytes, all };
}

function linesIn(bytes: Uint8Array): Omit<Counted, 'all'> {
  let lines = 0;
  for (const byte of bytes) if (byte === LINE) lines++;
  return { lines, bytes: bytes.length };
}

async function bytesOf(blob: Blob, from: number, to: number): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await blob.slice(Math.max(0, from), to).arrayBuffer());
}

/** From the length of the first rows. */
export function byFirstRows(bytes: number, { rows, separator }: TablePreview): number {
  const gap = separator?.length ?? 1;
  const length = rows.reduce(
    (sum, row) => sum + row.reduce((cells, cell) => cells + cell.length, 1 + gap * (row.length - 1)),
    0,
  );
  return length === 0 ? 0 : Math.max(rows.length, Math.round((bytes * rows.length) / length));
}
