// Recognises what the columns of a table about vertices hold: text, categories, numbers, or nothing that says what two
// vertices have in common (ids, addresses of pages).

import { InputError } from '../errors.js';
import { option, optionError } from '../options/error.js';
import { numberOf } from '../text/numbers.js';
import { shown } from '../text/untrusted.js';
import { COLUMN_KINDS, type ColumnKind } from './info.js';

/** Rows that are looked at to recognise a column. */
const LOOK = 5000;
/** The least part of the cells that must be numbers. */
const NUMERIC = 0.95;
/** Categories repeat: the least number of occurrences of a value, on average. */
const REPEATS = 1.5;
/** Texts have at least this many words on average. */
const TEXT_WORDS = 1.8;
/** The least part of the cells that must hold a separator of values. */
const SEPARATED = { '|': 0.02, ';': 0.05, ',': 0.02 } as const;
type ValueSeparator = keyof typeof SEPARATED;
/** Numbers are ids if the name of the column says so and more than this part of them differ: files round long ones. */
const DISTINCT_IDS = 0.9;
/** Values of a category are short. */
const LONGEST_VALUE = 60;

export interface RecognisedColumn {
  readonly place: number;
  readonly name: string;
  readonly kind: ColumnKind;
  /** Between the values of a category; undefined: a cell is one value. */
  readonly separator?: ValueSeparator | undefined;
}

/** A column that is left out, and why. */
export interface IgnoredColumn {
  readonly name: string;
  readonly because: 'empty' | 'addresses' | 'ids' | 'unwanted';
}

/** Recognises one column by its texts. */
export function recogniseColumn(
  name: string,
  place: number,
  texts: readonly string[],
): RecognisedColumn | IgnoredColumn {
  const cells: string[] = [];
  for (let r = 0; r < texts.length && cells.length < LOOK; r++) {
    const cell = texts[r].trim();
    if (cell) cells.push(cell);
  }
  if (cells.length === 0) return { name, because: 'empty' };
  const part = (is: (cell: string) => boolean) => cells.filter(is).length / cells.length;
  if (part((cell) => /^[a-z]+:\/\//i.test(cell)) > 0.5) return { name, because: 'addresses' };
  const distinct = new Set(cells).size;
  if (part((cell) => !Number.isNaN(numberOf(cell))) >= NUMERIC) {
    const isId =
      distinct > DISTINCT_IDS * cells.length && cells.length > 50 && /id$|isbn|key|code|sku/i.test(name);
    return isId ? { name, because: 'ids' } : { name, place, kind: 'number' };
  }
  const separator = separatorOf(cells, part);
  const values = separator ? cells.flatMap((cell) => valuesOf(cell, separator)) : cells;
  const lengths = values.reduce((sum, value) => sum + value.length, 0) / Math.max(1, values.length);
  if (values.length >= REPEATS * new Set(values).size && lengths <= LONGEST_VALUE) {
    return { name, place, kind: 'category', separator };
  }
  const words = cells.reduce((sum, cell) => sum + cell.split(/\s+/).length, 0) / cells.length;
  if (words >= TEXT_WORDS) return { name, place, kind: 'text' };
  // A small table cannot repeat much.
  return cells.length > 50
    ? { name, because: 'ids' }
    : { name, place, kind: 'category', separator: separatorOf(cells, part) };
}

function separatorOf(
  cells: readonly string[],
  part: (is: (cell: string) => boolean) => number,
): ValueSeparator | undefined {
  for (const separator of Object.keys(SEPARATED) as ValueSeparator[]) {
    if (part((cell) => cell.includes(separator)) < SEPARATED[separator]) continue;
    const values = cells.flatMap((cell) => valuesOf(cell, separator));
    // Commas inside texts separate nothing that repeats.
    if (values.length >= REPEATS * new Set(values).size) return separator;
  }
  return undefined;
}

/** The values of a cell of categories. */
export function valuesOf(cell: string, separator: string | undefined): string[] {
  const values: string[] = [];
  for (const part of separator === undefined ? [cell] : cell.split(separator)) {
    const value = part.trim();
    if (value !== '') values.push(value);
  }
  return values;
}

/** The columns that were named: `genre`, `year:number`, `notes:text`. Undefined: every column is recognised. */
export type AskedColumns = ReadonlyMap<string, ColumnKind | undefined>;

/** Reads the option `infoColumns`. */
export function askedColumns(texts: readonly string[] | undefined): AskedColumns | undefined {
  if (texts === undefined) return undefined;
  const asked = new Map<string, ColumnKind | undefined>();
  for (const text of texts) {
    const [, name, kind] = /^(.*?)(?::([a-z]+))?$/s.exec(text.trim())!;
    if (kind !== undefined && !(COLUMN_KINDS as readonly string[]).includes(kind)) {
      throw optionError`${option('infoColumns')} ${shown(text)}: ${shown(kind)} is not a kind of column; write ${COLUMN_KINDS.map((one) => `${name}:${one}`).join(', ')} or ${name} alone`;
    }
    asked.set(name, kind as ColumnKind | undefined);
  }
  return asked;
}

/** The columns that attributes come from, and those that are left out. */
export function chooseInfoColumns(
  source: string,
  names: readonly string[],
  columns: readonly (readonly string[])[],
  id: number,
  asked: AskedColumns | undefined,
): { readonly used: readonly RecognisedColumn[]; readonly ignored: readonly IgnoredColumn[] } {
  for (const name of asked?.keys() ?? []) {
    if (names.includes(name)) continue;
    throw optionError`${option('infoColumns')}: ${source} has no column ${shown(name)}; it has ${names.map((one) => shown(one)).join(', ')}`;
  }
  const used: RecognisedColumn[] = [];
  const ignored: IgnoredColumn[] = [];
  for (const [place, name] of names.entries()) {
    if (place === id) continue;
    if (asked && !asked.has(name)) {
      ignored.push({ name, because: 'unwanted' });
      continue;
    }
    const found = recogniseColumn(name, place, columns[place]);
    const kind = asked?.get(name);
    const separator = kind === 'category' && 'kind' in found ? found.separator : undefined;
    if (kind !== undefined) used.push({ name, place, kind, separator });
    else if ('kind' in found) used.push(found);
    else ignored.push(found);
  }
  if (used.length === 0 && asked) {
    throw new InputError(`${source}: the named columns hold nothing to compare; name others`);
  }
  return { used, ignored };
}
