import { afterEach, describe, expect, it, vi } from 'vitest';
import { shareThreads, type ThreadShare, withWaitReport } from '../../src/parallel/budget.js';
import * as spawn from '../../src/parallel/spawn.js';

vi.mock('../../src/parallel/spawn.js', async (original) => ({
  ...(await original<typeof spawn>()),
  cores: vi.fn(() => 16),
}));

afterEach(() => {
  vi.mocked(spawn.cores).mockReturnValue(16);
});

/** Whether a job has already begun. */
async function begun(share: ThreadShare): Promise<() => boolean> {
  let yes = false;
  void share.begin().then(() => {
    yes = true;
  });
  await Promise.resolve();
  return () => yes;
}

describe('threads shared by concurrent jobs', () => {
  it('never exceed the limit, whatever the jobs do', async () => {
    const shares = shareThreads(5, 9);
    const has = shares.map(() => 0);
    const now = () => has.reduce((sum, threads) => sum + threads, 0);
    let most = 0;
    await Promise.all(
      shares.map(async (share, part) => {
        await share.begin();
        for (let step = 0; step <= part; step++) {
          has[part] = 0;
          has[part] = share.take() ?? Number.NaN;
          expect(has[part]).toBeGreaterThanOrEqual(1);
          expect(now()).toBeLessThanOrEqual(5);
          most = Math.max(most, now());
          await new Promise((resolve) => setTimeout(resolve, part % 3));
        }
        has[part] = 0;
        share.end();
      }),
    );
    expect(most).toBe(5);
  });

  it('go to jobs in the order of their requests, one after the other if there is one thread', async () => {
    const [first, second, third] = shareThreads(1, 3);
    expect((await begun(first))()).toBe(true);
    const [late, last] = [await begun(second), await begun(third)];
    expect([late(), last()]).toEqual([false, false]);
    first.end();
    await Promise.resolve();
    expect([late(), last()]).toEqual([true, false]);
    expect(second.take()).toBe(1);
    second.end();
    await Promise.resolve();
    expect(last()).toBe(true);
  });

  it('are reserved for jobs that have not begun, and go to later steps of others once these have ended', async () => {
    const [models, ranking, rival] = shareThreads(4, 3);
    await models.begin();
    expect(models.take()).toBe(2);
    await ranking.begin();
    await rival.begin();
    expect(ranking.take()).toBe(1);
    expect(models.take()).toBe(2);
    rival.end();
    expect(models.take()).toBe(3);
    ranking.end();
    expect(models.take()).toBe(4);
    const [alone, never] = shareThreads(3, 2);
    await alone.begin();
    expect(alone.take()).toBe(2);
    never.end();
    expect(alone.take()).toBe(3);
  });

  it('are divided evenly among first steps, and later steps also get returned threads', async () => {
    const shares = shareThreads(15, 8);
    const first: (number | undefined)[] = [];
    for (const share of shares) {
      await share.begin();
      first.push(share.take());
    }
    expect(first).toEqual([2, 2, 2, 2, 2, 2, 2, 1]);
    expect(shares[0].take()).toBe(2);
    shares[1].end();
    shares[2].end();
    expect(shares[7].take()).toBe(5);
    expect(shares[0].take()).toBe(2);
    const [alone, ...gone] = shareThreads(7, 4);
    for (const share of gone) share.end();
    await alone.begin();
    expect(alone.take()).toBe(7);
  });

  it('are not lost with a job that ends while it waits, or that ends twice', async () => {
    const [first, stopped, next] = shareThreads(1, 3);
    await first.begin();
    const [late, last] = [await begun(stopped), await begun(next)];
    stopped.end();
    await Promise.resolve();
    expect([late(), last()]).toEqual([true, false]);
    first.end();
    first.end();
    await Promise.resolve();
    expect(last()).toBe(true);
    expect(next.take()).toBe(1);
    const [working, never] = shareThreads(2, 2);
    never.end();
    never.end();
    await never.begin();
    await working.begin();
    expect(working.take()).toBe(2);
  });

  it('report once how long a group of jobs waited', async () => {
    let now = 1000;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    const [other, ...shares] = shareThreads(1, 3);
    await other.begin();
    const told: number[] = [];
    const [first, second] = withWaitReport(shares, (ms) => told.push(ms));
    const waits = [first.begin(), second.begin()];
    now += 300;
    expect(told).toEqual([]);
    other.end();
    await waits[0];
    expect(told).toEqual([300]);
    now += 500;
    first.end();
    await waits[1];
    expect(told).toEqual([300]);
    clock.mockRestore();
  });

  it('are not divided if the cores are the limit: every job may use idle ones', async () => {
    for (const threads of [undefined, 16, 20]) {
      const shares = shareThreads(threads, 3);
      for (const share of shares) await share.begin();
      expect(shares.map((share) => share.take())).toEqual([threads, threads, threads]);
    }
  });
});
