// The schedules of fits, and when their phases end.

import { describe, expect, test } from 'vitest';
import type { LoopState } from '../../src/fit/ascent/loop.js';
import {
  advance,
  continuedSchedule,
  expectedSweeps,
  firstState,
  fitSchedule,
  type Phase,
  phaseOf,
  startKind,
} from '../../src/fit/ascent/schedule.js';
import { fit } from '../../src/fit/fit.js';
import type { AscentOptions } from '../../src/fit/options.js';
import { simulate } from '../../src/process/poisson-model.js';
import { countDegrees } from '../../src/sparsity/degree-counts.js';

const side = { sigma: 0.1, tau: 1, shape: 0.1, rate: 0.1, size: 1 };
const hyper = { users: side, items: side };
/** Few items that many want. */
const degrees = { users: countDegrees([1, 2, 2, 1, 2]), items: countDegrees([7, 1]) };
/** Vertices with 20 edges or more. */
const many = { users: countDegrees([90, 20, 20]), items: countDegrees([44, 43, 43]) };
const settings = { features: 30, iterations: 400, start: 'warm' } as const;
const shown = ({ features, users, items }: Phase) => `${features} ${users} ${items}`;

describe('the schedule of', () => {
  const round = (features: number, ...mixed: readonly string[]) =>
    ['mean mean', ...mixed, 'geometric geometric'].map((sides) => `${features} ${sides}`);

  test('a fit from noise explores with more features, and goes back to means once', () => {
    const schedule = fitSchedule(settings, degrees, 'noise');
    expect(schedule.map(shown)).toEqual([38, 30].flatMap((features) => round(features, 'geometric mean')));
    expect(schedule[0].sweeps).toBe(7);
  });

  test('if both sides have many edges, it explores for longer, and both show means in turn', () => {
    const schedule = fitSchedule(settings, many, 'noise');
    expect(schedule.map(shown)).toEqual(
      [45, 30].flatMap((features) => round(features, 'geometric mean', 'mean geometric')),
    );
    expect(schedule[0].sweeps).toBe(40);
    const sparseItems = { ...many, items: degrees.items };
    expect(fitSchedule(settings, sparseItems, 'noise')[0].sweeps).toBe(7);
  });

  test('a fit from profiles has two rounds, the first one longer if both sides have many edges', () => {
    const few = fitSchedule(settings, degrees, 'profiles');
    expect(few.map(shown)).toEqual([30, 30].flatMap((features) => round(features, 'geometric mean')));
    expect(few[0].sweeps).toBe(3);
    const long = fitSchedule(settings, many, 'profiles');
    expect(long[0]).toMatchObject({ features: 30, sweeps: 40 });
  });

  test('profiles need vertices and iterations', () => {
    const sides = { users: countDegrees(Array(60).fill(3)), items: countDegrees(Array(90).fill(2)) };
    expect(startKind(settings, sides)).toBe('profiles');
    expect(startKind({ ...settings, features: 31 }, sides)).toBe('noise');
    expect(startKind({ ...settings, iterations: 119 }, sides)).toBe('noise');
    expect(startKind({ ...settings, start: 'cold' }, sides)).toBe('noise');
  });

  test('a fresh fit ends its phases in time for the last one', () => {
    for (const iterations of [120, 121, 150, 200, 400, 10_000]) {
      const schedule = fitSchedule({ ...settings, iterations }, many, 'noise');
      const before = schedule.slice(0, -1).reduce((sum, { sweeps }) => sum + sweeps!, 0);
      expect(before).toBeLessThan(iterations);
    }
  });

  test('a refit is one round, a short fit has no rounds, a cold one no means', () => {
    expect(fitSchedule(settings, degrees, 'previous').map(shown)).toEqual([
      ...['30 mean mean', '30 geometric mean', '30 geometric geometric', '30 geometric geometric'],
    ]);
    const short = fitSchedule({ ...settings, iterations: 30 }, degrees, 'noise');
    expect(short.map(shown)).toEqual(['30 mean mean', '30 geometric geometric', '30 geometric geometric']);
    expect(short[0].sweeps).toBe(15);
    const cold = fitSchedule({ ...settings, start: 'cold' }, degrees, 'noise');
    expect(cold.map(shown)).toEqual(['30 geometric geometric', '30 geometric geometric']);
  });

  test('the side with the higher mean degree over edges uses means for longer', () => {
    const turned = fitSchedule(settings, { users: degrees.items, items: degrees.users }, 'previous');
    expect(shown(turned[1])).toBe('30 mean geometric');
  });

  test('features never exceed what engines take', () => {
    expect(fitSchedule({ ...settings, features: 512 }, degrees, 'noise')[0].features).toBe(512);
    expect(fitSchedule({ ...settings, features: 1 }, degrees, 'noise')[0].features).toBe(2);
  });
});

describe('a phase', () => {
  /** The state after blocks of five sweeps with these values of the objective. */
  const walked = (schedule: readonly Phase[], values: readonly number[]) => {
    let state: LoopState = firstState(schedule, hyper);
    let converged = false;
    for (const value of values) {
      ({ state, converged } = advance(state, 5, [[state.swept, value]], 1e-5));
    }
    return { state, converged };
  };
  const short = fitSchedule({ ...settings, iterations: 110 }, degrees, 'noise');

  test('ends when the objective hardly changes, but not before its least number of sweeps', () => {
    const same = Array.from({ length: 7 }, () => -1000);
    expect(walked(short, same).state).toMatchObject({ phase: 0, swept: 35, iteration: 35 });
    expect(walked(short, [...same, -1000]).state).toMatchObject({ phase: 1, swept: 0, iteration: 40 });
    const climbing = Array.from({ length: 10 }, (_, at) => -1000 + 6 * at);
    expect(walked(short, climbing).state.phase).toBe(0);
  });

  test('ends after its most sweeps', () => {
    const climbing = Array.from({ length: 11 }, (_, at) => -1e6 / (at + 1));
    expect(walked(short, climbing).state).toMatchObject({ phase: 1, iteration: 55 });
  });

  test('the last one ends the schedule', () => {
    const last = short.slice(-1);
    expect(walked(last, [-1000]).converged).toBe(false);
    expect(walked(last, [-1000, -900]).converged).toBe(false);
    expect(walked(last, [-1000, -900, -900])).toMatchObject({
      converged: true,
      state: { phase: 0, iteration: 15 },
    });
  });

  test('can end after its first block, whose first and last sweeps evaluate the objective', () => {
    const state = firstState(continuedSchedule(30), hyper);
    const block = (first: number, last: number) =>
      advance(
        state,
        5,
        [
          [0, first],
          [4, last],
        ],
        1e-5,
      );
    expect(block(-1000, -999.99)).toMatchObject({
      converged: true,
      state: { iteration: 5, last: [4, -999.99] },
    });
    expect(block(-1000, -990).converged).toBe(false);
    expect(block(-1000, -990).change).toBeCloseTo(10 / 990 / 4, 12);
  });

  test('a bound that falls ends over-relaxation, and does not count as a small change', () => {
    const once = continuedSchedule(30);
    expect(walked(once, [-1000, -1000.001])).toMatchObject({ converged: false, state: { relaxation: 0 } });
    expect(walked(once, [-1000, -1000.001, -1000.001])).toMatchObject({ converged: true });
    expect(walked(once, [-1000, -990])).toMatchObject({ converged: false, state: { relaxation: 0.9 } });
  });

  test('keeps every bound of geometric sweeps, once', () => {
    const { state } = walked(continuedSchedule(30), [-1000, -900, -850]);
    expect(state.bounds).toEqual([
      [0, -1000],
      [5, -900],
      [10, -850],
    ]);
    const again = advance({ ...state, swept: 10, iteration: 10 }, 5, [[10, -849]], 1e-5);
    expect(again.state.bounds.at(-1)).toEqual([10, -849]);
    expect(again.change).toBeUndefined();
  });
});

test('another seed finds the same optimum of simulated data, whose true features are well separated', async () => {
  const prior = { sigma: 0.2, tau: 1, shape: 0.1, rate: 0.1, size: 150 };
  const options: AscentOptions = { features: 10, engine: 'cpu', threads: 1 };
  const { graph } = await simulate({ users: prior, items: prior, features: 10, seed: 2 });
  const bounds: number[] = [];
  // Without exploring, the second seed ends 3 % lower.
  for (const seed of [1, 2]) {
    const { model, checkpoint } = await fit(graph, { ...options, seed });
    expect(phaseOf(checkpoint!.state).features).toBe(10);
    bounds.push(model.bound!);
  }
  expect(Math.abs(bounds[0] / bounds[1] - 1)).toBeLessThan(0.001);
});

describe('the expected number of sweeps', () => {
  test('is that of the schedule first, then follows the change, and stays within the limit', () => {
    const schedule = fitSchedule(settings, degrees, 'profiles');
    const known = schedule.reduce((sum, { sweeps = 0 }) => sum + sweeps, 0);
    const first = firstState(schedule, hyper);
    const expected = (state: LoopState, change?: number, iterations = 400) =>
      expectedSweeps({ state, change, converged: false }, iterations, 1e-5);
    expect(expected(first)).toBe(known + 40);
    const last = { ...first, phase: schedule.length - 1, iteration: known + 20, swept: 20 };
    expect(expected(last, 4e-5)).toBe(known + 40);
    expect(expected(last, 9e-6)).toBe(known + 20);
    expect(expected(last, 1, 400)).toBe(400);
  });

  test('is within a factor of two of those that a fit takes', async () => {
    const users = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 200 };
    const { graph } = await simulate({ users, items: users, features: 6, seed: 1 });
    const said: { done: number; expected?: number | undefined }[] = [];
    const { model } = await fit(graph, {
      ...{ features: 6, seed: 1, threads: 1 },
      onProgress: ({ done, expected }) => said.push({ done, expected }),
    });
    const { iterations, converged } = model.provenance;
    expect(converged).toBe(true);
    for (const { expected } of said) {
      expect(expected! / iterations).toBeGreaterThan(0.5);
      expect(expected! / iterations).toBeLessThan(2);
    }
  });
});
