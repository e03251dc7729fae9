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
  /** Seconds that all stages were estimated to take, if they were. */
  readonly expected: number | undefined;
  /** Seconds of them that come after the stage that converges. */
  readonly after: number;
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
  /** Seconds that the task is estimated to take. */
  readonly expected?: number;
  /** Seconds of them that come after a stage that converges. */
  readonly after?: number;
}

/** Asks the session and shows the work. Undefined if it was cancelled or failed; its step shows the error. */
export async function perform<M extends Method>(
  title: string,
  method: M,
  input: Api[M][0],
  { onPartial, of = step.peek(), expected, after = 0 }: Waiter<M> = {},
): Promise<Api[M][1] | undefined> {
  work.value?.cancel();
  problem.value = undefined;
  const began = performance.now();
  const asked: Asked<M> = ask(method, input, {
    onProgress: (progress) => {
      const now = work.value;
      if (!now || now.cancel !== asked.cancel) return;
      const same = now.progress?.stage === progress.stage;
      // After the stage that converges, only the rest is expected.
      const isRest = now.progress?.expected !== undefined && progress.expected === undefined;
      work.value = {
        ...now,
        progress,
        expected: isRest ? (performance.now() - began) / 1000 + now.after : now.expected,
        stage: same ? now.stage : { began: performance.now(), from: progress.done },
      };
    },
    ...(onPartial ? { onPartial } : {}),
  });
  const stage = { began, from: 0 };
  work.value = { title, began, expected, after, progress: undefined, stage, cancel: asked.cancel };
  const answer = await answerOf(asked, of);
  if (work.value?.cancel === asked.cancel) work.value = undefined;
  return answer;
}

/** The answer of the session. Undefined if the request was cancelled or failed; the step shows the error. */
export async function answerOf<M extends Method>(
  { answer }: Asked<M>,
  of: StepName,
): Promise<Api[M][1] | undefined> {
  try {
    return await answer;
  } catch (error) {
    const { name, message } = error as Error;
    if (name !== 'AbortError') complain(message, of);
    return undefined;
  }
}

/** Remaining seconds: of all stages if they were estimated, else of the current one; undefined if nothing is known. */
export function secondsLeft(now: Work): number | undefined {
  const stage = secondsOfStage(now);
  if (now.expected === undefined) return stage;
  // A stage that converges is the last long one, and its speed is measured.
  if (stage !== undefined && now.progress?.expected !== undefined) return stage + now.after;
  const all = now.expected - (performance.now() - now.began) / 1000;
  // Other stages also have totals that they rarely reach, so they count only when the estimate is used up.
  return all > 0 ? all : stage;
}

function secondsOfStage({ progress, stage }: Work): number | undefined {
  const total = progress?.expected ?? progress?.total;
  if (!progress || !total) return undefined;
  const done = progress.done - stage.from;
  const elapsed = (performance.now() - stage.began) / 1000;
  return done > 0 && elapsed > 1 ? (elapsed * Math.max(0, total - progress.done)) / done : undefined;
}

let lastTask: Promise<unknown> = Promise.resolve();

/** Runs functions one after the other, each in its own task, so that the page stays responsive. */
export function inOwnTask<T>(run: () => T): Promise<T> {
  const done = lastTask.then(() => new Promise((resolve) => setTimeout(resolve))).then(run);
  lastTask = done.catch(() => undefined);
  return done;
}
