// The texts of a table by column. An object for each row of a long table would take time and memory.

import type { TextRow } from './formats/scan.js';
import { NAMES_LINE } from './side-table.js';

/** A table has as many columns as the longest of its first rows. */
export const WIDTH_ROWS = 2000;

export interface TextColumns {
  /** Whether the format names the columns. The first row then has the names. */
  readonly named: boolean;
  /** The first row with its own number of columns. */
  readonly first: readonly string[];
  /** Per column, its text in each row that has two columns or more; '' if a row is too short. */
  readonly columns: readonly (readonly string[])[];
}

export function textColumns(rows: Iterable<TextRow>): TextColumns {
  let named: boolean | undefined;
  let first: readonly string[] = [];
  const columns: string[][] = [];
  let count = 0;
  for (const { line, fields } of rows) {
    named ??= line === NAMES_LINE;
    if (fields.length < 2) continue;
    if (count === 0) first = fields;
    if (count < WIDTH_ROWS) {
      while (columns.length < fields.length) columns.push(new Array<string>(count).fill(''));
    }
    for (let c = 0; c < columns.length; c++) columns[c].push(c < fields.length ? fields[c] : '');
    count++;
  }
  return { named: named ?? false, first, columns };
}
