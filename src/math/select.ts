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
