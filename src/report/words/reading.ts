// How the data were understood, so that a wrong guess is seen at once.

import { type BipartiteGraph, type GraphSide, SIDES } from '../../graph/graph.js';
import type { ReadCounts, ReadGuess, ReadResult, TextReading } from '../../ingest/options.js';
import { grouped, percent } from '../../text/numbers.js';
import { many, were } from '../../text/phrases.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import { shown } from '../../text/untrusted.js';

/** 'read 100 rows: 98 kept, 2 merged, 0 rejected (text table; …)', and what looks like a wrong guess. */
export function readingWords({ graph, read, guess }: ReadResult): string {
  return [
    guess.kind === 'simulated'
      ? 'drawn from the sparse model, always the same'
      : guess.text
        ? `read ${textWords(guess.text, read)} (${understood(guess)})`
        : `read ${rowWords(read)} (${understood(guess)})`,
    ...rowNumberWords(graph),
  ].join('\n');
}

/** '100 rows: 98 kept, 2 merged, 0 rejected'. */
function rowWords({ rows, kept, merged, rejected }: ReadCounts): string {
  return `${many(rows, 'row')}: ${grouped(kept)} kept, ${grouped(merged)} merged, ${grouped(rejected)} rejected`;
}

/** '226 documents: 310 words in more than 50 % of them left out'. */
function textWords({ documents, commonWords, commonShare, wordless }: TextReading, read: ReadCounts): string {
  return [
    `${many(documents, 'document')}: ${many(commonWords, 'word')} in more than ${percent(commonShare)} of them left out`,
    ...(wordless > 0 ? [`${many(wordless, 'document')} without any word left out`] : []),
    ...(read.rejected > 0 ? [`${grouped(read.rejected)} rejected`] : []),
  ].join(', ');
}

/** The same in whole sentences, for a page. */
export function readingSentences({ guess, read }: Pick<ReadResult, 'guess' | 'read'>): string[] {
  if (guess.kind === 'simulated') return [];
  const sentences: string[] = [];
  if (guess.text) {
    const { documents, commonWords, commonShare, wordless } = guess.text;
    sentences.push(
      `Words are cut to their stems; ${many(commonWords, 'word')} in more than ${percent(commonShare)} of the ${grouped(documents)} texts ${were(commonWords)} left out.`,
    );
    if (wordless > 0)
      sentences.push(`${many(wordless, 'text')} without any word ${were(wordless)} left out.`);
    if (read.rejected > 0)
      sentences.push(
        `${many(read.rejected, 'text')} could not be read and ${were(read.rejected)} set aside.`,
      );
    return sentences;
  }
  const { rows, kept, merged, rejected } = read;
  if (merged === 0 && rejected === 0) {
    sentences.push(rows === 1 ? 'The only row was kept.' : `All ${grouped(rows)} rows were kept.`);
  } else {
    sentences.push(
      `Of ${many(rows, 'row')}, ${grouped(kept)} ${were(kept)} kept, ${grouped(merged)} repeated an earlier pair and ${were(merged)} merged, and ${grouped(rejected)} ${were(rejected)} rejected.`,
    );
  }
  return sentences;
}

function understood(guess: ReadGuess): string {
  const parts: string[] = [guess.format];
  if (guess.separator !== undefined) parts.push(`separator ${separatorName(guess.separator)}`);
  if (guess.header !== undefined) parts.push(headerWords(guess));
  const { users, items, count } = guess.columns;
  parts.push(`users ${shown(users)}`, `items ${shown(items)}`);
  if (count !== undefined) parts.push(`counts ${shown(count)}`);
  return parts.join('; ');
}

function rowNumberWords(graph: BipartiteGraph): string[] {
  const names = graph.names ?? USERS_AND_ITEMS;
  return SIDES.filter((side) => areRowNumbers(graph[side])).map(
    (side) =>
      `The ${names[side].many} are 1, 2, 3, … with one edge each, like row numbers: if they are, name the columns with --users and --items`,
  );
}

/** Fewer could be a coincidence. */
const LEAST_ROW_NUMBERS = 20;

/** Consecutive whole numbers from 0 or 1 on, each met once. */
function areRowNumbers({ count, ids, neighbors }: GraphSide): boolean {
  if (count < LEAST_ROW_NUMBERS || neighbors.length !== count) return false;
  const first = Number(ids.at(0));
  return (first === 0 || first === 1) && Number(ids.at(count - 1)) === first + count - 1;
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
