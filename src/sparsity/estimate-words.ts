import type { DegreeFit } from './degree-likelihood.js';

/** A likelihood estimate with its error, "0.42 ± 0.013"; where it has none, what the end of its range says. */
export function estimateWords(
  { estimate, standardError }: Pick<DegreeFit, 'estimate' | 'standardError'>,
  digits = 2,
): string {
  if (standardError !== undefined) {
    return `${signed(estimate, digits)} ± ${Number(standardError.toPrecision(2))}`;
  }
  if (estimate > 0.99) return 'close to 1';
  return estimate < -1 ? `below ${signed(estimate, 0)}` : `about ${signed(estimate, digits)}`;
}

/** A fixed number of decimals with a true minus sign. */
export function signed(value: number, digits: number): string {
  return value.toFixed(digits).replace('-', '−');
}
