// Checks a row of any format: the condition, the two ids, the count and the value, in this order. The first that is wrong makes it a bad
// row.

import { MAX_COUNT } from '../../graph/build.js';
import type { ReaderOptions } from '../options.js';
import type { Cells } from '../where/truth.js';
import type { EdgeCollector } from './collect.js';
import { clip, columnLabel, type TableColumns } from './columns.js';
import { idProblem } from './id-column.js';

/** The cells of the current row, by the positions of their columns. */
interface RowCells {
  /** The id's code in the collector's column, or what is wrong with the id. */
  user(): number | string;
  item(): number | string;
  /** Undefined if the cell is missing or empty. */
  text(column: number): string | undefined;
  /** NaN if the cell is not a number. */
  number(column: number): number;
}

export class RowIntake {
  readonly #parseCount: (text: string) => number | string;
  readonly #filterCells: Cells;

  constructor(
    readonly collector: EdgeCollector,
    readonly columns: TableColumns,
    readonly options: Pick<ReaderOptions, 'filter' | 'value' | 'weight'>,
    readonly cells: RowCells,
  ) {
    this.#parseCount = options.weight === undefined ? parseCount : parseWeight;
    this.#filterCells = {
      text: (slot) => cells.text(columns.filter[slot]),
      number: (slot) => cells.number(columns.filter[slot]),
    };
  }

  /** Adds the current row to the collector; returns what is wrong with a bad one. */
  take(): string | undefined {
    const { collector, columns, cells } = this;
    const { filter, value: valueColumn } = this.options;
    if (filter) {
      const keeps = filter.keeps(this.#filterCells);
      if (typeof keeps === 'string') return keeps;
      if (!keeps) {
        collector.leaveOut();
        return undefined;
      }
    }
    const user = cells.user();
    if (typeof user === 'string' || user < 0) return this.#badId(columns.users, user);
    const item = cells.item();
    if (typeof item === 'string' || item < 0) return this.#badId(columns.items, item);
    const count = columns.count === undefined ? 1 : this.#count(columns.count);
    if (typeof count === 'string') return `${columnLabel(columns, columns.count!)}: ${count}`;
    const value =
      columns.value === undefined ? undefined : valueColumn!.parse(cells.text(columns.value) ?? '');
    if (typeof value === 'string') return `${columnLabel(columns, columns.value!)}: ${value}`;
    collector.push(user, item, count, value);
    return undefined;
  }

  #count(column: number): number | string {
    const number = this.cells.number(column);
    if (Number.isInteger(number) && number >= 1 && number <= MAX_COUNT) return number;
    return this.#parseCount(this.cells.text(column) ?? '');
  }

  #badId(column: number, problem: number | string): string {
    const label = columnLabel(this.columns, column);
    if (typeof problem === 'string') return `${label}: ${problem}`;
    const text = this.cells.text(column);
    return `${label}: ${idProblem(problem)}${text ? `: ${clip(text)}` : ''}`;
  }
}

/** A weight as a count, halves rounded up. */
function parseWeight(text: string): number | string {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= 0 && Math.round(value) <= MAX_COUNT) return Math.round(value);
  return `the weight is ${text === '' ? 'empty' : clip(text)}; a weight must be a number from 0 to ${MAX_COUNT}`;
}

/** A count, or what is wrong with it. */
function parseCount(text: string): number | string {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= MAX_COUNT) return value;
  const rule = `a count must be a whole number from 1 to ${MAX_COUNT}`;
  if (value === 0) return `the count is 0; ${rule}: leave out pairs that do not occur`;
  return `the count is ${text === '' ? 'empty' : clip(text)}; ${rule}`;
}
