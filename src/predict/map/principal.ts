/** Rows rotated to their first principal components: count × width, by Jacobi rotations of the covariance. */
export function principalComponents(
  rows: Float32Array,
  count: number,
  features: number,
  width: number,
): Float32Array {
  const mean = new Float64Array(features);
  for (let at = 0; at < rows.length; at++) mean[at % features] += rows[at] / count;
  const covariance = new Float64Array(features * features);
  for (let j = 0; j < count; j++) {
    for (let a = 0; a < features; a++) {
      const left = rows[j * features + a] - mean[a];
      for (let b = a; b < features; b++) {
        covariance[a * features + b] += (left * (rows[j * features + b] - mean[b])) / count;
      }
    }
  }
  for (let a = 0; a < features; a++) {
    for (let b = 0; b < a; b++) covariance[a * features + b] = covariance[b * features + a];
  }
  const { values, vectors } = eigen(covariance, features);
  const order = Array.from(values.keys())
    .sort((a, b) => values[b] - values[a])
    .slice(0, width);
  const result = new Float32Array(count * width);
  for (let j = 0; j < count; j++) {
    for (let d = 0; d < width; d++) {
      let sum = 0;
      for (let a = 0; a < features; a++) {
        sum += (rows[j * features + a] - mean[a]) * vectors[a * features + order[d]];
      }
      result[j * width + d] = sum;
    }
  }
  return result;
}

const MOST_SWEEPS = 60;

/** Eigenvalues and eigenvectors (in columns, the largest entry of each positive) of a symmetric matrix. */
function eigen(matrix: Float64Array, size: number): { values: Float64Array; vectors: Float64Array } {
  const m = matrix.slice();
  const vectors = new Float64Array(size * size);
  for (let a = 0; a < size; a++) vectors[a * size + a] = 1;
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    let off = 0;
    let diagonal = 0;
    for (let a = 0; a < size; a++) {
      diagonal += m[a * size + a] ** 2;
      for (let b = a + 1; b < size; b++) off += m[a * size + b] ** 2;
    }
    if (off <= 1e-22 * diagonal) break;
    for (let a = 0; a < size; a++) for (let b = a + 1; b < size; b++) rotate(m, vectors, size, a, b);
  }
  for (let c = 0; c < size; c++) {
    let largest = 0;
    for (let a = 0; a < size; a++) {
      if (Math.abs(vectors[a * size + c]) > Math.abs(largest)) largest = vectors[a * size + c];
    }
    if (largest < 0) for (let a = 0; a < size; a++) vectors[a * size + c] *= -1;
  }
  return { values: Float64Array.from({ length: size }, (_, a) => m[a * size + a]), vectors };
}

function rotate(m: Float64Array, vectors: Float64Array, size: number, a: number, b: number): void {
  const off = m[a * size + b];
  if (off === 0) return;
  const theta = (m[b * size + b] - m[a * size + a]) / (2 * off);
  const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  const turn = (values: Float64Array, p: number, q: number) => {
    const [left, right] = [values[p], values[q]];
    values[p] = c * left - s * right;
    values[q] = s * left + c * right;
  };
  for (let k = 0; k < size; k++) turn(m, k * size + a, k * size + b);
  for (let k = 0; k < size; k++) turn(m, a * size + k, b * size + k);
  for (let k = 0; k < size; k++) turn(vectors, k * size + a, k * size + b);
}
