// Columns for a terminal.

import { oneLine } from '../../text/untrusted.js';

/** Rows of cells set in columns two spaces apart: the first to the left, the others to the right. */
export function textTable(table: readonly (readonly string[])[]): string {
  // A line break in a cell would forge a row.
  const rows = table.map((row) => row.map(oneLine));
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, width(cell));
    });
  }
  return rows
    .map((row) =>
      row
        .map((cell, i) => {
          const pad = ' '.repeat(widths[i] - width(cell));
          return i === 0 ? cell + pad : pad + cell;
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Characters that take a place of their own: combining marks, as in σ̂, do not. */
function width(text: string): number {
  return [...text.normalize('NFD').replace(/\p{Mark}/gu, '')].length;
}

/** Paragraphs broken at blanks to fit the width. */
export function wrap(text: string, columns = 90): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }
  return [...lines, line].join('\n');
}
