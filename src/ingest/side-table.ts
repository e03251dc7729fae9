// Reads small tables that go with the data: titles, lists of ids, batches of users. They are read whole, in any format.

import { InputError, throwIfAborted } from '../errors.js';
import { concat } from '../math/memory.js';
import { type NamedBlob, openBlob } from './blob.js';
import { type BegunSource, fileFormat } from './formats/file-formats.js';
import { guessSeparator, isQuoted } from './formats/guess.js';
import { idTexts, keysOf } from './formats/jsonl.js';
import { linesOf, lineText } from './formats/lines.js';
import { readParquetColumns } from './formats/parquet.js';
import { rowsOf, type TextRow, withoutMark } from './formats/scan.js';

/** The most bytes of such a table. */
const MAX_BYTES = 1 << 28;
/** Bytes of a cell in addition to its characters. */
const CELL_BYTES = 8;
/** The most columns: more than any such table has, fewer than a damaged file may have. */
export const MOST_COLUMNS = 200;
/** Bytes by which the kind of file is recognised, and lines by which the separator is chosen. */
const SAMPLE_BYTES = 1 << 16;
const FIRST_LINES = 3;
/** Rare separators come first: a comma inside titles must not win over :: between columns. */
const SEPARATORS = ['::', '\t', ';', '|', ','] as const;

/** The line number of the row of names, in formats that name their columns. */
export const NAMES_LINE = 0;

export interface SideTableOptions {
  /** The separator of text columns, or a function that chooses it by the first lines. */
  readonly separators?: readonly string[] | ((lines: readonly string[]) => Promise<readonly string[]>);
  /** Positions of the columns that are read, for formats that name columns. Default: all. */
  readonly pick?: (names: readonly string[]) => readonly number[];
  readonly signal?: AbortSignal | undefined;
}

/**
 * The rows of an opened table, which may be found while they are asked for. The first rows of a text choose its separator. Parquet and JSON lines begin with a row of the
 * columns' names, as line 0.
 */
export async function sideRows(
  source: BegunSource,
  { separators, signal, pick = firstColumns }: SideTableOptions = {},
): Promise<Iterable<TextRow>> {
  const { name: format } = fileFormat(source);
  if (format === 'parquet') {
    const { rows, choose, take } = tableRows(source.name, pick);
    await source.inFile((file) => readParquetColumns(file, choose, take, { signal }));
    return rows;
  }
  if (format === 'json lines') return jsonRows(source, pick, signal);
  const bytes = await allBytes(source);
  if (typeof separators !== 'function') return textRows(bytes, source.name, separators);
  const lines = sideTable(bytes.subarray(0, SAMPLE_BYTES), source.name, ['\n']);
  const chosen = await separators(lines.slice(0, FIRST_LINES).map(({ fields }) => fields[0]));
  return textRows(bytes, source.name, chosen);
}

export async function readSideBlob(source: NamedBlob, options: SideTableOptions = {}): Promise<TextRow[]> {
  return Array.from(await sideRows(await openBlob(source), options));
}

const firstColumns = (names: readonly string[]) => [...names.keys()].slice(0, MOST_COLUMNS);

async function allBytes({ name, chunks }: BegunSource): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const room = roomIn(name);
  for await (const part of chunks) {
    room(part.length);
    parts.push(part.slice());
  }
  return concat(Uint8Array, parts);
}

/** Throws if the table is too large. */
function roomIn(name: string): (bytes: number) => void {
  let held = 0;
  return (bytes) => {
    held += bytes;
    if (held > MAX_BYTES) {
      throw new InputError(`${name}: it has more than ${MAX_BYTES} bytes; give a smaller table`);
    }
  };
}

/** Rows of a source that gives the names of its columns first, of which `choose` returns those that are read. */
export function tableRows(
  name: string,
  pick: (names: readonly string[]) => readonly number[] = firstColumns,
) {
  const room = roomIn(name);
  const rows: TextRow[] = [];
  return {
    rows,
    choose(names: readonly string[]): readonly number[] {
      const places = pick(names);
      rows.push({ line: NAMES_LINE, fields: places.map((place) => names[place]) });
      return places;
    },
    take(cells: readonly (string | null)[]): void {
      const fields = cells.map((cell) => cell ?? '');
      for (const cell of fields) room(cell.length + CELL_BYTES);
      rows.push({ line: rows.length, fields });
    },
  };
}

/** A line without a row gives a row without fields, so that a message can name the line. */
async function jsonRows(
  source: BegunSource,
  pick: (names: readonly string[]) => readonly number[],
  signal: AbortSignal | undefined,
): Promise<TextRow[]> {
  const rows: TextRow[] = [];
  const room = roomIn(source.name);
  let names: readonly string[] | undefined;
  let line = 0;
  for await (const lines of linesOf(source.chunks)) {
    throwIfAborted(signal);
    for (const bytes of lines) {
      line++;
      const text = lineText(bytes);
      if (text?.trim() === '') continue;
      const row = parsed(text);
      if (!names && typeof row === 'object' && row !== null && !Array.isArray(row)) {
        const all = keysOf(text!);
        names = pick(all).map((place) => all[place]);
        rows.unshift({ line: NAMES_LINE, fields: [...names] });
      }
      const fields = idTexts(row, names, MOST_COLUMNS);
      for (const cell of fields) room(cell.length + CELL_BYTES);
      room(CELL_BYTES);
      rows.push({ line, fields });
    }
  }
  return rows;
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

/** The rows of a text table in memory; `name` names it in messages. */
export function sideTable(all: Uint8Array, name: string, separators?: readonly string[]): TextRow[] {
  return [...textRows(all, name, separators)];
}

function textRows(
  all: Uint8Array,
  name: string,
  separators: readonly string[] = SEPARATORS,
): Iterable<TextRow> {
  const bytes = withoutMark(all);
  if (bytes[0] === 0xff || bytes[0] === 0xfe) {
    throw new InputError(`${name}: the file is UTF-16; save it as UTF-8`);
  }
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  if (isBinary(sample)) {
    throw new InputError(
      `${name}: this is not a table that graphex reads; give .csv, .tsv, .txt, .jsonl or .parquet`,
    );
  }
  const separator = guessSeparator(name, sample, sample.length === bytes.length, separators);
  // With one id per line, the whole line is the id.
  const quoted = separator !== '\n' && (isQuoted(separator) || separator === '::');
  return rowsOf(bytes, { separator, quoted, mostColumns: MOST_COLUMNS });
}

/**
 * Whether there are zero bytes, or control characters in bytes that are not UTF-8. Older tables are Latin-1, without control characters.
 */
function isBinary(sample: Uint8Array): boolean {
  if (sample.includes(0)) return true;
  if (!sample.some((byte) => byte < 9 || (byte > 13 && byte < 32 && byte !== 27))) return false;
  try {
    // The end may cut a character.
    new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: true });
    return false;
  } catch {
    return true;
  }
}
