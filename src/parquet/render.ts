// Turns the values of a column into ids. No result depends on the time zone or language of the machine: days and time
// stamps are in UTC, decimals keep all their digits, and different values give different texts.

import { halfNumber } from '../math/half.js';
import type { Values } from './decode.js';
import type { Meaning, ParquetColumn } from './footer.js';
import { DamagedError } from './thrift.js';

type Render = (values: Values, at: number) => string;

/** Undefined for columns whose values cannot be ids, or that are better read as bytes. */
export function renderer({ meaning, physical }: ParquetColumn): Render | undefined {
  switch (meaning.kind) {
    case 'boolean':
      return (values, at) => (numberAt(values, at) === 0 ? 'false' : 'true');
    case 'whole':
      return (values, at) => String(wholeAt(values, at, meaning.signed));
    case 'number':
      return physical === 'float'
        ? (values, at) => decimalPoint(shortestFloat(numberAt(values, at)))
        : (values, at) => decimalPoint(numberAt(values, at));
    case 'float16':
      return (values, at) => decimalPoint(shortestFloat(halfAt(values, at)));
    case 'decimal':
      return (values, at) => decimalText(bigAt(values, at), meaning.scale);
    case 'date':
      return (values, at) => dateText(BigInt(numberAt(values, at)));
    case 'timestamp':
      return (values, at) => timestampText(bigAt(values, at), meaning);
    case 'uuid':
      return (values, at) => hex(bytesAt(values, at)).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    case 'blob':
      return (values, at) => blobText(bytesAt(values, at));
    default:
      return undefined;
  }
}

/** A whole number: a number if that is exact, otherwise a bigint. */
export function wholeAt(values: Values, at: number, signed: boolean): number | bigint {
  if (values.kind === 'numbers') return signed ? values.numbers[at] : values.numbers[at] >>> 0;
  if (values.kind !== 'words' || values.per !== 2) throw wrong();
  const low = values.words[2 * at] >>> 0;
  const high = signed ? values.words[2 * at + 1] : values.words[2 * at + 1] >>> 0;
  const value = high * 2 ** 32 + low;
  if (Number.isSafeInteger(value)) return value;
  return (BigInt(high) << 32n) | BigInt(low);
}

export function bytesAt(values: Values, at: number): Uint8Array {
  if (values.kind !== 'bytes') throw wrong();
  return values.data.subarray(values.starts[at], values.stops[at]);
}

function numberAt(values: Values, at: number): number {
  if (values.kind !== 'numbers') throw wrong();
  return values.numbers[at];
}

/** A signed number of 32 or 64 bits, a 96-bit time stamp in nanoseconds, or big-endian bytes. */
function bigAt(values: Values, at: number): bigint {
  if (values.kind === 'bytes') {
    const digits = hex(bytesAt(values, at));
    return digits === '' ? 0n : BigInt.asIntN(4 * digits.length, BigInt(`0x${digits}`));
  }
  if (values.kind === 'numbers') return BigInt(values.numbers[at]);
  if (values.per === 2) return BigInt(wholeAt(values, at, true));
  const [low, middle, day] = values.words.subarray(3 * at, 3 * at + 3);
  const nanoseconds = (BigInt(middle) << 32n) | BigInt(low >>> 0);
  return (BigInt(day) - JULIAN_EPOCH) * DAY * 1_000_000_000n + nanoseconds;
}

/** The Julian day number of 1970-01-01, for 96-bit time stamps. */
const JULIAN_EPOCH = 2_440_588n;
const DAY = 86_400n;

function halfAt(values: Values, at: number): number {
  const [low, high] = bytesAt(values, at);
  return halfNumber(low | (high << 8));
}

/** The double with the fewest digits that rounds to this single-precision number. */
function shortestFloat(value: number): number {
  if (!Number.isFinite(value)) return value;
  for (let digits = 1; digits < 9; digits++) {
    const candidate = Number(value.toPrecision(digits));
    if (Math.fround(candidate) === value) return candidate;
  }
  return Number(value.toPrecision(9));
}

/** Always has a decimal point, so that 1.0 differs from the whole number 1; an exponent from 1e16 on and below 1e-4. */
export function decimalPoint(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const size = Math.abs(value);
  if (size >= 1e16 || size < 1e-4) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

function decimalText(value: bigint, scale: number): string {
  if (scale === 0) return String(value);
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  const at = digits.length - scale;
  return `${value < 0n ? '-' : ''}${digits.slice(0, at)}.${digits.slice(at)}`;
}

/** The date `days` days after 1970-01-01, in the proleptic Gregorian calendar. */
function dateText(days: bigint): string {
  const { year, month, day } = civil(days);
  const two = (value: bigint) => String(value).padStart(2, '0');
  // There is no year 0: 1 BC precedes 1.
  const shown = year > 0n ? year : 1n - year;
  return `${String(shown).padStart(4, '0')}-${two(month)}-${two(day)}${year > 0n ? '' : ' (BC)'}`;
}

const PER_SECOND = { ms: 1000n, us: 1_000_000n, ns: 1_000_000_000n };

function timestampText(value: bigint, { unit, utc }: Meaning & { kind: 'timestamp' }): string {
  const per = PER_SECOND[unit];
  const seconds = floorDivide(value, per);
  const days = floorDivide(seconds, DAY);
  const inDay = seconds - days * DAY;
  const two = (part: bigint) => String(part).padStart(2, '0');
  const clock = `${two(inDay / 3600n)}:${two((inDay / 60n) % 60n)}:${two(inDay % 60n)}`;
  const rest = String(value - seconds * per)
    .padStart(String(per).length - 1, '0')
    .replace(/0{1,9}$/, '');
  const [date, era = ''] = dateText(days).split(/(?= )/);
  return `${date} ${clock}${rest && `.${rest}`}${era}${utc ? '+00' : ''}`;
}

function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b < 0n ? quotient - 1n : quotient;
}

/** Year, month and day, counted in eras of 400 years that begin in March, so that leap days come last. */
function civil(days: bigint): { year: bigint; month: bigint; day: bigint } {
  const shifted = days + 719_468n;
  const era = floorDivide(shifted, 146_097n);
  const inEra = shifted - era * 146_097n;
  const yearInEra = (inEra - inEra / 1460n + inEra / 36_524n - inEra / 146_096n) / 365n;
  const inYear = inEra - (365n * yearInEra + yearInEra / 4n - yearInEra / 100n);
  const march = (5n * inYear + 2n) / 153n;
  const month = march < 10n ? march + 3n : march - 9n;
  return {
    year: yearInEra + era * 400n + (month <= 2n ? 1n : 0n),
    month,
    day: inYear - (153n * march + 2n) / 5n + 1n,
  };
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function hex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += HEX[byte];
  return text;
}

/** Printable characters as they are, all other bytes as \xNN. */
function blobText(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) {
    const character = String.fromCharCode(byte);
    const plain = byte >= 32 && byte <= 126 && !/[\\'"]/.test(character);
    text += plain ? character : `\\x${HEX[byte].toUpperCase()}`;
  }
  return text;
}

function wrong(): DamagedError {
  return new DamagedError('the values of a column do not have its type');
}
