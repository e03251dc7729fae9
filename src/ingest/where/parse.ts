// The grammar of conditions on rows: comparisons, in, like, between, is null, joined by and, or, not and parentheses.

import { shown } from '../../text/untrusted.js';
import { parseTime } from '../intake/value-column.js';
import { type Token, tokensOf, wrong } from './tokens.js';

/** A column by its header name, or by its place from 1 (#3), and where the condition names it first. */
export interface NamedColumn {
  readonly name: string | number;
  readonly at: number;
}

export type Operand =
  /** The place of the column in `Parsed.columns`. */
  | { readonly kind: 'column'; readonly slot: number }
  | { readonly kind: 'number'; readonly value: number }
  /** `time`: milliseconds since 1970, where the text is a date. */
  | { readonly kind: 'text'; readonly value: string; readonly time: number | undefined };
export type Literal = Exclude<Operand, { kind: 'column' }>;

export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>=';

export type Condition =
  | { readonly kind: 'all' | 'any'; readonly of: readonly Condition[] }
  | { readonly kind: 'not'; readonly of: Condition }
  | { readonly kind: 'compare'; readonly by: Comparison; readonly left: Operand; readonly right: Operand }
  | { readonly kind: 'in'; readonly slot: number; readonly values: readonly Literal[] }
  | { readonly kind: 'like'; readonly slot: number; readonly pattern: string }
  | { readonly kind: 'missing'; readonly slot: number };

export interface Parsed {
  readonly text: string;
  readonly columns: readonly NamedColumn[];
  readonly condition: Condition;
}

/** Parentheses and nots within each other. */
const DEEPEST = 100;
/** Longer patterns would take long on long cells. */
const LONGEST_PATTERN = 1000;

const COMPARISONS: Readonly<Record<string, Comparison>> = {
  '=': '=',
  '==': '=',
  '!=': '!=',
  '<>': '!=',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};

export function parseCondition(text: string): Parsed {
  return new Parser(text).whole();
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #columns: NamedColumn[] = [];
  #next = 0;
  #depth = 0;

  constructor(readonly text: string) {
    this.#tokens = tokensOf(text);
  }

  whole(): Parsed {
    const condition = this.#any();
    const rest = this.#tokens[this.#next];
    if (rest.kind !== 'end') {
      throw this.#wrong(rest, `expected and, or or the end, not ${named(rest)}`);
    }
    return { text: this.text, columns: this.#columns, condition };
  }

  #any(): Condition {
    return this.#joined('or', 'any', () => this.#joined('and', 'all', () => this.#negated()));
  }

  #joined(word: string, kind: 'all' | 'any', part: () => Condition): Condition {
    const parts = [part()];
    while (this.#takeWord(word)) parts.push(part());
    return parts.length === 1 ? parts[0] : { kind, of: parts };
  }

  #negated(): Condition {
    const token = this.#tokens[this.#next];
    if (this.#takeWord('not')) return this.#deeper(token, () => ({ kind: 'not', of: this.#negated() }));
    if (this.#takeSign('(')) {
      const inner = this.#deeper(token, () => this.#any());
      this.#needSign(')', 'to close this');
      return inner;
    }
    return this.#predicate();
  }

  #deeper(token: Token, part: () => Condition): Condition {
    if (++this.#depth > DEEPEST) {
      throw this.#wrong(
        token,
        `more than ${DEEPEST} parentheses and nots within each other; write it flatter`,
      );
    }
    const made = part();
    this.#depth--;
    return made;
  }

  #predicate(): Condition {
    const first = this.#tokens[this.#next];
    const left = this.#operand('a column, as in rating >= 7');
    const token = this.#tokens[this.#next];
    const by = token.kind === 'sign' ? COMPARISONS[token.written] : undefined;
    if (by) {
      this.#next++;
      return this.#compare(by, left, this.#operand(`a value after ${token.written}`), token);
    }
    const refused = this.#takeWord('not');
    const made = this.#wordPredicate(first, left, refused);
    return refused ? { kind: 'not', of: made } : made;
  }

  /** in, like, between, is null: all of them ask something of a column. */
  #wordPredicate(first: Token, left: Operand, refused: boolean): Condition {
    const token = this.#tokens[this.#next];
    const column = () => {
      if (left.kind === 'column') return left.slot;
      throw this.#wrong(first, `${named(first)} is a value; ${token.written} asks something of a column`);
    };
    if (this.#takeWord('in')) return { kind: 'in', slot: column(), values: this.#values() };
    if (this.#takeWord('like')) return { kind: 'like', slot: column(), pattern: this.#pattern() };
    if (this.#takeWord('between')) {
      column();
      const low = this.#operand('a value after between');
      this.#needWord('and', 'between the two values');
      const high = this.#operand('a second value');
      return {
        kind: 'all',
        of: [this.#compare('>=', left, low, token), this.#compare('<=', left, high, token)],
      };
    }
    if (!refused && this.#takeWord('is')) {
      const missing: Condition = { kind: 'missing', slot: column() };
      const not = this.#takeWord('not');
      this.#needWord('null', 'after is');
      return not ? { kind: 'not', of: missing } : missing;
    }
    throw this.#wrong(
      token,
      `expected a comparison (=, !=, <, <=, >, >=, in, like, between, is null), not ${named(token)}`,
    );
  }

  #compare(by: Comparison, left: Operand, right: Operand, token: Token): Condition {
    if (left.kind !== 'column' && right.kind !== 'column') {
      throw this.#wrong(
        token,
        'neither side is a column; a column goes without quotes or in double quotes, or as #3 for the third',
      );
    }
    const ordered = by !== '=' && by !== '!=';
    for (const side of [left, right]) {
      if (
        ordered &&
        side.kind === 'text' &&
        side.value.trim() !== '' &&
        Number.isFinite(Number(side.value))
      ) {
        throw this.#wrong(
          token,
          `'${shown(side.value)}' in quotes is a text, of which 10 comes before 7; for the number write ${shown(side.value)} without quotes`,
        );
      }
    }
    return { kind: 'compare', by, left, right };
  }

  #values(): Literal[] {
    this.#needSign('(', 'after in');
    const values: Literal[] = [];
    do {
      const token = this.#tokens[this.#next];
      const value = this.#operand('a value');
      if (value.kind === 'column')
        throw this.#wrong(token, `expected a value, not the column ${named(token)}; texts go in '…'`);
      values.push(value);
    } while (this.#takeSign(','));
    this.#needSign(')', 'after the values');
    return values;
  }

  #pattern(): string {
    const token = this.#tokens[this.#next];
    if (token.kind !== 'text') throw this.#wrong(token, "expected a pattern such as 'A%' after like");
    if (token.value.length > LONGEST_PATTERN) {
      throw this.#wrong(token, `the pattern has more than ${LONGEST_PATTERN} characters`);
    }
    this.#next++;
    return token.value;
  }

  #operand(expected: string): Operand {
    const token = this.#tokens[this.#next++];
    switch (token.kind) {
      case 'number':
        return { kind: 'number', value: token.value };
      case 'text':
        return { kind: 'text', value: this.#text(token), time: this.#time(token) };
      case 'name':
      case 'place':
        return { kind: 'column', slot: this.#column(token) };
      case 'sign': {
        const number = this.#tokens[this.#next];
        if ((token.written !== '-' && token.written !== '+') || number?.kind !== 'number') break;
        this.#next++;
        return { kind: 'number', value: token.written === '-' ? -number.value : number.value };
      }
      case 'word':
        if (/^(true|false)$/i.test(token.written)) {
          return { kind: 'text', value: token.written.toLowerCase(), time: undefined };
        }
        if (/^null$/i.test(token.written)) {
          throw this.#wrong(token, 'nothing equals null; write is null or is not null');
        }
        throw this.#wrong(
          token,
          `expected ${expected}, not ${named(token)}; a column of that name goes in double quotes`,
        );
    }
    throw this.#wrong(token, `expected ${expected}, not ${named(token)}`);
  }

  #text(token: Token & { readonly kind: 'name' | 'text' }): string {
    if (token.value !== '') return token.value;
    throw this.#wrong(token, 'an empty cell holds no value; write is null or is not null');
  }

  #time(token: Token & { readonly kind: 'name' | 'text' }): number | undefined {
    if (!DATE.test(token.value)) return undefined;
    const time = parseTime(token.value);
    if (typeof time === 'number') return time;
    throw this.#wrong(token, `there is no such date as '${shown(token.value)}'`);
  }

  #column(token: Token & { readonly kind: 'name' | 'place' | 'text' }): number {
    const found = this.#columns.findIndex(({ name }) => name === token.value);
    return found >= 0 ? found : this.#columns.push({ name: token.value, at: token.at }) - 1;
  }

  #takeWord(word: string): boolean {
    const { kind, written } = this.#tokens[this.#next];
    const taken = kind === 'word' && written.toLowerCase() === word;
    if (taken) this.#next++;
    return taken;
  }

  #takeSign(sign: string): boolean {
    const { kind, written } = this.#tokens[this.#next];
    const taken = kind === 'sign' && written === sign;
    if (taken) this.#next++;
    return taken;
  }

  #needWord(word: string, why: string): void {
    if (this.#takeWord(word)) return;
    const token = this.#tokens[this.#next];
    throw this.#wrong(token, `expected ${word} ${why}, not ${named(token)}`);
  }

  #needSign(sign: string, why: string): void {
    if (this.#takeSign(sign)) return;
    const token = this.#tokens[this.#next];
    throw this.#wrong(token, `expected ${sign} ${why}, not ${named(token)}`);
  }

  #wrong(token: Token, problem: string) {
    return wrong(this.text, token.at, problem);
  }
}

/** Texts that are dates are compared as times. */
const DATE = /^\s*[+-]?\d{4,6}-\d{1,2}-\d{1,2}(?:[T ]|$)/;

function named(token: Token): string {
  return token.kind === 'end'
    ? 'the end'
    : shown(token.written.length > 60 ? `${token.written.slice(0, 57)}…` : token.written);
}
