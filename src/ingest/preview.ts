// A preview of a table in a Blob: its first rows, and the columns that look like users, items and counts.

import { concat } from '../math/memory.js';
import { type NamedBlob, openBlob } from './blob.js';
import { SAMPLE_BYTES, tableShape } from './formats/delimited.js';
import { fileFormat } from './formats/file-formats.js';
import { isQuoted, OneColumnError } from './formats/guess.js';
import { keysOf, ownValue } from './formats/jsonl.js';
import { firstRows } from './formats/parquet.js';
import { rowsOf, withoutMark } from './formats/scan.js';
import { parseTime } from './intake/value-column.js';
import type { ReadOptions } from './options.js';

const ROWS = 8;
/** Rows by which columns are guessed. */
const LOOK = 200;
/** The most columns and characters of the preview. */
const COLUMNS = 40;
const CELL = 80;

export interface TablePreview {
  /** 'text table', 'json lines', 'parquet'. */
  readonly format: string;
  /** For text tables. */
  readonly separator?: string;
  readonly header?: boolean;
  /** Header names, or numbers from 1 as text, also if two columns have the same name. */
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Names, or numbers as text, of the likely columns. */
  readonly guess: {
    readonly users: string;
    readonly items: string;
    readonly count?: string;
    readonly time?: string;
  };
}

/** Reads the beginning of a table; options replace guesses. */
export async function previewBlob(
  source: NamedBlob,
  options: Pick<ReadOptions, 'sep' | 'header'> = {},
): Promise<TablePreview> {
  const opened = await openBlob(source);
  const format = fileFormat(opened).name;
  if (format === 'parquet') {
    const { names, rows } = await opened.inFile((file) => firstRows(file, LOOK, COLUMNS));
    return { format, names, rows: rows.slice(0, ROWS).map(cut), guess: guessColumns(names, rows) };
  }
  const { bytes, whole } = await beginning(opened.chunks);
  if (format === 'json lines') {
    const { names, rows } = jsonRows(bytes);
    return { format, names, rows: rows.slice(0, ROWS).map(cut), guess: guessColumns(names, rows) };
  }
  const rows: string[][] = [];
  const { separator, header, columns } = shapeOf(source.name, bytes, whole, options);
  const { names } = columns;
  for (const { fields } of rowsOf(bytes, { separator, quoted: isQuoted(separator), whole })) {
    if (rows.push(fields) > LOOK) break;
  }
  const data = rows.slice(header ? 1 : 0, header ? LOOK + 1 : LOOK);
  const called = toldApart(names);
  return {
    ...{ format, separator, header },
    names: called.slice(0, COLUMNS),
    rows: data.slice(0, ROWS).map(cut),
    guess: guessColumns(names, data, called),
  };
}

/** What an option must say to name each column: its name, or its number if the name is not unique. */
function toldApart(names: readonly string[]): string[] {
  return names.map((name, at) => (names.indexOf(name) === names.lastIndexOf(name) ? name : String(at + 1)));
}

/** Also for a table whose rows are not cut: the preview shows how to cut them. */
function shapeOf(...[name, bytes, whole, options]: Parameters<typeof tableShape>) {
  try {
    return tableShape(name, bytes, whole, options);
  } catch (error) {
    if (!(error instanceof OneColumnError)) throw error;
    return { separator: error.separator, header: false, columns: { names: ['1'] } };
  }
}

async function beginning(chunks: AsyncIterable<Uint8Array>): Promise<{ bytes: Uint8Array; whole: boolean }> {
  const parts: Uint8Array[] = [];
  let length = 0;
  let whole = true;
  for await (const chunk of chunks) {
    parts.push(chunk);
    length += chunk.length;
    if (length < SAMPLE_BYTES) continue;
    whole = false;
    break;
  }
  return { bytes: withoutMark(concat(Uint8Array, parts)), whole };
}

function jsonRows(bytes: Uint8Array): { names: string[]; rows: string[][] } {
  const rows: string[][] = [];
  let names: string[] | undefined;
  for (const line of new TextDecoder().decode(bytes).split(/\r\n?|\n/)) {
    if (rows.length === LOOK) break;
    try {
      const row = JSON.parse(line);
      const isArray = Array.isArray(row);
      names ??= (isArray ? row.map((_, at) => String(at + 1)) : keysOf(line)).slice(0, COLUMNS);
      rows.push(names.map((name, at) => text(isArray ? row[at] : ownValue(row, name))));
    } catch {
      // The reader says later what is wrong with a line; the last one may be cut.
    }
  }
  return { names: names ?? [], rows };
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined ? '' : String(value);
}

const cut = (row: readonly string[]): string[] =>
  row.slice(0, COLUMNS).map((cell) => (cell.length > CELL ? `${cell.slice(0, CELL - 1)}…` : cell));

const USERS =
  /^(user|customer|reader|listener|viewer|visitor|member|person|people|account|client|patient|author|doc(ument)?|paper|article|speech|text|session|basket|order|invoice|playlist|source|from|src)/i;
const ITEMS =
  /^(item|product|sku|movie|film|book|song|track|artist|album|game|recipe|word|term|token|stem|package|dependency|page|tag|course|drug|gene|place|target|to$|dst)/i;
const COUNTS = /^(counts?|n|freq(uency)?|plays?|playcount|times|quantity|qty|occurrences)$/i;
const NEVER = /^(rating|score|stars?|time(stamp)?|date|price|title|weight)/i;

const TIMES = /^(time(stamp)?|date(time)?|day|when|created|at$|ts$)|(_|\b)(time(stamp)?|date|at)$/i;
/** The times of unnamed columns: seconds or milliseconds since 1970, from 1990 to 2065. */
const EPOCH = { least: 6.3e8, most: 3e9 };

/** The column of times: one that is called so, or whose numbers are seconds or milliseconds since 1970. */
function timeColumnOf(plain: readonly string[], rows: readonly (readonly string[])[]): number {
  const areTimes = (at: number) =>
    rows.length > 0 && rows.every((row) => typeof parseTime(row[at] ?? '') === 'number');
  const isEpoch = (text = '') => {
    const value = /^\d+$/.test(text) ? Number(text) : 0;
    return [value, value / 1000].some((seconds) => seconds > EPOCH.least && seconds < EPOCH.most);
  };
  const named = plain.findIndex((name, at) => TIMES.test(name) && areTimes(at));
  if (named >= 0) return named;
  return plain.findIndex(
    (name, at) => at > 1 && /^\d+$/.test(name) && rows.length > 0 && rows.every((row) => isEpoch(row[at])),
  );
}

/** Ratings go up to this. */
const MOST_RATING = 10;

/**
 * The count in a table of three columns without names: whole numbers, some above every rating, or most often 1. Ratings are
 * whole numbers too, but few of them are 1.
 */
function unnamedCount(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  whole: (at: number) => boolean,
): number {
  const last = 2;
  if (names.length !== 3 || names.some((name, at) => name !== String(at + 1)) || !whole(last)) return -1;
  const values = rows.map((row) => Number(row[last]));
  const ones = values.filter((value) => value === 1).length;
  return values.some((value) => value > MOST_RATING) || 2 * ones > values.length ? last : -1;
}

/** The likely columns: by name, else the first two, as on the command line. `called`: what an option must say for each column. */
export function guessColumns(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  called = names,
): TablePreview['guess'] {
  const plain = names.map((name) => name.trim().replace(/^(fk|the)[_ -]/i, ''));
  const whole = (at: number) => rows.length > 0 && rows.every((row) => /^[1-9]\d{0,9}$/.test(row[at] ?? ''));
  const named = plain.findIndex((name, at) => COUNTS.test(name) && whole(at));
  const count = named >= 0 ? named : unnamedCount(names, rows, whole);
  const free = (at: number) => at !== count && !NEVER.test(plain[at]);
  let items = plain.findIndex((name, at) => ITEMS.test(name) && free(at));
  let users = plain.findIndex((name, at) => USERS.test(name) && at !== items && free(at));
  const next = (...taken: number[]) => {
    const open = (at: number) => !taken.includes(at);
    const best = plain.findIndex((_, at) => open(at) && free(at));
    return best >= 0 ? best : plain.findIndex((_, at) => open(at));
  };
  const time = timeColumnOf(plain, rows);
  if (users < 0 && items < 0) users = next();
  if (users < 0) users = next(items);
  if (items < 0) items = next(users);
  return {
    users: called[users] ?? '1',
    items: called[items] ?? '2',
    ...(count >= 0 && count !== users && count !== items ? { count: called[count] } : {}),
    ...(time >= 0 && time !== users && time !== items ? { time: called[time] } : {}),
  };
}
