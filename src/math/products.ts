// Sums of products of two rows. Four independent partial sums take a quarter of the time of one. All functions here add in
// the same order, so equal numbers give equal bits, whether from products or from stored terms.

/** Σ_k row[k]·table[at + k] over `count` numbers, in float64. */
export function sumOfProducts(
  row: ArrayLike<number>,
  table: ArrayLike<number>,
  at: number,
  count: number,
): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  let k = 0;
  for (; k + 3 < count; k += 4) {
    a += row[k] * table[at + k];
    b += row[k + 1] * table[at + k + 1];
    c += row[k + 2] * table[at + k + 2];
    d += row[k + 3] * table[at + k + 3];
  }
  for (; k < count; k++) a += row[k] * table[at + k];
  return a + b + (c + d);
}

/** Σ_k parts[k], with the same bits as `sumOfProducts` of the same products. */
export function sumOfParts(parts: ArrayLike<number>): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  let k = 0;
  for (; k + 3 < parts.length; k += 4) {
    a += parts[k];
    b += parts[k + 1];
    c += parts[k + 2];
    d += parts[k + 3];
  }
  for (; k < parts.length; k++) a += parts[k];
  return a + b + (c + d);
}
