import { describe, expect, it } from 'vitest';
import { createQueue, type WorkQueue } from '../../src/serve/work-queue.js';

/** A worker that answers on demand. */
function heldWorker() {
  const batches: number[][] = [];
  const release: (() => void)[] = [];
  const answer = (jobs: readonly number[]) =>
    new Promise<number[]>((resolve) => {
      batches.push([...jobs]);
      release.push(() => resolve(jobs.map((job) => 10 * job)));
    });
  return { batches, release, answer };
}

const one = async (queue: WorkQueue<number, number>, job: number, deadline: number, weight = 1) =>
  (await queue.ask([{ query: job, weight }], { deadline }))[0];

/** A stopped clock: a machine that is slow for a moment is not overloaded. */
const still = () => 0;

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the queue of the workers', () => {
  it('gives waiting requests to one worker as a batch, in order', async () => {
    const { batches, release, answer } = heldWorker();
    const queue = createQueue([answer], { capacity: 100, batchSize: 3 }, still);
    const replies = [1, 2, 3, 4, 5].map((job) => one(queue, job, 1000));
    expect(batches).toEqual([[1]]);
    release[0]();
    await settled();
    expect(batches).toEqual([[1], [2, 3, 4]]);
    release[1]();
    await settled();
    release[2]();
    expect(await Promise.all(replies)).toEqual([10, 20, 30, 40, 50]);
    expect(queue.waiting + queue.working).toBe(0);
  });

  it('gives each worker a turn at other work while the others answer', async () => {
    const [first, second] = [heldWorker(), heldWorker()];
    const queue = createQueue([first.answer, second.answer], { capacity: 100, batchSize: 1 }, still);
    const busy = one(queue, 1, 1000);
    const turns: number[] = [];
    let end: () => void = () => {};
    const all = queue.eachWorker(async (at) => {
      turns.push(at);
      await new Promise<void>((resolve) => {
        end = resolve;
      });
    });
    await settled();
    expect(turns).toEqual([]);
    first.release[0]();
    await busy;
    await settled();
    expect(turns).toEqual([0]);
    const replies = [2, 3].map((job) => one(queue, job, 1000));
    expect([first.batches, second.batches]).toEqual([[[1]], [[2]]]);
    second.release[0]();
    await settled();
    expect(second.batches).toEqual([[2], [3]]);
    end();
    await settled();
    expect(turns).toEqual([0]);
    second.release[1]();
    expect(await Promise.all(replies)).toEqual([20, 30]);
    await settled();
    expect(turns).toEqual([0, 1]);
    end();
    await all;
    // A turn that fails ends nothing.
    await expect(queue.eachWorker(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    const last = [4, 5].map((job) => one(queue, job, 1000));
    for (const worker of [first, second]) worker.release.at(-1)?.();
    expect(await Promise.all(last)).toEqual([40, 50]);
  });

  it('says busy when it is full, and takes more once there is room', async () => {
    const { release, answer } = heldWorker();
    const queue = createQueue([answer], { capacity: 2, batchSize: 1 }, still);
    const first = one(queue, 1, 1000);
    const waiting = [one(queue, 2, 1000), one(queue, 3, 1000)];
    await expect(one(queue, 4, 1000)).rejects.toMatchObject({ kind: 'busy', retryAfter: 1 });
    release[0]();
    await first;
    await settled();
    const later = one(queue, 5, 1000);
    for (let i = 1; i < 4; i++) {
      release[i]();
      await settled();
    }
    expect(await Promise.all([...waiting, later])).toEqual([20, 30, 50]);
  });

  it('a request past its deadline is rejected and costs no work', async () => {
    let time = 0;
    const { batches, release, answer } = heldWorker();
    const queue = createQueue([answer], { capacity: 10, batchSize: 10 }, () => time);
    const first = one(queue, 1, 1000);
    const late = one(queue, 2, 5);
    const patient = one(queue, 3, 1000);
    time = 6;
    const refused = expect(late).rejects.toMatchObject({ kind: 'late' });
    release[0]();
    await first;
    await refused;
    await settled();
    release[1]();
    expect(await patient).toBe(30);
    expect(batches).toEqual([[1], [3]]);
  });

  it('a failing worker fails only its own batch, and continues', async () => {
    let calls = 0;
    const queue = createQueue<number, number>(
      [
        async (jobs) => {
          calls++;
          if (calls === 1) throw new Error('once');
          return [...jobs];
        },
      ],
      { capacity: 10, batchSize: 1 },
    );
    await expect(one(queue, 1, 1000)).rejects.toThrow('once');
    expect(await one(queue, 2, 1000)).toBe(2);
  });

  it('a batch larger than the queue is accepted when nothing waits', async () => {
    const queue = createQueue<number, number>([async (jobs) => [...jobs]], { capacity: 4, batchSize: 2 });
    expect(await one(queue, 1, 1000, 100)).toBe(1);
  });

  it('lets other requests run between the pieces of a batch, and accepts all of a batch or none', async () => {
    let time = 0;
    const { batches, release, answer } = heldWorker();
    const queue = createQueue([answer], { capacity: 4, batchSize: 2 }, () => time);
    const pieces = [1, 2, 3].map((job) => ({ query: job, weight: 2, bulk: true }));
    const batch = queue.ask(pieces, { deadline: 10_000 });
    time = 5;
    const alone = one(queue, 7, 10_000);
    for (let i = 0; i < 4; i++) {
      release[i]();
      await settled();
    }
    expect(batches).toEqual([[1], [7], [2], [3]]);
    expect(await batch).toEqual([10, 20, 30]);
    expect(await alone).toBe(70);
    const long = (job: number) =>
      queue.ask(
        Array.from({ length: 600 }, () => ({ query: job, weight: 2, bulk: true })),
        { deadline: 1e9 },
      );
    const first = long(1);
    const second = expect(long(2)).rejects.toMatchObject({ kind: 'busy' });
    await second;
    expect(queue.waiting + queue.working).toBe(1200);
    for (let i = 4; i < 604; i++) {
      release[i]();
      await settled();
    }
    expect(await first).toHaveLength(600);
  });

  it('a burst may fill the queue; under overload it shrinks to half a batch until it was empty', async () => {
    let time = 0;
    const { release, answer } = heldWorker();
    const queue = createQueue([answer], { capacity: 20, batchSize: 2 }, () => time);
    const replies = Array.from({ length: 1 + 20 }, (_, job) => one(queue, job, 10_000));
    await expect(one(queue, 99, 10_000)).rejects.toMatchObject({ kind: 'busy' });
    release[0]();
    await settled();
    replies.push(one(queue, 21, 10_000));
    time = 101;
    release[1]();
    await settled();
    expect(queue.waiting).toBe(17);
    await expect(one(queue, 99, 10_000)).rejects.toMatchObject({ kind: 'busy' });
    for (let i = 2; queue.working > 0; i++) {
      release[i]();
      await settled();
    }
    await Promise.all(replies);
    // An empty queue ends the overload.
    const releaseAll = async () => {
      for (let i = release.length - 1; queue.working > 0; i++) {
        release[i]();
        await settled();
      }
    };
    const again = Array.from({ length: 5 }, (_, job) => one(queue, job, 10_000));
    expect(queue.waiting).toBe(4);
    expect(queue.isFull()).toBe(false);
    await releaseAll();
    await Promise.all(again);
  });

  it('single requests and pieces of a batch alternate on one worker, and have separate queues', async () => {
    const { batches, release, answer } = heldWorker();
    const queue = createQueue([answer], { capacity: 2, batchSize: 1 }, still);
    const pieces = [11, 12, 13].map((job) => ({ query: job, weight: 16, bulk: true }));
    const batch = queue.ask(pieces, { deadline: 10_000 });
    const singles = [1, 2].map((job) => one(queue, job, 10_000));
    await expect(one(queue, 3, 10_000)).rejects.toMatchObject({ kind: 'busy' });
    for (let i = 0; i < 5; i++) {
      release[i]();
      await settled();
    }
    expect(batches).toEqual([[11], [1], [12], [2], [13]]);
    expect(await Promise.all(singles)).toEqual([10, 20]);
    expect(await batch).toEqual([110, 120, 130]);
  });

  it('no request waits past its deadline, and requests of clients that left cost no work', async () => {
    const { batches, release, answer } = heldWorker();
    const queue = createQueue([answer], { capacity: 10, batchSize: 10 });
    const first = one(queue, 1, 1000);
    await expect(one(queue, 2, 5)).rejects.toMatchObject({ kind: 'late' });
    const left = queue.ask([{ query: 3, weight: 1 }], { deadline: 1000, gone: () => true });
    await expect(left).rejects.toMatchObject({ kind: 'gone' });
    release[0]();
    expect(await first).toBe(10);
    expect(batches).toEqual([[1]]);
  });

  it('a batch with a failed piece costs no more work', async () => {
    const worked: number[] = [];
    const queue = createQueue<number, number>(
      [
        async (jobs) => {
          worked.push(...jobs);
          if (jobs.includes(2)) throw new Error('broken');
          return [...jobs];
        },
      ],
      { capacity: 10, batchSize: 1 },
    );
    const pieces = [1, 2, 3, 4].map((job) => ({ query: job, weight: 1, bulk: true }));
    await expect(queue.ask(pieces, { deadline: 1000 })).rejects.toThrow('broken');
    await settled();
    expect(worked).toEqual([1, 2]);
    expect(queue.waiting).toBe(0);
  });

  it('an unfinished piece waits again behind single requests, and replies keep their order', async () => {
    const worked: string[] = [];
    // Each turn answers two requests of a piece.
    const queue = createQueue<string, string>(
      [
        async ([text]) => {
          await settled();
          worked.push(text.slice(0, 2));
          return [text];
        },
      ],
      {
        capacity: 10,
        batchSize: 1,
        sliceOf: (job, reply) =>
          job.length <= 2
            ? { reply }
            : {
                reply: reply.slice(0, 2),
                left: { query: job.slice(2), weight: job.length - 2, bulk: true },
              },
      },
    );
    const pieces = ['abcdef', 'uvwx'].map((job) => ({ query: job, weight: job.length, bulk: true }));
    const batch = queue.ask(pieces, { deadline: 10_000 });
    const alone = queue.ask([{ query: '1', weight: 1 }], { deadline: 10_000 });
    expect(await alone).toEqual(['1']);
    expect(worked).toEqual(['ab', '1']);
    expect(await batch).toEqual(['ab', 'cd', 'ef', 'uv', 'wx']);
    expect(queue.waiting + queue.working).toBe(0);
  });

  it('a small batch does not wait for unfinished pieces of a large one', async () => {
    let time = 0;
    const worked: string[] = [];
    const queue = createQueue<string, string>(
      [
        async ([text]) => {
          await settled();
          time += 30;
          worked.push(text[0]);
          return [text];
        },
      ],
      {
        capacity: 10,
        batchSize: 1,
        // Each turn answers one request of a piece.
        sliceOf: (job, reply) =>
          job.length === 1
            ? { reply }
            : { reply: reply[0], left: { query: job.slice(1), weight: job.length - 1, bulk: true } },
      },
      () => time,
    );
    const piece = (job: string) => ({ query: job, weight: job.length, bulk: true });
    const large = queue.ask(
      Array.from({ length: 20 }, () => piece('LLLL')),
      { deadline: 1e6 },
    );
    time += 15;
    const small = queue.ask([piece('ssss')], { deadline: 1e6 });
    expect(await small).toEqual(['s', 's', 's', 's']);
    // Only the pieces that were queued before it have been answered.
    expect(worked.filter((job) => job === 'L')).toHaveLength(2 * 4);
    await large;
  });

  it('a single request that a worker did not start comes first in the next turn', async () => {
    const turns: number[][] = [];
    const queue = createQueue<number, number>(
      [
        async (jobs) => {
          turns.push([...jobs]);
          return jobs.map((job, i) => (i === 0 ? job : -1));
        },
      ],
      {
        capacity: 10,
        batchSize: 3,
        sliceOf: (job, reply) =>
          reply === -1 ? { reply: undefined, left: { query: job, weight: 1 } } : { reply },
      },
    );
    const replies = [1, 2, 3, 4].map((job) => one(queue, job, 10_000));
    expect(await Promise.all(replies)).toEqual([1, 2, 3, 4]);
    expect(turns).toEqual([[1], [2, 3, 4], [3, 4], [4]]);
  });

  it('a batch that was started and missed its deadline is rejected as too large, without a retry', async () => {
    let time = 0;
    const { release, answer } = heldWorker();
    const queue = createQueue([answer], { capacity: 10, batchSize: 1 }, () => time);
    const pieces = [1, 2].map((job) => ({ query: job, weight: 16, bulk: true }));
    const begun = queue.ask(pieces, { deadline: 100, tooSlow: 'too much' });
    const waited = queue.ask(pieces, { deadline: 100, tooSlow: 'too much' });
    const told = [begun, waited].map((batch) => batch.catch((error) => error));
    time = 101;
    release[0]();
    const [first, second] = await Promise.all(told);
    expect(first).toMatchObject({ kind: 'late', message: 'too much', retryAfter: undefined });
    expect(second).toMatchObject({ kind: 'late', retryAfter: 1 });
    expect(second.message).toMatch(/waited past its deadline; ask again/);
  });

  it('drains: answers waiting requests, accepts no more', async () => {
    const { release, answer } = heldWorker();
    const queue = createQueue([answer], { capacity: 10, batchSize: 1 });
    const replies = [one(queue, 1, 1000), one(queue, 2, 1000)];
    let empty = false;
    const drained = queue.drain().then(() => {
      empty = true;
    });
    await expect(one(queue, 3, 1000)).rejects.toMatchObject({ kind: 'draining' });
    release[0]();
    await settled();
    expect(empty).toBe(false);
    release[1]();
    await drained;
    expect(await Promise.all(replies)).toEqual([10, 20]);
  });
});
