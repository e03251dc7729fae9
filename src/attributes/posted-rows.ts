// The table about the items with the rows of posted items, for a refit. A posted row replaces the row of the same id, and its
// values and columns become part of the table, even if no row had them before.

import type { VertexIds } from '../graph/ids.js';
import { plainWords } from '../ingest/recipes/words.js';
import { MOST_COLUMNS } from '../ingest/side-table.js';
import { normalId } from '../ingest/title-table.js';
import { numberOf } from '../text/numbers.js';
import { type Cell, type ColumnValues, columnValues, numberValues } from './attribute-values.js';
import { type RecognisedColumn, recogniseColumn, valuesOf } from './columns.js';
import type { InfoColumn, SideInfo } from './info.js';
import { joinedIds, type NewItem, rowOf, separatedValues, textsOf, valueAt } from './new-rows.js';
import { joinedColumns } from './side-info.js';

/** A text that a posted item has in a column. */
interface PostedText {
  readonly row: number;
  readonly text: string;
}

/** The table with the posted rows; the same table if there are none. `ids`: of the data. */
export function withPostedRows(info: SideInfo, ids: VertexIds, items: readonly NewItem[]): SideInfo {
  const { posted, fresh } = rowsOfItems(info, ids, items);
  if (posted.size === 0) return info;
  const total = info.rows.offsets.length - 1 + fresh.length;
  const names = new Set(info.columns.map(({ name }) => name));
  for (const { attributes } of posted.values()) for (const name of Object.keys(attributes)) names.add(name);
  const values: ColumnValues[] = [];
  const numbers: { column: string; values: Float64Array }[] = [];
  for (const name of [...names].slice(0, MOST_COLUMNS)) {
    const texts = [...posted].flatMap(([row, one]) =>
      textsOf(valueAt(one, { name })).map((text): PostedText => ({ row, text: text.trim() })),
    );
    const column = info.columns.find((one) => one.name === name);
    const carried = column && hasCarried(info, column, posted) ? column : undefined;
    // A column that only posted items have is recognised again: the first of them say little about it.
    const found = carried ?? recognised(name, texts);
    if (!found) continue;
    if (found.kind === 'number') {
      const own = numbersOf(info, name, posted, texts, total);
      numbers.push({ column: name, values: own });
      values.push(numberValues(name, own));
    } else {
      const known = new Set(
        carried ? info.names.slice(carried.first, carried.first + carried.count) : undefined,
      );
      const encode = found.kind === 'text' ? wordsIn(texts, known, total) : categoriesIn(found, known);
      // Words are split already.
      const joined = columnValues(name, 'category', cellsOf(info, carried, posted, texts, encode), total);
      values.push({ ...joined, kind: found.kind });
    }
  }
  const { columns, names: attributes, rows } = joinedColumns(values, total);
  return Object.freeze({
    added: joinedIds(info.added, fresh),
    titles: titlesOf(info, posted, total),
    columns,
    names: attributes,
    rows,
    numbers,
  });
}

/** The posted items by their row, and the ids of those that have no row yet. An item without a title keeps the one it had. */
function rowsOfItems(info: SideInfo, ids: VertexIds, items: readonly NewItem[]) {
  const posted = new Map<number, NewItem>();
  const fresh = new Map<string, number>();
  const before = info.rows.offsets.length - 1;
  for (const one of items) {
    const id = normalId(one.item, ids);
    if (id === '') continue;
    let row = rowOf(info, ids, id);
    if (row < 0) {
      row = fresh.get(id) ?? before + fresh.size;
      fresh.set(id, row);
    }
    posted.set(row, { ...one, title: one.title ?? (info.titles[row] || undefined) });
  }
  return { posted, fresh: [...fresh.keys()] };
}

type Posted = ReadonlyMap<number, NewItem>;

/** The attributes of a column in the rows of items that were not posted. */
function* carriedEntries({ rows }: SideInfo, { first, count }: InfoColumn, posted: Posted) {
  const { offsets, targets, weights } = rows;
  for (let row = 0; row < offsets.length - 1; row++) {
    if (posted.has(row)) continue;
    for (let e = offsets[row]; e < offsets[row + 1]; e++) {
      if (targets[e] >= first && targets[e] < first + count)
        yield { row, attribute: targets[e], count: weights[e] };
    }
  }
}

function hasCarried(info: SideInfo, column: InfoColumn, posted: Posted): boolean {
  return !carriedEntries(info, column, posted).next().done;
}

function recognised(name: string, texts: readonly PostedText[]): RecognisedColumn | undefined {
  const found = recogniseColumn(
    name,
    0,
    texts.map(({ text }) => text),
  );
  return 'kind' in found ? found : undefined;
}

function* cellsOf(
  info: SideInfo,
  carried: InfoColumn | undefined,
  posted: Posted,
  texts: readonly PostedText[],
  encode: (text: string) => readonly string[],
): Generator<Cell> {
  if (carried) {
    for (const { row, attribute, count } of carriedEntries(info, carried, posted))
      yield { row, text: info.names[attribute], count, separator: undefined };
  }
  for (const { row, text } of texts)
    for (const value of encode(text)) yield { row, text: value, count: 1, separator: undefined };
}

/** Words that the column has, or that are neither rare nor common among the posted items. */
function wordsIn(texts: readonly PostedText[], known: ReadonlySet<string>, total: number) {
  const cells = texts.map((one) => ({ ...one, count: 1, separator: undefined }));
  const further = new Set(columnValues('', 'text', cells, total).names);
  return (text: string) => plainWords(text).filter((word) => known.has(word) || further.has(word));
}

function categoriesIn({ separator }: Partial<RecognisedColumn>, known: ReadonlySet<string>) {
  return (text: string) =>
    separatedValues(text, (value) => known.has(value)) ??
    valuesOf(text, separator ?? (known.size > 0 ? '|' : undefined));
}

function numbersOf(
  { numbers }: SideInfo,
  name: string,
  posted: Posted,
  texts: readonly PostedText[],
  total: number,
): Float64Array {
  const values = new Float64Array(total).fill(Number.NaN);
  values.set(numbers.find(({ column }) => column === name)?.values ?? []);
  for (const row of posted.keys()) values[row] = Number.NaN;
  for (const { row, text } of texts) {
    const value = numberOf(text);
    if (Number.isNaN(values[row]) && Number.isFinite(value)) values[row] = value;
  }
  return values;
}

function titlesOf({ titles }: SideInfo, posted: Posted, total: number): readonly string[] {
  if (titles.length === 0 && ![...posted.values()].some(({ title }) => title)) return titles;
  return Array.from({ length: total }, (_, row) => posted.get(row)?.title ?? titles[row] ?? '');
}
