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
import { parseTime } from '../intake/value-column.js';
import { type Token, tokensOf, wrong } from './tokens.js';
import {
  anyValue,
  type Column,
  comparison,
  FALSE,
  isZero,
  joined,
  negated,
  type Operand,
  type Test,
  TRUE,
  UNKNOWN,
} from './truth.js';

/** A column by its header name or its number (#3), and the position in the condition of its first mention. */
export interface NamedColumn {
  readonly name: string | number;
  readonly at: number;
}

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

/** The deepest nesting of parentheses and nots. */
const DEEPEST = 100;
/** Longer patterns would be slow on long cells. */
const LONGEST_PATTERN = 1000;
/** Texts that are dates are compared as times. */
const DATE = /^\s*[+-]?\d{4,6}-\d{1,2}-\d{1,2}(?:[T ]|$)/;

/** The test that each comparison makes of left minus right, and the comparison with the sides exchanged. */
const COMPARISONS: Readonly<Record<string, readonly [(difference: number) => boolean, string]>> = {
  '=': [isZero, '='],
  '==': [isZero, '='],
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
        values.map((value) => comparison('=', false, isZero, column, value)),
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

/** Whether the text matches the pattern, in which % stands for any characters and _ for one. */
function isLike(text: string, pattern: string): boolean {
  return matchesPattern(text, pattern, '%', (character, p) =>
    pattern[p] === '_' || pattern[p] === character ? 1 : 0,
  );
}
