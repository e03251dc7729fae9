// Coordinate ascent ends slowly: most parameters creep towards their values by a constant share of the way that is left. Three
// states of a fit show that share for each of them alone, and so where it is going (Aitken's extrapolation): the fit jumps there,
// sweeps that follow mend what does not fit together, and the bound judges the whole.

import type { Engine, TableTotals, TableValues } from '../engine/engine.js';
import { SIDES, type SideName } from '../graph/graph.js';
import type { BothHyper, BothTables } from './bound.js';

/** A step is taken to shrink to no more than this share of the one before: four steps ahead at most. */
const MOST_SHARE = 0.8;
/** No parameter changes by more than this factor. */
const MOST_FACTOR = Math.E;
/** Counts below this are as good as none. */
const LEAST_COUNT = 1e-6;
/** Values of both sides (vertices × features) beyond which the copies would take too much memory. */
const MOST_VALUES = 2 ** 24;

/** The values of both tables at some time. */
export type Copies = Readonly<Record<SideName, TableValues>>;
export type BothTotals = Readonly<Record<SideName, TableTotals>>;

/** Edges of a vertex on average below which copies take as long as the sweeps that a jump saves. */
const LEAST_DEGREE = 50;

/** Whether a fit of this size jumps. On a GPU copies would travel to the host and back, for sweeps that take less. */
export function mayJump(
  engine: Pick<Engine, 'name'>,
  {
    vertices,
    edges,
    features,
  }: { readonly vertices: number; readonly edges: number; readonly features: number },
): boolean {
  return engine.name !== 'gpu' && edges >= LEAST_DEGREE * vertices && vertices * features <= MOST_VALUES;
}

export async function copyTables(engine: Engine, tables: BothTables): Promise<Copies> {
  return { users: await engine.read(tables.users), items: await engine.read(tables.items) };
}

export async function copyTotals(engine: Engine, tables: BothTables): Promise<BothTotals> {
  return { users: await engine.totals(tables.users), items: await engine.totals(tables.items) };
}

/** Puts the tables back to what they were, to the last bit. */
export async function restoreTables(
  engine: Engine,
  tables: BothTables,
  copies: Copies,
  totals: BothTotals,
): Promise<void> {
  for (const side of SIDES) {
    await engine.write(tables[side], copies[side], 'exact');
    await engine.setMass(tables[side], totals[side].mass);
    await engine.setLeftover(tables[side], totals[side].leftover, totals[side].leftoverAt);
  }
}

/** Moves every parameter to where its last two changes lead; the tables are at the third state, equally long after the second. */
export async function jump(
  engine: Engine,
  tables: BothTables,
  hyper: BothHyper,
  first: Copies,
  second: Copies,
): Promise<void> {
  for (const side of SIDES) {
    const table = tables[side];
    const [now, totals] = [await engine.read(table), await engine.totals(table)];
    const ahead = (name: keyof TableValues, base: number) =>
      extrapolated(first[side][name], second[side][name], now[name], base);
    await engine.write(
      table,
      {
        weightShape: now.weightShape,
        weightRate: ahead('weightRate', 0),
        // A shape is the prior's and a count; only the count moves. Rounding may leave it a little below the prior's.
        featureShape: ahead('featureShape', 0.999 * hyper[side].shape),
        featureRate: ahead('featureRate', 0),
      },
      'exact',
    );
    await engine.setLeftover(table, totals.leftover, totals.leftoverAt);
  }
}

/** Where values above `base` are going, one by one; those that turned stay where they are. */
export function extrapolated<T extends Float32Array | Float64Array>(
  first: ArrayLike<number>,
  second: ArrayLike<number>,
  third: T,
  base: number,
): T {
  const values = third.slice() as T;
  for (let i = 0; i < values.length; i++) {
    const x = Math.max(third[i] - base, LEAST_COUNT);
    const middle = Math.max(second[i] - base, LEAST_COUNT);
    const before = middle - Math.max(first[i] - base, LEAST_COUNT);
    const last = x - middle;
    if (!(before * last > 0)) continue;
    const share = Math.min(last / before, MOST_SHARE);
    const aim = x + (last * share) / (1 - share);
    values[i] = base + Math.min(Math.max(aim, x / MOST_FACTOR), x * MOST_FACTOR);
  }
  return values;
}
