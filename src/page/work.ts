// The work in progress: one task at a time, with its progress, the remaining time, and a way to cancel it. Other tasks wait.

import { computed, signal } from '@preact/signals';
import type { Progress } from '../progress.js';
import type { Api, Method } from './protocol.js';
import { type Asked, ask } from './session-client.js';
import { complain, problem, type StepName, step } from './state.js';

interface Work {
  readonly title: string;
  readonly method: Method;
  /** The step of the task. */
  readonly of: StepName;
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

/** What is under way and what waits, in the order in which the session answers. */
const queue = signal<readonly Work[]>([]);
export const work = computed<Work | undefined>(() => queue.value[0]);

/** Cancels what is under way and what waits: all of it, or the requests of one method. */
export function stopWork(only?: Method): void {
  const stopped = queue.value.filter(({ method }) => only === undefined || method === only);
  for (const { cancel } of stopped) leave(cancel);
  for (const { cancel } of stopped) cancel();
}

/** Takes work from the queue. The next one begins when the one before has left. */
function leave(done: Work['cancel']): void {
  const [first] = queue.value;
  const [next, ...others] = queue.value.filter(({ cancel }) => cancel !== done);
  queue.value = next ? [next === first ? next : { ...next, ...beginning() }, ...others] : [];
}

function beginning(): Pick<Work, 'began' | 'stage'> {
  const began = performance.now();
  return { began, stage: { began, from: 0 } };
}

/** What the caller of a task passes. */
interface Waiter<M extends Method> {
  readonly onPartial?: (partial: Api[M][2]) => void;
  /** The step of the task. Default: the current step. */
  readonly of?: StepName;
  /** Seconds that the task is estimated to take. */
  readonly expected?: number;
  /** Seconds of them that come after a stage that converges. */
  readonly after?: number;
  /** What this task makes useless and cancels: earlier requests of its method, or all other work. Default: it waits for them. */
  readonly replaces?: 'same' | 'all';
}

/**
 * Asks the session and shows the work when what was asked before has ended. Undefined if it was cancelled or failed; its
 * step shows the error.
 */
export async function perform<M extends Method>(
  title: string,
  method: M,
  input: Api[M][0],
  { onPartial, of = step.peek(), expected, after = 0, replaces }: Waiter<M> = {},
): Promise<Api[M][1] | undefined> {
  if (replaces) stopWork(replaces === 'same' ? method : undefined);
  problem.value = undefined;
  const asked: Asked<M> = ask(method, input, {
    onProgress: (progress) => {
      queue.value = queue.value.map((now) => (now.cancel === asked.cancel ? advanced(now, progress) : now));
    },
    ...(onPartial ? { onPartial } : {}),
  });
  const { cancel } = asked;
  const own = { title, method, of, expected, after, progress: undefined, cancel, ...beginning() };
  queue.value = [...queue.value, own];
  const answer = await answerOf(asked, of);
  leave(cancel);
  return answer;
}

function advanced(now: Work, progress: Progress): Work {
  const same = now.progress?.stage === progress.stage;
  // After the stage that converges, only the rest is expected.
  const isRest = now.progress?.expected !== undefined && progress.expected === undefined;
  return {
    ...now,
    progress,
    expected: isRest ? (performance.now() - now.began) / 1000 + now.after : now.expected,
    stage: same ? now.stage : { began: performance.now(), from: progress.done },
  };
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
