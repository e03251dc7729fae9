// Further rows of a table about one side, from values by the names of its columns: for items that are described after
// the table was read. Values that the table does not have are left out.

import type { SideName } from '../graph/graph.js';
import { VertexIds } from '../graph/ids.js';
import { plainWords } from '../ingest/recipes/words.js';
import { normalId, TITLE_NAMES } from '../ingest/title-table.js';
import { lowerBound } from '../math/csr.js';
import { concat } from '../math/memory.js';
import { numberOf } from '../text/numbers.js';
import type { SparseWeights } from '../topn/query.js';
import { valuesOf } from './columns.js';
import { type InfoColumn, type ModelInfo, type SideInfo, yearIn } from './info.js';

export interface NewItem {
  readonly item: string;
  readonly title?: string | undefined;
  /** Values by the names of columns: texts, numbers, truth values, or lists of them. */
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** The table with a row for each of the items that neither the data nor the table have; the same table if there are none. */
export function withRows(info: SideInfo, ids: VertexIds, items: readonly NewItem[]): SideInfo {
  const fresh = new Map<string, NewItem>();
  for (const one of items) {
    const id = normalId(one.item, ids);
    if (id !== '' && rowOf(info, ids, id) < 0) fresh.set(id, one);
  }
  if (fresh.size === 0) return info;
  const total = info.rows.offsets.length - 1;
  const encode = rowEncoder(info);
  const values = [...fresh.values()];
  const rows = values.map(encode);
  const numberIn = (name: string, one: NewItem) => {
    const [text = ''] = textsOf(valueAt(one, { name }));
    const value = numberOf(text);
    return Number.isFinite(value) ? value : Number.NaN;
  };
  return Object.freeze({
    ...info,
    added: joinedIds(info.added, [...fresh.keys()]),
    titles:
      info.titles.length === 0
        ? info.titles
        : [...filled(info.titles, total), ...values.map(({ title = '' }) => title)],
    rows: appended(info.rows, rows),
    numbers: info.numbers.map(({ column, values: known }) => ({
      column,
      values: Float64Array.from([...known, ...values.map((one) => numberIn(column, one))]),
    })),
    content: undefined,
  });
}

/** The row of a vertex; −1 if neither the data nor the table have it. `ids`: of the data. */
export function rowOf({ added }: SideInfo, ids: VertexIds, id: string): number {
  const vertex = ids.find(id);
  if (vertex >= 0) return vertex;
  const at = added.find(id);
  return at < 0 ? -1 : ids.length + at;
}

/** A function that finds the attributes of one row, ascending, and how often it has each. */
function rowEncoder(
  info: SideInfo,
): (one: Pick<NewItem, 'title' | 'attributes'>) => [attribute: number, count: number][] {
  const encoders = info.columns.map((column) => encoderOf(info, column));
  return (one) => {
    const row = new Map<number, number>();
    for (const [c, column] of info.columns.entries()) {
      for (const text of textsOf(valueAt(one, column))) {
        for (const attribute of encoders[c](text)) row.set(attribute, (row.get(attribute) ?? 0) + 1);
      }
    }
    return [...row].sort(([a], [b]) => a - b);
  };
}

/**
 * The table about vertices of earlier data, for those of later data. Vertices that the later data lack become added ones, unless
 * `forget` says that they must not come back.
 */
export function carriedRows(
  info: SideInfo,
  earlier: VertexIds,
  later: VertexIds,
  { forget = false }: { readonly forget?: boolean } = {},
): SideInfo {
  const known = earlier.length;
  const order = Array.from({ length: later.length }, (_, item) => rowOf(info, earlier, later.at(item)));
  const taken = new Set(order);
  const fresh: string[] = [];
  for (let row = 0; row < info.rows.offsets.length - 1; row++) {
    if (taken.has(row) || (forget && row < known)) continue;
    order.push(row);
    fresh.push(row < known ? earlier.at(row) : info.added.at(row - known));
  }
  const { offsets, targets, weights } = info.rows;
  const empty = { offsets: new Uint32Array(1), targets: new Uint32Array(), weights: new Float32Array() };
  const entries = (row: number) =>
    row < 0
      ? []
      : Array.from(targets.subarray(offsets[row], offsets[row + 1]), (attribute, i): [number, number] => [
          attribute,
          weights[offsets[row] + i],
        ]);
  return Object.freeze({
    ...info,
    added: joinedIds(VertexIds.integers(new Float64Array()), fresh),
    titles: info.titles.length === 0 ? info.titles : order.map((row) => info.titles[row] ?? ''),
    rows: appended(empty, order.map(entries)),
    numbers: info.numbers.map(({ column, values }) => ({
      column,
      values: Float64Array.from(order, (row) => values[row] ?? Number.NaN),
    })),
    content: undefined,
    tastes: undefined,
  });
}

type Described = Readonly<Record<SideName, { readonly ids: VertexIds }>>;

/** What a model knows about one side, for a model of later data. Users who are gone may have been erased, so they are forgotten. */
export function carriedInfo(
  side: SideName,
  earlier: Described & { readonly info?: ModelInfo | undefined },
  later: Described,
): SideInfo | undefined {
  const known = earlier.info?.[side];
  return known && carriedRows(known, earlier[side].ids, later[side].ids, { forget: side === 'users' });
}

const filled = (titles: readonly string[], total: number) =>
  Array.from({ length: total }, (_, row) => titles[row] ?? '');

export function joinedIds(added: VertexIds, fresh: readonly string[]): VertexIds {
  const texts = [...Array.from({ length: added.length }, (_, v) => added.at(v)), ...fresh];
  // '007' stays a text.
  const isWhole = (id: string) => Number.isSafeInteger(Number(id)) && String(Number(id)) === id;
  const whole = added.kind === 'integer' && fresh.every(isWhole);
  return whole ? VertexIds.integers(Float64Array.from(texts, Number)) : VertexIds.texts(texts);
}

/**
 * The given value of a column. A column of titles gets the title, and a column of years gets the year at the end of the
 * title.
 */
export function valueAt(
  { title, attributes }: Pick<NewItem, 'title' | 'attributes'>,
  { name }: Pick<InfoColumn, 'name'>,
): unknown {
  if (Object.hasOwn(attributes, name)) return attributes[name];
  if (title === undefined) return undefined;
  if (TITLE_NAMES.includes(name.toLowerCase())) return title;
  return name === 'year' ? yearIn(title) : undefined;
}

export function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => (Array.isArray(one) ? [] : textsOf(one)));
  return ['string', 'number', 'boolean'].includes(typeof value) ? [String(value)] : [];
}

/** The attributes of a text in a column. */
function encoderOf(info: SideInfo, column: InfoColumn): (text: string) => number[] {
  const { first, count, kind } = column;
  if (kind === 'number') return numberEncoder(info, column);
  const places = new Map(
    Array.from({ length: count }, (_, i): [string, number] => [info.names[first + i], first + i]),
  );
  const known = (values: readonly string[]) =>
    values.flatMap((value) => {
      const place = places.get(value);
      return place === undefined ? [] : [place];
    });
  if (kind === 'text') return (text) => known(plainWords(text));
  return (text) => known(separatedValues(text, (value) => places.has(value)) ?? []);
}

/** The values of a text of categories, if one of them is known: the table does not say what separated its values. */
export function separatedValues(text: string, isKnown: (value: string) => boolean): string[] | undefined {
  for (const separator of [undefined, '|', ';', ',']) {
    const values = valuesOf(text, separator);
    if (values.some(isKnown)) return values;
  }
  return undefined;
}

/** The bin of the nearest number that the table has. */
function numberEncoder({ numbers, rows }: SideInfo, { name, first, count }: InfoColumn) {
  const values = numbers.find(({ column }) => column === name)?.values ?? new Float64Array();
  const order = [...values.keys()]
    .filter((row) => !Number.isNaN(values[row]))
    .sort((a, b) => values[a] - values[b]);
  const ascending = order.map((row) => values[row]);
  const binOf = (row: number) => {
    for (let e = rows.offsets[row]; e < rows.offsets[row + 1]; e++) {
      if (rows.targets[e] >= first && rows.targets[e] < first + count) return [rows.targets[e]];
    }
    return [];
  };
  return (text: string): number[] => {
    const value = numberOf(text);
    if (!Number.isFinite(value) || order.length === 0) return [];
    const above = Math.min(lowerBound(ascending, value), order.length - 1);
    const isBelow = above > 0 && value - ascending[above - 1] < Math.abs(ascending[above] - value);
    return binOf(order[isBelow ? above - 1 : above]);
  };
}

function appended(
  { offsets, targets, weights }: SparseWeights,
  rows: readonly (readonly (readonly [number, number])[])[],
): SparseWeights {
  const all = rows.flat();
  let end = targets.length;
  const ends = rows.map(({ length }) => (end += length));
  return {
    offsets: concat(Uint32Array, [offsets, ends]),
    targets: concat(Uint32Array, [targets, all.map(([attribute]) => attribute)]),
    weights: concat(Float32Array, [weights, all.map(([, count]) => count)]),
  };
}
