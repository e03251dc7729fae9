// Columns and paragraphs for a terminal of 80 columns.

import { command } from '../../options/arguments.js';
import { type Absent, present } from '../../text/phrases.js';
import { oneLine } from '../../text/untrusted.js';

const COLUMNS = 80;
const GAP = '  ';

/**
 * Rows of cells in columns two spaces apart: the first is left-aligned, the others right-aligned. Columns beyond `columns`
 * characters follow in blocks below, each with the first column again.
 */
export function textTable(table: readonly (readonly string[])[], columns = COLUMNS): string {
  // A line break in a cell would forge a row.
  const rows = table.map((row) => row.map(oneLine));
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, width(cell));
    });
  }
  const line = (row: readonly string[], shown: readonly number[]) =>
    [0, ...shown]
      .map((i) => {
        const cell = row[i] ?? '';
        const pad = ' '.repeat(widths[i] - width(cell));
        return i === 0 ? cell + pad : pad + cell;
      })
      .join(GAP)
      .trimEnd();
  return blocks(widths, columns)
    .map((shown) => rows.map((row) => line(row, shown)).join('\n'))
    .join('\n\n');
}

/** Which columns each block shows in addition to the first. */
function blocks([first = 0, ...others]: readonly number[], columns: number): number[][] {
  const found: number[][] = [[]];
  let used = first;
  others.forEach((size, i) => {
    if (used + GAP.length + size > columns && found[found.length - 1].length > 0) {
      found.push([]);
      used = first;
    }
    found[found.length - 1].push(i + 1);
    used += GAP.length + size;
  });
  return found;
}

/** Characters that take up a column: combining marks, as in σ̂, do not. */
function width(text: string): number {
  return [...text.normalize('NFD').replace(/\p{Mark}/gu, '')].length;
}

/**
 * A paragraph broken at spaces to fit the width: `first` is the prefix of the first line, `rest` of the others. A number
 * and its % stay on one line.
 */
export function wrap(text: string, first = '', rest = first): string {
  const lines: string[] = [];
  let line = '';
  const start = () => (lines.length === 0 ? first : rest);
  for (const word of text.split(/ (?!%)/)) {
    if (line && width(line) + 1 + width(word) > COLUMNS) {
      lines.push(line);
      line = '';
    }
    line = line ? `${line} ${word}` : start() + word;
  }
  return [...lines, line].join('\n');
}

/** The lines of a text, each broken to fit the width. */
export function wrapLines(text: string): string {
  return wrapAll(text.split('\n'));
}

/** The paragraphs that there are, with an empty line between two. */
export function paragraphs(texts: readonly (string | Absent)[]): string {
  return present(texts)
    .filter((text) => text !== '')
    .join('\n\n');
}

/** The lines that there are, each broken to fit the width. */
export function wrapAll(texts: readonly (string | Absent)[]): string {
  return present(texts)
    .map((text) => wrap(text))
    .join('\n');
}

/** The command to run next, as the last line of an answer. */
export function nextLine(...args: readonly string[]): string {
  return `Next: ${command(args)}`;
}
