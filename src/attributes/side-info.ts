// The rows of a table about one side → titles, attributes and added vertices. The table has a row for each vertex, or a row for
// each vertex and attribute (long form), with or without counts.

import { InputError } from '../errors.js';
import { VertexIds } from '../graph/ids.js';
import type { TextRow } from '../ingest/formats/scan.js';
import { MOST_COLUMNS } from '../ingest/side-table.js';
import { type TextColumns, textColumns, WIDTH_ROWS } from '../ingest/text-columns.js';
import { decodeEntities, distinctHits, normalId, TITLE_NAMES } from '../ingest/title-table.js';
import { grouped, numberOf } from '../text/numbers.js';
import { many, type Noun } from '../text/phrases.js';
import { shown } from '../text/untrusted.js';
import { type ColumnValues, columnValues, type DroppedAttributes, numberValues } from './attribute-values.js';
import {
  type AskedColumns,
  chooseInfoColumns,
  type IgnoredColumn,
  type RecognisedColumn,
} from './columns.js';
import { type ColumnKind, type InfoColumn, type SideInfo, yearIn } from './info.js';

/** What was found in a table about one side. */
export interface InfoReport {
  readonly rows: number;
  /** Whether the table has as many columns as are read; further ones are left out. */
  readonly isWide: boolean;
  /** Vertices of the data that the table has. */
  readonly matched: number;
  /** Vertices of the data that it does not have, with examples. */
  readonly missing: { readonly count: number; readonly examples: readonly string[] };
  /** Vertices that only the table has, with examples. */
  readonly added: { readonly count: number; readonly examples: readonly string[] };
  readonly id: string;
  /** The column of titles; null if there is none. */
  readonly title: string | null;
  readonly columns: readonly {
    readonly name: string;
    readonly kind: ColumnKind;
    readonly attributes: number;
  }[];
  readonly ignored: readonly IgnoredColumn[];
  readonly kept: number;
  readonly dropped: DroppedAttributes;
}

/** A table about one side, with its name for messages. */
export interface SideInfoSource {
  /** What messages call the table. */
  readonly name: string;
  readonly rows: readonly TextRow[];
  /** Which columns are used; undefined: those that are recognised. */
  readonly columns?: AskedColumns | undefined;
}

const EXAMPLES = 3;
/** More added vertices than this are refused. */
const MOST_ADDED = 5_000_000;
/** A table of at most this many columns with repeated ids is in long form. */
const LONG_FORM = { columns: 3, repeats: 1.5 };
/** Rows by which a header is recognised. */
const LOOK = WIDTH_ROWS;
/** Rows by which the column of ids is found, if more than a part of them names vertices, and less than a part of these in another column. */
const ID_ROWS = 5000;
const CLEAR = 0.1;
/** The least part of the titles that must end in a year for it to be a column of its own. */
const DATED = 0.5;

interface Vertices {
  readonly count: number;
  readonly ids: VertexIds;
}

/** What was read from a table about one side. */
interface FoundInfo {
  readonly info: SideInfo;
  readonly report: InfoReport;
}

/** Reads the table about the vertices of one side. */
export function readSideInfo(side: Vertices, { rows, ...source }: SideInfoSource): FoundInfo {
  return readInfoColumns(side, { ...source, table: textColumns(rows) });
}

/** The same for a table that was read by columns, which takes less time and memory if it is long. */
export function readInfoColumns(
  { count, ids }: Vertices,
  { name: source, table, columns: asked }: Omit<SideInfoSource, 'rows'> & { readonly table: TextColumns },
): FoundInfo {
  const all = table.columns;
  const width = all.length;
  if (width === 0) {
    throw new InputError(`${source}: no row has an id and something about it; give a table with columns`);
  }
  const id = idColumn(source, all, ids);
  const named = table.named || isHeader(table, id, ids);
  const names = all.map((texts, c) => (named && texts[0].trim()) || String(c + 1));
  const body = named ? all.map((texts) => texts.slice(1)) : all;
  const { length } = body[id];
  const keys = keysIn(body[id], ids);
  const { added, rowOf, matched } = vertexRows(source, keys, ids);
  const total = count + added.length;
  const isLong = width <= LONG_FORM.columns && length >= LONG_FORM.repeats * (matched + added.length);
  const long = isLong ? longForm(names, body, id) : undefined;
  const { used, ignored } = long
    ? { used: [], ignored: [] }
    : chooseInfoColumns(source, names, body, id, asked);
  const title = long ? undefined : titlePlace(names, body, id, used, ignored);
  const titles = title === undefined ? [] : titlesIn(body[title], rowOf, total);
  const values: ColumnValues[] = [];
  const numbers: { column: string; values: Float64Array }[] = [];
  const addNumbers = (column: string, found: Float64Array) => {
    numbers.push({ column, values: found });
    values.push(numberValues(column, found));
  };
  if (long) values.push(columnValues(long.name, 'category', cellsOf(body, rowOf, long), total));
  for (const column of used) {
    if (column.kind === 'number') addNumbers(column.name, numbersIn(body[column.place], rowOf, total));
    else values.push(columnValues(column.name, column.kind, cellsOf(body, rowOf, column), total));
  }
  const years = yearsOf(titles);
  if (years && !asked && !names.some((one) => /year/i.test(one))) addNumbers('year', years);
  const { columns, rows, names: attributes, dropped } = joinedColumns(values, total);
  return {
    info: Object.freeze({ added, titles, columns, names: attributes, rows, numbers }),
    report: {
      rows: length,
      isWide: width >= MOST_COLUMNS,
      matched,
      missing: missingOf(ids, count, rowOf),
      added: { count: added.length, examples: examplesOf(added) },
      id: names[id],
      title: title === undefined ? null : names[title],
      columns: columns.map(({ name, kind, count: found }) => ({ name, kind, attributes: found })),
      ignored,
      kept: attributes.length,
      dropped,
    },
  };
}

/** The column that names the most vertices. */
function idColumn(source: string, columns: TextColumns['columns'], ids: VertexIds): number {
  const hitsIn = (some: typeof columns) => some.map((texts) => distinctHits(texts, ids));
  const step = Math.ceil(columns[0].length / ID_ROWS);
  const some = columns.map((texts) => texts.filter((_, r) => r % step === 0));
  const [first, second = 0] = hitsIn(some).sort((a, b) => b - a);
  // A column of few values, such as years, has its values in few rows too.
  const isClear = first > CLEAR * some[0].length && second < CLEAR * first;
  const hits = hitsIn(isClear ? some : columns);
  const best = hits.indexOf(Math.max(...hits));
  if (hits[best] > 0) return best;
  const seen = namesOf(columns[0].slice(0, EXAMPLES));
  throw new InputError(
    `${source}: none of its ${columns.length} columns holds ids of the data: the data have ids such as ${namesOf(examplesOf(ids))}, ` +
      `and its first column holds ${seen}; check that the table belongs to these data`,
  );
}

/** The id of each row as the graph writes it. In long form a vertex's rows follow one another. */
function keysIn(texts: readonly string[], ids: VertexIds): string[] {
  let [text, key] = ['', ''];
  return texts.map((own) => {
    if (own !== text) [text, key] = [own, normalId(own, ids)];
    return key;
  });
}

/** Whether the first row names the columns: its id is unknown, and it does not look like the others. */
function isHeader({ first, columns }: TextColumns, id: number, ids: VertexIds): boolean {
  const key = normalId(first[id] ?? '', ids);
  if (ids.find(key) >= 0) return false;
  if (ids.kind === 'integer') return Number.isNaN(numberOf(key));
  return first.every((cell, column) => {
    if (cell.trim() === '' || !Number.isNaN(numberOf(cell))) return false;
    const below = columns[column].slice(1, LOOK);
    const numeric = below.filter((text) => !Number.isNaN(numberOf(text))).length;
    return numeric > below.length / 2 || !below.includes(cell);
  });
}

/** The row of each key among the vertices and the added ones, which are sorted by id. */
function vertexRows(source: string, keys: readonly string[], ids: VertexIds) {
  const strange = new Set<string>();
  const known = new Set<number>();
  const rowOf = new Int32Array(keys.length);
  for (let k = 0; k < keys.length; k++) {
    const key = keys[k];
    // In long form a vertex's rows follow one another.
    if (k > 0 && key === keys[k - 1]) {
      rowOf[k] = rowOf[k - 1];
      continue;
    }
    const vertex = ids.find(key);
    rowOf[k] = vertex;
    if (vertex >= 0) known.add(vertex);
    else if (key !== '') strange.add(key);
    if (strange.size > MOST_ADDED) {
      throw new InputError(
        `${source}: more than ${MOST_ADDED} of its ids are not in the data; check that it belongs to these data`,
      );
    }
  }
  const texts = [...strange];
  const whole = ids.kind === 'integer' && texts.every((key) => Number.isSafeInteger(Number(key)));
  const added = whole
    ? VertexIds.integers(Float64Array.from(texts, Number).sort())
    : VertexIds.texts(texts.sort());
  const first = ids.length;
  for (let k = 0; k < keys.length; k++) {
    if (rowOf[k] >= 0 || keys[k] === '') continue;
    rowOf[k] = k > 0 && keys[k] === keys[k - 1] ? rowOf[k - 1] : first + added.find(keys[k]);
  }
  return { added, rowOf, matched: known.size };
}

function missingOf(ids: VertexIds, count: number, rowOf: Int32Array) {
  const has = new Uint8Array(count);
  for (const row of rowOf) if (row >= 0 && row < count) has[row] = 1;
  const missing: string[] = [];
  let total = 0;
  for (let v = 0; v < count; v++) {
    if (has[v]) continue;
    total++;
    if (missing.length < EXAMPLES) missing.push(ids.at(v));
  }
  return { count: total, examples: missing };
}

function namesOf(ids: readonly string[]): string {
  return ids.map((id) => shown(id)).join(', ');
}

function examplesOf(ids: VertexIds): string[] {
  return Array.from({ length: Math.min(EXAMPLES, ids.length) }, (_, v) => ids.at(v));
}

interface LongColumn {
  readonly name: string;
  readonly place: number;
  readonly separator?: undefined;
  readonly count?: number | undefined;
}

/** The attribute and the count of a table in long form; undefined if the table is not in long form. */
function longForm(
  names: readonly string[],
  columns: TextColumns['columns'],
  id: number,
): LongColumn | undefined {
  const others = [...names.keys()].filter((place) => place !== id);
  const numeric = (place: number) => {
    const sample = columns[place].slice(0, LOOK);
    return sample.filter((text) => !Number.isNaN(numberOf(text))).length > 0.95 * sample.length;
  };
  const [place, ...rest] = [...others.filter((p) => !numeric(p)), ...others.filter(numeric)];
  if (place === undefined || (rest.length === 1 && !numeric(rest[0]))) return undefined;
  return { name: names[place], place, count: rest[0] };
}

/** A cell with its row, and how often it counts. */
function* cellsOf(
  columns: TextColumns['columns'],
  rowOf: Int32Array,
  {
    place,
    count: counted,
    separator,
  }: Pick<LongColumn | RecognisedColumn, 'place' | 'separator'> & {
    readonly count?: number | undefined;
  },
) {
  const texts = columns[place];
  const counts = counted === undefined ? undefined : columns[counted];
  for (let r = 0; r < texts.length; r++) {
    const text = texts[r].trim();
    if (text === '' || rowOf[r] < 0) continue;
    const count = counts ? numberOf(counts[r]) : 1;
    if (count > 0 && count < Number.POSITIVE_INFINITY) {
      yield { row: rowOf[r], text, count, separator };
    }
  }
}

function numbersIn(texts: readonly string[], rowOf: Int32Array, total: number): Float64Array {
  const values = new Float64Array(total).fill(Number.NaN);
  for (const [r, text] of texts.entries()) {
    const value = numberOf(text);
    if (rowOf[r] >= 0 && Number.isFinite(value)) values[rowOf[r]] = value;
  }
  return values;
}

/**
 * The column that is named so, else the first one in which nearly every row has a value of its own: a text column, or one of short names
 * with letters.
 */
function titlePlace(
  names: readonly string[],
  columns: TextColumns['columns'],
  id: number,
  used: readonly RecognisedColumn[],
  ignored: readonly IgnoredColumn[],
): number | undefined {
  const lower = names.map((name) => name.toLowerCase());
  for (const wanted of TITLE_NAMES) {
    const place = lower.indexOf(wanted);
    if (place >= 0 && place !== id) return place;
  }
  const isOwn = (place: number) => {
    const sample = columns[place].slice(0, LOOK);
    const least = OWN_VALUES * sample.length;
    return new Set(sample).size > least && sample.filter((text) => /\p{L}/u.test(text)).length > least;
  };
  const texts = used.filter(({ kind }) => kind === 'text').map(({ place }) => place);
  const short = ignored.filter(({ because }) => because === 'ids').map(({ name }) => names.indexOf(name));
  return [...texts, ...short].find(isOwn);
}

/** The least part of the rows that have a title of their own. */
const OWN_VALUES = 0.7;
const LONGEST_TITLE = 1000;

function titlesIn(texts: readonly string[], rowOf: Int32Array, total: number): string[] {
  const titles = new Array<string>(total).fill('');
  for (const [r, text] of texts.entries()) {
    const at = rowOf[r];
    if (at >= 0 && titles[at] === '') {
      titles[at] = decodeEntities(text.trim()).slice(0, LONGEST_TITLE);
    }
  }
  return titles;
}

/** The years at the end of the titles, if most titles end in one. */
function yearsOf(titles: readonly string[]): Float64Array | undefined {
  const years = Float64Array.from(titles, (title) => Number(yearIn(title) ?? Number.NaN));
  const titled = titles.reduce((sum, title) => (title === '' ? sum : sum + 1), 0);
  const dated = years.reduce((sum, year) => (Number.isNaN(year) ? sum : sum + 1), 0);
  return titled > 0 && dated >= DATED * titled ? years : undefined;
}

export function joinedColumns(values: readonly ColumnValues[], total: number) {
  const columns: InfoColumn[] = [];
  const names: string[] = [];
  const dropped = { rare: 0, common: 0, beyond: 0 };
  const offsets = new Uint32Array(total + 1);
  for (const { name, kind, names: own, rows, dropped: lost } of values) {
    columns.push({ name, kind, first: names.length, count: own.length });
    for (const one of own) names.push(one);
    for (let r = 0; r < total; r++) offsets[r + 1] += rows.offsets[r + 1] - rows.offsets[r];
    for (const why of ['rare', 'common', 'beyond'] as const) dropped[why] += lost[why];
  }
  for (let r = 0; r < total; r++) offsets[r + 1] += offsets[r];
  const targets = new Uint32Array(offsets[total]);
  const weights = new Float32Array(offsets[total]);
  const next = offsets.slice();
  for (const [c, { rows }] of values.entries()) {
    const { first } = columns[c];
    for (let r = 0; r < total; r++) {
      for (let e = rows.offsets[r]; e < rows.offsets[r + 1]; e++) {
        targets[next[r]] = first + rows.targets[e];
        weights[next[r]++] = rows.weights[e];
      }
    }
  }
  return { columns, names, rows: { offsets, targets, weights }, dropped };
}

/** What to say about a table whose ids match only in part; undefined if all vertices have a row. */
export function unmatchedWords(
  source: string,
  { matched, missing }: InfoReport,
  names: Noun,
): string | undefined {
  if (missing.count === 0) return undefined;
  return `${source} has ${many(matched, names)} of the data and lacks ${grouped(missing.count)}, for instance ${namesOf(missing.examples)}`;
}
