// Recent activity, for the page of operators: answers and events of the last hour, and how long answers took.

import type { z } from '@hono/zod-openapi';
import type { StatusAnswer } from './refit-schema.js';

export type Activity = ReturnType<typeof createActivity>;

const MINUTES = 60;
/** Answers whose times are kept, and for how many milliseconds. */
const MOST_TIMES = 2000;
const LATELY = 300_000;

export function createActivity(now: () => number = () => performance.now()) {
  const events = new Array<number>(MINUTES).fill(0);
  const answers = new Array<number>(MINUTES).fill(0);
  let minute = Math.floor(now() / 60_000);
  const times: { readonly at: number; readonly took: number }[] = [];
  let next = 0;

  /** Clears the minutes that have passed since. */
  function advance(): number {
    const present = Math.floor(now() / 60_000);
    for (let m = Math.max(minute + 1, present - MINUTES + 1); m <= present; m++) {
      events[m % MINUTES] = 0;
      answers[m % MINUTES] = 0;
    }
    minute = present;
    return present % MINUTES;
  }

  return {
    /** One answer of a model, and its milliseconds. */
    answered(took: number): void {
      answers[advance()]++;
      times[next] = { at: now(), took };
      next = (next + 1) % MOST_TIMES;
    },
    stored(count: number): void {
      events[advance()] += count;
    },
    /** By minute, the oldest first; the last one is not over. Times are those of the last answers. */
    report(): z.infer<typeof StatusAnswer>['activity'] {
      const last = advance();
      const inOrder = (ring: readonly number[]) =>
        Array.from({ length: MINUTES }, (_, i) => ring[(last + 1 + i) % MINUTES]);
      const since = now() - LATELY;
      const lately = times.flatMap(({ at, took }) => (at >= since ? [took] : [])).sort((a, b) => a - b);
      const at = (share: number) => lately[Math.min(lately.length - 1, Math.floor(share * lately.length))];
      return {
        eventsPerMinute: inOrder(events),
        answersPerMinute: inOrder(answers),
        ...(lately.length > 0 && { p50: at(0.5), p99: at(0.99) }),
      };
    },
  };
}
