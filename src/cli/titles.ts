// --titles: a table of ids and titles, for commands that show or take items.

import { InputError } from '../errors.js';
import type { Model } from '../fit/model.js';
import { readSideTable } from '../ingest/side-table.js';
import { titleList, titlesOf } from '../ingest/title-table.js';
import { type TitleBook, titleBook } from '../predict/titles.js';
import { shown } from '../text/untrusted.js';

/** The titles of a model's items; without a file, only their ids. */
export async function readTitles(
  path: string | undefined,
  { items: { ids } }: Model,
  signal: AbortSignal,
): Promise<TitleBook> {
  if (path === undefined) return titleBook(ids, []);
  return titleBook(ids, titleList(titlesOf(await readSideTable(path, { signal }), ids, path), ids));
}

/** The id of an item given by id or title. A text that is neither is returned unchanged, or refused if a title is near. */
export function idByTitle(text: string, titles: TitleBook): string {
  const found = titles.find(text);
  if (found === 'ambiguous') {
    throw new InputError(`several items have the title ${shown(text)}; give the id of one of them`);
  }
  if (found !== 'unknown') return titles.id(found.item);
  const near = titles.near(text);
  if (near === undefined) return text;
  throw new InputError(`${shown(text)}: no item has this id or title; did you mean ${shown(near)}?`);
}

/** The items that --likes names: each value is an item, or several separated by commas. */
export function itemsIn(values: readonly string[], titles: TitleBook): string[] {
  return values.flatMap((value) => {
    const pieces = value.split(',').filter((piece) => piece !== '');
    const isWhole =
      titles.find(value) !== 'unknown' ||
      (titles.near(value) !== undefined && pieces.every((piece) => titles.find(piece) === 'unknown'));
    return isWhole ? [value] : pieces;
  });
}

/** As a field of a document; absent if there is no title. */
export function titled(title: string | undefined): { title?: string } {
  return title === undefined ? {} : { title };
}
