// When refits are due: after a span of time, or daily at a time of day. The system clock may jump, so spans use a
// monotonic clock, and the time of day is checked every few seconds.

import { option, optionError } from '../options/error.js';
import { parseDuration } from '../text/durations.js';
import { shown } from '../text/untrusted.js';

/** `every` in milliseconds, or minutes after midnight, local time. */
type RefitTimes = { readonly every: number } | { readonly minute: number };

const SHORTEST = 10_000;
const DAY = 86_400_000;

/** 1h, or 03:00. */
export function parseTimes(text: string): RefitTimes {
  const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text.trim()) ?? [];
  if (hours !== undefined) return { minute: 60 * Number(hours) + Number(minutes) };
  const every = parseDuration(text);
  if (every === undefined || every < SHORTEST) {
    throw optionError`${option('refit')} ${shown(text)}: expected a span of at least 10s such as 1h, or a time of day such as 03:00`;
  }
  return { every };
}

interface Clock {
  /** Milliseconds since 1970; may jump. */
  readonly wall: () => number;
  /** Milliseconds that only grow. */
  readonly steady: () => number;
}

const SYSTEM_CLOCK: Clock = { wall: () => Date.now(), steady: () => performance.now() };

/** `isDue`: whether a refit is due now; then the next one is planned. `next`: when, in milliseconds since 1970 by the present clock. */
export function createSchedule(times: RefitTimes, { wall, steady }: Clock = SYSTEM_CLOCK) {
  if ('every' in times) {
    let due = steady() + times.every;
    return {
      isDue() {
        if (steady() < due) return false;
        due = steady() + times.every;
        return true;
      },
      next: () => wall() + Math.max(0, due - steady()),
    };
  }
  let due = nextTimeOfDay(times.minute, wall());
  return {
    isDue() {
      // The clock went back: there is one refit a day, not none.
      if (due - wall() > DAY + 2 * 3_600_000) due = nextTimeOfDay(times.minute, wall());
      if (wall() < due) return false;
      due = nextTimeOfDay(times.minute, wall());
      return true;
    },
    next: () => due,
  };
}

/** The next such time of day after `now`, local time. */
function nextTimeOfDay(minute: number, now: number): number {
  const date = new Date(now);
  date.setHours(Math.floor(minute / 60), minute % 60, 0, 0);
  if (date.getTime() <= now) date.setDate(date.getDate() + 1);
  return date.getTime();
}
