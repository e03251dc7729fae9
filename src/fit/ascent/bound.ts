// The evidence lower bound L, put together from what an engine sums. The unseen mass μ (users) and ρ (items)
// enters it twice: in the product of the masses, and in the term of each side's unseen atoms.

import type { Engine, SideHyper, Table, TableTotals } from '../../engine/engine.js';
import type { GraphSide, SideName } from '../../graph/graph.js';
import { SIDES } from '../../graph/graph.js';
import { expectedLaplace } from '../../math/quadrature.js';
import { lgamma } from '../../math/special.js';

/** Hyperparameters of both sides. */
export type BothHyper = Readonly<Record<SideName, SideHyper>>;
/** Tables of both sides on an engine. */
export type BothTables = Readonly<Record<SideName, Table>>;

/** Σ log g! over the edges of a multigraph: the constant that the engines' edge term leaves out. */
export function logCountFactorials(counts: Uint32Array | undefined): number {
  let sum = 0;
  if (counts) for (const g of counts) if (g > 1) sum += lgamma(g + 1);
  return sum;
}

/** Σ_k M^U_k M^I_k, where M is the mass of the seen vertices plus the unseen mass. */
export function expectedCount(users: TableTotals, items: TableTotals): number {
  const massOf = ({ mass, unseenMass }: TableTotals, k: number) => mass[k] + unseenMass[k];
  return users.mass.reduce((sum, _, k) => sum + massOf(users, k) * massOf(items, k), 0);
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
  graph: { readonly users: Pick<GraphSide, 'counts'> },
  countFactorials = logCountFactorials(graph.users.counts),
): Promise<number> {
  // Asked for together, so that they are queued before the caller's next operation.
  const [users, items, ofUsers, ofItems] = await Promise.all([
    engine.totals(tables.users),
    engine.totals(tables.items),
    engine.rowTerms(tables.users, hyper.users),
    engine.rowTerms(tables.items, hyper.items),
  ]);
  const totals = { users, items };
  const rowTerms = { users: ofUsers, items: ofItems };
  const sides = { users: 0, items: 0 };
  for (const side of SIDES) {
    const h = hyper[side];
    const rows = tables[side].rows;
    // Rows: log s − log Γ(1−σ) + E log of the priors + entropies.
    let sum = rowTerms[side] - rows * lgamma(1 - h.sigma);
    if (h.size > 0) {
      const { unseenMass, unseenMassAt } = totals[side];
      sum += rows * Math.log(h.size);
      // Unseen atoms: Σ_k μ_k M_k − s·E_θ[ψ(θ·M)], at the M with which μ was last computed.
      for (let k = 0; k < unseenMass.length; k++) sum += unseenMass[k] * unseenMassAt[k];
      sum -= h.size * expectedLaplace(h, unseenMassAt);
    }
    sides[side] = sum;
  }
  return edgeTerm - countFactorials - expectedCount(users, items) + sides.users + sides.items;
}
