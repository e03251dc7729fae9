// Rows of (user, item, count) from any reader → finished graph and its counts of rows.

import { InputError } from '../errors.js';
import { buildGraph, MAX_EDGES } from '../graph/build.js';
import type { BipartiteGraph } from '../graph/graph.js';
import { clip } from './guess.js';
import { IdColumn, type IdKind } from './id-column.js';
import type { ReadCounts } from './options.js';

const BLOCK = 1 << 18;
/** The largest count of one row and of one edge. */
export const MAX_COUNT = 2 ** 32 - 1;

export class EdgeCollector {
  readonly users: IdColumn;
  readonly items: IdColumn;
  readonly #multigraph: boolean;
  readonly #counts: Uint32Array[] = [];
  #allOnes = true;
  /** Bad rows that the reader set aside. */
  rejected = 0;

  constructor(multigraph: boolean, kinds: { users?: IdKind; items?: IdKind } = {}) {
    this.#multigraph = multigraph;
    this.users = new IdColumn(kinds.users);
    this.items = new IdColumn(kinds.items);
  }

  get rows(): number {
    return this.users.rows;
  }

  /** Adds a row by the codes that `users` and `items` gave. */
  push(user: number, item: number, count: number): void {
    const row = this.users.rows;
    if (row >= MAX_EDGES - 1) {
      throw new InputError(`more than ${MAX_EDGES - 1} rows: a graph holds no more; sample the data first`);
    }
    this.users.push(user);
    this.items.push(item);
    if (!this.#multigraph) return;
    if (count !== 1 && this.#allOnes) {
      this.#allOnes = false;
      for (let at = 0; at < row; at += BLOCK) this.#counts.push(new Uint32Array(BLOCK).fill(1));
    }
    if (this.#allOnes) return;
    if (row % BLOCK === 0) this.#counts.push(new Uint32Array(BLOCK));
    this.#counts[this.#counts.length - 1]![row % BLOCK] = count;
  }

  /** The graph of all rows. `name` is the source, for messages. */
  finish(name: string): { graph: BipartiteGraph; read: ReadCounts } {
    const rows = this.rows;
    if (rows === 0) {
      throw new InputError(
        this.rejected > 0
          ? `${name}: all ${this.rejected} rows were rejected, so no edge is left; look at the reasons in the rejects file`
          : `${name}: there is no row of data in it; give a table with at least one row`,
      );
    }
    let counts: Uint32Array | undefined;
    if (!this.#allOnes) {
      counts = new Uint32Array(rows);
      for (const [b, block] of this.#counts.entries()) {
        counts.set(block.subarray(0, Math.min(BLOCK, rows - b * BLOCK)), b * BLOCK);
      }
      this.#counts.length = 0;
    }
    const users = this.users.finish();
    const items = this.items.finish();
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
    const read = Object.freeze({
      rows: rows + this.rejected,
      kept: graph.edges,
      merged: rows - graph.edges,
      rejected: this.rejected,
    });
    return { graph, read };
  }
}

/** A count written in full, or what is wrong with it. */
export function parseCount(text: string): number | string {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= MAX_COUNT) return value;
  const rule = `a count must be a whole number from 1 to ${MAX_COUNT}`;
  if (value === 0) return `the count is 0; ${rule}: leave out pairs that do not occur`;
  return `the count is ${text === '' ? 'empty' : clip(text)}; ${rule}`;
}
