// Finds the title of each vertex in a table. It finds the columns itself: ids are in the column that names the most vertices of the graph;
// titles are in the column of that name, or the one that reads most like text.

import { InputError } from '../errors.js';
import type { VertexIds } from '../graph/ids.js';
import { grouped } from '../text/numbers.js';
import { many, type Noun } from '../text/phrases.js';
import { shown } from '../text/untrusted.js';

/** Titles by the id of an item. */
export interface Titles {
  /** The title of an id, or undefined. */
  find(id: string): string | undefined;
  /** Number of vertices of the graph that have a title. */
  readonly matched: number;
  /** Number of them with several different titles, of which the first is used. */
  readonly several: number;
  /** The columns that were used, by header name or 1-based number. */
  readonly columns: { readonly id: string; readonly title: string };
}

export const TITLE_NAMES = ['title', 'name', 'label', 'description', 'original_title'];
/** Number of rows by which columns are recognised. */
const LOOK = 2000;

/** Finds ids and titles in the rows of a table, for the vertices of one side. `source` names the table in messages. */
export function titlesOf(
  table: readonly { readonly fields: readonly string[] }[],
  ids: VertexIds,
  source: string,
): Titles {
  const rows = table.map(({ fields }) => fields).filter((row) => row.length > 1);
  if (rows.length === 0) {
    throw new InputError(
      `${source}: no row has an id and a title, separated by one of :: tab ; | or comma; give a table with both`,
    );
  }
  let columns = 0;
  for (const row of rows.slice(0, LOOK)) columns = Math.max(columns, row.length);
  const hits = Array.from({ length: columns }, (_, c) =>
    distinctHits(
      rows.map((row) => row[c] ?? ''),
      ids,
    ),
  );
  const id = hits.indexOf(Math.max(...hits));
  if (hits[id] === 0) {
    throw new InputError(
      `${source}: none of its ${columns} columns holds ids of the data (for instance ${shown(ids.at(0))}); ` +
        'check that the titles belong to the items',
    );
  }
  const header = isId(rows[0][id] ?? '', ids) ? undefined : rows[0];
  const body = header ? rows.slice(1) : rows;
  const title = titleColumn(header, body, id, columns);
  const found = new Map<string, string>();
  const several = new Set<string>();
  for (const row of body) {
    const key = normalId(row[id] ?? '', ids);
    const value = decodeEntities(row[title]?.trim() ?? '');
    if (!value || ids.find(key) < 0) continue;
    const before = found.get(key);
    if (before === undefined) found.set(key, value);
    else if (before !== value) several.add(key);
  }
  const name = (column: number) => header?.[column]?.trim() || String(column + 1);
  return Object.freeze({
    find: (key: string) => found.get(key),
    matched: found.size,
    several: several.size,
    columns: { id: name(id), title: name(title) },
  });
}

/** A warning if the column of the titles gives many vertices several of them, as a table of other things does. */
export function severalTitlesWords(
  { several, matched, columns }: Titles,
  source: string,
  items: Noun,
): string | undefined {
  if (several === 0) return undefined;
  return `${source}: ${grouped(several)} of ${many(matched, items)} ${several === 1 ? 'has' : 'have'} several different titles in column ${shown(columns.title)}, and the first is used; check that this is a table of titles, with the ids in column ${shown(columns.id)}`;
}

/** The title of each vertex, '' if it has none. */
export function titleList(titles: Titles, ids: VertexIds): string[] {
  return Array.from({ length: ids.length }, (_, item) => titles.find(ids.at(item)) ?? '');
}

/** Number of distinct vertices that the texts of a column name; repeated numbers such as years must not win over ids. */
export function distinctHits(texts: readonly string[], ids: VertexIds): number {
  const found = Array.from(new Set(texts), (text) => ids.find(normalId(text, ids)));
  return new Set(found.filter((vertex) => vertex >= 0)).size;
}

/** Whether a cell is an id of the graph, or of an item that the graph does not have: digits where ids are digits. */
function isId(text: string, ids: VertexIds): boolean {
  const id = normalId(text, ids);
  return ids.find(id) >= 0 || [id, ids.at(0)].every((one) => /^\d+$/.test(one));
}

/** An id as the graph writes it: 0000008 is 8 if ids are whole numbers. */
export function normalId(text: string, ids: VertexIds): string {
  const id = text.trim();
  if (ids.kind === 'text' || id === '') return id;
  const value = Number(id);
  return Number.isSafeInteger(value) ? String(value) : id;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Replaces escapes in titles scraped from pages: &amp;, &#39;, &#x27; and its misspelling &x27;. */
export function decodeEntities(text: string): string {
  return text.replace(
    /&(?:(amp|lt|gt|quot|apos)|#(\d{1,6})|#?x([0-9a-f]{1,5}));/gi,
    (_all, name, decimal, hex) =>
      name
        ? ENTITIES[name.toLowerCase()]
        : String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hex, 16)),
  );
}

function titleColumn(
  header: readonly string[] | undefined,
  body: readonly (readonly string[])[],
  id: number,
  columns: number,
): number {
  const names = header?.map((name) => name.trim().toLowerCase()) ?? [];
  for (const wanted of TITLE_NAMES) {
    const at = names.indexOf(wanted);
    if (at >= 0 && at !== id) return at;
  }
  // The column with the most distinct texts that contain a letter; ties go to the first.
  let best = -1;
  let most = -1;
  for (let c = 0; c < columns; c++) {
    if (c === id) continue;
    const texts = new Set<string>();
    for (const row of body.slice(0, LOOK)) {
      const value = row[c] ?? '';
      if (/\p{L}/u.test(value) && !/^https?:/.test(value)) texts.add(value);
    }
    if (texts.size > most) [best, most] = [c, texts.size];
  }
  return best;
}
