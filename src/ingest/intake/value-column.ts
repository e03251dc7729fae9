// An additional column with a number for each row: a time, a rank or a score.

import { numberOf } from '../../text/numbers.js';
import { clip } from './columns.js';

/** A column of values that goes with the two columns of ids. */
export interface ValueColumn {
  /** Header name or 1-based number; undefined: the value is the position of the row. */
  readonly column: string | number | undefined;
  /** The name of the option that names the column. */
  readonly role: string;
  /** The number in a cell, or what is wrong with it. */
  readonly parse: (text: string) => number | string;
  /** The number that counts if a pair occurs several times. */
  readonly keep: 'least' | 'largest';
  /** Changes the numbers once all of them are known. */
  readonly finish?: ((values: Float64Array) => Float64Array) | undefined;
}

/**
 * The time of each edge, in milliseconds since 1970; for a pair that occurs several times, the first.
 * @example
 * import { timeColumn } from 'graphex';
 * console.log(timeColumn('timestamp').column);
 */
export function timeColumn(column: string | number): ValueColumn {
  return { column, role: 'time', parse: parseTime, keep: 'least', finish: timesOfYears };
}

/** The same; for a pair that occurs several times, the last. */
export function lastTimes(column: string | number): ValueColumn {
  return { ...timeColumn(column), keep: 'largest' };
}

/** Times that graphex wrote: `timeColumn` would take milliseconds up to 1973 for seconds. */
export function writtenTimes(keep: ValueColumn['keep']): ValueColumn {
  return { column: 'time', role: 'time', parse: parseNumber('time'), keep };
}

/** Seconds and milliseconds of recent years are far from 1970; small numbers are something else, such as quantities. */
export const DAYS_OF_NO_TIME = 10;

/** Whether all times lie next to 1970, as numbers that are no times do. */
export function areUnlikelyTimes(times: Float64Array): boolean {
  const limit = DAYS_OF_NO_TIME * 86_400_000;
  return times.length > 0 && times.every((time) => Math.abs(time) < limit);
}

const COMPACT_DATE = /^(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$/;
const ISO =
  /^([+-]?\d{4,6})[-/](\d{1,2})[-/](\d{1,2})(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s*(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?$/i;
/** Numbers below this are seconds (up to the year 5138), below the next milliseconds, then micro- and nanoseconds. */
const LARGEST_SECONDS = 1e11;

/** Whole numbers that are read as years. */
const YEAR = /^[12]\d{3}$/;
const [FIRST_YEAR, LAST_YEAR] = [1000, 2999];

/** Corrects times from `parseTime`: if all were whole numbers from 1000 to 2999, they are years. */
function timesOfYears(values: Float64Array): Float64Array {
  const year = (time: number) => time / 1000;
  const isYear = (time: number) =>
    Number.isInteger(year(time)) && year(time) >= FIRST_YEAR && year(time) <= LAST_YEAR;
  return values.every(isYear) ? values.map((time) => Date.UTC(year(time), 0)) : values;
}

/** The time of a cell that is compared with a date; whole numbers from 1000 to 2999 are years. */
export function timeOfCell(text: string): number | string {
  const cell = text.trim();
  return YEAR.test(cell) ? Date.UTC(Number(cell), 0) : parseTime(cell);
}

/** Milliseconds since 1970 of a time, or what is wrong with it. A date without a zone is in UTC. */
export function parseTime(text: string): number | string {
  const cell = text.trim();
  const number = numberOf(cell);
  const [whole, year, month, day, hour, minute, second, fraction, zone] =
    ISO.exec(COMPACT_DATE.test(cell) ? cell.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3') : cell) ?? [];
  if (whole !== undefined) {
    const date = new Date(0);
    date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
    const real = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
    if (real && Number(hour ?? 0) <= 24 && Number(minute ?? 0) < 60 && Number(second ?? 0) <= 60) {
      const clock = 60 * (60 * Number(hour ?? 0) + Number(minute ?? 0)) + Number(second ?? 0);
      return date.getTime() + 1000 * (clock + Number(`0.${fraction ?? 0}`)) - zoneOffset(zone);
    }
  } else if (!Number.isNaN(number)) {
    const size = Math.abs(number);
    let scale = 1000;
    for (let limit = LARGEST_SECONDS; size >= limit && scale > 1e-6; limit *= 1000) scale /= 1000;
    return number * scale;
  }
  return (
    `the time is ${cell === '' ? 'empty' : clip(cell)}; a time is a number of seconds or milliseconds since 1970, ` +
    'or a date such as 2024-05-01 or 2024-05-01T18:30:00+02:00'
  );
}

/** Milliseconds that a zone is ahead of UTC. */
function zoneOffset(zone: string | undefined): number {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone ?? '') ?? [];
  return sign === undefined
    ? 0
    : (sign === '-' ? -1 : 1) * 60_000 * (60 * Number(hours) + Number(minutes ?? 0));
}

/** The number of a cell, or what is wrong with it. */
export function parseNumber(role: string): (text: string) => number | string {
  return (text) => {
    const cell = text.trim();
    const value = cell === '' ? Number.NaN : Number(cell);
    return Number.isFinite(value)
      ? value
      : `the ${role} is ${cell === '' ? 'empty' : clip(cell)}; a ${role} is a number`;
  };
}
