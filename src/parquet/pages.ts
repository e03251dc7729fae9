// Reads the pages of one column in a row group, one at a time: memory holds one page and its dictionary.

import { sumOf } from '../math/moments.js';
import { crc32 } from './crc32.js';
import {
  decodeByteStreams,
  decodeDeltaLengths,
  decodeDeltas,
  decodeDeltaTexts,
  decodePlain,
  decodeRuns,
  type Values,
} from './decode.js';
import type { ColumnChunk, ParquetColumn, RandomAccess } from './footer.js';
import { DamagedError, numberOf, sizeOf, structOf, ThriftReader, type ThriftStruct } from './thrift.js';
import { unpackPage } from './unpack.js';

/** Largest page in bytes, compressed or not: a hundred times the usual size, and more than known writers make. */
const MAX_PAGE_BYTES = 1 << 27;
const MAX_PAGE_VALUES = 1 << 24;
const HEADER_BYTES = 1 << 16;

const [DATA, DICTIONARY, DATA_V2] = [0, 2, 3];

export interface Page {
  readonly rows: number;
  /** 1 for each row that has a value; undefined if all have. */
  readonly present: Uint32Array | undefined;
  /** The index of each value in `values`; undefined if they are in order. */
  readonly index: Uint32Array | undefined;
  readonly values: Values;
}

/**
 * Yields the data pages in order; throws a DamagedError if they do not match their headers. `spend` receives the size of
 * each page before it is unpacked, and throws if the total is too large.
 */
export async function* pagesOf(
  file: RandomAccess,
  chunk: ColumnChunk,
  column: ParquetColumn,
  spend: (bytes: number) => void,
): AsyncGenerator<Page> {
  let dictionary: Values | undefined;
  for (let pos = chunk.start; pos < chunk.stop; ) {
    const { header, length } = await readHeader(file, pos, chunk.stop);
    pos += length;
    const packedSize = sizeOf(header, 3, MAX_PAGE_BYTES, 'the size of a page');
    const size = sizeOf(header, 2, MAX_PAGE_BYTES, 'the unpacked size of a page');
    if (packedSize > chunk.stop - pos) throw new DamagedError('a page extends beyond its column');
    const type = numberOf(header, 1) ?? -1;
    if (type === DATA || type === DATA_V2 || type === DICTIONARY) {
      spend(size);
      const packed = await file.read(pos, packedSize);
      const sum = numberOf(header, 4);
      if (sum !== undefined && crc32(packed) !== sum >>> 0)
        throw new DamagedError('the checksum of a page is wrong');
      if (type === DICTIONARY) {
        const count = sizeOf(structOf(header, 7), 1, MAX_PAGE_VALUES, 'the number of values of a dictionary');
        const page = await unpackPage(chunk.codec, packed, size);
        dictionary = decodePlain(page, column.physical, column.width, count);
      } else if (type === DATA) {
        yield readData(structOf(header, 5), await unpackPage(chunk.codec, packed, size), column, dictionary);
      } else {
        yield await readDataV2(structOf(header, 8), packed, size, chunk.codec, column, dictionary);
      }
    }
    pos += packedSize;
  }
}

/** Reads few bytes first, then as many as a header may have: statistics make some headers long. */
async function readHeader(file: RandomAccess, pos: number, stop: number) {
  for (const most of [HEADER_BYTES, MAX_PAGE_BYTES]) {
    const bytes = await file.read(pos, Math.min(most, stop - pos));
    const reader = new ThriftReader(bytes);
    try {
      const header = reader.struct();
      return { header, length: reader.pos };
    } catch (cause) {
      if (bytes.length < HEADER_BYTES || most === MAX_PAGE_BYTES) throw cause;
    }
  }
  throw new DamagedError('a page has no header');
}

function readData(
  header: ThriftStruct | undefined,
  page: Uint8Array,
  column: ParquetColumn,
  dictionary: Values | undefined,
): Page {
  const rows = sizeOf(header, 1, MAX_PAGE_VALUES, 'the number of values of a page');
  let levels: Uint8Array | undefined;
  let rest = page;
  if (column.optional) {
    if (numberOf(header, 3) !== 3) throw new DamagedError('its levels have an outdated encoding');
    if (page.length < 4) throw new DamagedError('a page is cut short');
    const length = new DataView(page.buffer, page.byteOffset, 4).getUint32(0, true);
    if (length > page.length - 4) throw new DamagedError('a page is cut short');
    levels = page.subarray(4, 4 + length);
    rest = page.subarray(4 + length);
  }
  return pageOf(rows, levels, rest, numberOf(header, 2) ?? 0, column, dictionary);
}

async function readDataV2(
  header: ThriftStruct | undefined,
  packed: Uint8Array,
  size: number,
  codec: number,
  column: ParquetColumn,
  dictionary: Values | undefined,
): Promise<Page> {
  const rows = sizeOf(header, 1, MAX_PAGE_VALUES, 'the number of values of a page');
  const levelBytes = sizeOf(header, 5, packed.length, 'the size of the levels of a page');
  const repeats = sizeOf(header, 6, packed.length, 'the size of the levels of a page');
  const before = levelBytes + repeats;
  if (before > packed.length || before > size) throw new DamagedError('a page is cut short');
  const levels = column.optional ? packed.subarray(repeats, before) : undefined;
  const body = packed.subarray(before);
  const plain = header?.get(7) === false ? body : await unpackPage(codec, body, size - before);
  return pageOf(rows, levels, plain, numberOf(header, 4) ?? 0, column, dictionary);
}

function pageOf(
  rows: number,
  levels: Uint8Array | undefined,
  bytes: Uint8Array,
  encoding: number,
  column: ParquetColumn,
  dictionary: Values | undefined,
): Page {
  let present = levels && decodeRuns(levels, 1, rows);
  let count = rows;
  if (present) {
    count = sumOf(present);
    if (count === rows) present = undefined;
  }
  const { physical, width } = column;
  // Dictionary indexes: the bit width, then runs.
  if (encoding === 2 || encoding === 8) {
    if (!dictionary) throw new DamagedError('a page refers to a missing dictionary');
    const index = count === 0 ? new Uint32Array(0) : decodeRuns(bytes.subarray(1), bytes[0] ?? 33, count);
    if (count > 0 && largestOf(index) >= lengthOf(dictionary))
      throw new DamagedError('a page refers to a value that is not in its dictionary');
    return { rows, present, index, values: dictionary };
  }
  return { rows, present, index: undefined, values: decodeValues(bytes, encoding, physical, width, count) };
}

function largestOf(values: Uint32Array): number {
  let largest = 0;
  for (let i = 0; i < values.length; i++) if (values[i] > largest) largest = values[i];
  return largest;
}

function decodeValues(
  bytes: Uint8Array,
  encoding: number,
  physical: ParquetColumn['physical'],
  width: number,
  count: number,
): Values {
  switch (encoding) {
    case 0:
      return decodePlain(bytes, physical, width, count);
    case 3:
      if (physical !== 'boolean') break;
      // A length of four bytes precedes the runs.
      return { kind: 'numbers', numbers: Uint8Array.from(decodeRuns(bytes.subarray(4), 1, count)) };
    case 5:
      return decodeDeltas(bytes, physical, count);
    case 6:
      if (physical === 'bytes') return decodeDeltaLengths(bytes, count);
      break;
    case 7:
      if (physical === 'bytes' || physical === 'fixed') return decodeDeltaTexts(bytes, count, MAX_PAGE_BYTES);
      break;
    case 9:
      return decodeByteStreams(bytes, physical, width, count);
  }
  throw new DamagedError(`a page has the unknown encoding ${encoding}`);
}

function lengthOf(values: Values): number {
  if (values.kind === 'numbers') return values.numbers.length;
  return values.kind === 'words' ? values.words.length / values.per : values.starts.length;
}
