// A user's row among factors by least squares, from the items they have: the minimum of
//   Σ_own (1 − x·y)² + α Σ_all (x·y)² + λ (own + α·all) ‖x‖².
// What does not depend on the user, Σ y yᵀ over all items, is made once; a user then takes a few conjugate gradients, and a Cholesky
// decomposition where scores are explained.

import { columnSums, type RankerMember } from '../../fit/model.js';
import { factorize, solveFactorized } from '../../math/cholesky.js';
import { sumOfProducts } from '../../math/products.js';
import type { Explanation, OwnItems } from '../explain/explain.js';
import type { MemberScorer, UserFactors } from './member-scorer.js';

type LeastSquaresMember = RankerMember & { readonly fold: { readonly kind: 'least-squares' } };

export function leastSquaresScorer(member: LeastSquaresMember): Omit<MemberScorer, 'share'> {
  const { features: K, items, users } = member;
  let gram: Float64Array | undefined;
  let total: Float64Array | undefined;
  const everyone = () => {
    gram ??= gramOf(items, K);
    return gram;
  };
  const solverFor = (own: OwnItems) => decomposed(member, everyone(), own.items);
  const product = (row: ArrayLike<number>, item: number) => sumOfProducts(row, items, item * K, K);
  const seat = (means: Float32Array, own: OwnItems): UserFactors => ({
    means,
    score: (item) => product(means, item),
    taste: () => undefined,
    explainer() {
      const solve = solverFor(own);
      total ??= columnSums(items, K);
      const mass = total;
      const towardsAll = solve(mass);
      const all = {
        features: Float64Array.from(means, (mean, k) => mean * mass[k]),
        direct: 0,
        items: Float64Array.from(own.items, (from) => product(towardsAll, from)),
        prior: 0,
      };
      return (item): Explanation => {
        // x = A⁻¹ Σ y_own, so an own item's part of x·y is y_own · A⁻¹ y.
        const towards = solve(items.subarray(item * K, (item + 1) * K));
        const score = product(means, item);
        const byItem = Float64Array.from(own.items, (from) => product(towards, from));
        const sum = byItem.reduce((a, b) => a + b, 0);
        // The stored row is rounded, and parts are of the score that it gives.
        const scale = sum === 0 ? 0 : score / sum;
        return {
          score,
          features: Float64Array.from(means, (mean, k) => mean * items[item * K + k]),
          direct: 0,
          items: byItem.map((part) => part * scale),
          prior: sum === 0 ? score : 0,
          all,
        };
      };
    },
  });
  const fresh = (own: OwnItems) => {
    const wanted = new Float64Array(K);
    for (let e = 0; e < own.items.length; e++) {
      for (let k = 0; k < K; k++) wanted[k] += items[own.items[e] * K + k];
    }
    return seat(Float32Array.from(byGradients(member, everyone(), own.items, wanted)), own);
  };
  return {
    features: K,
    items,
    known: (row, own) => (users ? seat(users.subarray(row * K, (row + 1) * K), own) : fresh(own)),
    fresh,
  };
}

/** Σ y yᵀ over all rows. */
function gramOf(table: Float32Array, K: number): Float64Array {
  const gram = new Float64Array(K * K);
  for (let at = 0; at < table.length; at += K) {
    for (let i = 0; i < K; i++) {
      const y = table[at + i];
      if (y === 0) continue;
      for (let j = 0; j <= i; j++) gram[i * K + j] += y * table[at + j];
    }
  }
  for (let i = 0; i < K; i++) for (let j = 0; j < i; j++) gram[j * K + i] = gram[i * K + j];
  return gram;
}

/** Relative size of the residual that float32 does not see. */
const TOLERANCE = 1e-9;

/** The penalty of a user with so many items. */
function penaltyOf({ features: K, items, fold: { alpha, lambda } }: LeastSquaresMember, own: number): number {
  return lambda * (own + (alpha * items.length) / K);
}

/** Solves A x = b for the user who has these items. */
function byGradients(
  member: LeastSquaresMember,
  gram: Float64Array,
  own: ArrayLike<number>,
  b: Float64Array,
): Float64Array {
  const { features: K, items } = member;
  const { alpha } = member.fold;
  const penalty = penaltyOf(member, own.length);
  const x = new Float64Array(K);
  const r = b.slice();
  const p = b.slice();
  const q = new Float64Array(K);
  let residual = dot(r, r);
  const goal = residual * TOLERANCE ** 2;
  for (let step = 0; step < 4 * K && residual > goal; step++) {
    for (let i = 0; i < K; i++) {
      q[i] = alpha * sumOfProducts(p, gram, i * K, K) + penalty * p[i];
    }
    for (let e = 0; e < own.length; e++) {
      const y = items.subarray(own[e] * K, (own[e] + 1) * K);
      const product = dot(y, p);
      for (let i = 0; i < K; i++) q[i] += product * y[i];
    }
    const length = residual / dot(p, q);
    for (let i = 0; i < K; i++) {
      x[i] += length * p[i];
      r[i] -= length * q[i];
    }
    const before = residual;
    residual = dot(r, r);
    for (let i = 0; i < K; i++) p[i] = r[i] + (residual / before) * p[i];
  }
  return x;
}

const dot = (a: ArrayLike<number>, b: ArrayLike<number>) => sumOfProducts(a, b, 0, a.length);

/** A function that solves A x = b for the user who has these items. */
function decomposed(
  member: LeastSquaresMember,
  gram: Float64Array,
  own: ArrayLike<number>,
): (b: ArrayLike<number>) => Float64Array {
  const { features: K, items, fold } = member;
  const L = gram.map((value) => fold.alpha * value);
  for (let e = 0; e < own.length; e++) {
    const at = own[e] * K;
    for (let i = 0; i < K; i++) {
      for (let j = 0; j <= i; j++) L[i * K + j] += items[at + i] * items[at + j];
    }
  }
  const penalty = penaltyOf(member, own.length);
  for (let i = 0; i < K; i++) L[i * K + i] += penalty;
  factorize(L, K, Number.MIN_VALUE);
  return (b) => {
    const x = Float64Array.from(b);
    solveFactorized(L, K, x, 1);
    return x;
  };
}
