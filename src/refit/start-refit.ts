// Starts the process of a refit and waits for its result. If the process fails, the caller gets an error.

import { fork } from 'node:child_process';
import { abortReason, throwIfAborted } from '../errors.js';
import { built } from '../parallel/spawn.js';
import type { RefitPlan, RefitResult } from './refit.js';
import type { RefitMessage } from './refit-process.js';

interface StartRefitOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
  /** Called with the id of the process. */
  readonly onStart?: ((pid: number | undefined) => void) | undefined;
}

export async function startRefit(plan: RefitPlan, options: StartRefitOptions): Promise<RefitResult> {
  const { signal, onProgress, onStart } = options;
  throwIfAborted(signal);
  // Its output is discarded: results come as messages.
  const child = fork(built(new URL('./refit-process.js', import.meta.url)), [], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: [],
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2000);
  });
  const stop = () => child.kill('SIGKILL');
  signal.addEventListener('abort', stop, { once: true });
  onStart?.(child.pid);
  try {
    return await new Promise<RefitResult>((resolve, reject) => {
      child.on('message', (message: RefitMessage) => {
        if ('progress' in message) onProgress(message.progress);
        else if ('result' in message) resolve(message.result);
        else reject(new Error(message.error));
      });
      child.once('error', (error) => reject(new Error(`the process did not start (${error.message})`)));
      child.once('close', (status, killed) => {
        if (signal.aborted) reject(abortReason(signal));
        const why =
          killed === null
            ? `it ended with status ${status} (${said.trim().split('\n').at(-1) ?? ''})`
            : `it was ended by ${killed}; perhaps there was too little memory`;
        reject(new Error(`the process of the refit ended early: ${why}`));
      });
      child.send(plan, (error) => {
        if (error) reject(new Error(`the process did not start (${error.message})`));
      });
    });
  } finally {
    signal.removeEventListener('abort', stop);
    child.kill('SIGKILL');
  }
}
