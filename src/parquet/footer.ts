// The footer of a Parquet file: its columns, the meaning of their values, and the positions of their pages.

import {
  bytesOf,
  DamagedError,
  numberOf,
  sizeOf,
  structOf,
  structsOf,
  ThriftReader,
  type ThriftStruct,
} from './thrift.js';

/** Largest footer, in bytes: a thousand times the usual size. */
const MAX_FOOTER = 1 << 26;

const PHYSICAL = ['boolean', 'int32', 'int64', 'int96', 'float', 'double', 'bytes', 'fixed'] as const;
export type Physical = (typeof PHYSICAL)[number];

/** The meaning of the values of a column. */
export type Meaning =
  | { readonly kind: 'text' | 'blob' | 'uuid' | 'date' | 'boolean' | 'number' | 'float16' }
  | { readonly kind: 'whole'; readonly signed: boolean }
  | { readonly kind: 'decimal'; readonly scale: number }
  | { readonly kind: 'timestamp'; readonly unit: 'ms' | 'us' | 'ns'; readonly utc: boolean }
  /** Values that cannot be ids; `what` describes them. */
  | { readonly kind: 'other'; readonly what: string };

export interface ParquetColumn {
  readonly name: string;
  readonly meaning: Meaning;
  readonly physical: Physical;
  /** Bytes of a value, if the physical type is `fixed`. */
  readonly width: number;
  readonly optional: boolean;
  /** The index among the columns of a row group; −1 if the column is nested. */
  readonly leaf: number;
}

export interface ColumnChunk {
  readonly start: number;
  readonly stop: number;
  readonly codec: number;
}

export interface ParquetFile {
  readonly columns: readonly ParquetColumn[];
  readonly groups: readonly { readonly rows: number; chunk(column: ParquetColumn): ColumnChunk }[];
}

/** A file that can be read at any position. */
export interface RandomAccess {
  readonly size: number;
  /** Reads `length` bytes; throws a DamagedError if the file ends earlier. */
  read(position: number, length: number): Promise<Uint8Array>;
}

export async function readFooter(file: RandomAccess): Promise<ParquetFile> {
  if (file.size < 12) throw new DamagedError('it ends before its footer');
  const end = await file.read(file.size - 8, 8);
  const magic = String.fromCharCode(...end.subarray(4));
  if (magic === 'PARE') throw new DamagedError('it is encrypted');
  if (magic !== 'PAR1') throw new DamagedError('its footer is missing');
  const length = new DataView(end.buffer, end.byteOffset, 4).getUint32(0, true);
  if (length > file.size - 12) throw new DamagedError('its footer is longer than the file');
  if (length > MAX_FOOTER) throw new DamagedError(`its footer is longer than ${MAX_FOOTER} bytes`);
  const meta = new ThriftReader(await file.read(file.size - 8 - length, length)).struct();
  if (meta.has(8)) throw new DamagedError('it is encrypted');
  const { columns, leaves } = columnsOf(structsOf(meta, 2));
  const groups = structsOf(meta, 4).map((group) => {
    const rows = sizeOf(group, 3, Number.MAX_SAFE_INTEGER, 'the number of rows of a group');
    const chunks = structsOf(group, 1);
    if (chunks.length !== leaves) throw new DamagedError('a row group and the table have different columns');
    return { rows, chunk: (column: ParquetColumn) => chunkOf(chunks[column.leaf], column, rows, file.size) };
  });
  return { columns, groups };
}

function chunkOf(chunk: ThriftStruct, column: ParquetColumn, rows: number, size: number): ColumnChunk {
  if (chunk.has(1)) throw new DamagedError('its columns are in other files');
  const meta = structOf(chunk, 3);
  const what = `of column ${JSON.stringify(column.name)}`;
  if (PHYSICAL[numberOf(meta, 1) ?? -1] !== column.physical)
    throw new DamagedError(`the type ${what} changes`);
  if (numberOf(meta, 5) !== rows)
    throw new DamagedError(`the number of values ${what} differs from the number of rows`);
  const first = sizeOf(meta, 9, size, `the place ${what}`);
  const dictionary = numberOf(meta, 11);
  // Some writers store 0 if there is no dictionary.
  const start = dictionary !== undefined && dictionary >= 4 && dictionary < first ? dictionary : first;
  const stop = start + sizeOf(meta, 7, size, `the size ${what}`);
  if (stop > size) throw new DamagedError(`the pages ${what} extend beyond the end of the file`);
  return { start, stop, codec: numberOf(meta, 4) ?? 0 };
}

/** The columns of the table: the children of the schema's root. */
function columnsOf(elements: readonly ThriftStruct[]): { columns: ParquetColumn[]; leaves: number } {
  const columns: ParquetColumn[] = [];
  let leaves = 0;
  let at = 1;
  /** Skips an element and all its descendants. */
  const pass = (depth: number): void => {
    const element = elements[at++];
    if (element === undefined || depth > 100) throw new DamagedError('its schema is damaged');
    const children = numberOf(element, 5) ?? 0;
    if (children === 0) leaves++;
    for (let c = 0; c < children; c++) pass(depth + 1);
  };
  const children = sizeOf(elements[0], 5, elements.length, 'the number of columns');
  const decoder = new TextDecoder();
  for (let c = 0; c < children; c++) {
    const element = elements[at];
    if (element === undefined) throw new DamagedError('its schema is damaged');
    const repetition = numberOf(element, 3) ?? 0;
    const nested = (numberOf(element, 5) ?? 0) > 0 || repetition === 2;
    const physical = PHYSICAL[numberOf(element, 1) ?? -1];
    if (!nested && physical === undefined) throw new DamagedError('a column has no type');
    columns.push({
      name: decoder.decode(bytesOf(element, 4)),
      meaning: nested ? { kind: 'other', what: 'lists or structs' } : meaningOf(element, physical),
      physical,
      width: numberOf(element, 2) ?? 0,
      optional: repetition === 1,
      leaf: nested ? -1 : leaves,
    });
    pass(0);
  }
  return { columns, leaves };
}

const UNITS = { 1: 'ms', 2: 'us', 3: 'ns' } as const;

function meaningOf(element: ThriftStruct, physical: Physical): Meaning {
  const logical = structOf(element, 10);
  const [kind] = logical?.keys() ?? [];
  const detail = kind === undefined ? undefined : structOf(logical, kind);
  const converted = numberOf(element, 6);
  if (kind === 5 || converted === 5) {
    const scale = sizeOf(kind === 5 ? detail : element, kind === 5 ? 1 : 7, 1000, 'the scale of a decimal');
    return { kind: 'decimal', scale };
  }
  if (kind === 8) {
    const unit = UNITS[[...(structOf(detail, 2)?.keys() ?? [])][0] as 1 | 2 | 3];
    if (unit === undefined || physical !== 'int64') throw new DamagedError('a time stamp has no unit');
    return { kind: 'timestamp', unit, utc: detail?.get(1) === true };
  }
  if (kind === 7 || converted === 7 || converted === 8) return { kind: 'other', what: 'times of day' };
  if (converted === 20 || kind === 13) return { kind: 'other', what: 'BSON documents' };
  if (converted === 21) return { kind: 'other', what: 'intervals' };
  switch (physical) {
    case 'boolean':
      return { kind: 'boolean' };
    case 'int32':
      if (kind === 6 || converted === 6) return { kind: 'date' };
      return { kind: 'whole', signed: isSigned(kind, detail, converted) };
    case 'int64':
      if (converted === 9 || converted === 10) {
        return { kind: 'timestamp', unit: converted === 9 ? 'ms' : 'us', utc: false };
      }
      return { kind: 'whole', signed: isSigned(kind, detail, converted) };
    case 'int96':
      return { kind: 'timestamp', unit: 'ns', utc: false };
    case 'float':
    case 'double':
      return { kind: 'number' };
    case 'bytes':
      return [0, 4, 19].includes(converted ?? -1) || [1, 4, 12].includes(kind ?? -1)
        ? { kind: 'text' }
        : { kind: 'blob' };
    case 'fixed':
      return kind === 14 ? { kind: 'uuid' } : kind === 15 ? { kind: 'float16' } : { kind: 'blob' };
  }
}

function isSigned(kind: number | undefined, detail: ThriftStruct | undefined, converted: number | undefined) {
  if (kind === 10) return detail?.get(2) === true;
  return !(converted !== undefined && converted >= 11 && converted <= 14);
}
