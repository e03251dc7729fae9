// --titles: a table of ids and titles, for commands that show or take items.

import { catalogueOf, storedTitles } from '../attributes/info.js';
import { InputError } from '../errors.js';
import type { Model } from '../fit/model.js';
import { readSideTable } from '../ingest/side-file.js';
import { severalTitlesWords, titleList, titlesOf } from '../ingest/title-table.js';
import { type TitleBook, titleBook } from '../predict/titles.js';
import { USERS_AND_ITEMS } from '../text/sides.js';
import { shown } from '../text/untrusted.js';
import type { CommandContext } from './command.js';

/** The titles of a model's items: those of the file, else those that the model stores. Warns of a table that looks wrong. */
export async function readTitles(
  path: string | undefined,
  model: Model,
  { signal, warn }: Pick<CommandContext, 'signal' | 'warn'>,
): Promise<TitleBook> {
  const { ids, degree } = catalogueOf(model);
  if (path === undefined) return titleBook(ids, storedTitles(model), degree);
  const found = titlesOf(await readSideTable(path, { signal }), ids, path);
  const caution = severalTitlesWords(found, path, (model.names ?? USERS_AND_ITEMS).items);
  if (caution !== undefined) warn(caution);
  return titleBook(ids, titleList(found, ids), degree);
}

/**
 * The id of an item given by id or title, or by whole words that only one title contains. A text that fits several items, or none
 * but close spellings, is refused with the candidates; any other is returned unchanged.
 */
export function idByTitle(text: string, titles: TitleBook): string {
  const found = titles.meant(text);
  if (typeof found === 'object') return titles.id(found.item);
  if (found === 'ambiguous') {
    throw new InputError(
      `${shown(text)} fits several items: ${titles.candidateWords(text)}; give the id or the whole title of one of them`,
    );
  }
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
      (titles.search(value, 1, 'contained').length > 0 &&
        pieces.every((piece) => titles.find(piece) === 'unknown'));
    return isWhole ? [value] : pieces;
  });
}

/** As a field of a document; absent if there is no title. */
export function titled(title: string | undefined): { title?: string } {
  return title === undefined ? {} : { title };
}
