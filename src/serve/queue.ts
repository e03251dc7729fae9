// Between HTTP and the workers: a bounded queue. Whoever comes while it is full is told to come back; whoever waited
// past their deadline is told so and costs no work; what waits together goes to a worker together. A burst may fill the
// queue. One that has not been empty for a while is overload, not a burst: it then holds no more than a worker takes next,
// so that whoever is served is served soon. Single requests leave a core to the thread that talks; batches take every worker.

import { busy, Problem } from './problems.js';

/** A worker that answers several jobs at once, in their order. */
export type Answer<Job, Reply> = (jobs: readonly Job[]) => Promise<readonly Reply[]>;

/** Work to be done, and how much it is, in requests. */
export interface Weighed<Job> {
  readonly job: Job;
  readonly weight: number;
  /** A piece of a batch: nobody waits for it alone. */
  readonly bulk?: boolean;
}

interface Waiting<Job, Reply> extends Weighed<Job> {
  /** Its place in the queue: when it came, or a little later for each piece before it. */
  readonly turn: number;
  readonly until: number;
  resolve(reply: Reply): void;
  reject(error: unknown): void;
}

export interface WorkQueue<Job, Reply> {
  /** Requests that wait, and that are being answered. */
  readonly waiting: number;
  readonly working: number;
  /** Whether one more has no chance while so many are under way, as things stand. */
  turnsAway(underWay: number): boolean;
  /**
   * Takes all pieces of one request or none. Each later piece stands a little behind the one before, so that others get
   * their turn in between. Rejects with a Problem: busy, late or draining.
   */
  ask(pieces: readonly Weighed<Job>[], options: { readonly deadline: number }): Promise<Reply[]>;
  /** Takes no more, and resolves once all is answered. */
  drain(): Promise<void>;
}

export interface QueueLimits {
  /** Requests that may wait. */
  readonly most: number;
  /** Requests that go to a worker together. */
  readonly together: number;
  /** Workers that answer single requests at a time; all of them unless told. */
  readonly singly?: number;
}

/** Milliseconds for which a queue may stay filled before it is called overload. */
const BURST = 100;
/** Milliseconds without a refusal after which an overload is over: a queue that is emptied and filled again is no burst. */
const CALM = 1000;
/** Milliseconds by which each piece of a request stands behind the one before. */
const STEP = 10;
/** Requests that may wait behind the first pieces: two batches of the longest kind. */
const LATER = 2000;

export function createQueue<Job, Reply>(
  workers: readonly Answer<Job, Reply>[],
  { most, together, singly = workers.length }: QueueLimits,
  now: () => number = () => performance.now(),
): WorkQueue<Job, Reply> {
  /** By turn. */
  const queue: Waiting<Job, Reply>[] = [];
  const idle = [...workers];
  let waiting = 0;
  let working = 0;
  /** Workers that answer single requests. */
  let single = 0;
  let draining = false;
  let drained: (() => void) | undefined;
  /** When nobody waited whose turn had come. */
  let lastEmpty = now();
  let overload = false;
  /** When there was no room last. */
  let lastFull = Number.NEGATIVE_INFINITY;

  /** Requests whose turn has come by `time`. */
  const ahead = (time: number) => {
    let sum = 0;
    for (const { turn, weight } of queue) {
      if (turn > time) break;
      sum += weight;
    }
    return sum;
  };

  const lookIfEmpty = (time: number) => {
    if (queue.length === 0 || queue[0].turn > time) lastEmpty = time;
  };

  function next(): void {
    while (idle.length > 0) {
      const batch = take();
      if (batch.length === 0) break;
      const worker = idle.pop() as Answer<Job, Reply>;
      const weight = batch.reduce((sum, one) => sum + one.weight, 0);
      const alone = batch[0].bulk ? 0 : 1;
      working += weight;
      single += alone;
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
          single -= alone;
          idle.push(worker);
          next();
        });
    }
    lookIfEmpty(now());
    if (draining && working === 0 && queue.length === 0) drained?.();
  }

  /** The next jobs for one worker: a piece of a batch, or up to `together` single requests; those that waited too long are told so. */
  function take(): Waiting<Job, Reply>[] {
    const batch: Waiting<Job, Reply>[] = [];
    let weight = 0;
    for (let at = 0; at < queue.length; ) {
      const one = queue[at];
      const mayGo = one.bulk ? batch.length === 0 : single < singly && !batch[0]?.bulk;
      if (!mayGo) {
        at++;
        continue;
      }
      if (batch.length > 0 && weight + one.weight > together) break;
      queue.splice(at, 1);
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
      if (one.bulk) break;
    }
    return batch;
  }

  /** Requests that may wait: many in a burst, what one worker takes next in overload. */
  function roomAt(time: number): number {
    lookIfEmpty(time);
    if (time - lastEmpty > BURST) {
      overload = true;
      lastFull = time;
    } else if (time - lastFull > CALM) overload = false;
    return overload ? Math.min(most, together) : most;
  }

  /** Whether there is no room for so many requests now, and so many behind them. */
  function full(first: number, later: number, time: number): boolean {
    const before = ahead(time);
    // What is larger than the whole queue still has its turn when nothing else waits.
    if (before > 0 && before + first > roomAt(time)) return true;
    return later > 0 && waiting - before > 0 && waiting - before + later > LATER;
  }

  function enqueue(one: Waiting<Job, Reply>): void {
    let at = queue.length;
    while (at > 0 && queue[at - 1].turn > one.turn) at--;
    queue.splice(at, 0, one);
    waiting += one.weight;
  }

  return {
    get waiting() {
      return waiting;
    },
    get working() {
      return working;
    },
    turnsAway(underWay) {
      const time = now();
      const full = underWay >= roomAt(time) + together * singly;
      if (full) lastFull = time;
      return full;
    },
    ask(pieces, { deadline }) {
      if (draining) {
        return Promise.reject(new Problem('draining', 'the server is stopping', { retryAfter: 5 }));
      }
      const time = now();
      const [{ weight: first }, ...rest] = pieces;
      const later = rest.reduce((sum, { weight }) => sum + weight, 0);
      if (full(first, later, time)) {
        lastFull = time;
        return Promise.reject(busy(waiting));
      }
      const replies = pieces.map(
        (piece, i) =>
          new Promise<Reply>((resolve, reject) => {
            enqueue({ ...piece, turn: time + STEP * i, until: time + deadline, resolve, reject });
          }),
      );
      next();
      return Promise.all(replies);
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
