// What the first lines of a text table say about its separator, its header and its columns.

import { InputError } from '../../errors.js';
import { OptionError, type OptionWords, option, optionWords } from '../../options/error.js';
import { chooseColumns, clip, countedBy, type TableColumns } from '../intake/columns.js';
import type { FirstTable } from '../intake/target.js';
import type { ReaderOptions } from '../options.js';
import { rowsOf } from './scan.js';

const CANDIDATES = ['::', '\t', ',', ';', '|', ' '] as const;
const SAMPLE_ROWS = 200;
const SHOWN_NAMES = 30;

export interface TableShape {
  readonly separator: string;
  /** Whether a field may stand in double quotes; not so where the separator is not one plain character. */
  readonly quoted: boolean;
  readonly header: boolean;
  /** Whether nobody said so, not even by naming a column. */
  readonly headerGuessed: boolean;
  readonly columns: TableColumns;
}

/**
 * Shape of the table that starts with `bytes`. `whole`: they are the whole file; otherwise its last line may be cut
 * and is left out of account.
 */
export function guessShape(
  name: string,
  bytes: Uint8Array,
  whole: boolean,
  options: ReaderOptions,
  before?: FirstTable,
): TableShape {
  // A shell passes \t as two characters.
  const separator = options.sep === '\\t' ? '\t' : (options.sep ?? guessSeparator(name, bytes, whole));
  if (separator === '' || /["\r\n]/.test(separator)) {
    throw new InputError(
      `separator ${JSON.stringify(separator)}: it must be a character or a few, without quotes or line ends, for instance "," or "::"`,
    );
  }
  const quoted = isQuoted(separator);
  const rows = sampleRows(bytes, separator, whole);
  const first = rows[0];
  if (!first) throw new InputError(`${name}: the file is empty; give a table with at least two columns`);
  if (first.length === 1) {
    const found = `${name}, line 1: only one column found with separator ${show(separator)}: ${clip(first[0])}. A table needs a column of users and one of items`;
    throw new OneColumnError(
      separator,
      options.sep === undefined
        ? optionWords`${found}; name the separator with ${option('sep')}`
        : optionWords`${found}; try another separator, or leave ${option('sep')} out to have it guessed`,
    );
  }
  const counted = countedBy(options);
  const named =
    options.filter?.named ||
    [options.users, options.items, counted?.column, options.value?.column].some(
      (column) => typeof column === 'string' && !/^\d+$/.test(column),
    );
  const asked = [options.users ?? 1, options.items ?? 2];
  if (counted !== undefined) asked.push(counted.column);
  const used = asked.map((column) => Number(column) - 1);
  const header = before
    ? continuesTable(name, first, before)
    : (options.header ?? (named || looksLikeHeader(first, rows.slice(1), used, whole)));
  const names = header ? first : first.map((_, i) => String(i + 1));
  const columns = chooseColumns(name, names, header, options);
  const headerGuessed = options.header === undefined && !named;
  return { separator, quoted, header, headerGuessed, columns };
}

/** Whether the first row is the header of the tables before; throws where it is not and they have one. */
function continuesTable(name: string, first: readonly string[], before: FirstTable): boolean {
  const shownRow = (cells: readonly string[]) =>
    clip(cells.slice(0, SHOWN_NAMES).join(', ')) + (cells.length > SHOWN_NAMES ? ' …' : '');
  if (before.names === undefined) {
    if (first.length === before.width) return false;
    throw new InputError(
      `${name}: it has ${first.length} columns and ${before.name} has ${before.width}; files that are read as one need the same columns`,
    );
  }
  // Columns of other formats go by their names, and may stand in another order.
  if (before.format !== 'text table') return true;
  if (first.length === before.names.length && first.every((cell, i) => cell === before.names?.[i]))
    return true;
  throw new InputError(
    `${name}: its first row, ${shownRow(first)}, is not the header of ${before.name}, ${shownRow(before.names)}; files that are read as one need the same header`,
  );
}

/** The separator cuts the first row into nothing: it may be another. */
export class OneColumnError extends OptionError {
  constructor(
    readonly separator: string,
    parts: OptionWords,
  ) {
    super(parts);
  }
}

export function show(separator: string): string {
  return separator === '\t' ? 'tab' : separator === ' ' ? 'space' : JSON.stringify(separator);
}

/** The separator that cuts the most rows into as many columns as the first, at least two. */
export function guessSeparator(
  name: string,
  bytes: Uint8Array,
  whole: boolean,
  candidates: readonly string[] = CANDIDATES,
): string {
  const order = [...candidates];
  if (/\.csv(\.gz)?$/i.test(name)) order.sort((a, b) => Number(b === ',') - Number(a === ','));
  let best = order.includes(',') ? ',' : order[0];
  let bestShare = 0;
  for (const separator of order) {
    const rows = sampleRows(bytes, separator, whole);
    const tally = new Map<number, number>();
    for (const row of rows) tally.set(row.length, (tally.get(row.length) ?? 0) + 1);
    const width = rows[0]?.length ?? 0;
    const share = width < 2 ? 0 : tally.get(width)! / rows.length;
    if (share > bestShare) {
      best = separator;
      bestShare = share;
    }
  }
  return best;
}

/** Quotes belong to tables with a separator of one plain character. */
export function isQuoted(separator: string): boolean {
  return separator.length === 1 && separator < '\x80';
}

/** The first rows, split into fields. Lenient: what is wrong with a row is told when it is read. */
function sampleRows(bytes: Uint8Array, separator: string, whole: boolean): string[][] {
  const rows: string[][] = [];
  for (const { fields } of rowsOf(bytes, { separator, quoted: isQuoted(separator), whole })) {
    if (rows.push(fields) >= SAMPLE_ROWS) break;
  }
  return rows;
}

/**
 * The first row names columns if none of its cells is a number or a sign of something missing, and the names are words
 * that tables use for their columns, or a column below is all numbers, or the rows below are of another kind, which is not
 * concluded below a name that comes twice, as values do; only the usual words tell a file that has a header alone from one of
 * a single edge.
 */
export function looksLikeHeader(
  first: readonly string[],
  below: readonly (readonly string[])[],
  used: readonly number[],
  whole: boolean,
): boolean {
  if (first.some((cell) => isNumeric(cell) || MISSING.test(cell.trim()))) return false;
  const names = new Set(first);
  const repeated = names.size < first.length;
  if (repeated && names.has('')) return false;
  const usual = [...names].filter((cell) => USUAL_NAME.test(cell)).length >= 2;
  if (below.length === 0) return whole && usual;
  // An empty cell names nothing: the value of that row is missing.
  const overNumbers = first.some((cell, i) => cell !== '' && below.every((row) => isNumeric(row[i] ?? '')));
  return usual || overNumbers || (!repeated && otherKind(first, below, used));
}

/**
 * Whether the rows below are of another kind than the first: codes below words in every column that is used, or numbered
 * below an empty cell. Both also happen by chance, as where a guest comes before user1 and user2; so in a few rows
 * nothing is concluded, nor where a cell of the first row comes again below, as values do and names do not.
 */
function otherKind(
  first: readonly string[],
  below: readonly (readonly string[])[],
  used: readonly number[],
): boolean {
  if (below.length < FEW_ROWS) return false;
  if (first.some((cell, i) => cell !== '' && below.some((row) => row[i] === cell))) return false;
  return areNumbered(first, below) || used.every((column) => areCodes(first[column] ?? '', below, column));
}

/** Whether the first column counts the rows and has no name, as data frames are written; two more hold the edges. */
function areNumbered(first: readonly string[], below: readonly (readonly string[])[]): boolean {
  if (first[0] !== '' || first.length < 3) return false;
  return [0, 1].some((start) => below.every((row, i) => row[0] === String(start + i)));
}

/**
 * Whether a column holds codes below a word without a digit: alike but for their digits, as u17 and u4 or 2024-05-01 and
 * 2023-11-30, or with a digit at least in every one of many rows.
 */
function areCodes(above: string, below: readonly (readonly string[])[], column: number): boolean {
  const cells = below.map((row) => row[column] ?? '');
  if (/\d/.test(above) || !/\p{L}/u.test(above) || !cells.every((cell) => /\d/.test(cell))) return false;
  return cells.length >= MANY_ROWS || new Set(cells.map((cell) => cell.replace(/\d+/g, '0'))).size === 1;
}

/** In fewer rows a difference in kind may be chance. */
const FEW_ROWS = 5;

/** So many codes, be they alike or not, that a first row without a digit is no chance. */
const MANY_ROWS = 20;

/** What tables write where a value is missing: in a row of data. */
const MISSING = /^(na|n\/a|nan|null|nil|none|missing|unknown|-|\?)$/i;

/** Whether tables use such a word as the name of a column. */
export function isUsualName(cell: string): boolean {
  return USUAL_NAME.test(cell.trim());
}

const USUAL_NAME =
  /^(user|item|customer|product|reader|book|film|movie|song|track|artist|person|doc|document|paper|article|word|term|token|package|dependency|source|target|from|to|src|dst|count|counts|quantity|qty|rating|score|plays|weight|timestamp|time|date|title|name|id)s?([ _-]?(id|ids|name|no|number|key|code))?$/i;

function isNumeric(cell: string): boolean {
  return cell.trim() !== '' && Number.isFinite(Number(cell));
}
