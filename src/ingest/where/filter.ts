// A condition on rows, ready to be asked of each. As in SQL, what is said of a missing value is neither true nor false,
// and only rows of which the whole is true are kept.

import { nearest } from '../../options/check-options.js';
import { clip } from '../formats/guess.js';
import { parseTime } from '../intake/value-column.js';
import {
  type Comparison,
  type Condition,
  type Literal,
  type NamedColumn,
  type Operand,
  parseCondition,
} from './parse.js';
import { wrong } from './tokens.js';

/** The cells of the current row, by the place of their columns in `RowFilter.columns`. */
export interface Cells {
  /** Undefined where there is none, or an empty one. */
  text(slot: number): string | undefined;
  /** NaN where it is no number. */
  number(slot: number): number;
}

const FALSE = 0;
const UNKNOWN = 1;
const TRUE = 2;
/** The row cannot be judged: `problem` says why. */
const BAD = -1;

/** Answers, of a row, whether it stays. */
export interface RowFilter {
  readonly columns: readonly NamedColumn[];
  /** Whether a column is named, which takes a header. */
  readonly named: boolean;
  /** The places of its columns among those of a table. `source` is what messages call the table. */
  find(source: string, names: readonly string[], header: boolean): number[];
  /** True: kept; false: left out; a text: what is wrong with the row. */
  keeps(cells: Cells): boolean | string;
  /** What to say where it keeps none. */
  readonly nothing?: string;
}

/** Throws an InputError that shows the place where the text is no condition. */
export function rowFilter(text: string): RowFilter {
  const parsed = parseCondition(text);
  const state = { problem: '' };
  const test = compiled(parsed.condition, parsed.columns, state);
  return {
    columns: parsed.columns,
    named: parsed.columns.some(({ name }) => typeof name === 'string'),
    find: (source, names, header) =>
      parsed.columns.map((column) => placeOf(text, source, column, names, header)),
    keeps(cells) {
      const answer = test(cells);
      return answer === BAD ? state.problem : answer === TRUE;
    },
  };
}

const SHOWN_NAMES = 30;

function placeOf(
  text: string,
  source: string,
  { name, at }: NamedColumn,
  names: readonly string[],
  header: boolean,
): number {
  if (typeof name === 'number') {
    if (name >= 1 && name <= names.length) return name - 1;
    throw wrong(text, at, `${source} has ${names.length} columns, from #1 to #${names.length}`);
  }
  if (!header) {
    throw wrong(
      text,
      at,
      `${source} has no header, so its columns have no names; write #1 to #${names.length}`,
    );
  }
  const exact = names.indexOf(name);
  if (exact >= 0) {
    const again = names.indexOf(name, exact + 1);
    if (again < 0) return exact;
    const [one, other] = [`#${exact + 1}`, `#${again + 1}`];
    throw wrong(text, at, `${source} has two columns ${clip(name)}, ${one} and ${other}; write one of these`);
  }
  const folded = names.flatMap((other, c) => (other.toLowerCase() === name.toLowerCase() ? [c] : []));
  if (folded.length === 1) return folded[0];
  const meant = nearest(name, names);
  const known = names.slice(0, SHOWN_NAMES).map((other) => clip(other));
  const advice =
    meant === undefined
      ? `its columns are ${known.join(', ')}${names.length > SHOWN_NAMES ? ', …' : ''}; if its first row is no header, write #1 to #${names.length} instead`
      : `did you mean ${clip(meant)}?`;
  throw wrong(text, at, `${source} has no column ${clip(name)}; ${advice}`);
}

type Test = (cells: Cells) => number;
type State = { problem: string };

function compiled(condition: Condition, columns: readonly NamedColumn[], state: State): Test {
  switch (condition.kind) {
    case 'all':
    case 'any':
      return joined(
        condition.kind === 'all' ? FALSE : TRUE,
        condition.of.map((part) => compiled(part, columns, state)),
      );
    case 'not': {
      const inner = compiled(condition.of, columns, state);
      return (cells) => {
        const answer = inner(cells);
        return answer === BAD ? BAD : TRUE - answer;
      };
    }
    case 'missing':
      return (cells) => (cells.text(condition.slot) === undefined ? TRUE : FALSE);
    case 'like':
      return (cells) => {
        const text = cells.text(condition.slot);
        return text === undefined ? UNKNOWN : isLike(text, condition.pattern) ? TRUE : FALSE;
      };
    case 'in': {
      const tests = condition.values.map((value) => equals(condition.slot, value));
      const texts = condition.values.every((value) => value.kind === 'text' && value.time === undefined)
        ? new Set(condition.values.map((value) => String(value.value)))
        : undefined;
      if (!texts) return joined(TRUE, tests);
      return (cells) => {
        const text = cells.text(condition.slot);
        return text === undefined ? UNKNOWN : texts.has(text) ? TRUE : FALSE;
      };
    }
    case 'compare':
      return comparison(condition.by, condition.left, condition.right, columns, state);
  }
}

/** The first answer that settles it, else the nearest to that: FALSE settles "and", TRUE settles "or". */
function joined(settling: number, tests: readonly Test[]): Test {
  const nearer = settling === FALSE ? Math.min : Math.max;
  return (cells) => {
    let found = TRUE - settling;
    for (const test of tests) {
      const answer = test(cells);
      if (answer === settling || answer === BAD) return answer;
      found = nearer(found, answer);
    }
    return found;
  };
}

const MIRRORED: Readonly<Record<Comparison, Comparison>> = {
  '=': '=',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

function comparison(
  by: Comparison,
  left: Operand,
  right: Operand,
  columns: readonly NamedColumn[],
  state: State,
): Test {
  if (left.kind !== 'column') return comparison(MIRRORED[by], right, left, columns, state);
  const { slot } = left;
  const same = by === '=' || by === '!=';
  if (same) {
    const test = right.kind === 'column' ? equalColumns(slot, right.slot) : equals(slot, right);
    return by === '=' ? test : (cells) => TRUE - test(cells);
  }
  const holds = ORDERS[by];
  const bad = (text: string, wanted: string): number => {
    const { name } = columns[slot];
    state.problem = `column ${typeof name === 'number' ? `#${name}` : clip(name)}: ${clip(text)} is no ${wanted}, so it cannot be compared by ${by}`;
    return BAD;
  };
  if (right.kind === 'column') return orderedColumns(slot, right.slot, holds, bad);
  if (right.kind === 'number') {
    const { value } = right;
    return (cells) => {
      const number = cells.number(slot);
      if (!Number.isNaN(number)) return holds(number - value) ? TRUE : FALSE;
      const text = cells.text(slot);
      return text === undefined ? UNKNOWN : bad(text, 'number');
    };
  }
  const { time, value } = right;
  return (cells) => {
    const text = cells.text(slot);
    if (text === undefined) return UNKNOWN;
    if (time === undefined) return holds(order(text, value)) ? TRUE : FALSE;
    const found = parseTime(text);
    return typeof found === 'string' ? bad(text, 'time') : holds(found - time) ? TRUE : FALSE;
  };
}

const ORDERS: Readonly<Record<Exclude<Comparison, '=' | '!='>, (difference: number) => boolean>> = {
  '<': (difference) => difference < 0,
  '<=': (difference) => difference <= 0,
  '>': (difference) => difference > 0,
  '>=': (difference) => difference >= 0,
};

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Equal as they stand, or as numbers or times; what is neither is merely something else. */
function equals(slot: number, value: Literal): Test {
  if (value.kind === 'number') {
    return (cells) => {
      const number = cells.number(slot);
      if (!Number.isNaN(number)) return number === value.value ? TRUE : FALSE;
      return cells.text(slot) === undefined ? UNKNOWN : FALSE;
    };
  }
  return (cells) => {
    const text = cells.text(slot);
    if (text === undefined) return UNKNOWN;
    if (text === value.value) return TRUE;
    return value.time !== undefined && parseTime(text) === value.time ? TRUE : FALSE;
  };
}

function equalColumns(a: number, b: number): Test {
  return (cells) => {
    const [left, right] = [cells.text(a), cells.text(b)];
    if (left === undefined || right === undefined) return UNKNOWN;
    return left === right || cells.number(a) === cells.number(b) ? TRUE : FALSE;
  };
}

function orderedColumns(
  a: number,
  b: number,
  holds: (difference: number) => boolean,
  bad: (text: string, wanted: string) => number,
): Test {
  return (cells) => {
    const [left, right] = [cells.text(a), cells.text(b)];
    if (left === undefined || right === undefined) return UNKNOWN;
    const numbers = cells.number(a) - cells.number(b);
    if (!Number.isNaN(numbers)) return holds(numbers) ? TRUE : FALSE;
    const [early, late] = [parseTime(left), parseTime(right)];
    if (typeof early === 'number' && typeof late === 'number') return holds(early - late) ? TRUE : FALSE;
    return bad(typeof early === 'string' ? left : right, 'number or time');
  };
}

/**
 * Whether the text is like the pattern, in which % stands for any characters and _ for one. Only the last % is ever gone
 * back to, so it takes at most the product of the two lengths.
 */
function isLike(text: string, pattern: string): boolean {
  let [t, p] = [0, 0];
  let [afterAny, resume] = [-1, 0];
  while (t < text.length) {
    if (pattern[p] === '%') {
      afterAny = ++p;
      resume = t;
    } else if (p < pattern.length && (pattern[p] === '_' || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (afterAny >= 0) {
      p = afterAny;
      t = ++resume;
    } else return false;
  }
  while (pattern[p] === '%') p++;
  return p === pattern.length;
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** The number that a cell writes, NaN where it writes none. */
export function numberOf(text: string | undefined): number {
  const cell = text?.trim();
  return cell !== undefined && NUMBER.test(cell) ? Number(cell) : Number.NaN;
}
