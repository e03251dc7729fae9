// Chooses the columns of users, items, counts, values and conditions, by the same rules for every format.

import { InputError } from '../../errors.js';
import { OptionError, type OptionWords, option, optionError, optionWords } from '../../options/error.js';
import { safeJson } from '../../text/untrusted.js';
import type { ReaderOptions } from '../options.js';

const SHOWN_NAMES = 30;

/** The columns of a table and their uses, as positions from 0. */
export interface TableColumns {
  /** Header names, or numbers from 1 as text. */
  readonly names: readonly string[];
  /** Whether the names are those of a header. */
  readonly header: boolean;
  readonly users: number;
  readonly items: number;
  /** Counts or weights. */
  readonly count: number | undefined;
  readonly value: number | undefined;
  /** The columns of the condition, in the order in which it names them. */
  readonly filter: readonly number[];
  /** All of these columns, each once: users and items first. */
  readonly used: readonly number[];
}

/** Chooses the columns that the options name. `source` names the table in messages. */
export function chooseColumns(
  source: string,
  names: readonly string[],
  header: boolean,
  options: ReaderOptions,
): TableColumns {
  if (names.length < 2) {
    throw new InputError(
      `${source}: it has ${names.length === 0 ? 'no column' : `one column, ${clip(names[0])}`}; a table needs a column of users and one of items`,
    );
  }
  const find = (column: string | number, role: string) => findColumn(source, column, role, names, header);
  const counted = countedBy(options);
  const { value: asked, filter } = options;
  const users = find(options.users ?? 1, 'users');
  const items = find(options.items ?? 2, 'items');
  const count = counted && find(counted.column, counted.role);
  const value = asked?.column === undefined ? undefined : find(asked.column, asked.role);
  const conditions = filter?.find(source, names, header) ?? [];
  const used = [users, items, count, value, ...conditions].filter((column) => column !== undefined);
  const columns = { names, header, users, items, count, value, filter: conditions, used: [...new Set(used)] };
  if (users === items) {
    throw optionError`${source}: users and items are both ${columnLabel(columns, users)}; name two different columns with ${option('users')} and ${option('items')}`;
  }
  for (const [column, role] of [
    [count, counted?.role],
    [value, asked?.role],
  ] as const) {
    if (role === undefined || role === 'count' || (column !== users && column !== items)) continue;
    throw optionError`${source}: ${columnLabel(columns, column)} holds ids and cannot be ${option(role)} too; name another column`;
  }
  return columns;
}

/** The name of a column in messages. */
export function columnLabel({ names, header }: Pick<TableColumns, 'names' | 'header'>, at: number): string {
  return header ? `column ${clip(names[at])}` : `column ${at + 1}`;
}

/** The column of counts or weights, and the option that names it. */
export function countedBy({
  count,
  weight,
}: Pick<ReaderOptions, 'count' | 'weight'>):
  | { column: string | number; role: 'count' | 'weight' }
  | undefined {
  if (weight !== undefined) return { column: weight, role: 'weight' };
  return count === undefined ? undefined : { column: count, role: 'count' };
}

/** The error for a column that does not exist. */
export class NoColumnError extends OptionError {
  constructor(parts: OptionWords) {
    super(parts);
  }
}

/** Position from 0 of a column given by header name or 1-based number. */
export function findColumn(
  source: string,
  column: string | number,
  role: string,
  names: readonly string[],
  header: boolean,
): number {
  if (header) {
    const at = names.indexOf(String(column));
    if (at >= 0 && typeof column === 'string') {
      const again = names.indexOf(column, at + 1);
      if (again < 0) return at;
      throw optionError`${source}: columns ${at + 1} and ${again + 1} are both called ${clip(column)}; name one by its number, as in ${option(role, String(again + 1))}`;
    }
  }
  // Only plain digits are a number: 0x1 and 1e0 are names.
  const number = /^[1-9]\d*$/.test(String(column)) ? Number(column) : Number.NaN;
  if (Number.isInteger(number) && number >= 1 && number <= names.length) return number - 1;
  const more = names.length > SHOWN_NAMES ? ', …' : '';
  const shown = names.slice(0, SHOWN_NAMES).map((n) => clip(n));
  const known = header ? `; the columns are ${shown.join(', ')}${more}` : '';
  const remedy = `Give a number from 1 to ${names.length}${header ? ' or one of these names' : '; names need a header row'}`;
  throw new NoColumnError(
    optionWords`${source}: no column ${JSON.stringify(column)} for ${option(role)}: the table has ${names.length} columns${known}. ${remedy}`,
  );
}

/** A value for a message: quoted, with control characters escaped and long texts cut. */
export function clip(value: string): string {
  return safeJson(JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value));
}
