// When the phases of a fit begin and end.

import { describe, expect, test } from 'vitest';
import type { LoopState } from '../../src/fit/loop.js';
import { activities, settled } from '../../src/fit/phases.js';
import { transpose } from '../../src/graph/graph.js';
import { BipartiteGraph } from '../../src/graph/public.js';

const side = { sigma: 0.1, tau: 1, shape: 0.1, rate: 0.1, size: 1 };
const start: LoopState = {
  iteration: 0,
  warmSweeps: undefined,
  bounds: [],
  likelihood: undefined,
  relaxation: 0.9,
  hyper: { users: side, items: side },
};
/** Two items that many want, and one that nobody else does. */
const graph = BipartiteGraph.fromPairs(
  Array.from({ length: 12 }, (_, i): [string, string] => [`user ${i % 6}`, i < 6 ? 'tea' : 'milk']).concat([
    ['user 0', 'salt'],
  ]),
);

describe('what the sides show to each other', () => {
  const former = { ...start, former: true };

  test('from a former model: means, then one side is exact, then both', () => {
    expect(activities(former, graph)).toEqual({ users: 'mean', items: 'mean' });
    expect(activities({ ...former, iteration: 5 }, graph)).toEqual({ users: 'exact', items: 'mean' });
    expect(activities({ ...former, iteration: 10, warmSweeps: 10 }, graph)).toEqual({
      users: 'exact',
      items: 'exact',
    });
  });

  test('the side whose vertices have more edges at the ends of edges is the last, whatever it is called', () => {
    expect(activities({ ...former, iteration: 5 }, transpose(graph))).toEqual({
      users: 'mean',
      items: 'exact',
    });
  });

  test('any other fit is warm on both sides to the end of its warm phase', () => {
    expect(activities({ ...start, iteration: 35 }, graph)).toEqual({ users: 'mean', items: 'mean' });
  });
});

describe('a fit from a former model is settled', () => {
  const at = (...bounds: number[]): LoopState => ({
    ...start,
    former: true,
    bounds: bounds.map((bound, i) => [10 + 3 * i, bound] as const),
  });

  test('when little is left by its last two changes, where any other goes on', () => {
    // Changes of 40 and 20: the leg that is done already takes 10, and 10 are left, 1e-4 of the bound.
    const state = at(-102_000, -100_060, -100_020, -100_000);
    expect(settled(state, 1e-5)).toBe(true);
    expect(settled({ ...state, former: undefined }, 1e-5)).toBe(false);
    expect(settled(state, 3e-6)).toBe(false);
  });

  test('not while its changes hardly shrink', () => {
    expect(settled(at(-102_000, -100_044, -100_022, -100_000), 1e-5)).toBe(false);
  });

  test('not by its first change, from means to exact ones', () => {
    expect(settled(at(-102_000, -100_020, -100_000), 1e-5)).toBe(false);
  });

  test('not where the bound was evaluated at uneven distances, as around a jump', () => {
    const state = at(-102_000, -100_060, -100_020, -100_000);
    const [first, second, ...rest] = state.bounds;
    expect(settled({ ...state, bounds: [first, [second[0] - 3, second[1]], ...rest] }, 1e-5)).toBe(false);
  });
});
