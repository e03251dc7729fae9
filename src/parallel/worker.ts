// The worker's end of a pool: answers requests one at a time. Every module of tasks ends with a call of `serveTasks`,
// which does nothing but in a worker that was started for that module.

import { packError } from '../errors.js';
import type { Progress } from '../progress.js';
import { type WorkerReply, type WorkerRequest, workerName } from './spawn.js';

type Task = (input: unknown, tell: (progress: Progress) => void) => unknown;

/** Milliseconds between reports of the same stage. */
const TELL_MS = 100;

/** Answers a pool's requests for the named tasks, where this is a worker that a pool has started for the module `name`. */
export function serveTasks(name: string, tasks: object): void {
  if (typeof process !== 'undefined' && process.versions?.node) {
    const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads');
    if (!parentPort || workerData?.name !== workerName(name)) return;
    serve(
      tasks as Record<string, Task>,
      (handler) => parentPort.on('message', handler),
      (message) => parentPort.postMessage(message),
    );
  } else if (typeof self !== 'undefined' && self.name === workerName(name) && !('document' in self)) {
    // At once: a worker's messages do not wait for a listener that comes late.
    serve(
      tasks as Record<string, Task>,
      (handler) => {
        self.onmessage = (event) => handler(event.data);
      },
      (message) => self.postMessage(message),
    );
  }
}

function serve(
  tasks: Record<string, Task>,
  listen: (handler: (request: WorkerRequest) => void) => void,
  reply: (message: WorkerReply) => void,
): void {
  let last: Promise<unknown> = Promise.resolve();
  listen(({ id, task, input }) => {
    last = last.then(async () => {
      try {
        const run = tasks[task];
        if (!run) throw new Error(`there is no task ${task}`);
        reply({
          id,
          output: await run(
            input,
            nowAndThen((progress) => reply({ id, progress })),
          ),
        });
      } catch (cause) {
        reply({ id, error: packError(cause) });
      }
    });
  });
}

/** Tells of each new stage at once, and of its steps no more often than anybody looks. */
function nowAndThen(tell: (progress: Progress) => void): (progress: Progress) => void {
  let told: { readonly stage: string; readonly at: number } | undefined;
  return (progress) => {
    const at = performance.now();
    if (progress.stage === told?.stage && at - told.at < TELL_MS) return;
    told = { stage: progress.stage, at };
    tell(progress);
  };
}
