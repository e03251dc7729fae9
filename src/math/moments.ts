/** Mean and standard deviation of a sample; the deviation of a single value is 0. */
export function meanAndSpread(values: readonly number[]): { readonly mean: number; readonly spread: number } {
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  const squares = values.reduce((sum, x) => sum + (x - mean) ** 2, 0);
  return { mean, spread: Math.sqrt(squares / Math.max(1, values.length - 1)) };
}
