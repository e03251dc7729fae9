// Moves of tables ahead, for fits that jump (fit/ascent/extrapolate.ts).

import type { Activity, Table } from './engine.js';

/** How far values may move ahead. */
export interface ExtrapolationLimits {
  /** Values above their base that are as good as none. */
  readonly least: number;
  /** A change is taken to shrink to no more than this share of the one before. */
  readonly mostShare: number;
  /** No value above its base changes by more than this factor. */
  readonly mostFactor: number;
}

/** Moves of a table to where its values are going, made where they lie. */
export interface Extrapolator {
  /** A copy of the table's values, which is freed as a table is. */
  keep(table: Table): Promise<Table>;
  /** Writes kept values into the table. */
  restore(table: Table, kept: Table, activity: Activity): Promise<void>;
  /**
   * Moves rates and shapes to where the changes from the first values to the second and on to the present ones lead; `shape` is what
   * feature shapes are counted above. Weight shapes stay. Activity and mass follow, the leftover does not.
   */
  move(
    table: Table,
    first: Table,
    second: Table,
    shape: number,
    limits: ExtrapolationLimits,
    activity: Activity,
  ): Promise<void>;
}
