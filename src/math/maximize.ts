// One-dimensional maximization by golden section.

/**
 * The point of [low, high] at which a function with one peak is largest. It stops when the interval is narrower than `tolerance`,
 * relative to 1 + |x|, or after `steps` steps.
 */
export function maximize(
  f: (x: number) => number,
  low: number,
  high: number,
  { tolerance = 1e-7, steps = Infinity } = {},
): number {
  const golden = (Math.sqrt(5) - 1) / 2;
  let x1 = high - golden * (high - low);
  let x2 = low + golden * (high - low);
  let f1 = f(x1);
  let f2 = f(x2);
  for (let step = 0; step < steps && high - low > tolerance * (1 + Math.abs(low)); step++) {
    if (f1 < f2) {
      low = x1;
      [x1, f1] = [x2, f2];
      x2 = low + golden * (high - low);
      f2 = f(x2);
    } else {
      high = x2;
      [x2, f2] = [x1, f1];
      x1 = high - golden * (high - low);
      f1 = f(x1);
    }
  }
  return (low + high) / 2;
}
