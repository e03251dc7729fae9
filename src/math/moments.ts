export function sumOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum;
}

export function mean(values: ArrayLike<number>): number {
  return sumOf(values) / values.length;
}

/** Mean and standard deviation of a sample; the deviation of a single value is 0. */
export function meanAndSpread(values: readonly number[] | Float64Array): {
  readonly mean: number;
  readonly spread: number;
} {
  const average = mean(values);
  let squares = 0;
  for (const x of values) squares += (x - average) ** 2;
  return { mean: average, spread: Math.sqrt(squares / Math.max(1, values.length - 1)) };
}
