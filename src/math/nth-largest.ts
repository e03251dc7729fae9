/** The nth largest of the first `count` values, without sorting; reorders them. */
export function nthLargest(values: Float32Array, count: number, nth: number): number {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const pivot = values[(low + high) >> 1];
    let i = low;
    let j = high;
    while (i <= j) {
      while (values[i] > pivot) i++;
      while (values[j] < pivot) j--;
      if (i <= j) {
        const swap = values[i];
        values[i++] = values[j];
        values[j--] = swap;
      }
    }
    if (nth - 1 <= j) high = j;
    else if (nth - 1 >= i) low = i;
    else break;
  }
  return values[nth - 1];
}

/** All indexes in falling order of their values; ties go to the smaller index. */
export function byFallingValue(values: ArrayLike<number>): Uint32Array {
  return Uint32Array.from({ length: values.length }, (_, at) => at).sort(
    (a, b) => values[b] - values[a] || a - b,
  );
}

/** Indexes of the `n` largest values, in falling order; ties go to the smaller index. −Infinity is never among them. */
export function largest(count: number, n: number, value: (index: number) => number): number[] {
  const best: { index: number; value: number }[] = [];
  for (let index = 0; index < count; index++) {
    const v = value(index);
    if (v === Number.NEGATIVE_INFINITY || (best.length === n && v <= best[n - 1].value)) continue;
    let at = best.length;
    while (at > 0 && best[at - 1].value < v) at--;
    best.splice(at, 0, { index, value: v });
    if (best.length > n) best.pop();
  }
  return best.map((entry) => entry.index);
}
