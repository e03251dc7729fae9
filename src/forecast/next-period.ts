// The number of new users in the next period: the average over the last periods of the data. In the first period everybody is
// new, so it is left out. The number is uncertain, which widens the intervals of a forecast for the end of the period.

import type { BipartiteGraph, BySide } from '../graph/graph.js';
import { mean, meanAndSpread } from '../math/moments.js';
import { option, optionError, show } from '../options/error.js';
import { firstTimes } from './by-time.js';
import { countInterval, type Foreseen } from './project.js';

const DAY = 86_400_000;
/** Days of the periods that have a name. */
const NAMED: Readonly<Record<string, number>> = { week: 7, month: 30.4375, quarter: 91.3125, year: 365.25 };
const MOST_DAYS = 36_525;
/** Past periods that are averaged, at most. */
export const MOST_PERIODS = 4;

/** The growth of the users in the next period, by the data. */
export interface NextPeriod {
  /** As asked for: 'quarter', '90d'. */
  readonly period: string;
  readonly days: number;
  /** The end of the data, milliseconds since 1970. */
  readonly from: number;
  /** New users in the past periods, the latest last. */
  readonly past: readonly number[];
  /** New users in the next one, with a 90 % interval. */
  readonly users: Foreseen;
  /** Users at its end, as a multiple of today's. */
  readonly times: number;
}

/** The days of 'month', 'quarter' or '90d'. */
function daysOf(period: string): number {
  const [, days] = /^(\d{1,5})d$/.exec(period) ?? [];
  const found = Object.hasOwn(NAMED, period) ? NAMED[period] : Number(days);
  if (found >= 1 && found <= MOST_DAYS) return found;
  throw optionError`${option('next')}: ${show(period)} is not a period; give week, month, quarter, year, or days as in 90d`;
}

/** Throws if the times cover fewer than two whole periods. */
export function nextPeriod(graph: BipartiteGraph, times: Float64Array, period: string): NextPeriod {
  const days = daysOf(period);
  const first = firstTimes(graph, times, 'users');
  let [start, end] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const time of times) {
    start = Math.min(start, time);
    end = Math.max(end, time);
  }
  const length = days * DAY;
  const whole = Math.floor((end - start) / length);
  if (whole < 2) {
    throw optionError`${option('next')} ${period}: the times cover ${((end - start) / DAY).toFixed(0)} days; give a period that fits into them at least twice`;
  }
  // New users in thirds of periods, the latest first. If there is only one past period, the thirds show how much the
  // numbers vary.
  const thirds = new Array<number>(3 * Math.min(MOST_PERIODS, whole - 1)).fill(0);
  for (const time of first) {
    const back = Math.floor((3 * (end - time)) / length);
    if (back < thirds.length) thirds[back]++;
  }
  const past: number[] = [];
  for (let p = 0; p < thirds.length; p += 3) past.unshift(thirds[p] + thirds[p + 1] + thirds[p + 2]);
  const variance = past.length > 1 ? meanAndSpread(past).spread ** 2 : 3 * meanAndSpread(thirds).spread ** 2;
  const users = expectedNext(past, variance);
  return Object.freeze({
    period,
    days,
    from: end,
    past,
    users,
    times: (graph.users.count + users.mean) / graph.users.count,
  });
}

/** The mean of the past periods. The interval has their variance, at least that of a Poisson number. */
function expectedNext(past: readonly number[], variance: number): Foreseen {
  const value = mean(past);
  return countInterval({ value, error: Math.sqrt(Math.max(variance, value) * (1 + 1 / past.length)) }, 0);
}

type Counts = Readonly<Record<'users' | 'items' | 'edges' | 'density', Foreseen>>;

/** The multiples of the users at both ends of the interval of a period. */
export function periodEnds({ users: { count } }: BipartiteGraph, { users }: NextPeriod): readonly number[] {
  return [1 + users.low / count, 1 + users.high / count];
}

/** Widens the intervals of a forecast. `items` has the forecasts of the items at both ends of the period's interval. */
export function inPeriod(
  forecast: Counts,
  graph: BipartiteGraph,
  asked: BySide<number>,
  items: { readonly point: Foreseen; readonly period: readonly Foreseen[] },
  next: NextPeriod,
): Counts {
  const { count } = graph.users;
  const { mean: added, low, high } = next.users;
  const ofUsers = periodEnds(graph, next).map((times) => times / asked.users);
  const ofItems = items.period.map((point) => point.mean / items.point.mean);
  return {
    users:
      asked.items > 1
        ? wholeNumbers(spread(forecast.users, ofUsers), count)
        : { mean: count + added, low: count + low, high: count + high },
    items: wholeNumbers(spread(forecast.items, ofItems), graph.items.count),
    edges: wholeNumbers(spread(forecast.edges, ofUsers), graph.edges),
    // A user keeps the same number of edges, so density falls as items come.
    density: spread(forecast.density, [1 / ofItems[1], 1 / ofItems[0]]),
  };
}

/** Widens an interval by the values at the ends of another, independent one, given as multiples of the mean. */
function spread({ mean, low, high }: Foreseen, [least, most]: readonly number[]): Foreseen {
  return {
    mean,
    low: mean - Math.hypot(mean - low, mean * (1 - least)),
    high: mean + Math.hypot(high - mean, mean * (most - 1)),
  };
}

function wholeNumbers({ mean, low, high }: Foreseen, least: number): Foreseen {
  return { mean, low: Math.max(least, Math.floor(low)), high: Math.ceil(high) };
}
