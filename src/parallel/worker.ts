// The worker's end of a pool: answers requests one at a time. Every module of tasks ends with a call of `serveTasks`,
// which acts only in a worker that was started for that module.

import { packError } from '../errors.js';
import type { Progress } from '../progress.js';
import { type WorkerReply, type WorkerRequest, workerName } from './spawn.js';

type Task = (input: unknown, report: (progress: Progress) => void) => unknown;

/** Milliseconds between reports of the same stage. */
const REPORT_MS = 100;

/** Answers a pool's requests for the tasks, if this is a worker that a pool has started for the module `name`. */
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
    // Listen immediately: messages to a worker do not wait for a late listener.
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
            throttled((progress) => reply({ id, progress })),
          ),
        });
      } catch (cause) {
        reply({ id, error: packError(cause) });
      }
    });
  });
}

/** Reports each new stage immediately, and the steps of a stage at most every REPORT_MS. */
function throttled(report: (progress: Progress) => void): (progress: Progress) => void {
  let last: { readonly stage: string; readonly at: number } | undefined;
  return (progress) => {
    const at = performance.now();
    if (progress.stage === last?.stage && at - last.at < REPORT_MS) return;
    last = { stage: progress.stage, at };
    report(progress);
  };
}
