// The evidence lower bound L, put together from what an engine sums. The unseen mass μ (users) and ρ (items)
// enters it twice: in the product of the masses, and in the term of each side's unseen atoms.

import type { Engine, SideHyper, Table, TableTotals } from '../../engine/engine.js';
import type { BySide } from '../../graph/graph.js';
import { expectedLaplace } from '../../math/quadrature.js';
import { lgamma } from '../../math/special.js';

/** Hyperparameters of both sides. */
export type BothHyper = BySide<SideHyper>;
/** Tables of both sides on an engine. */
export type BothTables = BySide<Table>;

/** Σ log g! over the edges of a multigraph: the constant that the engines' edge term leaves out. */
export function logCountFactorials(counts: Uint32Array | undefined): number {
  let sum = 0;
  if (counts) for (const g of counts) if (g > 1) sum += lgamma(g + 1);
  return sum;
}

/** The totals of both tables, asked for together. */
export async function totalsOf(engine: Engine, tables: BothTables): Promise<BySide<TableTotals>> {
  const [users, items] = await Promise.all([engine.totals(tables.users), engine.totals(tables.items)]);
  return { users, items };
}

/** M_k: the mass of the seen vertices plus the unseen mass. */
export function totalMass({ mass, unseenMass }: Pick<TableTotals, 'mass' | 'unseenMass'>): Float64Array {
  return mass.map((m, k) => m + unseenMass[k]);
}

/** Σ_k M^U_k M^I_k. */
export function expectedCount(totals: BySide<TableTotals>): number {
  const items = totalMass(totals.items);
  return totalMass(totals.users).reduce((sum, m, k) => sum + m * items[k], 0);
}

/**
 * L = Σ_edges log(e^λ − 1) − Σ_k M^U_k M^I_k + [users] + [items] at the engine's present state; a multigraph has g log λ − log g!
 * for each edge. `edgeTerm` is the engine's sum over the edges at this state, and `countFactorials` is Σ log g!.
 */
export async function evidenceBound(
  engine: Engine,
  tables: BothTables,
  hyper: BothHyper,
  edgeTerm: number,
  countFactorials: number,
): Promise<number> {
  // Asked for together, so that they are queued before the caller's next operation.
  const [totals, userRows, itemRows] = await Promise.all([
    totalsOf(engine, tables),
    engine.rowTerms(tables.users, hyper.users),
    engine.rowTerms(tables.items, hyper.items),
  ]);
  const users = sideTerms(hyper.users, tables.users.rows, userRows, totals.users);
  const items = sideTerms(hyper.items, tables.items.rows, itemRows, totals.items);
  return edgeTerm - countFactorials - expectedCount(totals) + users + items;
}

/** The terms of one side: its rows, and its unseen atoms at the M with which μ was last computed. */
function sideTerms(
  hyper: SideHyper,
  rows: number,
  rowTerms: number,
  { unseenMass, unseenMassAt }: TableTotals,
): number {
  // Rows: log s − log Γ(1−σ) + E log of the priors + entropies.
  let sum = rowTerms - rows * lgamma(1 - hyper.sigma);
  if (hyper.size === 0) return sum;
  sum += rows * Math.log(hyper.size);
  // Unseen atoms: Σ_k μ_k M_k − s·E_θ[ψ(θ·M)].
  for (let k = 0; k < unseenMass.length; k++) sum += unseenMass[k] * unseenMassAt[k];
  return sum - hyper.size * expectedLaplace(hyper, unseenMassAt);
}
