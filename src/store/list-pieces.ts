// Lists of recommendations as the pieces of a file: a row for each item of a list, or a line of JSON for each user. Nothing
// here needs Node.

import { type OutputRows, parquetPieces, type WrittenIds } from '../parquet/write.js';
import { safeJson } from '../text/untrusted.js';
import { cell } from './edge-rows.js';

/** One user's list, best first. */
export interface UserList {
  readonly user: string;
  readonly items: readonly { readonly item: string; readonly score: number; readonly title?: string }[];
  /** What the list is based on. */
  readonly basis: string;
}

export type ListsKind = 'csv' | 'tsv' | 'jsonl' | 'parquet';

export type Batches = AsyncIterable<readonly UserList[]>;

/** The pieces of a file of lists. `titled`: with a column of titles. */
export async function* listPieces(
  kind: ListsKind,
  batches: Batches,
  titled: boolean,
): AsyncGenerator<string | Uint8Array> {
  if (kind === 'parquet') yield* parquetPieces(tables(batches, titled));
  else if (kind === 'jsonl') {
    for await (const lists of batches) {
      yield lists.map((list) => `${safeJson(JSON.stringify(list))}\n`).join('');
    }
  } else {
    const separator = kind === 'csv' ? ',' : '\t';
    yield `${['user', 'item', 'rank', 'score', ...(titled ? ['title'] : [])].join(separator)}\n`;
    for await (const lists of batches) yield lists.map((list) => textRows(list, separator, titled)).join('');
  }
}

function textRows({ user, items }: UserList, separator: string, titled: boolean): string {
  const start = cell(user, separator) + separator;
  let text = '';
  for (const [at, { item, score, title }] of items.entries()) {
    text += `${start}${cell(item, separator)}${separator}${at + 1}${separator}${score}`;
    text += titled ? `${separator}${cell(title?.replaceAll(/[\r\n]+/g, ' ') ?? '', separator)}\n` : '\n';
  }
  return text;
}

/** Rows of a group of a Parquet file: small groups compress badly. */
const GROUP = 1 << 18;

async function* tables(batches: Batches, titled: boolean): AsyncGenerator<OutputRows> {
  let lists: UserList[] = [];
  let rows = 0;
  for await (const batch of batches) {
    for (const list of batch) {
      lists.push(list);
      rows += list.items.length;
    }
    if (rows < GROUP) continue;
    yield tableOf(lists, titled);
    lists = [];
    rows = 0;
  }
  yield tableOf(lists, titled);
}

function tableOf(lists: readonly UserList[], titled: boolean): OutputRows {
  const column = <T>(cellOf: (entry: UserList['items'][number], at: number, user: string) => T): T[] =>
    lists.flatMap(({ user, items }) => items.map((entry, at) => cellOf(entry, at, user)));
  const scores = column(({ score }) => score);
  return {
    rows: scores.length,
    columns: [
      { name: 'user', ...dictionary(column((_entry, _at, user) => user)) },
      { name: 'item', ...dictionary(column(({ item }) => item)) },
      { name: 'rank', numbers: column((_entry, at) => at + 1) },
      { name: 'score', decimals: scores },
      ...(titled ? [{ name: 'title', ...dictionary(column(({ title = '' }) => title)) }] : []),
    ],
  };
}

/** Texts by their number among the distinct ones. */
function dictionary(texts: readonly string[]): {
  readonly ids: WrittenIds;
  readonly vertices: readonly number[];
} {
  const places = new Map<string, number>();
  const vertices = texts.map((text) => {
    const place = places.get(text) ?? places.size;
    places.set(text, place);
    return place;
  });
  const values = [...places.keys()];
  return { ids: { kind: 'text', values, length: values.length }, vertices };
}
