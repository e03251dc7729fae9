// The process of a refit. It gets a plan, sends progress and a result, and ends with the server that started it.

import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import type { Progress } from '../progress.js';
import { type RefitPlan, type RefitResult, refit } from './refit.js';

/** What the process sends. */
export type RefitMessage =
  | { readonly progress: string }
  | { readonly result: RefitResult }
  | { readonly error: string };

/** Added to the nice value: recommendations come first. */
const NICE = 10;
const PROGRESS_EVERY = 1000;

/** Threads that start later inherit the priority. If memory runs out, the kernel ends this process and not the server. */
function stepBack(): void {
  try {
    setPriority(0, NICE);
    if (process.platform === 'linux') writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Without the permission it runs like any other process.
  }
}

const send = (message: RefitMessage) =>
  new Promise<void>((resolve) => {
    if (process.connected) process.send?.(message, () => resolve());
    else resolve();
  });

if (process.send) {
  stepBack();
  process.once('disconnect', () => process.exit(1));
  process.once('message', (plan: RefitPlan) => {
    let last = 0;
    const onProgress = ({ stage, done, total, unit }: Progress) => {
      if (performance.now() - last < PROGRESS_EVERY) return;
      last = performance.now();
      void send({ progress: [stage, total ? `${done} of ${total}` : done, unit].filter(Boolean).join(' ') });
    };
    void refit(plan, { onProgress })
      .then(
        (result) => send({ result }),
        (error) => send({ error: error instanceof Error ? error.message : String(error) }),
      )
      .then(() => process.exit(0));
  });
}
