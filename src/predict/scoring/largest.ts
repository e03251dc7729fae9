/** Indexes of the largest values, in falling order; equal values by index; −Infinity never. */
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
