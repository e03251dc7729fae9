// When the phases of a fit begin and end.

import { describe, expect, test } from 'vitest';
import type { LoopState } from '../../src/fit/ascent/loop.js';
import {
  activities,
  blockSweeps,
  evaluatedStates,
  hasConverged,
  movesHyper,
} from '../../src/fit/ascent/phases.js';
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
  const former = { ...start, fromModel: true };

  test('from a previous model: means, then one side is exact, then both', () => {
    expect(activities(former, graph)).toEqual({ users: 'mean', items: 'mean' });
    expect(activities({ ...former, iteration: 3 }, graph)).toEqual({ users: 'geometric', items: 'mean' });
    expect(activities({ ...former, iteration: 8, warmSweeps: 8 }, graph)).toEqual({
      users: 'geometric',
      items: 'geometric',
    });
  });

  test('the side whose vertices have more edges at the ends of edges is the last, whatever it is called', () => {
    expect(activities({ ...former, iteration: 3 }, transpose(graph))).toEqual({
      users: 'mean',
      items: 'geometric',
    });
  });

  test('any other fit is warm on both sides to the end of its warm phase', () => {
    expect(activities({ ...start, iteration: 35 }, graph)).toEqual({ users: 'mean', items: 'mean' });
  });
});

describe('a fit from a previous model', () => {
  /** The state after each leg, as if every bound were the same. */
  const atSweep = (iteration: number): LoopState => ({
    ...start,
    fromModel: true,
    iteration,
    warmSweeps: iteration < 8 ? undefined : 8,
  });
  const at = (...bounds: number[]): LoopState => ({
    ...atSweep(16),
    bounds: bounds.map((bound, i) => [16 + 2 * i, bound] as const),
  });

  test('has legs that end where a phase does, and exact ones of two sweeps', () => {
    expect([0, 3, 8, 10, 30].map((iteration) => blockSweeps(atSweep(iteration)))).toEqual([3, 5, 2, 2, 2]);
  });

  test('evaluates its bound after eight exact sweeps, and at the end of each leg from there on', () => {
    const bounds = [8, 10, 12, 14, 16, 18, 20].map((iteration) => evaluatedStates(atSweep(iteration)));
    expect(bounds.map(({ before }) => before)).toEqual([false, false, false, false, true, false, false]);
    expect(bounds.map(({ after }) => after)).toEqual([false, false, false, false, true, true, true]);
  });

  test('moves sizes at the begin of its exact sweeps, and again only where it goes on; others after every leg', () => {
    const sizes = { users: ['size'], items: ['size'] } as const;
    const legs = [3, 8, 10, 12, 14, 16, 18, 20].map(atSweep);
    expect(legs.filter((state) => movesHyper(state, sizes)).map(({ iteration }) => iteration)).toEqual([
      8, 10, 18, 20,
    ]);
    expect(legs.every((state) => movesHyper(state, { ...sizes, items: ['size', 'tau'] }))).toBe(true);
    expect(legs.every((state) => movesHyper({ ...state, fromModel: undefined }, sizes))).toBe(true);
  });

  test('is settled when a sweep gains less than 15 tolerances, where any other goes on', () => {
    const state = at(-100_025, -100_000);
    expect(hasConverged(state, 1e-5)).toBe(true);
    expect(hasConverged({ ...state, fromModel: undefined }, 1e-5)).toBe(false);
    expect(hasConverged(state, 8e-6)).toBe(false);
    expect(hasConverged(at(-100_035, -100_000), 1e-5)).toBe(false);
  });

  test('is not settled by one bound, nor by a fall', () => {
    expect(hasConverged(at(-100_000), 1e-5)).toBe(false);
    expect(hasConverged(at(-100_000, -100_010), 1e-5)).toBe(false);
  });
});

test('the bound of any other fit comes with the first pass of a leg', () => {
  const exact = { ...start, iteration: 60, warmSweeps: 40 };
  expect(evaluatedStates(exact)).toEqual({ before: true, after: false });
});
