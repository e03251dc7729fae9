// How alike two series are.

/** Pearson's coefficient of two series of the same length. */
export function correlation(a: readonly number[], b: readonly number[]): number {
  const average = (x: readonly number[]) => x.reduce((s, v) => s + v, 0) / x.length;
  const [ma, mb] = [average(a), average(b)];
  let [ab, aa, bb] = [0, 0, 0];
  for (const [i, x] of a.entries()) {
    ab += (x - ma) * (b[i] - mb);
    aa += (x - ma) ** 2;
    bb += (b[i] - mb) ** 2;
  }
  return ab / Math.sqrt(aa * bb);
}
