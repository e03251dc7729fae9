// Threads for parts of one work that go on beside each other, so that all together keep about as many busy as one part alone
// was allowed. A part waits until a thread is free for it and has that one to its end; for each of its steps it also takes those
// that nobody else is to have.

import { cores } from './spawn.js';

/** The threads of one part. */
export interface ThreadShare {
  /** Waits for a thread of its own. */
  begin(): Promise<void>;
  /** How many threads the next step may have, instead of those that the last one had. */
  take(): number | undefined;
  /** Gives back what it has; a part that will not begin after all is no longer counted on. */
  end(): void;
}

/**
 * A share of `threads` for each of so many parts. As many as there are cores, or no number, leave nothing to share out: the cores
 * themselves are the bound, and whatever one part leaves idle another one uses.
 */
export function shareThreads(threads: number | undefined, parts: number): readonly ThreadShare[] {
  if (threads === undefined || threads >= cores()) {
    const all: ThreadShare = { begin: async () => {}, take: () => threads, end: () => {} };
    return Array.from({ length: parts }, () => all);
  }
  let free = Math.max(1, Math.floor(threads));
  let toCome = parts;
  const queue: (() => void)[] = [];
  const admit = () => {
    while (free > 0 && queue.length > 0) {
      free--;
      toCome--;
      queue.shift()?.();
    }
  };
  const createShare = (): ThreadShare => {
    let state: 'to come' | 'waiting' | 'working' | 'done' = 'to come';
    let further = 0;
    return {
      begin() {
        state = 'waiting';
        return new Promise((resolve) => {
          queue.push(() => {
            state = 'working';
            resolve();
          });
          admit();
        });
      },
      take() {
        free += further;
        further = Math.max(0, free - toCome);
        free -= further;
        admit();
        return 1 + further;
      },
      end() {
        if (state === 'to come') toCome--;
        if (state === 'working') free += 1 + further;
        state = 'done';
        further = 0;
        admit();
      },
    };
  };
  return Array.from({ length: parts }, createShare);
}
