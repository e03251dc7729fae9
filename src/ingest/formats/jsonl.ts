// JSON lines: an object or an array per line. Columns are the keys of the first line, in the order of its text, or the positions of an
// array.

import { throwIfAborted } from '../../errors.js';
import { numberOf } from '../../text/numbers.js';
import { chooseColumns, clip, type TableColumns } from '../intake/columns.js';
import type { IdColumn } from '../intake/id-column.js';
import { RowIntake } from '../intake/row-intake.js';
import type { TableTarget } from '../intake/target.js';
import type { ByteSource, ReaderOptions } from '../options.js';
import { lineProblem, linesOf, lineText, showLine } from './lines.js';

type JsonRow = Record<string, unknown>;

/** Adds the rows of JSON lines to a target, which may already hold rows of other tables. */
export async function fillJsonLines(
  source: ByteSource,
  options: ReaderOptions,
  target: TableTarget,
): Promise<void> {
  const { name } = source;
  const collector = target.open(name);
  let intake: RowIntake | undefined;
  let keys: string[] = [];
  let row: JsonRow = {};
  let text = '';
  let line = 0;
  const cell = (column: number) => asText(ownValue(row, keys[column])) || undefined;

  const begin = () => {
    const isArray = Array.isArray(row);
    keys = isArray ? Object.keys(row) : keysOf(text);
    const names = isArray ? keys.map((_, at) => String(at + 1)) : keys;
    const columns = chooseColumns(`${name}, line ${line}`, names, !isArray, options);
    const { users, items } = columns;
    return new RowIntake(collector, columns, options, {
      user: () => encodeId(collector.users, ownValue(row, keys[users]), text),
      item: () => encodeId(collector.items, ownValue(row, keys[items]), text),
      text: cell,
      number: (column) => numberOf(cell(column)),
    });
  };
  const problemOf = (): string | undefined => {
    try {
      row = JSON.parse(text);
    } catch (cause) {
      // Some versions of Node limit their own recursion.
      if (cause instanceof RangeError) return 'not readable JSON: it is nested too deeply';
      return `not valid JSON (${(cause as Error).message})`;
    }
    if (typeof row !== 'object' || row === null) return 'not a JSON object or array';
    intake ??= begin();
    const twice = repeatedKey(text, keys, intake.columns);
    return twice === undefined ? intake.take() : `column ${clip(twice)} occurs twice in the line`;
  };
  for await (const lines of linesOf(source.chunks)) {
    throwIfAborted(options.signal);
    for (const bytes of lines) {
      line++;
      const decoded = lineText(bytes);
      if (decoded === undefined) {
        collector.reject(line, lineProblem(bytes), showLine(bytes));
        continue;
      }
      text = decoded;
      if (text.trim() === '') continue;
      const problem = problemOf();
      if (problem !== undefined) collector.reject(line, problem, text);
    }
    options.onProgress?.({ stage: 'reading', done: line, unit: 'rows' });
  }
  throwIfAborted(options.signal);
  if (intake) target.close(name, 'json lines', intake.columns);
  // Without a line there are no columns. If it is the only file, the collector says that it holds no row.
  else if (target.first === undefined) collector.finish();
}

/** The code of an id, or what is wrong with it. `text` is its line. */
function encodeId(column: IdColumn, value: unknown, text: string): number | string {
  if (value === undefined) return 'the line has no such field';
  if (typeof value === 'string') {
    return value.isWellFormed()
      ? column.encodeText(value)
      : 'the id holds half a surrogate pair (\\ud800 to \\udfff), which is no text';
  }
  if (typeof value === 'number') {
    const written = roundedNumber(value, text);
    if (written === undefined) return column.encodeText(String(value));
    return `the id ${written.slice(0, 60)} is not exact as a number; write it as a string`;
  }
  return `the id is ${asText(value) || 'null'}; an id is a text or a number`;
}

/**
 * The fields of a row as ids are written: texts and exact numbers, '' for anything else. The row is an object, an array or a single value.
 */
export function idTexts(row: unknown, names: readonly string[] | undefined, most: number): string[] {
  if (Array.isArray(row)) return row.slice(0, most).map(idText);
  if (typeof row !== 'object' || row === null) return row === undefined ? [] : [idText(row)];
  return names?.map((name) => idText(ownValue(row, name))) ?? [];
}

function idText(value: unknown): string {
  if (typeof value === 'string') return value.isWellFormed() ? value : '';
  return typeof value === 'number' && isExact(value) ? String(value) : '';
}

function isExact(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

const LONG_NUMBER = /\d[\d.]{15}/;
const NUMBER = /-?\d[\d.]*(?:e[+-]?\d+)?/iy;

/** How the line writes a number that JSON.parse has rounded to `value`; undefined if it did not round. */
function roundedNumber(value: number, line: string): string | undefined {
  if (isExact(value) && !LONG_NUMBER.test(line)) return undefined;
  for (let at = 0; at < line.length; ) {
    if (line[at] === '"') {
      at = endOfString(line, at);
      continue;
    }
    NUMBER.lastIndex = at;
    const written = NUMBER.exec(line)?.[0] ?? '';
    at += written.length || 1;
    if (written === '' || Number(written) !== value) continue;
    if (plainDigits(written) !== plainDigits(String(value))) return written;
  }
  return isExact(value) ? undefined : String(value);
}

/** The position after the string that begins at `start`. A regular expression would exhaust its stack on long ones. */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** A number as its digits and an exponent: the same for 10, 10.0 and 1e1. */
function plainDigits(written: string): string {
  const [, sign, whole, fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(written) ?? [];
  if (whole === undefined) return written;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  const plain = digits.slice(0, end);
  return `${sign}${plain}e${Number(exponent) - fraction.length + digits.length - plain.length}`;
}

/** The value of the row's own field, never of an inherited one. */
export function ownValue(row: object, key: string): unknown {
  return Object.hasOwn(row, key) ? (row as JsonRow)[key] : undefined;
}

/** The first used column whose key occurs twice in the object: JSON.parse silently takes the last one. */
function repeatedKey(text: string, keys: readonly string[], columns: TableColumns): string | undefined {
  for (const column of columns.used) {
    const written = JSON.stringify(keys[column]);
    const first = text.indexOf(written);
    // Parse the keys only if a repetition is possible: a key can also be written with escapes.
    if (!text.includes('\\') && (first < 0 || text.indexOf(written, first + 1) < 0)) continue;
    if (outerKeys(text).filter((found) => found === keys[column]).length > 1) return keys[column];
  }
  return undefined;
}

/** The keys of the object in a line, in the order of the text; JavaScript itself puts keys made of digits first. */
export function keysOf(text: string): string[] {
  return [...new Set(outerKeys(text))];
}

const COLON = /\s*:/y;

/** The keys of the outermost object of valid JSON, repeated ones too. */
function outerKeys(text: string): string[] {
  const keys: string[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    else if (character === '"') {
      const end = endOfString(text, at);
      if (depth === 1) {
        COLON.lastIndex = end;
        if (COLON.test(text)) keys.push(JSON.parse(text.slice(at, end)));
      }
      at = end - 1;
    }
  }
  return keys;
}

/** No valid id or count is nested. Beyond this depth, a runtime may exhaust its call stack. */
const MOST_DEPTH = 100;

/** A value as text. A damaged line can nest deeper than the call stack. */
function asText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value ?? '');
  return deeperThan(value, MOST_DEPTH) ? 'nested too deeply' : JSON.stringify(value).slice(0, 60);
}

function deeperThan(value: object, most: number): boolean {
  let layer: object[] = [value];
  for (let depth = 0; layer.length > 0; depth++) {
    if (depth === most) return true;
    layer = layer.flatMap((part) => Object.values(part).filter((v) => typeof v === 'object' && v !== null));
  }
  return false;
}
