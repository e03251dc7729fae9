// One user's row x among factors y by least squares: the minimum of
//   Σ_own (1 − x·y)² + α Σ_all (x·y)² + λ (own + α·all) ‖x‖²,
// which solves A x = Σ_own y with A = Σ_own y yᵀ + α Σ_all y yᵀ + λ (own + α·all) I. The sum over all items is computed once. Sums over
// own items may be weighed.

import { factorize, solveFactorized } from '../../math/cholesky.js';
import { sumOf } from '../../math/moments.js';
import { sumOfProducts } from '../../math/products.js';
import type { FoldRule, RankerMember } from '../model.js';

type LeastSquaresMember = Pick<RankerMember, 'features' | 'items'> & {
  readonly fold: Extract<FoldRule, { readonly kind: 'least-squares' }>;
};

export type LeastSquaresSystem = ReturnType<typeof leastSquaresSystem>;

/** Relative residual at which conjugate gradients stop; float32 rows cannot show a smaller one. */
const TOLERANCE = 1e-9;

/** The systems of a member; the sum over all items is computed on first use. */
export function leastSquaresSystem({ features: K, items, fold }: LeastSquaresMember) {
  let gram: Float64Array | undefined;
  const penaltyOf = (own: number) => fold.lambda * (own + (fold.alpha * items.length) / K);

  /** The row of a user who has these items, by conjugate gradients. Without weights each item counts 1. */
  function row(own: ArrayLike<number>, weights?: ArrayLike<number>): Float64Array {
    gram ??= gramOf(items, K);
    const x = new Float64Array(K);
    const r = new Float64Array(K);
    for (let e = 0; e < own.length; e++) {
      for (let k = 0; k < K; k++) r[k] += (weights?.[e] ?? 1) * items[own[e] * K + k];
    }
    const penalty = penaltyOf(degreeOf(own, weights));
    const p = r.slice();
    const q = new Float64Array(K);
    let residual = dot(r, r);
    const goal = residual * TOLERANCE ** 2;
    for (let step = 0; step < 4 * K && residual > goal; step++) {
      for (let i = 0; i < K; i++) q[i] = fold.alpha * sumOfProducts(p, gram, i * K, K) + penalty * p[i];
      for (let e = 0; e < own.length; e++) {
        const y = items.subarray(own[e] * K, (own[e] + 1) * K);
        const product = (weights?.[e] ?? 1) * dot(y, p);
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

  /** A function that solves A x = b for that user, by a Cholesky decomposition: for several right-hand sides. */
  function solver(
    own: ArrayLike<number>,
    weights?: ArrayLike<number>,
  ): (b: ArrayLike<number>) => Float64Array {
    gram ??= gramOf(items, K);
    const L = gram.map((value) => fold.alpha * value);
    for (let e = 0; e < own.length; e++) {
      const at = own[e] * K;
      for (let i = 0; i < K; i++) {
        const y = (weights?.[e] ?? 1) * items[at + i];
        for (let j = 0; j <= i; j++) L[i * K + j] += y * items[at + j];
      }
    }
    const penalty = penaltyOf(degreeOf(own, weights));
    for (let i = 0; i < K; i++) L[i * K + i] += penalty;
    factorize(L, K, Number.MIN_VALUE);
    return (b) => {
      const x = Float64Array.from(b);
      solveFactorized(L, K, x, 1);
      return x;
    };
  }

  return { row, solver };
}

/** The sum of the weights of a user's items. */
function degreeOf(own: ArrayLike<number>, weights: ArrayLike<number> | undefined): number {
  return weights ? sumOf(weights) : own.length;
}

/** The sum over all items of each table: several scorers of a model use the same table. */
const grams = new WeakMap<Float32Array, Float64Array>();

/** Σ y yᵀ over all rows. */
function gramOf(table: Float32Array, K: number): Float64Array {
  const known = grams.get(table);
  if (known?.length === K * K) return known;
  const gram = new Float64Array(K * K);
  const four = table.length - (table.length % (4 * K));
  // Adding four rows in one pass takes less than half of the time. Each sum is still added in the order of the rows.
  for (let at = 0; at < four; at += 4 * K) {
    const [r1, r2, r3] = [at + K, at + 2 * K, at + 3 * K];
    for (let i = 0; i < K; i++) {
      const [y0, y1, y2, y3] = [table[at + i], table[r1 + i], table[r2 + i], table[r3 + i]];
      const row = i * K;
      for (let j = 0; j <= i; j++) {
        gram[row + j] =
          gram[row + j] + y0 * table[at + j] + y1 * table[r1 + j] + y2 * table[r2 + j] + y3 * table[r3 + j];
      }
    }
  }
  for (let at = four; at < table.length; at += K) {
    for (let i = 0; i < K; i++) {
      const y = table[at + i];
      for (let j = 0; j <= i; j++) gram[i * K + j] += y * table[at + j];
    }
  }
  for (let i = 0; i < K; i++) for (let j = 0; j < i; j++) gram[j * K + i] = gram[i * K + j];
  grams.set(table, gram);
  return gram;
}

const dot = (a: ArrayLike<number>, b: ArrayLike<number>) => sumOfProducts(a, b, 0, a.length);
