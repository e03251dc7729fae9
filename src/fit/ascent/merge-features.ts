// Merging features: a fit that explored with more features than asked for joins the most similar ones until the asked number is
// left. If one true feature was found as two, their columns agree and joining them loses nothing. Only fits from noise explore: those
// of data with fewer than two vertices per feature (schedule.ts).

import { type Engine, meansOf, type TableTotals, type TableValues } from '../../engine/engine.js';
import { type FeatureMix, mixedValues, mixedVector, mixTable } from '../../engine/mix-features.js';
import { type BySide, bySide, SIDES } from '../../graph/graph.js';
import { type BothHyper, type BothTables, totalsOf } from './bound.js';
import { setUnseenMasses } from './hyper.js';
import type { Phase } from './schedule.js';

/** Merges features down to those of the phase. The given tables are freed. */
export async function mergeFeatures(
  engine: Engine,
  tables: BothTables,
  hyper: BothHyper,
  phase: Phase,
): Promise<BothTables> {
  const [items, totals] = await Promise.all([engine.read(tables.items), totalsOf(engine, tables)]);
  const mixes = chooseMixes(items, totals, hyper, phase.features);
  const merged = {
    users: await mixTable(engine, tables.users, mixes.users, phase.users),
    items: await mixTable(engine, tables.items, mixes.items, phase.items),
  };
  await setUnseenMasses(engine, merged, mixedUnseen(mixes, totals), hyper);
  return merged;
}

/** The tables and unseen masses of a fit after merging, without an engine: for the model of a fit that was stopped before it. */
export function mergedTables(
  tables: BySide<TableValues>,
  totals: BySide<TableTotals>,
  hyper: BothHyper,
  features: number,
): { readonly tables: BySide<TableValues>; readonly unseenMass: BySide<Float64Array> } {
  const mixes = chooseMixes(tables.items, totals, hyper, features);
  return {
    tables: bySide((side) => mixedValues(tables[side], mixes[side])),
    unseenMass: mixedUnseen(mixes, totals),
  };
}

function mixedUnseen(mixes: BySide<FeatureMix>, totals: BySide<TableTotals>): BySide<Float64Array> {
  return bySide((side) => mixedVector(mixes[side], totals[side].unseenMass));
}

/**
 * Joins the cheapest pair of features until `kept` are left. A feature expects m_k = a_k b_k edges, where a and b are the masses
 * of its users and items. Joining k and l costs the smaller of the two expectations times one minus the cosine of the items'
 * columns. Items alone decide, because they are whole on every rank. The joined columns are x = (b_k x_k + b_l x_l) / √m and
 * y = (a_k y_k + a_l y_l) / √m with m = m_k + m_l: both sides then have the mass √m, and two copies of a feature become one
 * without any change of rates.
 */
export function chooseMixes(
  items: TableValues,
  totals: BySide<Pick<TableTotals, 'mass'>>,
  hyper: BothHyper,
  kept: number,
): BySide<FeatureMix> {
  const features = totals.items.mass.length;
  const products = columnProducts(items, features);
  const mass = bySide((side) => totals[side].mass.slice());
  const weights = bySide(() => new Float64Array(features).fill(1));
  const expected = (k: number) => mass.users[k] * mass.items[k];
  const left = Array.from({ length: features }, (_, k) => k);
  /** For each feature before the merge, the feature that it becomes part of. */
  const whole = left.slice();
  while (left.length > kept) {
    const [k, l] = cheapestPair(left, expected, products);
    const root = Math.sqrt(expected(k) + expected(l));
    const factor = (other: Float64Array) => (root > 0 ? [other[k] / root, other[l] / root] : [1, 0]);
    const factors = { users: factor(mass.items), items: factor(mass.users) };
    for (const side of SIDES) {
      const [p, q] = factors[side];
      for (let f = 0; f < features; f++) weights[side][f] *= whole[f] === k ? p : whole[f] === l ? q : 1;
      mass[side][k] = p * mass[side][k] + q * mass[side][l];
    }
    joinProducts(products, k, l, factors.items);
    for (let f = 0; f < features; f++) if (whole[f] === l) whole[f] = k;
    left.splice(left.indexOf(l), 1);
  }
  const into = Uint16Array.from(whole, (k) => left.indexOf(k));
  return bySide((side) => ({
    features: kept,
    into,
    weights: weights[side],
    rate: 1 + hyper[side].rate,
  }));
}

function cheapestPair(
  left: readonly number[],
  expected: (k: number) => number,
  products: readonly Float64Array[],
): readonly [number, number] {
  let best: readonly [number, number] = [left[0], left[1]];
  let least = Infinity;
  for (const [at, k] of left.entries()) {
    for (const l of left.slice(at + 1)) {
      const length = Math.sqrt(products[k][k] * products[l][l]);
      const cosine = length > 0 ? products[k][l] / length : 0;
      const cost = Math.min(expected(k), expected(l)) * (1 - cosine);
      if (cost < least) [least, best] = [cost, [k, l]];
    }
  }
  return best;
}

/** Σ_j y_jk y_jl over the items, where y is weight times feature. Rows are added in order. */
function columnProducts(items: TableValues, features: number): Float64Array[] {
  const means = meansOf(items, features);
  const products = Array.from({ length: features }, () => new Float64Array(features));
  for (let row = 0; row < means.length; row += features) {
    for (let k = 0; k < features; k++) {
      const own = means[row + k];
      const sums = products[k];
      for (let l = k; l < features; l++) sums[l] += own * means[row + l];
    }
  }
  for (let k = 0; k < features; k++) for (let l = 0; l < k; l++) products[k][l] = products[l][k];
  return products;
}

/** The products after column k became p·k + q·l. */
function joinProducts(products: readonly Float64Array[], k: number, l: number, [p, q]: readonly number[]) {
  const own = p * p * products[k][k] + 2 * p * q * products[k][l] + q * q * products[l][l];
  for (let j = 0; j < products.length; j++) {
    products[k][j] = p * products[k][j] + q * products[l][j];
    products[j][k] = products[k][j];
  }
  products[k][k] = own;
}
