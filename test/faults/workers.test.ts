// A worker that dies ends the run with a message. The run does not hang and prints no stack trace.

import { getEventListeners, once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { AbortError, DeviceError, FitError, InputError } from '../../src/errors.js';
import { createPool, type TaskModule, type WorkerPool } from '../../src/parallel/pool.js';
import { scratchFolder } from '../ingest/scratch.js';
import { graphex } from './command.js';

vi.setConfig({ testTimeout: 600_000 });
const scratch = scratchFolder();
const taskModule = (name: string): TaskModule => ({
  name,
  base: import.meta.url,
  worker: () => {
    throw new Error('not in Node');
  },
  here: () => import('./dying-tasks.js' as string),
});
const TASKS = taskModule('dying-tasks');
const PATCH = fileURLToPath(new URL('./patch-workers.js', import.meta.url));
const INPUTS = [0, 1, 2, 3, 4, 5, 6, 7];

describe('a pool', () => {
  let pool: WorkerPool;
  afterEach(() => pool.close());

  it.each([1, 2])(
    'of %i goes on after a task that threw, and keeps the name of the error',
    async (threads) => {
      pool = await createPool(TASKS, threads);
      await expect(pool.map('fail', INPUTS)).rejects.toMatchObject({
        name: 'TypeError',
        message: 'three is too many',
      });
      expect(await pool.map('double', INPUTS)).toEqual(INPUTS.map((n) => 2 * n));
    },
  );

  it.each([1, 2])('of %i keeps the class and the cause of an error', async (threads) => {
    pool = await createPool(TASKS, threads);
    const error = await pool.map('refuse', INPUTS).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InputError);
    expect(error).not.toBeInstanceOf(FitError);
    expect((error as Error).cause).toBeInstanceOf(DeviceError);
    expect((error as Error).cause).toMatchObject({ message: 'the GPU is gone' });
    const typed = await pool.map('fail', INPUTS).catch((thrown: unknown) => thrown);
    expect(typed).toBeInstanceOf(TypeError);
  });

  it.each([1, 2])('of %i receives progress, a new stage immediately', async (threads) => {
    pool = await createPool(TASKS, threads);
    const told: string[] = [];
    const answers = INPUTS.map((n) =>
      pool.run<number, number>('tell', n, undefined, ({ stage, done }) => told.push(`${stage} ${done}`)),
    );
    expect(await Promise.all(answers)).toEqual(INPUTS.map((n) => 2 * n));
    const counted = told.filter((line) => line.startsWith('counting')).sort();
    expect(counted).toEqual(INPUTS.map((n) => `counting ${n}`));
    expect(told).toContain('doubling 1');
  });

  it('rejects with the reason of a signal', async () => {
    pool = await createPool(TASKS, 1);
    const reason = new RangeError('enough');
    const signal = AbortSignal.abort(reason);
    await expect(pool.map('double', INPUTS, { signal })).rejects.toBe(reason);
  });

  it.each([
    ['leaves', 'leave', /a worker thread died \(it exited with status 7\)/],
    ['throws where nobody waits, while another never ends', 'explode', /a worker thread died \(.*JSON/],
  ])('tells of a worker that %s, then and at every later call', async (_, task, message) => {
    pool = await createPool(TASKS, 2);
    for (const call of [
      () => pool.map(task, INPUTS),
      () => pool.map('double', INPUTS),
      () => pool.everywhere('double', 1),
    ]) {
      const error = await call().catch((cause: unknown) => cause);
      expect(error).toBeInstanceOf(FitError);
      expect((error as Error).message).toMatch(message);
    }
  });

  it('reports a result that cannot be transferred, and a missing task', async () => {
    pool = await createPool(TASKS, 2);
    await expect(pool.map('unspeakable', INPUTS)).rejects.toThrow(/could not be cloned/);
    await expect(pool.map('nothing', INPUTS)).rejects.toThrow(/there is no task nothing/);
    expect(await pool.map('double', [4])).toEqual([8]);
  });

  it('keeps no result of a finished call: a server uses its pools for months', async () => {
    pool = await createPool(TASKS, 1);
    const kept: WeakRef<number[]>[] = [];
    for (let call = 0; call < 20; call++)
      kept.push(new WeakRef(await pool.map<number, number>('double', [call])));
    await new Promise((resolve) => setTimeout(resolve, 10));
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    expect(kept.filter((result) => result.deref() !== undefined).length).toBeLessThan(3);
  });

  it('leaves nothing on a signal that guards many calls, and stops when it fires', async () => {
    pool = await createPool(TASKS, 1);
    const controller = new AbortController();
    for (let call = 0; call < 12; call++) await pool.map('double', [call], { signal: controller.signal });
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    controller.abort();
    await expect(pool.map('double', INPUTS, { signal: controller.signal })).rejects.toThrow(AbortError);
  });

  it('of two says that one cannot start, and ends the other', async () => {
    const threads = process.getBuiltinModule('node:worker_threads');
    const { Worker } = threads;
    const exits: Promise<unknown>[] = [];
    threads.Worker = class extends Worker {
      constructor(...args: ConstructorParameters<typeof Worker>) {
        // As if the system allowed no further thread.
        if (exits.length > 0) throw new Error('EAGAIN');
        super(...args);
        exits.push(once(this, 'exit'));
      }
    };
    try {
      pool = await createPool(TASKS, 2);
    } finally {
      threads.Worker = Worker;
    }
    const said = /a worker thread could not start \(EAGAIN\); use fewer threads/;
    await expect(pool.map('double', INPUTS)).rejects.toThrow(said);
    await pool.close();
    expect(await Promise.all(exits)).toHaveLength(1);
  });

  it('reports a missing module', async () => {
    pool = await createPool(taskModule('no-such-tasks'), 2);
    await expect(pool.map('double', INPUTS)).rejects.toThrow(/a worker thread died .*no-such-tasks/);
  });
});

describe('a command whose worker dies', () => {
  const FIT = ['fit', '@simulated-small', '-k', '20', '--iterations', '1000000', '--tolerance', '1e-300'];

  it.each([
    ['at the start', 'terminate 0'],
    ['on the way', 'terminate 1500'],
    ['for want of memory', 'memory 4'],
  ])('%s says so and leaves nothing', async (_, fault) => {
    const output = scratch.path('model.safetensors');
    const ended = await graphex([...FIT, '--threads', '2', '-o', output], {
      node: ['--import', PATCH],
      env: { GRAPHEX_FAULT: fault },
    });
    expect(ended.stderr).toMatch(/error: .*a worker thread died \(.+\); run it again/);
    expect(ended.stderr).not.toMatch(/\n {4}at /);
    expect(ended.status).toBe(2);
    expect(ended.stdout).toBe('');
    expect([output, `${output}.partial`].filter(existsSync)).toEqual([]);
  });

  it('says so in simulate', async () => {
    const patched = { node: ['--import', PATCH], env: { GRAPHEX_FAULT: 'terminate 0' } };
    const simulated = scratch.path('graph.csv');
    const sizes = ['--size-users', '600', '--size-items', '600'];
    const simulate = await graphex(['simulate', ...sizes, '--threads', '2', '-o', simulated], patched);
    expect(simulate.stderr).toMatch(/error: a worker thread died/);
    expect(simulate.status).toBe(2);
    expect(existsSync(simulated)).toBe(false);
  });
});
