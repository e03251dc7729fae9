// A condition on rows, compiled: only rows for which it is true are kept.

import { nearest } from '../../options/check-options.js';
import { clip } from '../intake/columns.js';
import { type NamedColumn, parseCondition } from './parse.js';
import { wrong } from './tokens.js';
import { type Cells, TRUE } from './truth.js';

/** Tells whether a row is kept. */
export interface RowFilter {
  /** Whether it uses the name of a column, which needs a header. */
  readonly named: boolean;
  /** The positions of its columns in a table. `source` names the table in messages. */
  find(source: string, names: readonly string[], header: boolean): number[];
  /** True: kept; false: left out; a text: what is wrong with the row. */
  keeps(cells: Cells): boolean | string;
  /** The message if it keeps no row. */
  readonly nothing?: string;
}

/** Throws an InputError that shows the place of a syntax error. */
export function rowFilter(text: string): RowFilter {
  const { columns, test } = parseCondition(text);
  return {
    named: columns.some(({ name }) => typeof name === 'string'),
    find: (source, names, header) => columns.map((column) => placeOf(text, source, column, names, header)),
    keeps(cells) {
      const answer = test(cells);
      return typeof answer === 'string' ? answer : answer === TRUE;
    },
  };
}

const SHOWN_NAMES = 30;

function placeOf(
  text: string,
  source: string,
  { name, at }: NamedColumn,
  names: readonly string[],
  header: boolean,
): number {
  if (typeof name === 'number') {
    if (name >= 1 && name <= names.length) return name - 1;
    throw wrong(text, at, `${source} has ${names.length} columns, from #1 to #${names.length}`);
  }
  if (!header) {
    throw wrong(
      text,
      at,
      `${source} has no header, so its columns have no names; write #1 to #${names.length}`,
    );
  }
  const exact = names.indexOf(name);
  if (exact >= 0) {
    const again = names.indexOf(name, exact + 1);
    if (again < 0) return exact;
    const [one, other] = [`#${exact + 1}`, `#${again + 1}`];
    throw wrong(text, at, `${source} has two columns ${clip(name)}, ${one} and ${other}; write one of these`);
  }
  const folded = names.flatMap((other, c) => (other.toLowerCase() === name.toLowerCase() ? [c] : []));
  if (folded.length === 1) return folded[0];
  const meant = nearest(name, names);
  const known = names.slice(0, SHOWN_NAMES).map((other) => clip(other));
  const advice =
    meant === undefined
      ? `its columns are ${known.join(', ')}${names.length > SHOWN_NAMES ? ', …' : ''}; if its first row is no header, write #1 to #${names.length} instead`
      : `did you mean ${clip(meant)}?`;
  throw wrong(text, at, `${source} has no column ${clip(name)}; ${advice}`);
}
