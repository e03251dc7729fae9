// The bounded queue between HTTP and the workers. A full queue refuses requests. A request past its deadline, or whose
// client is gone, costs no work. Requests that wait together go to a worker together. A burst may fill the queue. Under
// overload the queue shrinks to half a batch, which bounds the latency of what it accepts. Pieces of long requests have a
// queue of their own and alternate with single requests. A worker works in short time slices and returns what is left.

import { createQueue as createTurns } from '../math/queue.js';
import { LIMITS } from './limits.js';
import { Problem, tooBusy } from './problems.js';

/** A worker that answers several queries, in order. */
type Worker<Query, Reply> = (queries: readonly Query[]) => Promise<readonly Reply[]>;

/** A piece of work, with its weight in requests. */
export interface Piece<Query> {
  readonly query: Query;
  readonly weight: number;
  /** Whether it is a piece of a long request: no client waits for it alone. */
  readonly bulk?: boolean;
}

/** What the pieces of one request share. */
interface Asked {
  readonly until: number;
  readonly gone: () => boolean;
  /** What to say if the request was started and did not end in time. */
  readonly tooSlow: string | undefined;
  started: boolean;
  /** Whether one piece has failed: then the others are dropped. */
  failed: boolean;
  /** Characters of the replies so far. */
  size: number;
}

interface Waiting<Query, Reply> extends Piece<Query> {
  /** Position among the pieces: the time of arrival, plus a little for each earlier piece of its request. */
  readonly position: number;
  readonly asked: Asked;
  /** Replies of its earlier time slices. */
  readonly replies: readonly Reply[];
  resolve(replies: readonly Reply[]): void;
  reject(error: unknown): void;
}

export interface AskOptions {
  /** Milliseconds until a worker must have started; for pieces, until the last time slice must have started. */
  readonly deadline: number;
  readonly gone?: () => boolean;
  /** What to say if the request was started and did not end before its deadline. */
  readonly tooSlow?: string | undefined;
}

export type WorkQueue<Query, Reply> = ReturnType<typeof createQueue<Query, Reply>>;

/** What a worker did with a query in one time slice. */
export interface Slice<Query, Reply> {
  /** Undefined if the worker did not start it. */
  readonly reply: Reply | undefined;
  /** Characters of the reply; counted for long requests. */
  readonly size?: number | undefined;
  readonly left?: Piece<Query> | undefined;
}

interface QueueOptions<Query, Reply> {
  /** Single requests that may wait. */
  readonly capacity: number;
  /** Requests that go to a worker together. */
  readonly batchSize: number;
  /** Splits a reply into what was done and what is left. Default: everything was done. */
  readonly sliceOf?: (query: Query, reply: Reply) => Slice<Query, Reply>;
}

/**
 * A queue that has not been empty for this many milliseconds is overloaded. Longer times made the slowest answers
 * slower.
 */
const OVERLOADED_AFTER = 25;
/** Milliseconds by which each piece of a request is placed behind the one before it, so that other requests get between. */
const PIECE_STEP = 10;
/** Requests in pieces that may wait: two batches of the longest kind. */
const BULK_CAPACITY = 2 * LIMITS.batch;
/** Milliseconds between two checks of deadlines. */
const CHECK_INTERVAL = 50;

export function createQueue<Query, Reply>(
  workers: readonly Worker<Query, Reply>[],
  options: QueueOptions<Query, Reply>,
  now: () => number = () => performance.now(),
) {
  type Entry = Waiting<Query, Reply>;
  const { capacity, batchSize } = options;
  const { sliceOf = (_: Query, reply: Reply): Slice<Query, Reply> => ({ reply }) } = options;
  /** In order of arrival. */
  const singles: Entry[] = [];
  /** By position. */
  const pieces: Entry[] = [];
  const idle = [...workers];
  /** Workers that answer nothing more for now, with what to call when they have ended what they do. */
  const wanted = new Map<Worker<Query, Reply>, () => void>();
  const turns = createTurns();
  let working = 0;
  /** Whether a piece was started last: then a single request is next. */
  let pieceWasLast = false;
  let draining = false;
  let drained: (() => void) | undefined;
  /** When the queue of single requests was empty last. */
  let lastEmpty = now();
  let checking: ReturnType<typeof setInterval> | undefined;

  function startNext(): void {
    while (idle.length > 0) {
      const batch = take();
      if (batch.length === 0) break;
      // The worker that rested longest: one that fails instantly is not asked again before the others.
      const worker = idle.shift() as Worker<Query, Reply>;
      const weight = weightOf(batch);
      working += weight;
      for (const { asked, bulk } of batch) asked.started ||= bulk === true;
      worker(batch.map(({ query }) => query))
        .then(
          (replies) => {
            // Backwards, as each unfinished request goes to the front of the queue.
            for (const [i, one] of [...batch.entries()].reverse()) {
              endSlice(one, sliceOf(one.query, replies[i]));
            }
          },
          (error) => {
            for (const one of batch) one.reject(error);
          },
        )
        .finally(() => {
          working -= weight;
          release(worker);
        });
    }
    if (singles.length === 0) lastEmpty = now();
    if (singles.length + pieces.length === 0) {
      clearInterval(checking);
      checking = undefined;
      if (draining && working === 0) drained?.();
    }
  }

  function release(worker: Worker<Query, Reply>): void {
    const take = wanted.get(worker);
    wanted.delete(worker);
    if (take) take();
    else idle.push(worker);
    startNext();
  }

  /** Resolves when the worker is at rest; it gets no work until it is released. */
  function reserve(worker: Worker<Query, Reply>): Promise<void> {
    const at = idle.indexOf(worker);
    if (at < 0) return new Promise((resolve) => wanted.set(worker, resolve));
    idle.splice(at, 1);
    return Promise.resolve();
  }

  async function takeTurns(work: (worker: number) => Promise<void>): Promise<void> {
    for (const [at, worker] of workers.entries()) {
      await reserve(worker);
      try {
        await work(at);
      } finally {
        release(worker);
      }
    }
  }

  function endSlice(one: Entry, { reply, left, size = 0 }: Slice<Query, Reply>): void {
    const { asked } = one;
    asked.size += size;
    const replies = reply === undefined ? one.replies : [...one.replies, reply];
    if (asked.size > LIMITS.answer) one.reject(tooLong());
    else if (!left) one.resolve(replies);
    else {
      if (one.bulk) enqueue({ ...one, ...left, bulk: true, replies });
      else singles.unshift({ ...one, ...left, replies });
      checking ??= setInterval(check, CHECK_INTERVAL);
    }
  }

  /** The next work for one worker: a piece of a long request, or up to `batchSize` single requests. */
  function take(): Entry[] {
    dropDead();
    if (pieces.length > 0 && !(singles.length > 0 && pieceWasLast)) {
      pieceWasLast = true;
      return pieces.splice(0, 1);
    }
    pieceWasLast = false;
    return singles.splice(0, batchSize);
  }

  /** Rejects requests past their deadline, and drops those that no client waits for. */
  function dropDead(): void {
    const time = now();
    for (const list of [singles, pieces]) {
      for (let at = list.length - 1; at >= 0; at--) {
        const { asked, reject } = list[at];
        if (asked.failed) reject(undefined);
        else if (asked.gone()) reject(new Problem('gone', 'the client is gone'));
        else if (asked.until <= time) reject(late(asked));
        else continue;
        list.splice(at, 1);
      }
    }
  }

  function check(): void {
    dropDead();
    startNext();
  }

  /** Whether a single request would be refused now. */
  function isFull(): boolean {
    // While a worker is idle no request waits, however small the queue.
    if (singles.length === 0) return false;
    const overloaded = now() - lastEmpty > OVERLOADED_AFTER;
    return singles.length >= (overloaded ? Math.min(capacity, Math.ceil(batchSize / 2)) : capacity);
  }

  /** A request that is larger than the whole queue is taken when the queue is empty. */
  const isBulkFull = (weight: number) => pieces.length > 0 && weightOf(pieces) + weight > BULK_CAPACITY;

  function enqueue(one: Entry): void {
    if (!one.bulk) {
      singles.push(one);
      return;
    }
    let at = pieces.length;
    while (at > 0 && pieces[at - 1].position > one.position) at--;
    pieces.splice(at, 0, one);
  }

  return {
    /** Requests in the queue. */
    get waiting() {
      return singles.length + weightOf(pieces);
    },
    /** Requests that workers compute. */
    get working() {
      return working;
    },
    isFull,
    /**
     * Takes all pieces of one request or none. Replies come in the order of the pieces, several for a piece that took several
     * time slices. Rejects with a Problem: busy, late, gone, too-much or draining.
     */
    async ask(
      asking: readonly Piece<Query>[],
      { deadline, gone = () => false, tooSlow }: AskOptions,
    ): Promise<Reply[]> {
      if (draining) throw new Problem('draining', 'the server is stopping', { retryAfter: 5 });
      const time = now();
      const bulk = asking.length > 1 || asking[0].bulk === true;
      const weight = weightOf(asking);
      if (singles.length === 0) lastEmpty = time;
      if (bulk ? isBulkFull(weight) : isFull()) throw tooBusy(singles.length + weightOf(pieces));
      const asked: Asked = { until: time + deadline, gone, tooSlow, started: false, failed: false, size: 0 };
      const replies = asking.map(
        (piece, i) =>
          new Promise<readonly Reply[]>((resolve, reject) => {
            enqueue({
              ...piece,
              bulk,
              position: time + PIECE_STEP * i,
              asked,
              replies: [],
              resolve,
              reject(error) {
                asked.failed = true;
                reject(error);
              },
            });
          }),
      );
      startNext();
      if (singles.length + pieces.length > 0) checking ??= setInterval(check, CHECK_INTERVAL);
      return (await Promise.all(replies)).flat() as Reply[];
    },
    /** Calls `work` for one worker after the other. A worker answers nothing meanwhile, and the others go on. */
    eachWorker(work: (worker: number) => Promise<void>): Promise<void> {
      return turns.inOrder(() => takeTurns(work));
    },
    /** Takes no more requests, and resolves when all are answered. */
    drain(): Promise<void> {
      draining = true;
      return new Promise((resolve) => {
        drained = resolve;
        startNext();
      });
    },
  };
}

function weightOf(pieces: readonly Piece<unknown>[]): number {
  return pieces.reduce((sum, { weight }) => sum + weight, 0);
}

function late({ started, tooSlow }: Asked): Problem {
  if (started && tooSlow !== undefined) return new Problem('late', tooSlow);
  const detail = 'the request waited past its deadline; ask again, or give it more time';
  return new Problem('late', detail, { retryAfter: 1 });
}

function tooLong(): Problem {
  const detail = `the answers exceed ${LIMITS.answer} characters; ask for fewer requests or a smaller n, or leave out explain`;
  return new Problem('too-much', detail);
}
