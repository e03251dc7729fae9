// Writes Parquet: columns of numbers, and columns of ids given by their vertices. Each row group has its own dictionary.
// Pages are compressed with gzip, which every reader supports; a browser page, which has no synchronous gzip, writes
// them uncompressed. Every Parquet page has a checksum.

import type { VertexIds } from '../graph/ids.js';
import { crc32 } from './crc32.js';
import { boolean, byte, type Encoded, i32, i64, list, struct, text, varint } from './thrift.js';

/** Whole numbers below 2^32, double-precision numbers, or ids by the vertex of each row. */
export type OutputColumn =
  | { readonly name: string; readonly numbers: ArrayLike<number> }
  | { readonly name: string; readonly decimals: ArrayLike<number> }
  | { readonly name: string; readonly ids: WrittenIds; readonly vertices: ArrayLike<number> };

/** The ids to write, in any order, each once. */
export type WrittenIds = Pick<VertexIds, 'kind' | 'values' | 'length'>;

/** Rows of a table; all pieces have the same columns. */
export interface OutputRows {
  readonly rows: number;
  readonly columns: readonly OutputColumn[];
}

/** A group ends after GROUP_ROWS rows, or once a dictionary holds DICTIONARY_BYTES: readers keep it in memory. */
const GROUP_ROWS = 1 << 20;
const DICTIONARY_BYTES = 1 << 24;
const MAGIC = new TextEncoder().encode('PAR1');
const zlib = globalThis.process?.getBuiltinModule?.('node:zlib');
/** The byte of a gzip header that names the system, and its value on Unix. */
const GZIP_SYSTEM = 9;
const UNIX = 3;
/** Parquet's codec number of gzip, or of uncompressed pages. */
const CODEC = zlib ? 2 : 0;
const [PLAIN, RLE, RLE_DICTIONARY] = [0, 3, 8];
const [INT32, INT64, DOUBLE, BYTE_ARRAY] = [1, 2, 5, 6];

/** Writes the columns, in row order, as one Parquet file. */
export async function writeParquet(
  path: string,
  rows: number,
  columns: readonly OutputColumn[],
): Promise<void> {
  const { createWriteStream } = process.getBuiltinModule('node:fs');
  const { Readable } = process.getBuiltinModule('node:stream');
  const { pipeline } = process.getBuiltinModule('node:stream/promises');
  await pipeline(Readable.from(parquetPieces([{ rows, columns }])), createWriteStream(path));
}

/** The bytes of a Parquet file whose rows arrive in pieces, at least one. */
export async function* parquetPieces(
  tables: Iterable<OutputRows> | AsyncIterable<OutputRows>,
): AsyncGenerator<Uint8Array> {
  yield MAGIC;
  const written = { position: MAGIC.length, rows: 0, groups: [] as Encoded[] };
  let schema: readonly OutputColumn[] = [];
  for await (const { rows, columns } of tables) {
    schema = columns;
    yield* groupPieces(rows, columns, written);
  }
  const footer = struct(
    [1, i32(2)],
    [2, list([struct([4, text('rows')], [5, i32(schema.length)]), ...schema.map(schemaElement)])],
    [3, i64(written.rows)],
    [4, list(written.groups)],
    [6, text('graphex')],
  ).bytes;
  yield footer;
  const end = new Uint8Array(8);
  new DataView(end.buffer).setUint32(0, footer.length, true);
  end.set(MAGIC, 4);
  yield end;
}

function* groupPieces(
  rows: number,
  columns: readonly OutputColumn[],
  written: { position: number; rows: number; readonly groups: Encoded[] },
): Generator<Uint8Array> {
  const dictionaries = columns.map((column) =>
    'ids' in column ? new Dictionary(column.ids, Math.min(rows, GROUP_ROWS)) : undefined,
  );
  for (let start = 0; start < rows; ) {
    const stop = endOfGroup(start, rows, columns, dictionaries);
    const chunks: Encoded[] = [];
    let unpacked = 0;
    for (const [c, column] of columns.entries()) {
      const dictionary = dictionaries[c];
      const parts = dictionary
        ? [dictionary.page(), indexPage(dictionary, stop - start)]
        : [numbersPage(column, start, stop)];
      const first = written.position;
      let size = 0;
      for (const part of parts) {
        yield part.header;
        yield part.body;
        written.position += part.header.length + part.body.length;
        size += part.header.length + part.unpacked;
      }
      const data = dictionary ? first + parts[0].header.length + parts[0].body.length : first;
      chunks.push(chunkMeta(column, stop - start, first, data, written.position - first, size));
      unpacked += size;
    }
    written.groups.push(struct([1, list(chunks)], [2, i64(unpacked)], [3, i64(stop - start)]));
    written.rows += stop - start;
    start = stop;
  }
}

/** The row at which the group must end; adds the ids of its rows to the dictionaries. */
function endOfGroup(
  start: number,
  rows: number,
  columns: readonly OutputColumn[],
  dictionaries: readonly (Dictionary | undefined)[],
): number {
  for (const dictionary of dictionaries) dictionary?.clear();
  const most = Math.min(rows, start + GROUP_ROWS);
  let row = start;
  while (row < most && dictionaries.every((d) => d === undefined || d.bytes < DICTIONARY_BYTES)) {
    for (const [c, column] of columns.entries()) {
      if ('ids' in column) dictionaries[c]!.add(column.vertices[row]);
    }
    row++;
  }
  return row;
}

/** The ids of one row group, numbered in order of first appearance. */
class Dictionary {
  readonly #place: Int32Array;
  readonly #used: number[] = [];
  readonly #index: Uint32Array;
  #rows = 0;
  bytes = 0;

  /** `most`: the largest number of rows in a group. */
  constructor(
    readonly ids: WrittenIds,
    most: number,
  ) {
    this.#index = new Uint32Array(most);
    this.#place = new Int32Array(ids.length).fill(-1);
  }

  clear(): void {
    for (const vertex of this.#used) this.#place[vertex] = -1;
    this.#used.length = 0;
    this.#rows = 0;
    this.bytes = 0;
  }

  add(vertex: number): void {
    if (this.#place[vertex] < 0) {
      this.#place[vertex] = this.#used.length;
      this.#used.push(vertex);
      this.bytes += this.ids.kind === 'integer' ? 8 : 4 + 3 * (this.ids.values[vertex] as string).length;
    }
    this.#index[this.#rows++] = this.#place[vertex];
  }

  get size(): number {
    return this.#used.length;
  }

  /** The dictionary index of each row of the group. */
  get index(): Uint32Array {
    return this.#index.subarray(0, this.#rows);
  }

  page(): WrittenPage {
    const body = this.ids.kind === 'integer' ? this.#integers() : this.#texts();
    return packed(2, body, [7, struct([1, i32(this.size)], [2, i32(PLAIN)])]);
  }

  #integers(): Uint8Array {
    const values = this.ids.values as Float64Array;
    return new Uint8Array(BigInt64Array.from(this.#used, (vertex) => BigInt(values[vertex])).buffer);
  }

  #texts(): Uint8Array {
    const values = this.ids.values as readonly string[];
    const body = new Uint8Array(this.bytes);
    const view = new DataView(body.buffer);
    const encoder = new TextEncoder();
    let at = 0;
    for (const vertex of this.#used) {
      const { written } = encoder.encodeInto(values[vertex], body.subarray(at + 4));
      view.setUint32(at, written, true);
      at += 4 + written;
    }
    return body.subarray(0, at);
  }
}

interface WrittenPage {
  readonly header: Uint8Array;
  readonly body: Uint8Array;
  readonly unpacked: number;
}

/** Bit-packed dictionary indexes: one run of groups of eight. */
function indexPage(dictionary: Dictionary, rows: number): WrittenPage {
  const { index, size } = dictionary;
  const width = 32 - Math.clz32(size - 1);
  const groups = Math.ceil(rows / 8);
  const head = Uint8Array.of(width, ...varint(2 * groups + 1));
  const body = new Uint8Array(head.length + groups * width);
  body.set(head);
  let at = head.length;
  let held = 0;
  let bits = 0;
  for (let row = 0; row < 8 * groups; row++) {
    // An index has at most 21 bits; with up to 7 held bits it fits in 32.
    held |= (row < rows ? index[row] : 0) << bits;
    for (bits += width; bits >= 8; bits -= 8) {
      body[at++] = held;
      held >>>= 8;
    }
  }
  return packed(0, body, dataHeader(rows, RLE_DICTIONARY));
}

function numbersPage(column: OutputColumn, start: number, stop: number): WrittenPage {
  const length = stop - start;
  const body =
    'decimals' in column
      ? Float64Array.from({ length }, (_, i) => column.decimals[start + i])
      : Uint32Array.from({ length }, (_, i) => (column as { numbers: ArrayLike<number> }).numbers[start + i]);
  return packed(0, new Uint8Array(body.buffer), dataHeader(stop - start, PLAIN));
}

function dataHeader(rows: number, encoding: number): [number, Encoded] {
  return [5, struct([1, i32(rows)], [2, i32(encoding)], [3, i32(RLE)], [4, i32(RLE)])];
}

function packed(type: number, page: Uint8Array, detail: [number, Encoded]): WrittenPage {
  const body = zlib ? zlib.gzipSync(page, { level: 4 }) : page;
  // gzip names the system; the same rows give the same bytes on all of them.
  if (zlib) body[GZIP_SYSTEM] = UNIX;
  const header = struct(
    [1, i32(type)],
    [2, i32(page.length)],
    [3, i32(body.length)],
    [4, i32(crc32(body) | 0)],
    detail,
  ).bytes;
  return { header, body, unpacked: page.length };
}

function typeOf(column: OutputColumn): number {
  if ('decimals' in column) return DOUBLE;
  if (!('ids' in column)) return INT32;
  return column.ids.kind === 'integer' ? INT64 : BYTE_ARRAY;
}

function schemaElement(column: OutputColumn): Encoded {
  const type = typeOf(column);
  // Annotate twice: for current readers (field 10) and for old ones (field 6).
  if (type === BYTE_ARRAY) {
    return struct(
      [1, i32(type)],
      [3, i32(0)],
      [4, text(column.name)],
      [6, i32(0)],
      [10, struct([1, struct()])],
    );
  }
  if (type === INT32) {
    const unsigned = struct([10, struct([1, byte(32)], [2, boolean(false)])]);
    return struct([1, i32(type)], [3, i32(0)], [4, text(column.name)], [6, i32(13)], [10, unsigned]);
  }
  return struct([1, i32(type)], [3, i32(0)], [4, text(column.name)]);
}

function chunkMeta(
  column: OutputColumn,
  rows: number,
  first: number,
  data: number,
  size: number,
  unpacked: number,
): Encoded {
  const encodings = 'ids' in column ? [PLAIN, RLE, RLE_DICTIONARY] : [PLAIN, RLE];
  const meta = struct(
    [1, i32(typeOf(column))],
    [2, list(encodings.map(i32))],
    [3, list([text(column.name)])],
    [4, i32(CODEC)],
    [5, i64(rows)],
    [6, i64(unpacked)],
    [7, i64(size)],
    [9, i64(data)],
    ...('ids' in column ? [[11, i64(first)] as const] : []),
  );
  return struct([2, i64(first)], [3, meta]);
}
