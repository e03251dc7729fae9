// How the data were read, so that a wrong guess is noticed.

import { type BipartiteGraph, type BySide, type GraphSide, SIDES } from '../../graph/graph.js';
import { DAYS_OF_NO_TIME } from '../../ingest/intake/value-column.js';
import type { ReadCounts, ReadGuess, ReadResult, TextReading } from '../../ingest/options.js';
import { type WriteOption, withArgument } from '../../options/error.js';
import { grouped, percent } from '../../text/numbers.js';
import { capital, list, many, present, were } from '../../text/phrases.js';
import { type SideNames, USERS_AND_ITEMS } from '../../text/sides.js';
import { firstShown, shown } from '../../text/untrusted.js';

/** 'read 100 rows: 98 kept, 2 merged, 0 rejected (text table; …)', and what looks like a wrong guess. */
export function readingWords({ graph, read, guess }: ReadResult, write: WriteOption = withArgument): string {
  return [
    guess.kind === 'simulated'
      ? 'simulated from the sparse model with a fixed seed'
      : guess.text
        ? `read ${textWords(guess.text, read)} (${understood(guess, write)})`
        : `read ${rowWords(read, write)} (${understood(guess, write)})`,
    ...rowNumberWords(graph, write),
  ].join('\n');
}

/** 'in 4 shards; read when partitioned: 100 rows: 98 kept, 2 merged, 0 rejected'. */
export function tablesReadingWords(
  read: ReadCounts,
  shards: number,
  write: WriteOption = withArgument,
): string {
  return `in ${many(shards, 'shard')}; read when partitioned: ${rowWords(read, write)}`;
}

/** '100 rows: 98 kept, 2 merged, 0 rejected'. */
function rowWords({ rows, kept, merged, rejected, leftOut = {} }: ReadCounts, write: WriteOption): string {
  const { where, weight = 0, dropped, core } = leftOut;
  return present([
    `${many(rows, 'row')}: ${grouped(kept)} kept, ${grouped(merged)} merged, ${grouped(rejected)} rejected`,
    where !== undefined && `${grouped(where)} left out by ${write('where')}`,
    weight > 0 && `${grouped(weight)} left out because their weight rounds to 0`,
    dropped && `${grouped(dropped.edges)} dropped with their ids`,
    core && `${grouped(core.edges)} left out by ${write('minDegree')}`,
  ]).join(', ');
}

/** '50 % of the users and 30 % of the items, kept at random'. */
export function thinnedWords(kept: BySide<number>, names: SideNames): string {
  return `${list(SIDES.map((side) => `${percent(kept[side])} of the ${names[side].many}`))}, kept at random`;
}

/** Warnings about how the data were read: effects of filters, columns that are not used. */
export function readingCautions(
  { guess, read }: Pick<ReadResult, 'guess' | 'read'>,
  write: WriteOption = withArgument,
): string[] {
  const { dropped, core, where } = read.leftOut ?? {};
  const { columns, countUnused, countsAllOne } = guess;
  const unknown = dropped?.unknown ?? [];
  return present([
    countUnused &&
      `the counts of column ${shown(columns.count ?? '')} are not used: by default a pair is an edge or not, without counts; ${write('multigraph')} keeps the counts`,
    countsAllOne &&
      `the option ${write('multigraph')} keeps counts, but no column of counts is named and no pair occurs twice: every count is 1; name the column with ${write('count')}`,
    columns.weight !== undefined &&
      `weights of column ${shown(columns.weight)} are rounded to counts. The model reads a count as the number of times that a pair occurred. A weight of 5 counts five times as much as a weight of 1, and a low weight still counts in favour of the pair. Hours and amounts are such counts, ratings are not: keep the good ratings with ${write('where')} instead, as in ${write('where', '"rating >= 4"')}`,
    unknown.length > 0 &&
      `${many(unknown.length, { one: 'id to drop is', many: 'ids to drop are' })} not in the data: ${firstShown(unknown)}`,
    core &&
      core.edges > 0 &&
      `the option ${write('minDegree', [...new Set([core.least.users, core.least.items])].join())} left out ${many(core.users, 'user')} and ${many(core.items, 'item')} with fewer edges, in ${many(core.passes, { one: 'pass', many: 'passes' })}. The verdict, the tail index, sizes and forecasts depend on low degrees. Now they describe only what is left, which looks denser than the data. Compute them from the data without the filter`,
    where !== undefined &&
      where > 0 &&
      where >= read.rows / 2 &&
      `the option ${write('where')} left out ${grouped(where)} of ${many(read.rows, 'row')}: the verdict and all figures describe only the remaining rows`,
    timeCaution(guess, write),
  ]);
}

/** A warning about times that all lie next to 1970, as numbers that are no times do. */
export function timeCaution(
  { unlikelyTimes }: Pick<ReadGuess, 'unlikelyTimes'>,
  write: WriteOption = withArgument,
): string | undefined {
  if (unlikelyTimes === undefined) return undefined;
  return `all times of column ${shown(unlikelyTimes)} lie within ${DAYS_OF_NO_TIME} days of 1970-01-01, because its numbers are read as seconds since 1970: if they are not times, name another column with ${write('time')}`;
}

/** '226 documents: 310 words in more than 50 % of them left out'. */
function textWords({ documents, commonWords, commonShare, wordless }: TextReading, read: ReadCounts): string {
  return present([
    `${many(documents, 'document')}: ${many(commonWords, 'word')} in more than ${percent(commonShare)} of them left out`,
    wordless > 0 && `${many(wordless, 'document')} without any word left out`,
    read.rejected > 0 && `${grouped(read.rejected)} rejected`,
  ]).join(', ');
}

/** The same in whole sentences, for a page. `thinned`: whether fewer rows are used than were read. */
export function readingSentences(
  { guess, read }: Pick<ReadResult, 'guess' | 'read'>,
  write: WriteOption = withArgument,
  thinned = false,
): string[] {
  if (guess.kind === 'simulated') return [];
  if (guess.text) {
    const { documents, commonWords, commonShare, wordless } = guess.text;
    return present([
      `Words are reduced to their stems; ${many(commonWords, 'word')} in more than ${percent(commonShare)} of the ${grouped(documents)} texts ${were(commonWords)} left out.`,
      wordless > 0 && `${many(wordless, 'text')} without any word ${were(wordless)} left out.`,
      read.rejected > 0 &&
        `${many(read.rejected, 'text')} could not be read and ${were(read.rejected)} left out.`,
    ]);
  }
  const cautions = readingCautions({ guess, read }, write).map((caution) => `${capital(caution)}.`);
  return [rowSentence(read, write, thinned), ...cautions];
}

function rowSentence(read: ReadCounts, write: WriteOption, thinned: boolean): string {
  const { rows, kept, merged, rejected, leftOut } = read;
  if (leftOut) return `Read ${rowWords(read, write)}.`;
  if (merged === 0 && rejected === 0) {
    if (thinned) return `${many(rows, 'row')} ${were(rows)} read.`;
    return rows === 1 ? 'The only row was kept.' : `All ${grouped(rows)} rows were kept.`;
  }
  return `Of ${many(rows, 'row')}, ${grouped(kept)} ${were(kept)} kept, ${grouped(merged)} repeated an earlier pair and ${were(merged)} merged, and ${grouped(rejected)} ${were(rejected)} rejected.`;
}

function understood(guess: ReadGuess, write: WriteOption): string {
  const { users, items, count, weight } = guess.columns;
  return present([
    guess.files === undefined ? guess.format : `${guess.files} files, ${guess.format}`,
    guess.separator !== undefined && `separator ${separatorName(guess.separator)}`,
    guess.header !== undefined && headerWords(guess, write),
    `users ${shown(users)}`,
    `items ${shown(items)}`,
    count !== undefined && `counts ${shown(count)}${guess.countUnused ? ', not used' : ''}`,
    weight !== undefined && `weights ${shown(weight)}`,
  ]).join('; ');
}

function rowNumberWords(graph: BipartiteGraph, write: WriteOption): string[] {
  const names = graph.names ?? USERS_AND_ITEMS;
  return SIDES.filter((side) => areRowNumbers(graph[side])).map(
    (side) =>
      `The ${names[side].many} are 1, 2, 3, … with one edge each, like row numbers: if they are row numbers, name the right columns with ${write('users')} and ${write('items')}`,
  );
}

/** Fewer could be a coincidence. */
const LEAST_ROW_NUMBERS = 20;

/** Consecutive whole numbers from 0 or 1 on, each with one edge. */
function areRowNumbers({ count, ids, neighbors }: GraphSide): boolean {
  if (count < LEAST_ROW_NUMBERS || neighbors.length !== count) return false;
  const first = Number(ids.at(0));
  return (first === 0 || first === 1) && Number(ids.at(count - 1)) === first + count - 1;
}

function headerWords({ header, headerGuessed, unsureRow }: ReadGuess, write: WriteOption): string {
  if (unsureRow) {
    return `no header, but the first row (${shown(unsureRow.slice(0, 5).join(', '))}) differs from the others: use ${write('header', 'true')} if it is one`;
  }
  if (!headerGuessed) return header ? 'with header' : 'no header';
  return header
    ? `first row read as header: use ${write('header', 'false')} if it is data`
    : `no header found: use ${write('header', 'true')} if there is one`;
}

function separatorName(separator: string): string {
  if (separator === '\t') return 'tab';
  if (separator === ' ') return 'blank';
  return `"${shown(separator)}"`;
}
