/**
 * The value that a further one of the same law lies below with probability `level`: the order statistic at level·(n+1),
 * between two of them linearly. Beyond the ends (n below 1/level − 1) the extreme values stand in.
 */
export function predictiveQuantile(ascending: ArrayLike<number>, level: number): number {
  const n = ascending.length;
  if (n === 1) return ascending[0];
  return quantile(ascending, Math.min(1, Math.max(0, (level * (n + 1) - 1) / (n - 1))));
}

/** The quantile of values in ascending order: linear between the order statistics around level·(n−1). */
export function quantile(ascending: ArrayLike<number>, level: number): number {
  const at = level * (ascending.length - 1);
  const low = Math.floor(at);
  const high = Math.min(low + 1, ascending.length - 1);
  return ascending[low] + (at - low) * (ascending[high] - ascending[low]);
}
