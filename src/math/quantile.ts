/**
 * The value that a new draw of the same distribution is below with probability `level`: the order statistic at
 * level·(n+1), with linear interpolation. Beyond the ends (n below 1/level − 1) it is the extreme value.
 */
export function predictiveQuantile(ascending: ArrayLike<number>, level: number): number {
  const n = ascending.length;
  if (n === 1) return ascending[0];
  return quantile(ascending, Math.min(1, Math.max(0, (level * (n + 1) - 1) / (n - 1))));
}

/** The quantile of ascending values at level·(n−1), with linear interpolation. */
export function quantile(ascending: ArrayLike<number>, level: number): number {
  const at = level * (ascending.length - 1);
  const low = Math.floor(at);
  const high = Math.min(low + 1, ascending.length - 1);
  return ascending[low] + (at - low) * (ascending[high] - ascending[low]);
}
