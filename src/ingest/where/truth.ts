// Whether a condition is true of a row: true, false or unknown, as in SQL.

import { clip } from '../intake/columns.js';
import { timeOfCell } from '../intake/value-column.js';

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

export const FALSE = 0;
export const UNKNOWN = 1;
export const TRUE = 2;

/** One of the three, or a text that says why the row cannot be compared. */
export type Test = (cells: Cells) => number | string;

export type Operand =
  | { readonly kind: 'column'; readonly slot: number; readonly label: string }
  | { readonly kind: 'number'; readonly value: number }
  /** `time`: milliseconds since 1970, if the text is a date. */
  | { readonly kind: 'text'; readonly value: string; readonly time: number | undefined };
export type Column = Extract<Operand, { kind: 'column' }>;

export function isZero(difference: number): boolean {
  return difference === 0;
}

/** FALSE decides "and", TRUE decides "or"; otherwise UNKNOWN wins over the other value. */
export function joined(decisive: number, tests: readonly Test[]): Test {
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

export function negated(test: Test): Test {
  return (cells) => {
    const answer = test(cells);
    return typeof answer === 'string' ? answer : TRUE - answer;
  };
}

/** `ordered`: for < and its relatives. Then values that cannot be compared make a bad row; for = and != they are different. */
export function comparison(
  by: string,
  ordered: boolean,
  holds: (difference: number) => boolean,
  column: Column,
  right: Operand,
): Test {
  // Not equal means that none of several values is equal.
  if (by === '!=' || by === '<>') {
    return negated(comparison('=', false, isZero, column, right));
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
export function anyValue(slot: number, test: Test): Test {
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
