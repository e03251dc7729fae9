// Guesses the separator, the header and the columns of a text table from its first lines.

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
  /** Whether a field may be in double quotes: only if the separator is one plain character. */
  readonly quoted: boolean;
  readonly header: boolean;
  /** Whether the header was guessed: no option states it, and no option names a column. */
  readonly headerGuessed: boolean;
  /** The first row, if it is taken as data but could be a header. */
  readonly unsureRow?: readonly string[];
  readonly columns: TableColumns;
}

/**
 * The layout of the table that starts with `bytes`. `whole`: they are the whole file; otherwise the last line may be cut and is ignored.
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
  const headerGuessed = options.header === undefined && !named;
  const guess = headerGuessed && !before ? guessHeader(first, rows.slice(1), used, whole) : undefined;
  const header = before
    ? continuesTable(name, first, before)
    : (options.header ?? (named || guess === 'header'));
  const names = header ? first : first.map((_, i) => String(i + 1));
  const columns = chooseColumns(name, names, header, options);
  return {
    separator,
    quoted,
    header,
    headerGuessed,
    columns,
    ...(guess === 'unsure' && { unsureRow: first }),
  };
}

/** Whether the first row is the header of the earlier tables; throws if they have a header and it differs. */
function continuesTable(name: string, first: readonly string[], before: FirstTable): boolean {
  const shownRow = (cells: readonly string[]) =>
    clip(cells.slice(0, SHOWN_NAMES).join(', ')) + (cells.length > SHOWN_NAMES ? ' …' : '');
  if (before.names === undefined) {
    if (first.length === before.width) return false;
    throw new InputError(
      `${name}: it has ${first.length} columns and ${before.name} has ${before.width}; files that are read as one need the same columns`,
    );
  }
  // Columns of other formats are found by name and may be in another order.
  if (before.format !== 'text table') return true;
  if (first.length === before.names.length && first.every((cell, i) => cell === before.names?.[i]))
    return true;
  throw new InputError(
    `${name}: its first row, ${shownRow(first)}, is not the header of ${before.name}, ${shownRow(before.names)}; files that are read as one need the same header`,
  );
}

/** The separator leaves the first row in one piece: another one may be right. */
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

/** The separator with which most rows have as many columns as the first row, at least two. */
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
    const widths = new Map<number, number>();
    for (const row of rows) widths.set(row.length, (widths.get(row.length) ?? 0) + 1);
    const width = rows[0]?.length ?? 0;
    const share = width < 2 ? 0 : widths.get(width)! / rows.length;
    if (share > bestShare) {
      best = separator;
      bestShare = share;
    }
  }
  return best;
}

/** Fields are quoted only in tables with a separator of one plain character. */
export function isQuoted(separator: string): boolean {
  return separator.length === 1 && separator < '\x80';
}

/** The first rows, split into fields. Lenient: the reader later reports what is wrong with a row. */
function sampleRows(bytes: Uint8Array, separator: string, whole: boolean): string[][] {
  const rows: string[][] = [];
  for (const { fields } of rowsOf(bytes, { separator, quoted: isQuoted(separator), whole })) {
    if (rows.push(fields) >= SAMPLE_ROWS) break;
  }
  return rows;
}

/** Whether the first row names the columns; 'unsure': it differs from the others, but that may be chance. */
type HeaderGuess = 'header' | 'data' | 'unsure';

/**
 * A first row with a number or a missing value is data. Otherwise it is a header if its cells are usual names of columns, if a column below
 * holds only numbers, or if the rows below are of another kind. A difference in kind does not count if a cell of the first row is repeated
 * below, because values repeat and names do not.
 */
function guessHeader(
  first: readonly string[],
  below: readonly (readonly string[])[],
  used: readonly number[],
  whole: boolean,
): HeaderGuess {
  if (first.some((cell) => isNumeric(cell) || MISSING.test(cell.trim()))) return 'data';
  const names = new Set(first);
  const repeated = names.size < first.length;
  if (repeated && names.has('')) return 'data';
  const usual = [...names].filter((cell) => USUAL_NAME.test(cell)).length >= 2;
  // Only usual names distinguish a file with just a header from a file with one edge.
  if (below.length === 0) return whole && usual ? 'header' : 'data';
  // An empty cell is not a name: the value of that row is missing.
  const overNumbers = first.some((cell, i) => cell !== '' && below.every((row) => isNumeric(row[i] ?? '')));
  if (usual || overNumbers) return 'header';
  if (repeated || below.length < FEW_ROWS) return 'data';
  if (first.some((cell, i) => cell !== '' && below.some((row) => row[i] === cell))) return 'data';
  if (areNumbered(first, below) || used.every((column) => areCodes(first[column] ?? '', below, column)))
    return 'header';
  return otherShape(first, below, used);
}

export function looksLikeHeader(...row: Parameters<typeof guessHeader>): boolean {
  return guessHeader(...row) === 'header';
}

/** Traits that a cell of text can have. A column's name often lacks a trait that all values have, or has one that they lack. */
const TRAITS: readonly ((cell: string) => boolean)[] = [
  isMail,
  (cell) => /\d/.test(cell),
  (cell) => /\s/.test(cell),
  (cell) => /[./:]/.test(cell),
  (cell) => /[_-]/.test(cell),
  (cell) => /\p{Lu}/u.test(cell),
  (cell) => /\p{Ll}/u.test(cell),
  (cell) => /[a-z]/i.test(cell),
];

/** Every value of a column of addresses is an address, so a first cell that is not one decides alone. */
function isMail(cell: string): boolean {
  return cell.includes('@');
}

/** A few words, as in names of columns. */
const NAME_LIKE = /^\p{L}[\p{L}\p{N}]*(?:[ _.-][\p{L}\p{N}]+){0,4}$/u;

/**
 * Whether the first row could be a header over columns of text. All its cells must look like names. In a column that is used, it
 * must also have a trait that no cell below has, or lack one that all of them have. Among n + 1 rows in random order, chance
 * makes the first one differ in this way with probability 1/(n + 1), for each trait and column.
 */
function otherShape(
  first: readonly string[],
  below: readonly (readonly string[])[],
  used: readonly number[],
): HeaderGuess {
  if (!first.every((cell) => cell.length <= LONGEST_NAME && NAME_LIKE.test(cell))) return 'data';
  const traits = used.map((column) => {
    const cells = below.map((row) => row[column] ?? '').filter((cell) => cell !== '');
    return TRAITS.filter(
      (has) => cells.length > 0 && cells.every((cell) => has(cell) !== has(first[column] ?? '')),
    );
  });
  if (traits.every((differ) => differ.length === 0)) return 'data';
  const sure =
    traits.every((differ) => differ.length > 0) || traits.some((differ) => differ.includes(isMail));
  return sure && below.length >= MANY_ROWS ? 'header' : 'unsure';
}

const LONGEST_NAME = 40;

/** Whether the first column has no name and numbers the rows, as in saved data frames; two more columns hold the edges. */
function areNumbered(first: readonly string[], below: readonly (readonly string[])[]): boolean {
  if (first[0] !== '' || first.length < 3) return false;
  return [0, 1].some((start) => below.every((row, i) => row[0] === String(start + i)));
}

/**
 * Whether the first cell of a column has no digit and the cells below are codes. Codes differ only in their digits,
 * such as u17 and u4, or 2024-05-01 and 2023-11-30. In a table of many rows, cells that all have a digit are codes too.
 */
function areCodes(above: string, below: readonly (readonly string[])[], column: number): boolean {
  const cells = below.map((row) => row[column] ?? '');
  if (/\d/.test(above) || !/\p{L}/u.test(above) || !cells.every((cell) => /\d/.test(cell))) return false;
  return cells.length >= MANY_ROWS || new Set(cells.map((cell) => cell.replace(/\d+/g, '0'))).size === 1;
}

/** In fewer rows a difference in kind may be chance. */
const FEW_ROWS = 5;

/** With this many rows, a difference in kind in all columns is not chance. */
const MANY_ROWS = 20;

/** Texts that tables write for a missing value. */
const MISSING = /^(na|n\/a|nan|null|nil|none|missing|unknown|-|\?)$/i;

/** Whether the word is a usual name of a column. */
export function isUsualName(cell: string): boolean {
  return USUAL_NAME.test(cell.trim());
}

const USUAL_NAME =
  /^(user|item|customer|product|reader|book|film|movie|song|track|artist|person|doc|document|paper|article|word|term|token|package|dependency|source|target|from|to|src|dst|count|counts|quantity|qty|rating|score|plays|weight|timestamp|time|date|title|name|id)s?([ _-]?(id|ids|name|no|number|key|code))?$/i;

function isNumeric(cell: string): boolean {
  return cell.trim() !== '' && Number.isFinite(Number(cell));
}
