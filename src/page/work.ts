// One piece of work at a time, with its progress, the time that is left, and a way to end it.

import { signal } from '@preact/signals';
import type { Progress } from '../progress.js';
import type { Api, Method } from './protocol.js';
import { type Asked, ask } from './session-client.js';
import { complain, problem, type StepName, step } from './state.js';

export interface Work {
  readonly title: string;
  readonly began: number;
  readonly progress: Progress | undefined;
  /** Since when this stage goes on, and where it then stood. */
  readonly stage: { readonly began: number; readonly from: number };
  cancel(): void;
}

export const work = signal<Work | undefined>(undefined);

/** Who waits for a piece of work. */
export interface Waiter<M extends Method> {
  readonly onPartial?: (partial: Api[M][2]) => void;
  /** The step that it belongs to, where that is not the one in view. */
  readonly of?: StepName;
}

/**
 * Asks the session and shows the work; undefined where it was cancelled or failed, which its step then says. Small
 * questions that are answered at once need no title.
 */
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

/** Seconds that the present stage will still take, where it can be told. */
export function secondsLeft({ progress, stage }: Work): number | undefined {
  if (!progress?.total) return undefined;
  const done = progress.done - stage.from;
  const elapsed = (performance.now() - stage.began) / 1000;
  return done > 0 && elapsed > 1 ? (elapsed * (progress.total - progress.done)) / done : undefined;
}
