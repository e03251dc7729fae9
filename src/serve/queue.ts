// Between HTTP and the workers: a bounded queue. Whoever comes while it is full is told to come back; whoever waited
// past their deadline is told so and costs no work; what waits together goes to a worker together.

import { Problem } from './problems.js';

/** A worker that answers several jobs at once, in their order. */
export type Answer<Job, Reply> = (jobs: readonly Job[]) => Promise<readonly Reply[]>;

interface Waiting<Job, Reply> {
  readonly job: Job;
  /** How much work it is, in requests. */
  readonly weight: number;
  readonly until: number;
  resolve(reply: Reply): void;
  reject(error: unknown): void;
}

export interface WorkQueue<Job, Reply> {
  /** Requests that wait, and that are being answered. */
  readonly waiting: number;
  readonly working: number;
  /** Rejects with a Problem: busy, late or draining. */
  ask(job: Job, options: { readonly weight?: number; readonly deadline: number }): Promise<Reply>;
  /** Takes no more, and resolves once all is answered. */
  drain(): Promise<void>;
}

export interface QueueLimits {
  /** Requests that may wait. */
  readonly most: number;
  /** Requests that go to a worker together. */
  readonly together: number;
}

export function createQueue<Job, Reply>(
  workers: readonly Answer<Job, Reply>[],
  { most, together }: QueueLimits,
  now: () => number = () => performance.now(),
): WorkQueue<Job, Reply> {
  const queue: Waiting<Job, Reply>[] = [];
  const idle = [...workers];
  let waiting = 0;
  let working = 0;
  let draining = false;
  let drained: (() => void) | undefined;

  function next(): void {
    while (idle.length > 0 && queue.length > 0) {
      const batch = take();
      if (batch.length === 0) continue;
      const worker = idle.pop()!;
      const weight = batch.reduce((sum, one) => sum + one.weight, 0);
      working += weight;
      worker(batch.map(({ job }) => job))
        .then(
          (replies) => {
            for (const [i, one] of batch.entries()) one.resolve(replies[i]);
          },
          (error) => {
            for (const one of batch) one.reject(error);
          },
        )
        .finally(() => {
          working -= weight;
          idle.push(worker);
          next();
        });
    }
    if (draining && working === 0 && queue.length === 0) drained?.();
  }

  /** The next jobs for one worker, up to `together` requests; those that waited too long are told so. */
  function take(): Waiting<Job, Reply>[] {
    const batch: Waiting<Job, Reply>[] = [];
    let weight = 0;
    while (queue.length > 0 && (batch.length === 0 || weight + queue[0].weight <= together)) {
      const one = queue.shift()!;
      waiting -= one.weight;
      if (one.until <= now()) {
        one.reject(
          new Problem('late', 'the request waited past its deadline; ask again, or give it more time', {
            retryAfter: 1,
          }),
        );
        continue;
      }
      weight += one.weight;
      batch.push(one);
    }
    return batch;
  }

  return {
    get waiting() {
      return waiting;
    },
    get working() {
      return working;
    },
    ask(job, { weight = 1, deadline }) {
      if (draining) {
        return Promise.reject(new Problem('draining', 'the server is stopping', { retryAfter: 5 }));
      }
      // A batch larger than the whole queue still has its turn when nothing else waits.
      if (waiting > 0 && waiting + weight > most) {
        return Promise.reject(
          new Problem('busy', `${waiting} requests are waiting already; come back in a moment`, {
            retryAfter: 1,
          }),
        );
      }
      return new Promise<Reply>((resolve, reject) => {
        waiting += weight;
        queue.push({ job, weight, until: now() + deadline, resolve, reject });
        next();
      });
    },
    drain() {
      draining = true;
      return new Promise<void>((resolve) => {
        drained = resolve;
        next();
      });
    },
  };
}
