import { afterEach, expect, test, vi } from 'vitest';
import { createCounter } from '../../src/math/memory.js';
import type { TaskModule } from '../../src/parallel/pool.js';
import { inLanes } from '../../src/wasm/lanes.js';

const pools = vi.hoisted(() => ({ started: 0, closed: 0 }));

vi.mock('../../src/parallel/pool.js', () => ({
  createPool: async () => {
    pools.started++;
    await new Promise((resolve) => setTimeout(resolve));
    return { everywhere: async () => [], close: async () => pools.closed++ };
  },
}));

afterEach(() => Object.assign(pools, { started: 0, closed: 0 }));

const run = (lanes: ReturnType<typeof inLanes>) =>
  lanes.all('task', () => {}, { next: createCounter() }, undefined, 1);

test('concurrent tasks share the workers, and close ends them', async () => {
  const lanes = inLanes({} as TaskModule, 2);
  await Promise.all([run(lanes), run(lanes)]);
  await lanes.close();
  expect(pools).toEqual({ started: 1, closed: 1 });
});

test('close ends workers that are still starting', async () => {
  const lanes = inLanes({} as TaskModule, 2);
  const running = run(lanes);
  await lanes.close();
  await running;
  expect(pools).toEqual({ started: 1, closed: 1 });
});
