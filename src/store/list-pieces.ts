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
  let rows = new Rows(titled);
  for await (const lists of batches) {
    for (const list of lists) rows.add(list);
    if (rows.length < GROUP) continue;
    yield rows.table();
    rows = new Rows(titled);
  }
  yield rows.table();
}

class Rows {
  readonly #users = new Words();
  readonly #items = new Words();
  readonly #titles = new Words();
  readonly #ranks: number[] = [];
  readonly #scores: number[] = [];

  constructor(readonly titled: boolean) {}

  get length(): number {
    return this.#ranks.length;
  }

  add({ user, items }: UserList): void {
    for (const [at, { item, score, title }] of items.entries()) {
      this.#users.add(user);
      this.#items.add(item);
      if (this.titled) this.#titles.add(title ?? '');
      this.#ranks.push(at + 1);
      this.#scores.push(score);
    }
  }

  table(): OutputRows {
    return {
      rows: this.length,
      columns: [
        { name: 'user', ...this.#users.column() },
        { name: 'item', ...this.#items.column() },
        { name: 'rank', numbers: this.#ranks },
        { name: 'score', decimals: this.#scores },
        ...(this.titled ? [{ name: 'title', ...this.#titles.column() }] : []),
      ],
    };
  }
}

/** Texts by their number among the distinct ones. */
class Words {
  readonly #places = new Map<string, number>();
  readonly #vertices: number[] = [];

  add(word: string): void {
    let place = this.#places.get(word);
    if (place === undefined) {
      place = this.#places.size;
      this.#places.set(word, place);
    }
    this.#vertices.push(place);
  }

  column(): { readonly ids: WrittenIds; readonly vertices: readonly number[] } {
    const values = [...this.#places.keys()];
    return { ids: { kind: 'text', values, length: values.length }, vertices: this.#vertices };
  }
}
