// Scores of factors by least squares. fit/fold-in/least-squares-fold.ts has the system that a user's row solves.

import { leastSquaresSystem } from '../../fit/fold-in/least-squares-fold.js';
import { columnSums, type RankerMember } from '../../fit/model.js';
import { sumOfProducts } from '../../math/products.js';
import type { Explanation, OwnItems } from '../explain/explain.js';
import type { MemberScorer, UserFactors } from './member-scorer.js';

type LeastSquaresMember = RankerMember & { readonly fold: { readonly kind: 'least-squares' } };

export function leastSquaresScorer(member: LeastSquaresMember): Omit<MemberScorer, 'share'> {
  const { features: K, items, users } = member;
  let total: Float64Array | undefined;
  const system = leastSquaresSystem(member);
  const product = (row: ArrayLike<number>, item: number) => sumOfProducts(row, items, item * K, K);
  const seat = (means: Float32Array, own: OwnItems): UserFactors => ({
    means,
    score: (item) => product(means, item),
    taste: () => undefined,
    explainer() {
      const solve = system.solver(own.items);
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
  const fresh = (own: OwnItems) => seat(Float32Array.from(system.row(own.items)), own);
  return {
    features: K,
    items,
    known: (row, own) => (users ? seat(users.subarray(row * K, (row + 1) * K), own) : fresh(own)),
    fresh,
  };
}
