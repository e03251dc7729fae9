// Threads for parts of one work that go on beside each other, so that all together keep about as many busy as one part alone
// was allowed. A part waits until a thread is free for it and has that one to its end. With its first step it has an even part of
// those that are left when every part has one; for each later step it also takes those that others have given back by then.

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

/** The same shares, which tell how many milliseconds passed from when the first was asked for until one of them began. */
export function tellingOfWait(
  shares: readonly ThreadShare[],
  tell: (ms: number) => void,
): readonly ThreadShare[] {
  let asked: number | undefined;
  let told = false;
  return shares.map(({ begin, take, end }) => ({
    async begin() {
      asked ??= performance.now();
      await begin();
      if (!told) tell(performance.now() - asked);
      told = true;
    },
    take,
    end,
  }));
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
  /** Parts that have no thread yet. */
  let toCome = parts;
  /** Parts that have had no step yet. */
  let toStep = parts;
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
    let stepped = false;
    let admitted = () => {};
    return {
      begin() {
        // Stopped before it began: it gets no thread, and is not to wait for one.
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
        free += further;
        const spare = Math.max(0, free - toCome);
        further = stepped ? spare : Math.ceil(spare / toStep);
        if (!stepped) toStep--;
        stepped = true;
        free -= further;
        admit();
        return 1 + further;
      },
      end() {
        if (state === 'done') return;
        if (state === 'working') free += 1 + further;
        else toCome--;
        if (!stepped) toStep--;
        if (state === 'waiting') queue.splice(queue.indexOf(admitted), 1);
        state = 'done';
        further = 0;
        admitted();
        admit();
      },
    };
  };
  return Array.from({ length: parts }, createShare);
}
