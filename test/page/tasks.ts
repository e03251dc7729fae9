// The tasks of the page's main thread, with the processor time of each. On a busy machine a task may last long, but its
// processor time hardly changes.

import type { Browser, Page } from 'playwright-core';

export interface PageTask {
  /** Milliseconds of the processor. */
  readonly busy: number;
  /** Milliseconds on the clock. */
  readonly lasted: number;
  /** Milliseconds since the beginning. */
  readonly at: number;
  /** CPU time in milliseconds that the first run of each module took. */
  readonly loading: number;
  /** The longest pieces of it, by name. */
  readonly pieces: readonly string[];
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds on the clock and of the processor. */
  readonly ts: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: {
    readonly name?: string;
    readonly data?: { readonly url?: string; readonly functionName?: string; readonly type?: string };
  };
}

const CATEGORIES = ['disabled-by-default-devtools.timeline', 'devtools.timeline', '__metadata'];
/** Pieces of a task that are reported, and their least milliseconds. */
const PIECES = 4;
const PIECE = 2;

/** The interface answers within this number of milliseconds, even while it works. */
const ANSWERS_WITHIN = 100;
/**
 * … or within this number while it loads a module for the first time. An idle machine needs 10; one that reads swapped pages of
 * memory needs ten times that.
 */
const LOADS_WITHIN = 300;

/** Starts to watch. The returned function stops, and returns the tasks of the page's thread, the busiest first. */
export async function watchTasks(browser: Browser, page: Page): Promise<() => Promise<PageTask[]>> {
  await browser.startTracing(page, { categories: CATEGORIES });
  return async () => {
    const text = (await browser.stopTracing()).toString();
    return tasksOf((JSON.parse(text) as { readonly traceEvents: readonly TraceEvent[] }).traceEvents);
  };
}

function tasksOf(events: readonly TraceEvent[]): PageTask[] {
  const threads = new Set<string>();
  const thread = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  for (const event of events) {
    if (event.name === 'thread_name' && event.args?.name === 'CrRendererMain') threads.add(thread(event));
  }
  const own = events
    .filter((event) => event.tdur !== undefined && threads.has(thread(event)))
    .sort((a, b) => a.ts - b.ts);
  const begun = own[0]?.ts ?? 0;
  const tasks: { event: TraceEvent; pieces: TraceEvent[] }[] = [];
  for (const event of own) {
    const last = tasks.at(-1);
    if (event.name === 'RunTask') tasks.push({ event, pieces: [] });
    else if (last && event.ts <= last.event.ts + (last.event.dur ?? 0)) last.pieces.push(event);
  }
  return tasks
    .map(({ event, pieces }) => ({
      busy: (event.tdur ?? 0) / 1000,
      lasted: (event.dur ?? 0) / 1000,
      at: (event.ts - begun) / 1000,
      loading:
        pieces.reduce((sum, { name, tdur = 0 }) => sum + (name === 'v8.evaluateModule' ? tdur : 0), 0) / 1000,
      pieces: pieces
        .filter(({ tdur = 0 }) => tdur >= 1000 * PIECE)
        .sort((a, b) => (b.tdur ?? 0) - (a.tdur ?? 0))
        .slice(0, PIECES)
        .map(({ name, tdur = 0, args }) => {
          const { functionName, type, url } = args?.data ?? {};
          const what = [functionName, type, url?.split('/').at(-1)].filter(Boolean).join(' ');
          return `${name}${what ? ` (${what})` : ''} ${(tdur / 1000).toFixed(0)} ms`;
        }),
    }))
    .sort((a, b) => b.busy - a.busy);
}

/** The tasks that keep the page from answering in time, in words. */
export function tooLong(tasks: readonly PageTask[]): string[] {
  return tasks
    .filter(({ busy, loading }) => busy - loading >= ANSWERS_WITHIN || loading >= LOADS_WITHIN)
    .map(
      ({ busy, at, pieces }) =>
        `${busy.toFixed(0)} ms busy after ${(at / 1000).toFixed(1)} s: ${pieces.join(', ')}`,
    );
}
