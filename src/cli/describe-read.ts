import type { ReadGuess, ReadResult } from '../ingest/options.js';
import { count } from './text-table.js';

/** One line on how the data were understood, so that a wrong guess is seen at once. */
export function describeRead({ read, guess }: ReadResult): string {
  const parts: string[] = [guess.format];
  if (guess.separator !== undefined) parts.push(`separator ${separatorName(guess.separator)}`);
  if (guess.header !== undefined) parts.push(headerWords(guess));
  const { users, items, count: counts } = guess.columns;
  parts.push(`users ${users}`, `items ${items}`);
  if (counts !== undefined) parts.push(`counts ${counts}`);
  return (
    `read ${count(read.rows)} rows: ${count(read.kept)} kept, ${count(read.merged)} merged, ` +
    `${count(read.rejected)} rejected (${parts.join('; ')})`
  );
}

function headerWords({ header, headerGuessed }: ReadGuess): string {
  if (!headerGuessed) return header ? 'with header' : 'no header';
  return header ? 'first row taken as header, --no-header if not' : 'no header, --header if there is one';
}

function separatorName(separator: string): string {
  if (separator === '\t') return 'tab';
  if (separator === ' ') return 'blank';
  return `"${separator}"`;
}
