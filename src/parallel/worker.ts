// The entry of every worker: loads the task module named at its start, then answers requests one at a time.

import type { WorkerReply, WorkerRequest } from './spawn.js';

type Task = (input: unknown) => unknown;

async function serve(
  moduleUrl: string,
  listen: (handler: (request: WorkerRequest) => void) => void,
  reply: (message: WorkerReply) => void,
): Promise<void> {
  const queue: Promise<Record<string, Task>> = import(moduleUrl);
  let last: Promise<unknown> = queue;
  listen((request) => {
    last = last.then(async () => {
      const { id, task, input } = request;
      try {
        const run = (await queue)[task];
        if (!run) throw new Error(`${moduleUrl} has no task ${task}`);
        reply({ id, output: await run(input) });
      } catch (cause) {
        const error = cause instanceof Error ? cause : new Error(String(cause));
        reply({ id, error: { name: error.name, message: error.message, stack: error.stack ?? '' } });
      }
    });
  });
  await queue;
}

if (typeof process !== 'undefined' && process.versions?.node) {
  const { parentPort, workerData } = await import('node:worker_threads');
  void serve(
    workerData.moduleUrl,
    (handler) => parentPort!.on('message', handler),
    (message) => parentPort!.postMessage(message),
  );
} else {
  void serve(
    self.name,
    (handler) => {
      self.onmessage = (event) => handler(event.data);
    },
    (message) => self.postMessage(message),
  );
}
