// Coordinate ascent ends slowly: most parameters creep towards their values by a constant share of the way that is left. Three
// states of a fit show that share for each of them alone, and so where it is going (Aitken's extrapolation): the fit jumps there,
// sweeps that follow mend what does not fit together, and the bound judges the whole.

import type { Engine, Table, TableTotals, TableValues } from '../../engine/engine.js';
import type { ExtrapolationLimits } from '../../engine/extrapolate.js';
import { SIDES, type SideName } from '../../graph/graph.js';
import type { BothHyper, BothTables } from './bound.js';

/** Four steps ahead at most. */
const LIMITS: ExtrapolationLimits = { least: 1e-6, mostShare: 0.8, mostFactor: Math.E };
const { least: LEAST_COUNT, mostShare: MOST_SHARE, mostFactor: MOST_FACTOR } = LIMITS;
/** Values of both sides (vertices × features) beyond which the copies would take too much memory. */
const MOST_VALUES = 2 ** 24;

/** The values of both tables at some time: beside them, where the engine keeps them, else here. */
export type Copies = Readonly<Record<SideName, { readonly kept: Table } | { readonly values: TableValues }>>;
export type BothTotals = Readonly<Record<SideName, TableTotals>>;

/** Edges of a vertex on average below which copies take as long as the sweeps that a jump saves. */
const LEAST_DEGREE = 50;

/**
 * Whether a fit of this size jumps. On a GPU copies would travel to the host and back, for sweeps that take less. A fit from a
 * former model jumps once, however few edges its vertices have.
 */
export function mayExtrapolate(
  engine: Pick<Engine, 'name'>,
  {
    vertices,
    edges,
    features,
  }: { readonly vertices: number; readonly edges: number; readonly features: number },
  former = false,
): boolean {
  const fewest = former ? 0 : LEAST_DEGREE * vertices;
  return engine.name !== 'gpu' && edges >= fewest && vertices * features <= MOST_VALUES;
}

export async function copyTables(engine: Engine, tables: BothTables): Promise<Copies> {
  const copy = async (table: Table) =>
    engine.extrapolator
      ? { kept: await engine.extrapolator.keep(table) }
      : { values: await engine.read(table) };
  return { users: await copy(tables.users), items: await copy(tables.items) };
}

/** Copies that nobody needs any more. */
export function dropCopies(engine: Engine, copies: Copies | undefined): void {
  for (const copy of Object.values(copies ?? {})) if ('kept' in copy) void engine.free(copy.kept);
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
    const copy = copies[side];
    if ('kept' in copy) await engine.extrapolator?.restore(tables[side], copy.kept, 'exact');
    else await engine.write(tables[side], copy.values, 'exact');
    await engine.setMass(tables[side], totals[side].mass);
    await engine.setUnseenMass(tables[side], totals[side].unseenMass, totals[side].unseenMassAt);
  }
}

/** Moves every parameter to where its last two changes lead; the tables are at the third state, equally long after the second. */
export async function extrapolate(
  engine: Engine,
  tables: BothTables,
  hyper: BothHyper,
  first: Copies,
  second: Copies,
): Promise<void> {
  for (const side of SIDES) {
    const table = tables[side];
    const totals = await engine.totals(table);
    // A shape is the prior's and a count; only the count moves. Rounding may leave it a little below the prior's.
    const shape = 0.999 * hyper[side].shape;
    const [one, two] = [first[side], second[side]];
    if ('kept' in one && 'kept' in two) {
      await engine.extrapolator?.move(table, one.kept, two.kept, shape, LIMITS, 'exact');
    } else if ('values' in one && 'values' in two) {
      const now = await engine.read(table);
      const ahead = (name: keyof TableValues, base: number) =>
        extrapolated(one.values[name], two.values[name], now[name], base);
      const [weightRate, featureRate] = [ahead('weightRate', 0), ahead('featureRate', 0)];
      const featureShape = ahead('featureShape', shape);
      await engine.write(
        table,
        { weightShape: now.weightShape, weightRate, featureShape, featureRate },
        'exact',
      );
    }
    await engine.setUnseenMass(table, totals.unseenMass, totals.unseenMassAt);
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
