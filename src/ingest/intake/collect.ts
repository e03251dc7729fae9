// Collects rows (user, item, count) from any reader, and makes the graph and its counts of rows.

import { InputError } from '../../errors.js';
import { addCounts, buildGraph, MAX_EDGES } from '../../graph/build.js';
import type { BipartiteGraph, BySide } from '../../graph/graph.js';
import { lowerBound } from '../../math/csr.js';
import { grown } from '../../math/memory.js';
import { option, optionError } from '../../options/error.js';
import type { TaskOptions } from '../../progress.js';
import type { ColumnGroup } from '../formats/parquet-tasks.js';
import type { LeftOut, ReadCounts, ReaderOptions, RejectSink } from '../options.js';
import { NumberBlocks } from './blocks.js';
import { clip } from './columns.js';
import { IdColumn } from './id-column.js';
import { differentPairs, FEW_ROWS, mergePairs } from './merge-pairs.js';
import type { ValueColumn } from './value-column.js';

/** The most bad rows that are set aside; a table with more is not what the options say. */
export const MAX_REJECTS = 1_000_000;
/** … and the most characters of their texts in all. */
export const MAX_REJECTED_TEXT = 1 << 26;

/** Receives the rows of a table that is too large for memory; the result is then not a graph. */
export interface RowSpill {
  /** Number of rows in memory before they are passed on. */
  readonly batch: number;
  /** Rows, by the codes of the columns. */
  take(
    users: Uint32Array,
    items: Uint32Array,
    counts: Uint32Array | undefined,
    columns: BySide<IdColumn>,
  ): void;
  /** Rows of plain whole numbers, read by threads; rejects if they are not plain. `onRows` receives the number of further rows. */
  takeColumns(
    groups: readonly ColumnGroup[],
    counted: boolean,
    options: Pick<TaskOptions, 'threads' | 'signal'> & { onRows(rows: number): void },
  ): Promise<void>;
  /** Discards the rows so far, which were all plain numbers: they will be read again. */
  restart(): void;
  /** Called after the last row; `keepItem` as for a graph. */
  finish(columns: BySide<IdColumn>, keepItem?: (code: number) => boolean): void;
}

/** The result if rows go elsewhere. */
export const NO_GRAPH = buildGraph({ users: [], items: [], userCount: 0, itemCount: 0 });

type CollectorOptions = Pick<ReaderOptions, 'multigraph' | 'value' | 'spill' | 'filter' | 'weight' | 'texts'>;

export class EdgeCollector {
  readonly users: IdColumn;
  readonly items: IdColumn;
  readonly #multigraph: boolean;
  #counts: NumberBlocks | undefined;
  #values: Float64Array | undefined;
  /** Bad rows, rows that the condition leaves out, and rows whose weight rounds to 0. */
  readonly #out = { rejected: 0, where: 0, weight: 0 };
  #rejectedText = 0;
  /** With several files, rejected rows carry the name of their file. */
  nameRejects = false;
  readonly #options: CollectorOptions;
  /** Rows that were merged while reading. */
  #merged = 0;
  readonly #spill: RowSpill | undefined;
  #spilled = 0;
  /** The number of rows at which to see whether they repeat. */
  #checkAt = FEW_ROWS;

  /** `name` is the source, for messages. Without `rejects`, the first bad row throws. */
  constructor(
    public name: string,
    options: CollectorOptions,
    readonly rejects?: RejectSink,
  ) {
    this.#multigraph = options.multigraph ?? false;
    this.#spill = options.spill;
    this.#options = options;
    if (options.value) this.#values = new Float64Array(1024);
    this.users = new IdColumn(options.texts?.users);
    this.items = new IdColumn(options.texts?.items);
  }

  /** Good rows so far. */
  get rows(): number {
    return this.#spilled + this.#merged + this.users.codes.length;
  }

  /** Adds a row by the codes of `users` and `items`, with its value if there is a column of values. */
  push(user: number, item: number, count: number, value?: number): void {
    if (count === 0) {
      this.#out.weight++;
      return;
    }
    const row = this.users.codes.length;
    if (row >= MAX_EDGES - 1) {
      throw new InputError(
        `${this.name}: more than ${MAX_EDGES - 1} different pairs; a graph holds no more, sample the data first`,
      );
    }
    this.users.codes.push(user);
    this.items.codes.push(item);
    if (this.#values) {
      if (row === this.#values.length) this.#values = grown(this.#values);
      this.#values[row] = value ?? this.rows - 1;
    }
    if (this.#multigraph) {
      if (count !== 1 && !this.#counts) {
        // Counts take memory only from the first one that is not 1.
        this.#counts = new NumberBlocks();
        for (let before = 0; before < row; before++) this.#counts.push(1);
      }
      this.#counts?.push(count);
    }
    if (this.#spill && row + 1 >= this.#spill.batch) {
      this.#handOver(this.#spill);
      return;
    }
    if (row + 1 >= this.#checkAt) this.#mergeRepeats();
  }

  /** Passes on rows that are too many for memory. */
  #handOver(spill: RowSpill): void {
    this.#spilled += this.users.codes.length;
    spill.take(this.users.codes.drain(), this.items.codes.drain(), this.#counts?.drain(), this);
    this.#counts = undefined;
  }

  /** Merges equal pairs if half of the rows repeat others: memory grows with the distinct pairs, not with the rows. */
  #mergeRepeats(): void {
    const [users, items] = [this.users.codes, this.items.codes];
    const different = differentPairs(users, items);
    if (users.length > 2 * different) this.#merge(users, items);
    this.#checkAt = Math.max(users.length + FEW_ROWS, 2 * different);
  }

  #merge(users: NumberBlocks, items: NumberBlocks): void {
    const before = users.length;
    if (this.#multigraph && !this.#counts) {
      this.#counts = new NumberBlocks();
      for (let row = 0; row < before; row++) this.#counts.push(1);
    }
    const counts = this.#counts;
    const values = this.#values;
    const sign = this.#options.value?.keep === 'largest' ? -1 : 1;
    const kept = mergePairs(users, items, {
      move(from, to) {
        counts?.set(to, counts.get(from));
        if (values) values[to] = values[from];
      },
      add(from, into) {
        counts?.set(into, addCounts(counts.get(into), counts.get(from)));
        if (values && sign * values[from] < sign * values[into]) values[into] = values[from];
      },
    });
    counts?.truncate(kept);
    this.#merged += before - kept;
  }

  /** Counts a row that the condition leaves out. */
  leaveOut(): void {
    this.#out.where++;
  }

  /** Sets a bad row aside, or throws. `line` counts from 1; `where` names the place if the source has no lines. */
  reject(line: number, reason: string, text: string, where = `${this.name}, line ${line}`): void {
    if (!this.rejects) {
      throw optionError`${where}: ${reason}. The row is ${clip(text)}. Correct it, or set bad rows aside with ${option('rejects', 'FILE')}`;
    }
    const rejected = ++this.#out.rejected;
    this.#rejectedText += text.length;
    if (rejected > MAX_REJECTS || this.#rejectedText > MAX_REJECTED_TEXT) {
      const much =
        rejected > MAX_REJECTS
          ? `more than ${MAX_REJECTS} rows are`
          : `more than ${MAX_REJECTED_TEXT} characters in ${rejected} rows are`;
      throw new InputError(
        `${where}: ${reason}. So far ${much} bad, so reading stops; check the separator, the columns and the format`,
      );
    }
    this.rejects.add({ line, reason: this.nameRejects ? `${this.name}: ${reason}` : reason, text });
  }

  /** The graph of all rows, or of those whose item code `keepItem` accepts. */
  finish(keepItem?: (code: number) => boolean): {
    graph: BipartiteGraph;
    read: ReadCounts;
    values?: Float64Array;
  } {
    if (keepItem && !this.#spill) this.#filter(keepItem);
    const rows = this.rows;
    if (rows === 0) throw this.#nothing();
    if (this.#spill) {
      this.#handOver(this.#spill);
      this.#spill.finish(this, keepItem);
      return { graph: NO_GRAPH, read: readCounts({ rows, kept: rows }, this.#options, this.#out) };
    }
    const counts = this.#counts?.drain();
    const users = this.users.finish(this.name);
    const items = this.items.finish(this.name);
    const graph = buildGraph({
      users: users.vertices,
      items: items.vertices,
      counts,
      userCount: users.ids.length,
      itemCount: items.ids.length,
      userIds: users.ids,
      itemIds: items.ids,
      multigraph: this.#multigraph,
    });
    const read = readCounts({ rows, kept: graph.edges }, this.#options, this.#out);
    const { value } = this.#options;
    if (!value || !this.#values) return { graph, read };
    const values = edgeValues(graph, users.vertices, items.vertices, this.#values, value.keep);
    return { graph, read, values: value.finish?.(values) ?? values };
  }

  #nothing(): InputError {
    const { rejected, where, weight } = this.#out;
    if (rejected > 0) {
      return new InputError(
        `${this.name}: all ${rejected} rows were rejected, so no edge is left; see the reasons in the rejects file`,
      );
    }
    const { nothing } = this.#options.filter ?? {};
    if (where > 0 && nothing) return new InputError(`${this.name}: ${nothing}`);
    if (where > 0) {
      return optionError`${this.name}: ${option('where')} leaves out all ${where} rows; relax it, or check the cells that it compares`;
    }
    if (weight > 0) {
      return optionError`${this.name}: all ${weight} weights of ${option('weight')} round to 0; give them in a smaller unit`;
    }
    return new InputError(`${this.name}: there is no row of data in it; give at least one`);
  }

  #filter(keepItem: (code: number) => boolean): void {
    const [users, items] = [this.users.codes, this.items.codes];
    let kept = 0;
    for (let row = 0; row < items.length; row++) {
      const item = items.get(row);
      if (!keepItem(item)) continue;
      users.set(kept, users.get(row));
      items.set(kept, item);
      this.#counts?.set(kept, this.#counts.get(row));
      kept++;
    }
    for (const list of [users, items, this.#counts]) list?.truncate(kept);
  }
}

/** The counts of rows: good ones, distinct pairs among them, and rows that were set aside or left out. */
export function readCounts(
  { rows, kept }: { readonly rows: number; readonly kept: number },
  { filter, weight }: Pick<ReaderOptions, 'filter' | 'weight'>,
  out: { readonly rejected: number; readonly where: number; readonly weight: number },
): ReadCounts {
  const leftOut: LeftOut = {
    ...(filter !== undefined && { where: out.where }),
    ...(weight !== undefined && { weight: out.weight }),
  };
  return Object.freeze({
    rows: rows + out.rejected + out.where + out.weight,
    kept,
    merged: rows - kept,
    rejected: out.rejected,
    ...(Object.keys(leftOut).length > 0 && { leftOut }),
  });
}

/** The value of each edge, in the order of graph.users.neighbors, from the values of the rows. */
function edgeValues(
  { users }: BipartiteGraph,
  userOf: Uint32Array,
  itemOf: Uint32Array,
  values: Float64Array,
  keep: ValueColumn['keep'],
): Float64Array {
  const sign = keep === 'least' ? 1 : -1;
  const result = new Float64Array(users.neighbors.length).fill(sign * Number.POSITIVE_INFINITY);
  for (let row = 0; row < userOf.length; row++) {
    const user = userOf[row];
    const edge = lowerBound(users.neighbors, itemOf[row], users.offsets[user], users.offsets[user + 1]);
    if (sign * values[row] < sign * result[edge]) result[edge] = values[row];
  }
  return result;
}
