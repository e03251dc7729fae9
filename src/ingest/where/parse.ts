// Parses a condition on rows into a function of the cells of a row. The grammar:
//   rating >= 7                          a column and a number, by =, !=, <, <=, > or >=
//   note = 'fine', time > '2013-01-01'   a text or a date, in single quotes; whole numbers 1000 to 2999 are years
//   "my column" < #3                     a column in double quotes, or by its number
//   item in ('a', 'b')                   one of several values
//   title like 'The %'                   a pattern: % is any text, _ one character
//   year between 1990 and 1999           both ends belong to it
//   note is null, note is not null       an empty cell; a comparison with one is neither true nor false, as in SQL
//   not a = 1 and (b = 2 or c = 3)       not before and before or; parentheses

import { shown } from '../../text/untrusted.js';
import { matchesPattern } from '../../text/wildcards.js';
import { clip } from '../intake/columns.js';
import { parseTime, timeOfCell } from '../intake/value-column.js';
import { type Token, tokensOf, wrong } from './tokens.js';

/** The cells of the current row, by the order in which the condition first names their columns. */
export interface Cells {
  /** Undefined if the cell is missing or empty. */
  text(slot: number): string | undefined;
  /** NaN if the cell is not a number. */
  number(slot: number): number;
  /** How many values the cell has, if cells may have several; a test holds if it holds for one of them. */
  several?(slot: number): number;
  /** Makes value `at` of the cell the one that is read. */
  choose?(slot: number, at: number): void;
}

/** A column by its header name or its number (#3), and the position in the condition of its first mention. */
export interface NamedColumn {
  readonly name: string | number;
  readonly at: number;
}

const FALSE = 0;
const UNKNOWN = 1;
export const TRUE = 2;

/** One of the three, or a text that says why the row cannot be compared. */
type Test = (cells: Cells) => number | string;

interface Parsed {
  readonly columns: readonly NamedColumn[];
  readonly test: Test;
  readonly equals: readonly EqualText[];
}

/** A text that a column is compared with by =, != or in, and its position in the condition. */
interface EqualText {
  readonly slot: number;
  readonly value: string;
  readonly at: number;
}

type Operand =
  | { readonly kind: 'column'; readonly slot: number; readonly label: string }
  | { readonly kind: 'number'; readonly value: number }
  /** `time`: milliseconds since 1970, if the text is a date. */
  | { readonly kind: 'text'; readonly value: string; readonly time: number | undefined };
type Column = Extract<Operand, { kind: 'column' }>;

/** The deepest nesting of parentheses and nots. */
const DEEPEST = 100;
/** Longer patterns would be slow on long cells. */
const LONGEST_PATTERN = 1000;
/** Texts that are dates are compared as times. */
const DATE = /^\s*[+-]?\d{4,6}-\d{1,2}-\d{1,2}(?:[T ]|$)/;

/** The test that each comparison makes of left minus right, and the comparison with the sides exchanged. */
const EQUAL: readonly [(difference: number) => boolean, string] = [(d) => d === 0, '='];
const COMPARISONS: Readonly<Record<string, typeof EQUAL>> = {
  '=': EQUAL,
  '==': EQUAL,
  '!=': [(d) => d !== 0, '!='],
  '<>': [(d) => d !== 0, '!='],
  '<': [(d) => d < 0, '>'],
  '<=': [(d) => d <= 0, '>='],
  '>': [(d) => d > 0, '<'],
  '>=': [(d) => d >= 0, '<='],
};

const EQUALITY = /^(==?|!=|<>)$/;

/** Throws an InputError that shows the place of a syntax error. */
export function parseCondition(text: string, name = 'where'): Parsed {
  return new Parser(text, name).whole();
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #columns: NamedColumn[] = [];
  readonly #equals: EqualText[] = [];
  #next = 0;
  #depth = 0;

  constructor(
    readonly text: string,
    readonly name: string,
  ) {
    this.#tokens = tokensOf(text, name);
  }

  whole(): Parsed {
    const test = this.#or();
    if (this.#token.kind !== 'end') throw this.#expected('and, or or the end');
    return { columns: this.#columns, test, equals: this.#equals };
  }

  get #token(): Token {
    return this.#tokens[this.#next];
  }

  #or(): Test {
    return this.#joined('or', TRUE, () => this.#joined('and', FALSE, () => this.#negated()));
  }

  #joined(word: string, decisive: number, part: () => Test): Test {
    const tests = [part()];
    while (this.#take(word)) tests.push(part());
    return tests.length === 1 ? tests[0] : joined(decisive, tests);
  }

  #negated(): Test {
    const start = this.#token;
    const not = this.#take('not');
    if (!not && !this.#take('(')) return this.#predicate();
    if (++this.#depth > DEEPEST) {
      throw this.#wrong(start, `more than ${DEEPEST} nested parentheses and nots; nest them less deeply`);
    }
    const inner = not ? negated(this.#negated()) : this.#or();
    if (!not) this.#need(')', 'to close this');
    this.#depth--;
    return inner;
  }

  #predicate(): Test {
    const first = this.#token;
    const left = this.#operand('a column, as in rating >= 7');
    const sign = this.#token;
    if (sign.kind === 'sign' && COMPARISONS[sign.written]) {
      this.#next++;
      const second = this.#token;
      const right = this.#operand(`a value after ${sign.written}`);
      if (EQUALITY.test(sign.written)) {
        this.#equal(left, right, second);
        this.#equal(right, left, first);
      }
      return this.#compare(sign.written, left, right, sign);
    }
    const not = this.#take('not');
    const word = this.#token;
    if (left.kind !== 'column' && ['in', 'like', 'between', 'is'].some((one) => this.#is(one))) {
      throw this.#wrong(first, `${named(first)} is a value; ${word.written} needs a column on its left`);
    }
    const test = this.#wordPredicate(left as Column, not);
    return not ? negated(test) : test;
  }

  #wordPredicate(column: Column, not: boolean): Test {
    const word = this.#token;
    const { slot } = column;
    if (this.#take('in')) return this.#in(column);
    if (this.#take('like')) {
      const pattern = this.#pattern();
      return anyValue(slot, (cells) => {
        const text = cells.text(slot);
        return text === undefined ? UNKNOWN : isLike(text, pattern) ? TRUE : FALSE;
      });
    }
    if (this.#take('between')) {
      const low = this.#operand('a value after between');
      this.#need('and', 'between the two values');
      const high = this.#operand('a second value');
      return joined(FALSE, [this.#compare('>=', column, low, word), this.#compare('<=', column, high, word)]);
    }
    if (!not && this.#take('is')) {
      const isNot = this.#take('not');
      this.#need('null', 'after is');
      const missing: Test = (cells) => (cells.text(slot) === undefined ? TRUE : FALSE);
      return isNot ? negated(missing) : missing;
    }
    throw this.#expected('a comparison (=, !=, <, <=, >, >=, in, like, between, is null)');
  }

  #compare(by: string, left: Operand, right: Operand, token: Token): Test {
    const ordered = !EQUALITY.test(by);
    for (const side of [left, right]) {
      if (!ordered || side.kind !== 'text' || side.value.trim() === '') continue;
      if (!Number.isFinite(Number(side.value))) continue;
      throw this.#wrong(
        token,
        `'${shown(side.value)}' in quotes is a text, of which 10 comes before 7; for the number write ${shown(side.value)} without quotes`,
      );
    }
    const [holds, mirrored] = COMPARISONS[by];
    if (left.kind === 'column') return comparison(by, ordered, holds, left, right);
    if (right.kind === 'column') return comparison(by, ordered, COMPARISONS[mirrored][0], right, left);
    throw this.#wrong(
      token,
      'neither side is a column; a column goes without quotes or in double quotes, or as #3 for the third',
    );
  }

  #in(column: Column): Test {
    this.#need('(', 'after in');
    const values: Exclude<Operand, Column>[] = [];
    do {
      const token = this.#token;
      const value = this.#operand('a value');
      if (value.kind === 'column')
        throw this.#wrong(token, `expected a value, not the column ${named(token)}; texts go in '…'`);
      this.#equal(column, value, token);
      values.push(value);
    } while (this.#take(','));
    this.#need(')', 'after the values');
    // A list of many ids is looked up, not compared one by one.
    const texts = new Set(values.map(({ value }) => value));
    if (!values.every((value) => value.kind === 'text' && value.time === undefined)) {
      return joined(
        TRUE,
        values.map((value) => comparison('=', false, EQUAL[0], column, value)),
      );
    }
    return anyValue(column.slot, (cells) => {
      const text = cells.text(column.slot);
      return text === undefined ? UNKNOWN : texts.has(text) ? TRUE : FALSE;
    });
  }

  #equal(left: Operand, right: Operand, { at }: Token): void {
    if (left.kind === 'column' && right.kind === 'text')
      this.#equals.push({ slot: left.slot, value: right.value, at });
  }

  #pattern(): string {
    const { kind, value } = this.#token;
    if (kind !== 'text') throw this.#wrong(this.#token, "expected a pattern such as 'A%' after like");
    if (value.length > LONGEST_PATTERN) {
      throw this.#wrong(this.#token, `the pattern has more than ${LONGEST_PATTERN} characters`);
    }
    this.#next++;
    return value;
  }

  #operand(expected: string): Operand {
    const sign = this.#tokens[this.#next + 1]?.kind === 'number' && (this.#take('-') ? -1 : this.#take('+'));
    const token = this.#token;
    const { kind, value, written } = token;
    if (kind === 'number') {
      const number = Number(value) * (sign === -1 ? -1 : 1);
      if (!Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number))) {
        throw this.#wrong(
          token,
          `${shown(value)} is too large to be exact as a number; put it in quotes, as '…'`,
        );
      }
      this.#next++;
      return { kind, value: number };
    }
    if (kind === 'text') {
      if (value === '')
        throw this.#wrong(token, 'an empty cell holds no value; write is null or is not null');
      const time = DATE.test(value) ? parseTime(value) : undefined;
      if (typeof time === 'string') throw this.#wrong(token, `there is no such date as '${shown(value)}'`);
      this.#next++;
      return { kind, value, time };
    }
    if (kind === 'name' || kind === 'place') {
      this.#next++;
      return this.#column(kind === 'place' ? Number(value) : value, token.at);
    }
    if (kind === 'word' && /^(true|false)$/i.test(written)) {
      this.#next++;
      return { kind: 'text', value: written.toLowerCase(), time: undefined };
    }
    if (kind === 'word' && /^null$/i.test(written)) {
      throw this.#wrong(token, 'nothing equals null; write is null or is not null');
    }
    throw this.#expected(expected, kind === 'word' ? '; a column of that name goes in double quotes' : '');
  }

  #column(name: string | number, at: number): Column {
    let slot = this.#columns.findIndex((column) => column.name === name);
    if (slot < 0) slot = this.#columns.push({ name, at }) - 1;
    return { kind: 'column', slot, label: `column ${typeof name === 'number' ? `#${name}` : clip(name)}` };
  }

  #is(wanted: string): boolean {
    const { kind, written } = this.#token;
    return (kind === 'word' || kind === 'sign') && written.toLowerCase() === wanted;
  }

  #take(wanted: string): boolean {
    const found = this.#is(wanted);
    if (found) this.#next++;
    return found;
  }

  #need(wanted: string, why: string): void {
    if (!this.#take(wanted)) throw this.#expected(`${wanted} ${why}`);
  }

  #expected(what: string, remedy = '') {
    return this.#wrong(this.#token, `expected ${what}, not ${named(this.#token)}${remedy}`);
  }

  #wrong(token: Token, problem: string) {
    return wrong(this.text, token.at, problem, this.name);
  }
}

function named({ kind, written }: Token): string {
  return kind === 'end' ? 'the end' : shown(written.length > 60 ? `${written.slice(0, 57)}…` : written);
}

/** FALSE decides "and", TRUE decides "or"; otherwise UNKNOWN wins over the other value. */
function joined(decisive: number, tests: readonly Test[]): Test {
  return (cells) => {
    let found = TRUE - decisive;
    for (const test of tests) {
      const answer = test(cells);
      if (answer === decisive || typeof answer === 'string') return answer;
      if (answer === UNKNOWN) found = UNKNOWN;
    }
    return found;
  };
}

function negated(test: Test): Test {
  return (cells) => {
    const answer = test(cells);
    return typeof answer === 'string' ? answer : TRUE - answer;
  };
}

/** `ordered`: for < and its relatives. Then values that cannot be compared make a bad row; for = and != they are different. */
function comparison(
  by: string,
  ordered: boolean,
  holds: (difference: number) => boolean,
  column: Column,
  right: Operand,
): Test {
  // Not equal means that none of several values is equal.
  if (by === '!=' || by === '<>') {
    return negated(comparison('=', false, EQUAL[0], column, right));
  }
  const differenceOf = difference(column.slot, right);
  return anyValue(column.slot, (cells) => {
    const found = differenceOf(cells);
    if (found === undefined) return UNKNOWN;
    if (typeof found === 'number') return holds(found) ? TRUE : FALSE;
    if (!ordered) return holds(Number.NaN) ? TRUE : FALSE;
    return `${column.label}: ${clip(found.text)} is no ${found.wanted}, so it cannot be compared by ${by}`;
  });
}

/** The test of a cell of several values: true if it is true of one of them. */
function anyValue(slot: number, test: Test): Test {
  return (cells) => {
    const several = cells.several?.(slot) ?? 1;
    if (several <= 1) return test(cells);
    let found: number | string = FALSE;
    for (let at = 0; at < several && found !== TRUE; at++) {
      cells.choose?.(slot, at);
      const answer = test(cells);
      if (answer !== FALSE) found = answer;
    }
    cells.choose?.(slot, 0);
    return found;
  };
}

interface Incomparable {
  readonly text: string;
  readonly wanted: string;
}

/** Left minus right; undefined if a value is missing. */
function difference(slot: number, right: Operand): (cells: Cells) => number | Incomparable | undefined {
  if (right.kind === 'number') {
    return (cells) => {
      const number = cells.number(slot);
      if (!Number.isNaN(number)) return number - right.value;
      const text = cells.text(slot);
      return text === undefined ? undefined : { text, wanted: 'number' };
    };
  }
  if (right.kind === 'text') {
    const { value, time } = right;
    return (cells) => {
      const text = cells.text(slot);
      if (text === undefined) return undefined;
      if (text === value) return 0;
      if (time === undefined) return text < value ? -1 : 1;
      const found = timeOfCell(text);
      return typeof found === 'number' ? found - time : { text, wanted: 'time' };
    };
  }
  return (cells) => {
    const [one, other] = [cells.text(slot), cells.text(right.slot)];
    if (one === undefined || other === undefined) return undefined;
    if (one === other) return 0;
    const numbers = cells.number(slot) - cells.number(right.slot);
    if (!Number.isNaN(numbers)) return numbers;
    const [early, late] = [timeOfCell(one), timeOfCell(other)];
    if (typeof early === 'number' && typeof late === 'number') return early - late;
    return { text: typeof early === 'string' ? one : other, wanted: 'number or time' };
  };
}

/** Whether the text matches the pattern, in which % stands for any characters and _ for one. */
function isLike(text: string, pattern: string): boolean {
  return matchesPattern(text, pattern, '%', (character, p) =>
    pattern[p] === '_' || pattern[p] === character ? 1 : 0,
  );
}
