// Lets other work of a thread run between the steps of a long task.

import { throwIfAborted } from '../errors.js';

/** How long a task may keep its thread from other work. */
const TURN_MS = 50;

/** To call between two steps: undefined while a turn lasts, then a wait for other work, after which the signal is checked. */
export type Turn = () => Promise<true> | undefined;

export function createTurns(signal?: AbortSignal): Turn {
  let due = performance.now() + TURN_MS;
  return () => {
    if (performance.now() < due) return undefined;
    return new Promise((resolve) => setTimeout(resolve)).then(() => {
      throwIfAborted(signal);
      due = performance.now() + TURN_MS;
      return true;
    });
  };
}
