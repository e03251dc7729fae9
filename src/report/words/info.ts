// What was found in a table about users or items, in words.

import type { IgnoredColumn } from '../../attributes/columns.js';
import type { Tastes } from '../../attributes/info.js';
import type { InfoReport } from '../../attributes/side-info.js';
import { MOST_COLUMNS as COLUMNS_READ } from '../../ingest/side-table.js';
import { grouped } from '../../text/numbers.js';
import { list, many, type Noun, present } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import { shown } from '../../text/untrusted.js';

const BECAUSE: Readonly<Record<IgnoredColumn['because'], string>> = {
  empty: 'empty',
  addresses: 'addresses of pages',
  ids: 'nearly every value differs',
  unwanted: 'not asked for',
};
/** Columns that are named; the others are counted. */
const MOST_COLUMNS = 12;
/** Longer names lose their middle. */
const LONGEST_COLUMN = 40;

/** A column without a header is named by its number. */
export function columnName(name: string): string {
  return /^\d+$/.test(name) ? `column ${name}` : shown(name, LONGEST_COLUMN);
}

/** Said if a fit that starts from a model keeps what that model knows about a side. */
export const carriedWords = ({ many }: Noun) =>
  `The attributes of the ${many} are those of the previous model.`;

export function infoWords(report: InfoReport & { readonly source: string }, side: Noun): string {
  const { source, matched, missing, added, columns, ignored, kept, dropped, title } = report;
  const total = matched + missing.count;
  const part =
    missing.count === 0 ? `all ${many(total, side)}` : `${grouped(matched)} of ${many(total, side)}`;
  const found = `${shown(source)} describes ${part} of the data`;
  const more = added.count > 0 ? ` and ${many(added.count, side)} without edges` : '';
  const lost = present([
    dropped.rare > 0 && `${many(dropped.rare, 'word')} of a single row`,
    dropped.common > 0 && `${many(dropped.common, 'word')} of more than half of the rows`,
    dropped.beyond > 0 && `${many(dropped.beyond, 'value')} beyond the limit of a column`,
  ]);
  const unused = named(
    ignored.filter(({ because }) => because !== 'unwanted'),
    ({ name, because }) => `${columnName(name)} (${BECAUSE[because]})`,
  );
  return present([
    `${found}${more}.`,
    `${many(kept, 'attribute')} from ${list(
      named(columns, ({ name, kind, attributes }) => `${columnName(name)} (${kind}, ${grouped(attributes)})`),
    )}.`,
    title === null ? 'No column holds titles.' : `The titles are in ${columnName(title)}.`,
    report.isWide && `Only the first ${COLUMNS_READ} columns are read.`,
    lost.length > 0 && `Dropped: ${list(lost)}.`,
    unused.length > 0 && `Not used: ${list(unused)}.`,
  ]).join(' ');
}

/** Which columns of a table about the users say something about their items. */
export function tastesWords({ heldBack, columns }: Tastes, { users, items }: SideNames): string {
  const used = Object.keys(columns).filter((name) => columns[name] > 0);
  const tried = `found on ${many(heldBack, users)} held back`;
  return used.length > 0
    ? `New ${users.many} of the table get lists by ${list(named(used, columnName))} (${tried}).`
    : `New ${users.many} of the table get the popular ${items.many}: no attribute predicted better (${tried}).`;
}

function named<T>(all: readonly T[], word: (one: T) => string): string[] {
  const words = all.slice(0, MOST_COLUMNS).map(word);
  return all.length > MOST_COLUMNS ? [...words, `${all.length - MOST_COLUMNS} others`] : words;
}
