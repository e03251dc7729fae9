// Solves symmetric positive definite systems of a few hundred unknowns, in float64.

import { FitError } from '../errors.js';

/**
 * Replaces a symmetric positive definite matrix (size × size, row-major) by its lower Cholesky factor. Only the lower
 * triangle is read. A squared pivot below `least` is raised to it, and the rest of its column becomes 0: that rest is rounding error,
 * which would grow from column to column. Without `least`, a pivot that is not positive throws.
 */
export function factorize(matrix: Float64Array, size: number, least?: number): void {
  const raised = new Uint8Array(size);
  for (let i = 0; i < size; i++) {
    const own = i * size;
    for (let j = 0; j <= i; j++) {
      const other = j * size;
      let sum = matrix[own + j];
      for (let k = 0; k < j; k++) sum -= matrix[own + k] * matrix[other + k];
      if (j === i && least !== undefined && sum < least) {
        raised[i] = 1;
        sum = least;
      }
      if (j < i) matrix[own + j] = raised[j] ? 0 : sum / matrix[other + j];
      else if (sum > 0) matrix[own + i] = Math.sqrt(sum);
      else throw new FitError(`row ${i} of a system has no positive pivot (${sum})`);
    }
  }
}

/** Solves for `width` right-hand sides (size × width, row-major), in place. */
export function solveFactorized(
  factor: Float64Array,
  size: number,
  right: Float64Array,
  width: number,
): void {
  const subtract = (from: number, to: number, weight: number) => {
    const first = from * width;
    const last = to * width;
    for (let t = 0; t < width; t++) right[last + t] -= weight * right[first + t];
  };
  const divide = (row: number) => {
    const pivot = factor[row * size + row];
    for (let t = row * width; t < (row + 1) * width; t++) right[t] /= pivot;
  };
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < i; k++) subtract(k, i, factor[i * size + k]);
    divide(i);
  }
  for (let i = size - 1; i >= 0; i--) {
    for (let k = i + 1; k < size; k++) subtract(k, i, factor[k * size + i]);
    divide(i);
  }
}
