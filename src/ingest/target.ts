// Where the rows of tables go: one table, or several that are read as one.

import { EdgeCollector } from './collect.js';
import type { IdKind } from './id-column.js';
import type { ReaderOptions, ReadGuess, ReadResult, RejectSink } from './options.js';

/** A table as the ones after it must be. */
export interface FirstTable {
  readonly name: string;
  /** Its format, by name. */
  readonly format: string;
  /** Header names; undefined where its columns have none. */
  readonly names: readonly string[] | undefined;
  readonly width: number;
}

export class TableTarget {
  /** The first of several tables, once it is known. */
  first: FirstTable | undefined;
  #collector: EdgeCollector | undefined;
  #guess: ReadGuess | undefined;
  #tables = 0;

  constructor(
    readonly options: ReaderOptions,
    readonly rejects: RejectSink | undefined,
    readonly several = false,
  ) {}

  /** Columns that the first table was read by. */
  get columns(): ReadGuess['columns'] | undefined {
    return this.#guess?.columns;
  }

  /** The collector of all rows, for the table of this name. `kinds` are those of its columns of ids. */
  open(name: string, kinds: { users?: IdKind; items?: IdKind } = {}): EdgeCollector {
    if (!this.#collector) {
      this.#collector = new EdgeCollector(name, this.options, this.rejects, kinds);
      this.#collector.nameRejects = this.several;
    } else {
      this.#collector.name = name;
      if (kinds.users === 'dictionary') this.#collector.users.keepCodes();
      if (kinds.items === 'dictionary') this.#collector.items.keepCodes();
    }
    return this.#collector;
  }

  /** Notes how a table was understood; the first speaks for all. */
  close(guess: ReadGuess, { name, names, width }: Omit<FirstTable, 'format'>): void {
    this.#tables++;
    this.#guess ??= guess;
    this.first ??= { name, format: guess.format, names, width };
  }

  /** The graph of all rows. `name` is what messages call the whole. */
  finish(name: string): ReadResult {
    const collector = this.open(name);
    const guess = this.#guess!;
    const { count, weight } = guess.columns;
    const unused = count !== undefined && this.options.multigraph === undefined;
    const finished = collector.finish();
    const allOne =
      this.options.multigraph === true &&
      (count ?? weight ?? guess.text) === undefined &&
      finished.read.merged === 0;
    return {
      ...finished,
      guess: {
        ...guess,
        ...(unused && { countUnused: true }),
        ...(allOne && { countsAllOne: true }),
        ...(this.#tables > 1 && { files: this.#tables }),
      },
    };
  }
}

/** Names of the columns that were used, as a guess holds them. */
export function usedColumns(
  options: ReaderOptions,
  names: { readonly users: string; readonly items: string; readonly count: string | undefined },
): ReadGuess['columns'] {
  const { users, items, count } = names;
  if (count === undefined) return { users, items };
  return { users, items, ...(options.weight === undefined ? { count } : { weight: count }) };
}
