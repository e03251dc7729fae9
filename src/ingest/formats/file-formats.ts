// The formats of files. A new format is an entry in FILE_FORMATS: how to recognise it by name and first bytes, and a function that adds its
// rows to a target (chooseColumns and RowIntake do the common part). Nothing here needs Node.

import { InputError } from '../../errors.js';
import { isParquet } from '../../parquet/magic.js';
import type { ParquetSource } from '../../parquet/rows.js';
import type { TableTarget } from '../intake/target.js';
import type { ByteSource, ReaderOptions } from '../options.js';
import { fillDelimited } from './delimited.js';
import { fillJsonLines } from './jsonl.js';
import { fillParquet } from './parquet.js';

/** A source whose first bytes are known: at least 64, unless the source is shorter. */
export interface BegunSource<File extends ParquetSource = ParquetSource> extends ByteSource {
  readonly first: Uint8Array;
  /** Lets `use` read it at any position, for formats that seek. */
  inFile<T>(use: (file: File) => Promise<T>): Promise<T>;
}

/** A format of tables, recognised by the name and the first bytes of a file. */
export interface FileFormat<File extends ParquetSource = ParquetSource> {
  readonly name: string;
  readonly endings: readonly string[];
  matches(source: Pick<BegunSource, 'name' | 'first'>): boolean;
  /** Adds its rows to the target. */
  fill(source: BegunSource<File>, options: ReaderOptions, target: TableTarget): Promise<void>;
}

const parquet: FileFormat = {
  name: 'parquet',
  endings: ['.parquet'],
  matches: ({ first }) => isParquet(first),
  fill: (source, options, target) => source.inFile((file) => fillParquet(file, options, target)),
};

const jsonLines: FileFormat = {
  name: 'json lines',
  endings: ['.jsonl', '.ndjson'],
  matches: ({ name, first }) => hasEnding(name, jsonLines) || /^(\xef\xbb\xbf)?\s*\{\s*"/.test(latin(first)),
  fill: fillJsonLines,
};

const textTable: FileFormat = {
  name: 'text table',
  endings: ['.csv', '.tsv', '.txt', '.dat'],
  matches: () => true,
  fill: fillDelimited,
};

/** In the order in which they are tried. */
export const FILE_FORMATS: readonly FileFormat[] = [parquet, jsonLines, textTable];

/** Files that people give by mistake, by their first bytes: what they are, and what to do. */
const NO_TABLES: readonly {
  readonly what: string;
  readonly instead: string;
  is(begins: string, name: string): boolean;
}[] = [
  {
    what: 'a spreadsheet',
    instead: 'save its table as CSV and give that file',
    // A spreadsheet is a zip archive of its sheets.
    is: (begins, name) => begins.startsWith('PK\x03\x04') && /\.(xlsx|xlsm|ods)$/.test(name),
  },
  {
    what: 'a zip archive',
    instead: 'unpack it and give the file inside',
    is: (begins) => begins.startsWith('PK\x03\x04'),
  },
  { what: 'a PDF document', instead: 'give the table itself', is: (begins) => begins.startsWith('%PDF-') },
  {
    what: 'one JSON array of objects',
    instead: 'give one object per line, which jq -c ".[]" writes',
    is: (begins, name) => !hasEnding(name, jsonLines) && /^(\xef\xbb\xbf)?\s*\[\s*\{\s*"/.test(begins),
  },
];

/** The format of an opened file; throws if it has none, or another than its name says. */
export function fileFormat(source: Pick<BegunSource, 'name' | 'first'>): FileFormat {
  const { name, first } = source;
  if (hasEnding(name, parquet) && !parquet.matches(source)) {
    throw new InputError(
      `${name}: this is not a Parquet file although its name says so; fetch or write it again`,
    );
  }
  const begins = latin(first);
  const other = NO_TABLES.find(({ is }) => is(begins, name.toLowerCase()));
  if (other) throw new InputError(`${name}: this is ${other.what}; ${other.instead}`);
  return FILE_FORMATS.find((format) => format.matches(source))!;
}

function hasEnding(name: string, { endings }: FileFormat): boolean {
  const plain = name.toLowerCase().replace(/\.gz$/, '');
  return endings.some((ending) => plain.endsWith(ending));
}

function latin(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, 64));
}
