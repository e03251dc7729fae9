// Divides a number of threads among jobs that run at the same time, so that together they use about as many as one job
// may. A job waits for a free thread and keeps it to its end. In its first step it gets an equal share of the threads that
// remain when every job has one. In later steps it also takes threads that other jobs have returned.

import { cores } from './spawn.js';

/** The threads of one job. */
export interface ThreadShare {
  /** Waits for a thread of its own. */
  begin(): Promise<void>;
  /** The number of threads for the next step; it replaces the number of the last step. */
  take(): number | undefined;
  /** Returns all threads. A job that ends before it begins no longer reserves one. */
  end(): void;
}

/** Wraps the shares to report the wait, in milliseconds, from the first request until the first job begins. */
export function withWaitReport(
  shares: readonly ThreadShare[],
  report: (ms: number) => void,
): readonly ThreadShare[] {
  let requested: number | undefined;
  let reported = false;
  return shares.map(({ begin, take, end }) => ({
    async begin() {
      requested ??= performance.now();
      await begin();
      if (!reported) report(performance.now() - requested);
      reported = true;
    },
    take,
    end,
  }));
}

/**
 * A share of `threads` for each of `jobs` jobs. If `threads` is undefined or at least the number of cores, nothing is
 * divided: the cores themselves are the limit, and one job uses what another leaves idle.
 */
export function shareThreads(threads: number | undefined, jobs: number): readonly ThreadShare[] {
  if (threads === undefined || threads >= cores()) {
    const all: ThreadShare = { begin: async () => {}, take: () => threads, end: () => {} };
    return Array.from({ length: jobs }, () => all);
  }
  let free = Math.max(1, Math.floor(threads));
  /** Jobs that have no thread yet. */
  let unstarted = jobs;
  /** Jobs that have not taken a step yet. */
  let unstepped = jobs;
  const queue: (() => void)[] = [];
  const admit = () => {
    while (free > 0 && queue.length > 0) {
      free--;
      unstarted--;
      queue.shift()?.();
    }
  };
  const createShare = (): ThreadShare => {
    let state: 'new' | 'waiting' | 'working' | 'done' = 'new';
    let extra = 0;
    let stepped = false;
    let admitted = () => {};
    return {
      begin() {
        // It ended before it began: it gets no thread and must not wait.
        if (state === 'done') return Promise.resolve();
        state = 'waiting';
        return new Promise((resolve) => {
          admitted = () => {
            if (state === 'waiting') state = 'working';
            resolve();
          };
          queue.push(admitted);
          admit();
        });
      },
      take() {
        if (state !== 'working') return 1;
        free += extra;
        const spare = Math.max(0, free - unstarted);
        extra = stepped ? spare : Math.ceil(spare / unstepped);
        if (!stepped) unstepped--;
        stepped = true;
        free -= extra;
        admit();
        return 1 + extra;
      },
      end() {
        if (state === 'done') return;
        if (state === 'working') free += 1 + extra;
        else unstarted--;
        if (!stepped) unstepped--;
        if (state === 'waiting') queue.splice(queue.indexOf(admitted), 1);
        state = 'done';
        extra = 0;
        admitted();
        admit();
      },
    };
  };
  return Array.from({ length: jobs }, createShare);
}
