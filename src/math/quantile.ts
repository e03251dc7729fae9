/** The quantile of values in ascending order: linear between the order statistics around level·(n−1). */
export function quantile(ascending: ArrayLike<number>, level: number): number {
  const at = level * (ascending.length - 1);
  const low = Math.floor(at);
  const high = Math.min(low + 1, ascending.length - 1);
  return ascending[low]! + (at - low) * (ascending[high]! - ascending[low]!);
}
