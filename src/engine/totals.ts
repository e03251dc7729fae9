// The totals of a table as an update leaves them: one object per state, never changed in place.

import { unseenMass } from '../math/quadrature.js';
import type { SideHyper, TableTotals } from './engine.js';

export function noTotals(features: number): TableTotals {
  const nothing = () => new Float64Array(features);
  return { mass: nothing(), unseenMass: nothing(), unseenMassAt: nothing() };
}

/** The totals after a half-step of a table with this mass, M being the other side's. */
export function totalsAfter(hyper: SideHyper, mass: Float64Array, M: Float64Array): TableTotals {
  const unseen = hyper.size > 0 ? unseenMass(hyper, M) : new Float64Array(mass.length);
  return { mass, unseenMass: unseen, unseenMassAt: M.slice() };
}

export function copyTotals({ mass, unseenMass, unseenMassAt }: TableTotals): TableTotals {
  return { mass: mass.slice(), unseenMass: unseenMass.slice(), unseenMassAt: unseenMassAt.slice() };
}
