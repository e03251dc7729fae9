// Between HTTP and the workers: a bounded queue. Whoever comes while it is full is told to come back; whoever waited
// past their deadline is told so and costs no work, nor does whoever has gone; what waits together goes to a worker together. A
// burst may fill the queue. One that has not been empty for a while is overload, not a burst: it then holds half of what a worker
// takes next, so that whoever is served is served soon, and single requests leave a core to the thread that talks. Pieces of batches
// wait beside, and where both wait they take turns with single requests. A turn is short: what a worker did not come to waits again.

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

/** What one `ask` has brought: its pieces end together. */
interface Asked {
  readonly until: number;
  readonly gone: () => boolean;
  /** What to say where it has begun and does not end in time. */
  readonly tooMuch: string | undefined;
  /** Whether a worker has begun with it. */
  begun: boolean;
  /** Whether one piece has failed, so that no other is worth its work. */
  failed: boolean;
}

interface Waiting<Job, Reply> extends Weighed<Job> {
  /** Its place among pieces: when it came, or a little later for each piece before it. */
  readonly turn: number;
  readonly asked: Asked;
  /** Replies of the turns that it has had. */
  readonly had: readonly Reply[];
  resolve(replies: readonly Reply[]): void;
  reject(error: unknown): void;
}

export interface AskOptions {
  /** Milliseconds that it may take until a worker begins, of a batch until the last of its turns begins. */
  readonly deadline: number;
  /** Whether whoever asked has gone. */
  readonly gone?: () => boolean;
  /** What to say of a batch that was begun and did not end before its deadline. */
  readonly tooMuch?: string;
}

export interface WorkQueue<Job, Reply> {
  /** Requests that wait, and that are being answered. */
  readonly waiting: number;
  readonly working: number;
  /** Whether one more single request would find no room, as things stand. */
  turnsAway(): boolean;
  /**
   * Takes all pieces of one request or none. Each later piece stands a little behind the one before, so that other batches get
   * their turn in between. Replies come in the order of the pieces, several of one that took several turns. Rejects with a Problem:
   * busy, late, gone or draining.
   */
  ask(pieces: readonly Weighed<Job>[], options: AskOptions): Promise<Reply[]>;
  /** Takes no more, and resolves once all is answered. */
  drain(): Promise<void>;
}

/** What came of a job in one turn. */
export interface Turn<Job, Reply> {
  /** Undefined where the worker did not come to it. */
  readonly reply: Reply | undefined;
  /** What is still to be done. */
  readonly left?: Weighed<Job> | undefined;
}

export interface QueueLimits<Job, Reply> {
  /** Single requests that may wait. */
  readonly most: number;
  /** Requests that go to a worker together. */
  readonly together: number;
  /** Workers that answer single requests at a time in overload; all of them unless told. */
  readonly singly?: number;
  /** Tells what a worker has done from what it has left of a job; all is done unless told. */
  readonly turnOf?: (job: Job, reply: Reply) => Turn<Job, Reply>;
}

/** Milliseconds for which a queue may stay filled before it is called overload. Longer ones showed in the slowest answers. */
const BURST = 25;
/** Milliseconds without a refusal after which an overload is over: a queue that is emptied and filled again is no burst. */
const CALM = 1000;
/** Milliseconds by which each piece of a request stands behind the one before. */
const STEP = 10;
/** Requests of batches that may wait: two batches of the longest kind. */
const LATER = 2000;
/** Milliseconds between looks at who has waited too long. */
const LOOK = 50;

export function createQueue<Job, Reply>(
  workers: readonly Answer<Job, Reply>[],
  { most, together, singly = workers.length, turnOf = (_, reply) => ({ reply }) }: QueueLimits<Job, Reply>,
  now: () => number = () => performance.now(),
): WorkQueue<Job, Reply> {
  type Entry = Waiting<Job, Reply>;
  /** In order of arrival. */
  const singles: Entry[] = [];
  /** By turn. */
  const pieces: Entry[] = [];
  const idle = [...workers];
  let bulkWaiting = 0;
  let working = 0;
  /** Workers that answer single requests. */
  let single = 0;
  /** Whether the last that went to a worker was a piece: then a single request has its turn. */
  let pieceWent = false;
  let draining = false;
  let drained: (() => void) | undefined;
  /** When no single request waited. */
  let lastEmpty = now();
  let overload = false;
  /** When there was no room last. */
  let lastFull = Number.NEGATIVE_INFINITY;
  let looking: ReturnType<typeof setInterval> | undefined;

  const lookIfEmpty = (time: number) => {
    if (singles.length === 0) lastEmpty = time;
  };

  function next(): void {
    while (idle.length > 0) {
      const batch = take();
      if (batch.length === 0) break;
      // The one that has rested longest: one that fails at once is not asked again before the others.
      const worker = idle.shift() as Answer<Job, Reply>;
      const weight = batch.reduce((sum, one) => sum + one.weight, 0);
      const alone = batch[0].bulk ? 0 : 1;
      working += weight;
      single += alone;
      for (const { asked, bulk } of batch) asked.begun ||= bulk === true;
      worker(batch.map(({ job }) => job))
        .then(
          (replies) => {
            // From the last: of several that wait again, the first is to be the first.
            for (const [i, one] of [...batch.entries()].reverse()) endTurn(one, turnOf(one.job, replies[i]));
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
    if (singles.length + pieces.length === 0) {
      clearInterval(looking);
      looking = undefined;
      if (draining && working === 0) drained?.();
    }
  }

  function endTurn(one: Entry, { reply, left }: Turn<Job, Reply>): void {
    const had = reply === undefined ? one.had : [...one.had, reply];
    if (!left) one.resolve(had);
    else if (one.bulk) enqueue({ ...one, ...left, bulk: true, had });
    else singles.unshift({ ...one, ...left, had });
    if (left) looking ??= setInterval(look, LOOK);
  }

  /** The next jobs for one worker: a piece of a batch, or up to `together` single requests. */
  function take(): Entry[] {
    dropLate();
    const mayBeSingle = singles.length > 0 && single < (overload ? singly : workers.length);
    if (pieces.length > 0 && !(mayBeSingle && pieceWent)) {
      pieceWent = true;
      return [removed(pieces, 0)];
    }
    if (!mayBeSingle) return [];
    pieceWent = false;
    return singles.splice(0, together);
  }

  function removed(from: Entry[], at: number): Entry {
    const [one] = from.splice(at, 1);
    if (one.bulk) bulkWaiting -= one.weight;
    return one;
  }

  /** Whoever waited too long is told so; what nobody waits for any more goes. */
  function dropLate(): void {
    const time = now();
    for (const list of [singles, pieces]) {
      for (let at = list.length - 1; at >= 0; at--) {
        const { asked } = list[at];
        if (asked.failed) removed(list, at).reject(undefined);
        else if (asked.gone()) removed(list, at).reject(new Problem('gone', 'the client has gone'));
        else if (asked.until <= time) removed(list, at).reject(late(asked));
      }
    }
  }

  function look(): void {
    dropLate();
    next();
  }

  /** Single requests that may wait: many in a burst, half of what a worker takes next in overload. */
  function roomAt(time: number): number {
    lookIfEmpty(time);
    if (time - lastEmpty > BURST) {
      overload = true;
      lastFull = time;
    } else if (time - lastFull > CALM) overload = false;
    return overload ? Math.min(most, Math.ceil(together / 2)) : most;
  }

  function turnsAway(): boolean {
    const time = now();
    // Where a worker is free nobody waits, however small the queue.
    const full = singles.length > 0 && singles.length >= roomAt(time);
    if (full) lastFull = time;
    return full;
  }

  /** Whether there is no room for a batch of so many requests. What is larger than all the room has its turn when none waits. */
  const turnsBatchAway = (weight: number) => bulkWaiting > 0 && bulkWaiting + weight > LATER;

  function enqueue(one: Entry): void {
    if (!one.bulk) {
      singles.push(one);
      return;
    }
    let at = pieces.length;
    while (at > 0 && pieces[at - 1].turn > one.turn) at--;
    pieces.splice(at, 0, one);
    bulkWaiting += one.weight;
  }

  return {
    get waiting() {
      return singles.length + bulkWaiting;
    },
    get working() {
      return working;
    },
    turnsAway,
    async ask(asking, { deadline, gone = () => false, tooMuch }) {
      if (draining) {
        throw new Problem('draining', 'the server is stopping', { retryAfter: 5 });
      }
      const time = now();
      const bulk = asking.length > 1 || asking[0].bulk === true;
      const weight = asking.reduce((sum, piece) => sum + piece.weight, 0);
      if (bulk ? turnsBatchAway(weight) : turnsAway()) throw busy(singles.length + bulkWaiting);
      const asked: Asked = { until: time + deadline, gone, tooMuch, begun: false, failed: false };
      const replies = asking.map(
        (piece, i) =>
          new Promise<readonly Reply[]>((resolve, reject) => {
            enqueue({
              ...piece,
              bulk,
              turn: time + STEP * i,
              asked,
              had: [],
              resolve,
              reject(error) {
                asked.failed = true;
                reject(error);
              },
            });
          }),
      );
      next();
      if (singles.length + pieces.length > 0) looking ??= setInterval(look, LOOK);
      return (await Promise.all(replies)).flat() as Reply[];
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

function late({ begun, tooMuch }: Asked): Problem {
  return begun && tooMuch !== undefined
    ? new Problem('late', tooMuch)
    : new Problem('late', 'the request waited past its deadline; ask again, or give it more time', {
        retryAfter: 1,
      });
}
