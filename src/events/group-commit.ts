// Gathers the events of several requests into one transaction: a commit waits for the disk, so a hundred small ones
// would take a hundred times as long. A caller that adds events learns when they are durable, or why they are not.

import { createQueue } from '../math/queue.js';

interface GroupCommitOptions {
  /** Milliseconds that the first values of a group wait for others. */
  readonly wait: number;
  /** A group of this many values waits no longer. */
  readonly enough: number;
}

interface Added<T, R> {
  readonly values: readonly T[];
  resolve(result: R): void;
  reject(error: unknown): void;
}

export function createGroupCommit<T, R>(
  commit: (added: readonly (readonly T[])[]) => Promise<readonly R[]>,
  { wait, enough }: GroupCommitOptions,
) {
  let group: Added<T, R>[] = [];
  let size = 0;
  let committing = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const commits = createQueue();

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (group.length === 0) return;
    void commits.inOrder(async () => {
      // Taken only now, so that the group includes values that were added during the last commit.
      const taken = group;
      group = [];
      committing = size;
      size = 0;
      if (taken.length === 0) return;
      try {
        const results = await commit(taken.map(({ values }) => values));
        for (const [at, { resolve }] of taken.entries()) resolve(results[at]);
      } catch (error) {
        for (const { reject } of taken) reject(error);
      } finally {
        committing = 0;
      }
    });
  }

  return {
    /** Resolves when these values are committed, with their result. */
    add(values: readonly T[]): Promise<R> {
      return new Promise((resolve, reject) => {
        group.push({ values, resolve, reject });
        size += values.length;
        if (size >= enough) flush();
        else timer ??= setTimeout(flush, wait);
      });
    },
    /** Runs other work between two commits, after everything that was added before. */
    exclusive<S>(work: () => Promise<S>): Promise<S> {
      flush();
      return commits.inOrder(work);
    },
    /** Values that are not committed yet. */
    get waiting(): number {
      return size + committing;
    },
    /** Resolves when everything that was added is committed or has failed. */
    async drain(): Promise<void> {
      flush();
      await commits.idle();
    },
  };
}
