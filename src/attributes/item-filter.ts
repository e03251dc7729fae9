// A condition on attributes, as in genre = 'Fantasy' and year >= 1990 → the items that it leaves out. It is compiled once for
// each distinct text, so that a request compares no attributes.

import { parseCondition } from '../ingest/where/parse.js';
import { writtenColumn, wrong } from '../ingest/where/tokens.js';
import { type Cells, TRUE } from '../ingest/where/truth.js';
import { emptyBits, hasBit, setBit } from '../math/bits.js';
import { numberOf } from '../text/numbers.js';
import { firstShown, shown } from '../text/untrusted.js';
import { catalogueOf, type InfoColumn, type ModelInfo, type SideInfo } from './info.js';

const OPTION = 'filter';
/** Filters of a model that are kept, and the bytes that they may take. */
const MOST_KEPT = 256;
const MOST_BYTES = 64 * 2 ** 20;
/** The longest condition. */
const LONGEST = 10_000;
const COLUMNS_SHOWN = 30;
/** A condition that takes longer is refused: it would hold up everybody who waits. The clock is read every `LOOK` items. */
const MOST_MS = 3000;
const LOOK = 256;

/** The fields of a model that filters read. */
export type ModelWithInfo = Parameters<typeof catalogueOf>[0] & { readonly info?: ModelInfo | undefined };

/** The items for which a condition on their attributes holds. */
export interface ItemFilter {
  /** How many items there are for which it holds. */
  readonly count: number;
  /** Whether it holds for an item, by id. It holds for no item that the model does not know. */
  has(id: string | number): boolean;
  /** Bits of the items that it leaves out, by number (math/bits.ts). */
  readonly without: Uint32Array;
}

/** A column that a condition can name. */
export interface FilterColumn {
  readonly name: string;
  /** `text`: an id or a title; `category`: one of the values, or several; `number`. */
  readonly kind: 'text' | 'category' | 'number';
  /** Of a category: the values, those of the most items first, at most 100. */
  readonly values?: readonly { readonly value: string; readonly items: number }[] | undefined;
  /** Of numbers: the smallest, the one in the middle, and the largest. */
  readonly range?: { readonly low: number; readonly median: number; readonly high: number } | undefined;
}

const KEPT = new WeakMap<object, Map<string, ItemFilter>>();

/**
 * The items of a model for which a condition on their attributes holds, as in `genre = 'Fantasy' and year >= 1990`. It
 * is compiled once for each distinct text. Throws an InputError if the text is not a condition on the attributes that
 * the model stores.
 * @example
 * import { fit, itemFilter, simulate } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * const { model } = await fit(graph, { features: 4, iterations: 20 });
 * try {
 *   console.log(itemFilter(model, "genre = 'Fantasy' and year >= 1990").count);
 * } catch (error) {
 *   console.log(error.message); // this model was fitted without a table about its items
 * }
 */
export function itemFilter(model: ModelWithInfo, condition: string): ItemFilter {
  const kept = KEPT.get(model) ?? new Map<string, ItemFilter>();
  KEPT.set(model, kept);
  const before = kept.get(condition);
  if (before) {
    // The filter that was used last is dropped last.
    kept.delete(condition);
    kept.set(condition, before);
    return before;
  }
  const made = compile(model, condition);
  kept.set(condition, made);
  const most = Math.max(1, Math.min(MOST_KEPT, Math.floor(MOST_BYTES / (made.without.byteLength + 1))));
  if (kept.size > most) kept.delete(kept.keys().next().value!);
  return made;
}

/** Values of a category that are described. */
const MOST_VALUES = 100;

/**
 * The columns that a condition on a model's items can name; none if the model stores no attributes.
 * @example
 * import { filterColumns, fit, simulate } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * const { model } = await fit(graph, { features: 4, iterations: 20 });
 * console.log(filterColumns(model)); // [], as this model was fitted without a table about its items
 */
export function filterColumns(model: ModelWithInfo): readonly FilterColumn[] {
  const about = model.info?.items;
  if (!about) return [];
  const { columns, numbers, rows, names } = about;
  const items = new Uint32Array(names.length);
  for (const attribute of rows.targets) items[attribute]++;
  return columnNames(about).map((name): FilterColumn => {
    const ofNumbers = numbers.find(({ column }) => column === name);
    if (ofNumbers) {
      const known = Float64Array.from(ofNumbers.values.filter((value) => !Number.isNaN(value))).sort();
      const [low, median, high] = [known[0], known[known.length >> 1], known[known.length - 1]];
      return { name, kind: 'number', ...(known.length > 0 && { range: { low, median, high } }) };
    }
    const column = columns.find((one) => one.kind === 'category' && one.name === name);
    if (!column) return { name, kind: 'text' };
    const values = Array.from({ length: column.count }, (_, i) => column.first + i)
      .sort((a, b) => items[b] - items[a] || a - b)
      .slice(0, MOST_VALUES)
      .map((attribute) => ({ value: names[attribute], items: items[attribute] }));
    return { name, kind: 'category', values };
  });
}

/** Reads the values of one column, item by item. */
interface ColumnReader {
  /** Turns to an item; returns the number of values that it has. */
  move(item: number): number;
  /** The value at a place among them; '' or NaN if there is none. */
  text(at: number): string;
  number(at: number): number;
}

function compile(model: ModelWithInfo, condition: string): ItemFilter {
  const about = model.info?.items;
  if (!about) {
    throw wrong(
      '',
      0,
      'the model stores no attributes of its items; fit it with a table about the items',
      OPTION,
    );
  }
  if (condition.length > LONGEST) {
    throw wrong('', 0, `the condition has more than ${LONGEST} characters; write a shorter one`, OPTION);
  }
  const { ids, count } = catalogueOf(model);
  const { columns, test, equals } = parseCondition(condition, OPTION);
  const readers = columns.map(({ name, at }) => {
    const found = readerOf(about, String(name), (item) => ids.at(item));
    if (found) return found;
    const known = firstShown(columnNames(about).map(writtenColumn), COLUMNS_SHOWN);
    throw wrong(condition, at, `the model has no attribute ${shown(String(name))}; it has ${known}`, OPTION);
  });
  const otherCase = caseFinder(about);
  for (const { slot, value, at } of equals) {
    const meant = otherCase(String(columns[slot].name), value);
    if (meant === undefined) continue;
    const problem = `no item has ${shown(value)}; did you mean ${shown(meant)}?`;
    throw wrong(condition, at, problem, OPTION);
  }
  const counts = readers.map(() => 0);
  const chosen = readers.map(() => 0);
  const cells: Cells = {
    text: (slot) => readers[slot].text(chosen[slot]) || undefined,
    number: (slot) => readers[slot].number(chosen[slot]),
    several: (slot) => counts[slot],
    choose: (slot, at) => {
      chosen[slot] = at;
    },
  };
  const without = emptyBits(count);
  let left = 0;
  const began = performance.now();
  for (let item = 0; item < count; item++) {
    if (item % LOOK === 0 && performance.now() - began > MOST_MS) {
      throw wrong(
        condition,
        0,
        `the condition takes more than ${MOST_MS / 1000} s on ${count} items; write a simpler one`,
        OPTION,
      );
    }
    for (let slot = 0; slot < readers.length; slot++) {
      counts[slot] = readers[slot].move(item);
      chosen[slot] = 0;
    }
    if (test(cells) === TRUE) left++;
    else setBit(without, item);
  }
  const has = (id: string | number) => {
    const item = ids.find(id);
    return item >= 0 && !hasBit(without, item);
  };
  return Object.freeze({ count: left, has, without });
}

/** Columns that a condition can name. Texts are stored as words, so only the titles can be compared whole. */
function columnNames({ columns, numbers, titles }: SideInfo): string[] {
  const all = columns.filter(({ kind }) => kind === 'category').map(({ name }) => name);
  return ['id', ...(titles.length > 0 ? ['title'] : []), ...all, ...numbers.map(({ column }) => column)];
}

/**
 * Finds the value of a category that differs from a text only in its case, if no item has the text itself. A column is read
 * once, however often and in whatever case a condition names it.
 */
function caseFinder({ columns, names }: SideInfo): (name: string, text: string) => string | undefined {
  const read = new Map<
    InfoColumn,
    { values: ReadonlySet<string>; byLowerCase: ReadonlyMap<string, string> }
  >();
  return (name, text) => {
    const column = categoryNamed(columns, name);
    if (!column) return undefined;
    let found = read.get(column);
    if (!found) {
      const values = new Set(names.slice(column.first, column.first + column.count));
      found = { values, byLowerCase: new Map(Array.from(values, (value) => [value.toLowerCase(), value])) };
      read.set(column, found);
    }
    return found.values.has(text) ? undefined : found.byLowerCase.get(text.toLowerCase());
  };
}

const isNamed = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

function categoryNamed(columns: readonly InfoColumn[], name: string): InfoColumn | undefined {
  return columns.find((one) => one.kind === 'category' && isNamed(one.name, name));
}

function readerOf(
  { columns, numbers, titles, rows, names }: SideInfo,
  name: string,
  idOf: (item: number) => string,
): ColumnReader | undefined {
  const ofNumbers = numbers.find(({ column }) => isNamed(column, name));
  if (ofNumbers) return numberReader(ofNumbers.values);
  const column = categoryNamed(columns, name);
  if (column) return categoryReader(column, rows, names);
  if (isNamed('title', name) && titles.length > 0) return textReader((item) => titles[item]);
  return isNamed('id', name) ? textReader(idOf) : undefined;
}

function numberReader(values: Float64Array): ColumnReader {
  let value = Number.NaN;
  return {
    move(item) {
      value = values[item];
      return Number.isNaN(value) ? 0 : 1;
    },
    text: () => (Number.isNaN(value) ? '' : String(value)),
    number: () => value,
  };
}

function categoryReader(
  { first, count }: InfoColumn,
  { offsets, targets }: SideInfo['rows'],
  names: readonly string[],
): ColumnReader {
  let start = 0;
  let last = 0;
  const text = (at: number) => (start + at < last ? names[targets[start + at]] : '');
  return {
    move(item) {
      start = offsets[item];
      const end = offsets[item + 1];
      while (start < end && targets[start] < first) start++;
      last = start;
      while (last < end && targets[last] < first + count) last++;
      return last - start;
    },
    text,
    number: (at) => numberOf(text(at)),
  };
}

function textReader(textOf: (item: number) => string): ColumnReader {
  let text = '';
  return {
    move(item) {
      text = textOf(item);
      return text ? 1 : 0;
    },
    text: () => text,
    number: () => numberOf(text),
  };
}
