import { type GraphSide, SIDES } from '../graph/graph.js';
import type { ReadGuess, ReadResult } from '../ingest/options.js';
import { shown } from '../text/untrusted.js';
import { count } from './text-table.js';

/** How the data were understood, so that a wrong guess is seen at once. */
export function describeRead({ graph, read, guess }: ReadResult): string {
  const parts: string[] = [guess.format];
  if (guess.separator !== undefined) parts.push(`separator ${separatorName(guess.separator)}`);
  if (guess.header !== undefined) parts.push(headerWords(guess));
  const { users, items, count: counts } = guess.columns;
  parts.push(`users ${shown(users)}`, `items ${shown(items)}`);
  if (counts !== undefined) parts.push(`counts ${shown(counts)}`);
  return (
    `read ${count(read.rows)} rows: ${count(read.kept)} kept, ${count(read.merged)} merged, ` +
    `${count(read.rejected)} rejected (${parts.join('; ')})` +
    SIDES.filter((side) => areRowNumbers(graph[side]))
      .map((side) => `\nThe ${side} are 1, 2, 3, … with one edge each, like row numbers: ${ADVICE}`)
      .join('')
  );
}

const ADVICE = 'if they are, name the columns with --users and --items';
/** Fewer could be a coincidence. */
const LEAST_ROW_NUMBERS = 20;

/** Consecutive whole numbers from 0 or 1 on, each met once. */
function areRowNumbers({ count: vertices, ids, neighbors }: GraphSide): boolean {
  if (vertices < LEAST_ROW_NUMBERS || neighbors.length !== vertices) return false;
  const first = Number(ids.at(0));
  return (first === 0 || first === 1) && Number(ids.at(vertices - 1)) === first + vertices - 1;
}

function headerWords({ header, headerGuessed }: ReadGuess): string {
  if (!headerGuessed) return header ? 'with header' : 'no header';
  return header ? 'first row taken as header, --no-header if not' : 'no header, --header if there is one';
}

function separatorName(separator: string): string {
  if (separator === '\t') return 'tab';
  if (separator === ' ') return 'blank';
  return `"${shown(separator)}"`;
}
