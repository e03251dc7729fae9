import { describe, expect, it } from 'vitest';
import { createQueue } from '../../src/serve/queue.js';

/** A worker that answers when it is told to. */
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

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the queue before the workers', () => {
  it('gives what waits together to one worker together, in order', async () => {
    const { batches, release, answer } = heldWorker();
    const queue = createQueue([answer], { most: 100, together: 3 });
    const replies = [1, 2, 3, 4, 5].map((job) => queue.ask(job, { deadline: 1000 }));
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

  it('says busy when it is full, and takes more once there is room', async () => {
    const { release, answer } = heldWorker();
    const queue = createQueue([answer], { most: 2, together: 1 });
    const first = queue.ask(1, { deadline: 1000 });
    const waiting = [queue.ask(2, { deadline: 1000 }), queue.ask(3, { deadline: 1000 })];
    await expect(queue.ask(4, { deadline: 1000 })).rejects.toMatchObject({ kind: 'busy', retryAfter: 1 });
    release[0]();
    await first;
    await settled();
    const later = queue.ask(5, { deadline: 1000 });
    for (let i = 1; i < 4; i++) {
      release[i]();
      await settled();
    }
    expect(await Promise.all([...waiting, later])).toEqual([20, 30, 50]);
  });

  it('a request that waited past its deadline is told so and costs no work', async () => {
    let time = 0;
    const { batches, release, answer } = heldWorker();
    const queue = createQueue([answer], { most: 10, together: 10 }, () => time);
    const first = queue.ask(1, { deadline: 1000 });
    const late = queue.ask(2, { deadline: 5 });
    const patient = queue.ask(3, { deadline: 1000 });
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

  it('a worker that fails fails its own batch, and works on', async () => {
    let calls = 0;
    const queue = createQueue<number, number>(
      [
        async (jobs) => {
          calls++;
          if (calls === 1) throw new Error('once');
          return [...jobs];
        },
      ],
      { most: 10, together: 1 },
    );
    await expect(queue.ask(1, { deadline: 1000 })).rejects.toThrow('once');
    expect(await queue.ask(2, { deadline: 1000 })).toBe(2);
  });

  it('a batch larger than the queue has its turn when nothing waits', async () => {
    const queue = createQueue<number, number>([async (jobs) => [...jobs]], { most: 4, together: 2 });
    expect(await queue.ask(1, { weight: 100, deadline: 1000 })).toBe(1);
  });

  it('drains: answers what it has, takes no more', async () => {
    const { release, answer } = heldWorker();
    const queue = createQueue([answer], { most: 10, together: 1 });
    const replies = [queue.ask(1, { deadline: 1000 }), queue.ask(2, { deadline: 1000 })];
    let empty = false;
    const drained = queue.drain().then(() => {
      empty = true;
    });
    await expect(queue.ask(3, { deadline: 1000 })).rejects.toMatchObject({ kind: 'draining' });
    release[0]();
    await settled();
    expect(empty).toBe(false);
    release[1]();
    await drained;
    expect(await Promise.all(replies)).toEqual([10, 20]);
  });
});
