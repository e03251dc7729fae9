// Receives the rows of one table, or of several tables that are read as one.

import type { ReaderOptions, ReadGuess, ReadResult, RejectSink } from '../options.js';
import { EdgeCollector } from './collect.js';
import type { TableColumns } from './columns.js';
import { areUnlikelyTimes } from './value-column.js';

/** The properties of the first table, which later tables must share. */
export interface FirstTable {
  readonly name: string;
  readonly format: string;
  /** Header names; undefined if its columns have none. */
  readonly names: readonly string[] | undefined;
  readonly width: number;
}

export class TableTarget {
  /** The first of several tables, once it is read. */
  first: FirstTable | undefined;
  #collector: EdgeCollector | undefined;
  #guess: ReadGuess | undefined;
  #tables = 0;

  constructor(
    readonly options: ReaderOptions,
    readonly rejects: RejectSink | undefined,
    readonly several = false,
  ) {}

  /** Columns given by position are found by name in later files, if they have names. */
  sameColumns(): Partial<ReaderOptions> {
    const columns = this.#guess?.columns;
    if (!this.first?.names || !columns) return {};
    return {
      users: columns.users,
      items: columns.items,
      ...(this.options.count === undefined ? {} : { count: columns.count }),
      ...(this.options.weight === undefined ? {} : { weight: columns.weight }),
    };
  }

  /** The collector of all rows, for the table of this name. */
  open(name: string): EdgeCollector {
    this.#collector ??= new EdgeCollector(name, this.options, this.rejects);
    this.#collector.name = name;
    this.#collector.nameRejects = this.several;
    return this.#collector;
  }

  /** Records how a table was understood; the first one counts for all. `more`: further fields of the guess. */
  close(name: string, format: string, columns: TableColumns, more: Partial<ReadGuess> = {}): void {
    const { names, header, users, items, count } = columns;
    this.#tables++;
    this.#guess ??= {
      kind: 'table',
      format,
      ...more,
      columns: {
        users: names[users],
        items: names[items],
        ...(count !== undefined && {
          [this.options.weight === undefined ? 'count' : 'weight']: names[count],
        }),
      },
    };
    this.first ??= { name, format, names: header ? names : undefined, width: names.length };
  }

  /** The graph of all rows. `name` names the whole in messages; `finished` is the result if rows went elsewhere. */
  finish(name: string, finished: Omit<ReadResult, 'guess'> = this.open(name).finish()): ReadResult {
    const guess = this.#guess!;
    const { count, weight } = guess.columns;
    const unused = count !== undefined && this.options.multigraph === undefined;
    const allOne =
      this.options.multigraph === true &&
      (count ?? weight ?? guess.text) === undefined &&
      finished.read.merged === 0;
    const { value } = this.options;
    const unlikely = value?.role === 'time' && areUnlikelyTimes(finished.values ?? new Float64Array(0));
    return {
      ...finished,
      guess: {
        ...guess,
        ...(unused && { countUnused: true }),
        ...(allOne && { countsAllOne: true }),
        ...(unlikely && { unlikelyTimes: String(value.column) }),
        ...(this.#tables > 1 && { files: this.#tables }),
      },
    };
  }
}
