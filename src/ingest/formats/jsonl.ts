// JSON lines: an object or an array per line. Columns are keys, or positions in the first line.

import { InputError, throwIfAborted } from '../../errors.js';
import { option, optionError } from '../../options/error.js';
import { countParser } from '../intake/collect.js';
import { type IdColumn, idProblem } from '../intake/id-column.js';
import { type TableTarget, usedColumns } from '../intake/target.js';
import type { ByteSource, ReaderOptions } from '../options.js';
import { type Cells, numberOf } from '../where/filter.js';
import { clip, countedBy, findColumn } from './guess.js';
import { decodeLine, linesOf, MAX_LINE_BYTES, showLine } from './lines.js';

type Columns = {
  users: string;
  items: string;
  count: string | undefined;
  value: string | undefined;
  filter: string[];
  /** Of the first line. */
  names: string[];
  named: boolean;
};

/** The rows of JSON lines, into a target that may hold those of others. */
export async function fillJsonLines(
  source: ByteSource,
  options: ReaderOptions,
  target: TableTarget,
): Promise<void> {
  const { name } = source;
  const collector = target.open(name);
  const countOf = countParser(options);
  const { filter } = options;
  let current: Record<string, unknown> = {};
  const cells: Cells = {
    text: (slot) => plain(ownValue(current, columns!.filter[slot])) || undefined,
    number: (slot) => numberOf(plain(ownValue(current, columns!.filter[slot]))),
  };
  let columns: Columns | undefined;
  let line = 0;

  const take = (text: string): string | undefined => {
    let row: Record<string, unknown>;
    try {
      row = JSON.parse(text);
    } catch (cause) {
      // Some versions of Node end their own recursion.
      if (cause instanceof RangeError) return 'not readable JSON: it is nested too deeply';
      return `not valid JSON (${(cause as Error).message})`;
    }
    if (typeof row !== 'object' || row === null) return 'not a JSON object or array';
    columns ??= chooseColumns(name, row, options);
    const twice = repeatedKey(text, columns);
    if (twice !== undefined) return `field ${clip(twice)} stands there twice`;
    if (filter) {
      current = row;
      const keeps = filter.keeps(cells);
      if (typeof keeps === 'string') return keeps;
      if (!keeps) {
        collector.leaveOut();
        return undefined;
      }
    }
    const user = encodeId(collector.users, row, columns.users);
    if (typeof user === 'string') return user;
    const item = encodeId(collector.items, row, columns.items);
    if (typeof item === 'string') return item;
    const count = columns.count === undefined ? 1 : countOf(plain(ownValue(row, columns.count)));
    if (typeof count === 'string') return `field ${clip(columns.count!)}: ${count}`;
    const value = columns.value === undefined ? undefined : options.value!.parse(plain(row[columns.value]));
    if (typeof value === 'string') return `field ${clip(columns.value!)}: ${value}`;
    collector.push(user, item, count, value);
    return undefined;
  };
  for await (const lines of linesOf(source.chunks)) {
    throwIfAborted(options.signal);
    for (const bytes of lines) {
      line++;
      const text = bytes.length > MAX_LINE_BYTES ? undefined : decodeLine(bytes);
      if (text === undefined) {
        const reason =
          bytes.length > MAX_LINE_BYTES
            ? `the line is longer than ${MAX_LINE_BYTES} bytes`
            : 'the line is not UTF-8 text';
        collector.reject(line, reason, showLine(bytes));
        continue;
      }
      if (text.trim() === '') continue;
      const problem = take(text);
      if (problem !== undefined) collector.reject(line, problem, text);
    }
    options.onProgress?.({ stage: 'reading', done: line, unit: 'rows' });
  }
  throwIfAborted(options.signal);
  if (!columns) {
    // Nothing to know the columns by: where it is the only file, the collector says that it holds no row.
    if (target.first === undefined) collector.finish();
    return;
  }
  const { names, named } = columns;
  target.close(
    { kind: 'table', format: 'json lines', columns: usedColumns(options, columns) },
    { name, names: named ? names : undefined, width: names.length },
  );
}

function chooseColumns(name: string, first: Record<string, unknown>, options: ReaderOptions): Columns {
  const keys = Object.keys(first);
  if (keys.length < 2) {
    throw new InputError(`${name}, line 1: it has ${keys.length} fields; a row needs a user and an item`);
  }
  const isArray = Array.isArray(first);
  const counted = countedBy(options);
  const find = (column: string | number, role: string) =>
    keys[findColumn(name, column, role, keys, !isArray)];
  const columns = {
    users: find(options.users ?? 1, 'users'),
    items: find(options.items ?? 2, 'items'),
    count: counted && find(counted.column, counted.role),
    value: options.value?.column === undefined ? undefined : find(options.value.column, options.value.role),
    filter: (options.filter?.find(name, keys, !isArray) ?? []).map((at) => keys[at]),
    names: keys,
    named: !isArray,
  };
  if (columns.users === columns.items) {
    throw optionError`${name}: users and items are both field ${columns.users}; name two different ones with ${option('users')} and ${option('items')}`;
  }
  return columns;
}

/** The code of an id, or what is wrong with it. */
function encodeId(column: IdColumn, row: Record<string, unknown>, key: string): number | string {
  const value = ownValue(row, key);
  if (value === undefined) return `no field ${clip(key)}`;
  if (typeof value === 'string') {
    if (!value.isWellFormed()) {
      return `field ${clip(key)}: the id holds half a surrogate pair (\\ud800 to \\udfff), which is no text`;
    }
    const code = column.encodeText(value);
    return code < 0 ? `field ${clip(key)}: ${idProblem(code)}` : code;
  }
  if (typeof value === 'number') {
    if (!isExact(value)) {
      return `field ${clip(key)}: the id ${value} is too large to be exact as a number; write it as text`;
    }
    return column.encodeText(String(value));
  }
  return `field ${clip(key)}: the id is ${plain(value) || 'null'}; an id is a text or a number`;
}

/** The fields of a row that are texts or exact numbers, as ids are written, '' for others: an object's by name, an array's, or a value alone. */
export function idTexts(row: unknown, names: readonly string[] | undefined, most: number): string[] {
  if (Array.isArray(row)) return row.slice(0, most).map(idText);
  if (typeof row !== 'object' || row === null) return row === undefined ? [] : [idText(row)];
  return names?.map((name) => idText(ownValue(row as Record<string, unknown>, name))) ?? [];
}

function idText(value: unknown): string {
  if (typeof value === 'string') return value.isWellFormed() ? value : '';
  return isExact(value) ? String(value) : '';
}

/** Whether it is a number that is what was written. */
function isExact(value: unknown): value is number {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

/** The value of a field of the row itself, not of what every object has. */
function ownValue(row: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(row, key) ? row[key] : undefined;
}

/** The first column whose key stands twice in the object: JSON.parse would take the last and say nothing. */
function repeatedKey(text: string, { users, items, count, filter }: Columns): string | undefined {
  for (const key of [users, items, count, ...filter]) {
    if (key === undefined) continue;
    const written = JSON.stringify(key);
    const first = text.indexOf(written);
    // Looked at closely only where it may be: a key can also be written with escapes.
    if (!text.includes('\\') && (first < 0 || text.indexOf(written, first + 1) < 0)) continue;
    if (outerKeys(text).filter((found) => found === key).length > 1) return key;
  }
  return undefined;
}

/** The keys of the outermost object of valid JSON, repeated ones too. */
function outerKeys(text: string): string[] {
  const keys: string[] = [];
  let depth = 0;
  for (const [token, colon] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/gs)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (colon !== undefined && depth === 1) keys.push(JSON.parse(token.slice(0, -colon.length)));
  }
  return keys;
}

/** No sound id or count is nested at all; deeper than this, a runtime may run out of call stack over it. */
const MOST_DEPTH = 100;

/** A value as text. A damaged line can nest deeper than the call stack. */
function plain(value: unknown): string {
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
