// The work in progress: one task at a time, with its progress, the remaining time, and a way to cancel it.

import { signal } from '@preact/signals';
import type { Progress } from '../progress.js';
import type { Api, Method } from './protocol.js';
import { type Asked, ask } from './session-client.js';
import { complain, problem, type StepName, step } from './state.js';

interface Work {
  readonly title: string;
  readonly began: number;
  readonly progress: Progress | undefined;
  /** When this stage began, and how much was done then. */
  readonly stage: { readonly began: number; readonly from: number };
  cancel(): void;
}

export const work = signal<Work | undefined>(undefined);

/** What the caller of a task passes. */
interface Waiter<M extends Method> {
  readonly onPartial?: (partial: Api[M][2]) => void;
  /** The step of the task. Default: the current step. */
  readonly of?: StepName;
}

/** Asks the session and shows the work. Undefined if it was cancelled or failed; its step shows the error. */
export async function perform<M extends Method>(
  title: string,
  method: M,
  input: Api[M][0],
  { onPartial, of = step.peek() }: Waiter<M> = {},
): Promise<Api[M][1] | undefined> {
  work.value?.cancel();
  problem.value = undefined;
  const began = performance.now();
  const asked: Asked<M> = ask(method, input, {
    onProgress: (progress) => {
      const now = work.value;
      if (!now || now.began !== began) return;
      const same = now.progress?.stage === progress.stage;
      work.value = {
        ...now,
        progress,
        stage: same ? now.stage : { began: performance.now(), from: progress.done },
      };
    },
    ...(onPartial ? { onPartial } : {}),
  });
  work.value = { title, began, progress: undefined, stage: { began, from: 0 }, cancel: asked.cancel };
  try {
    return await asked.answer;
  } catch (error) {
    if (!(error instanceof Error && error.name === 'AbortError')) {
      complain(error instanceof Error ? error.message : String(error), of);
    }
    return undefined;
  } finally {
    if (work.value?.began === began) work.value = undefined;
  }
}

/** Remaining seconds of the current stage, if they can be estimated. */
export function secondsLeft({ progress, stage }: Work): number | undefined {
  if (!progress?.total) return undefined;
  const done = progress.done - stage.from;
  const elapsed = (performance.now() - stage.began) / 1000;
  return done > 0 && elapsed > 1 ? (elapsed * (progress.total - progress.done)) / done : undefined;
}

let lastTask: Promise<unknown> = Promise.resolve();

/** Runs functions one after the other, each in its own task, so that the page stays responsive. */
export function inOwnTask<T>(run: () => T): Promise<T> {
  const done = lastTask.then(() => new Promise((resolve) => setTimeout(resolve))).then(run);
  lastTask = done.catch(() => undefined);
  return done;
}
