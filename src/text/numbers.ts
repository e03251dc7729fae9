// Formats numbers for people, in the same way on a terminal, in a chart and on a page. A minus is a true minus sign.
// And reads the numbers that people write.

/** Linear in the length of the text: no two parts can take the same digits. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** The number that a text holds; NaN if it is not a number. Number() would also read 0x10, and an empty text as 0. */
export function numberOf(text: string | undefined): number {
  const trimmed = text?.trim();
  return trimmed !== undefined && NUMBER.test(trimmed) ? Number(trimmed) : Number.NaN;
}

/** 1234567.8 → '1,234,568'. */
export function grouped(value: number): string {
  return minus(Math.round(value).toLocaleString('en-US'));
}

/** Numbers from here on have an exponent: their digits are not exact. */
const HUGE = 1e15;

/** Whole numbers and thousands in full, others with `digits` significant digits; only tiny and huge numbers have an exponent. */
export function short(value: number, digits = 3): string {
  const size = Math.abs(value);
  const huge = size >= HUGE && Number.isFinite(value);
  if (!huge && (Number.isInteger(value) || size >= 1000)) return grouped(value);
  if (huge || size < 1e-4) return minus(value.toExponential(digits - 1));
  return minus(String(Number(value.toPrecision(digits))));
}

/** A fixed number of decimals. A number that rounds to zero has no sign. */
export function fixed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return minus(isZero(text) ? text.replace('-', '') : text);
}

/** Whether all digits are zeros. */
const isZero = (text: string) => /^-?[0.]+$/.test(text);

/** A fixed number of significant digits; zeros at the end stay. */
export function significant(value: number, digits: number): string {
  return minus(value.toPrecision(digits));
}

/** As `short`, with a plus sign above zero. */
export function signed(value: number): string {
  return plus(value) + short(value);
}

/** As `fixed`, with a plus sign above zero. */
export function signedFixed(value: number, digits: number): string {
  const text = fixed(value, digits);
  return isZero(text) ? text : plus(value) + text;
}

const plus = (value: number) => (value > 0 ? '+' : '');

/** A share in per cent, with two digits or with the given number of decimals. */
export function percent(share: number, decimals?: number): string {
  const value = 100 * share;
  if (decimals !== undefined) return `${fixed(value, decimals)} %`;
  return `${Math.abs(value) >= 10 || value === 0 ? fixed(value, 0) : minus(String(Number(value.toPrecision(2))))} %`;
}

/** An estimate with its standard error, '0.42 ± 0.013'. */
export function plusMinus(value: number, error: number, digits: number): string {
  return `${fixed(value, digits)} ± ${minus(String(Number(error.toPrecision(2))))}`;
}

/** The label of a power of ten on a log axis: '0.01', '1,000', '10⁶'. */
export function power(value: number): string {
  if (value >= 1e-3 && value < 1e6) return value.toLocaleString('en-US', { maximumFractionDigits: 3 });
  const exponent = String(Math.round(Math.log10(value)));
  return `10${[...exponent].map((c) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(c)] ?? '⁻').join('')}`;
}

/** A text for a page: no line ends between a number and its unit, or before or after ±. */
export function unbroken(text: string): string {
  return text.replace(/(\d) (?=%|[kMG]B\b|m?s\b)/g, '$1\u00a0').replace(/ ± /g, '\u00a0±\u00a0');
}

function minus(text: string): string {
  return text.replaceAll('-', '−');
}
