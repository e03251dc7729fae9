// Concurrent members of a ranker: the same bits as one after the other, and stopped as a whole.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCpuEngine } from '../../src/engine/cpu/cpu-engine.js';
import type { Engine } from '../../src/engine/engine.js';
import { createReferenceEngine } from '../../src/engine/reference/reference-engine.js';
import { FitError } from '../../src/errors.js';
import { dataFacts } from '../../src/fit/ascent/hyper.js';
import type { RankingCheckpoint } from '../../src/fit/ascent/loop.js';
import { fit } from '../../src/fit/fit.js';
import type { Model, Ranker, RankerMember } from '../../src/fit/model.js';
import type { RankingFitOptions } from '../../src/fit/options.js';
import { fitRanking } from '../../src/fit/ranking/fit-ranking.js';
import { concurrentMembers, fitMembers, type MembersTask } from '../../src/fit/ranking/members.js';
import { rankingSettings } from '../../src/fit/ranking/settings.js';
import {
  numbersUnderWay,
  statesUnderWay,
  type UnfinishedFit,
  unfinishedFit,
} from '../../src/fit/unfinished.js';
import { simulate } from '../../src/process/poisson-model.js';
import type { Progress } from '../../src/progress.js';
import { modelFileFromBytes, modelTensors } from '../../src/store/model-bytes.js';
import { encodeTensors } from '../../src/store/tensors.js';
import { findTestGpu, skipReason } from '../engine/swiftshader.js';

const gpu = await findTestGpu();
if (!gpu.available) console.warn(skipReason(gpu));

const SIDE = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 14 };
const { graph } = await simulate({ users: SIDE, items: SIDE, features: 2, seed: 3 });
const AVERAGE = 4;
const options = {
  features: 5,
  iterations: 40,
  tolerance: 2e-3,
  average: AVERAGE,
  blend: false,
  seed: 6,
  engine: 'cpu',
  threads: 2,
} as const;
type Options = Omit<RankingFitOptions, 'method'>;

/** Without workers the fits take turns, always the same ones. */
const inTurns = { engine: 'reference' } as const;

const scores = (model: Model) => (model as Ranker).scores;
const oneByOne = await fitRanking(graph, options, 1);
const wanted = scores(oneByOne.model);

test('these fits take different numbers of sweeps', () => {
  const { members } = wanted as { members: readonly RankerMember[] };
  expect(new Set(members.map(({ iterations }) => iterations)).size).toBeGreaterThan(1);
});

describe('concurrent members have the bits of consecutive ones', () => {
  test.each([2, 3, 4, 7])('%i concurrently on any number of threads', async (concurrent) => {
    for (const threads of [1, 2, 3]) {
      const { model } = await fitRanking(graph, { ...options, threads }, concurrent);
      expect(scores(model), `${threads} threads`).toEqual(wanted);
    }
  });

  test.each(['reference', ...(gpu.available ? (['gpu'] as const) : [])] as const)('on %s', async (engine) => {
    const some = { ...options, engine, iterations: 3, average: 3 };
    const alone = await fitRanking(graph, some, 1);
    expect(scores((await fitRanking(graph, some, 2)).model)).toEqual(scores(alone.model));
  });

  test('with a blend, and from a previous model', async () => {
    const former = oneByOne.model;
    for (const more of [{ blend: true }, { from: former }] as Options[]) {
      const alone = await fitRanking(graph, { ...options, ...more }, 1);
      expect(scores((await fitRanking(graph, { ...options, ...more }, 3)).model)).toEqual(
        scores(alone.model),
      );
    }
  });

  test('with the default number of concurrent members', async () => {
    expect(scores((await fit(graph, { ...options, method: 'ranking' })).model)).toEqual(wanted);
  });
});

/** Stopped when this number of sweeps of all fits was reported. */
async function stoppedAt(sweeps: number, concurrent: number, more: Options = {}): Promise<UnfinishedFit> {
  const controller = new AbortController();
  if (sweeps === 0) controller.abort();
  let seen = 0;
  const error = await fitRanking(
    graph,
    {
      ...options,
      ...more,
      signal: controller.signal,
      onProgress: () => ++seen === sweeps && controller.abort(),
    },
    concurrent,
  ).catch((thrown: unknown) => thrown);
  return unfinishedFit(error)!;
}

/** Through a file and back. */
async function kept({ model, checkpoint }: UnfinishedFit): Promise<RankingCheckpoint> {
  const bytes = Buffer.concat([...encodeTensors(modelTensors(model, { checkpoint }))]);
  return (await modelFileFromBytes(bytes)).checkpoint as RankingCheckpoint;
}

describe('stopped', () => {
  test('holds all members under way, and the partial model can be used', async () => {
    const left = await stoppedAt(20, 3, inTurns);
    const checkpoint = left.checkpoint as RankingCheckpoint;
    expect(statesUnderWay(checkpoint).map(({ state }) => state.iteration > 0)).toEqual([true, true, true]);
    expect(numbersUnderWay(checkpoint)).toEqual([0, 1, 2]);
    expect((scores(left.model) as { members: readonly unknown[] }).members).toHaveLength(3);
  });

  test('holds one member if the fit was stopped at its start', async () => {
    const checkpoint = (await stoppedAt(0, 3)).checkpoint as RankingCheckpoint;
    expect(statesUnderWay(checkpoint)).toHaveLength(1);
    expect(checkpoint.state.iteration).toBe(0);
  });

  test('resumes once or twice to the same bits, with any number of concurrent members and threads', async () => {
    const place = fc.record({
      // The fits report 63 sweeps in all, so even the second stop comes before the end.
      at: fc.integer({ min: 0, max: 25 }),
      concurrent: fc.integer({ min: 1, max: 4 }),
      threads: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(place, { minLength: 1, maxLength: 2 }), place, async (stops, last) => {
        let resume: RankingCheckpoint | undefined;
        for (const { at, concurrent, threads } of stops) {
          const left = await stoppedAt(at, concurrent, { threads, ...(resume && { resume }) });
          const now = await kept(left);
          // No finished member and no state of a running one is lost.
          if (resume) expect(swept(now)).toBeGreaterThanOrEqual(swept(resume));
          resume = now;
        }
        const { threads, concurrent } = last;
        const { model } = await fitRanking(graph, { ...options, threads, resume: resume! }, concurrent);
        expect(scores(model)).toEqual(wanted);
      }),
      { numRuns: 8 },
    );
  });

  function swept(checkpoint: RankingCheckpoint): number {
    const done = checkpoint.done.reduce((sum, { iterations }) => sum + iterations, 0);
    return statesUnderWay(checkpoint).reduce((sum, { state }) => sum + state.iteration, done);
  }
});

test('states from onCheckpoint resume to the same bits', async () => {
  const states: UnfinishedFit[] = [];
  const wanted = scores((await fitRanking(graph, { ...options, ...inTurns }, 1)).model);
  const { model } = await fitRanking(
    graph,
    {
      ...options,
      ...inTurns,
      checkpointMinutes: 1e-9,
      onCheckpoint: async (state) => void states.push(state as UnfinishedFit),
    },
    3,
  );
  expect(scores(model)).toEqual(wanted);
  const several = states.filter(
    ({ checkpoint }) => statesUnderWay(checkpoint as RankingCheckpoint).length > 1,
  );
  expect(several.length).toBeGreaterThan(3);
  const withDone = states.filter(({ checkpoint }) => (checkpoint as RankingCheckpoint).done.length > 0);
  for (const state of [several[0], several.at(-1)!, withDone[0], states.at(-1)!]) {
    const rest = await fitRanking(graph, { ...options, ...inTurns, resume: await kept(state) }, 2);
    expect(scores(rest.model)).toEqual(wanted);
  }
});

test('an error of one member ends the others, and nothing keeps running', async () => {
  const settings = rankingSettings(dataFacts(graph), options);
  const calls: number[] = [];
  let closed = 0;
  let failedAt = 0;
  /** The engines of the fits, of which the second fails in its fourth sweep. */
  const watched = (engine: Engine, number: number): Engine => ({
    ...engine,
    update: (...given) => {
      calls.push(number);
      if (number === 1 && calls.filter((one) => one === 1).length === 10) {
        failedAt = calls.length;
        return Promise.reject(new FitError('row 3: the weight became Gamma(NaN, 1), which is not finite'));
      }
      return engine.update(...given);
    },
    sibling: async () => watched(await engine.sibling!(), ++opened),
    close: async () => {
      closed++;
      await engine.close();
    },
  });
  let opened = 0;
  const engine = watched(await createCpuEngine({ threads: 2 }), 0);
  const task: MembersTask = {
    ...{
      graph,
      settings: { ...settings, iterations: 1000, tolerance: 0 },
      done: new Map(),
      saved: new Map(),
    },
    previousItems: () => undefined,
    isDue: () => false,
    onSnapshot: async () => {},
  };
  await expect(fitMembers(engine, 3, task)).rejects.toThrow(/sweep 4, items of fold 1, row 3: the weight/);
  expect([opened, closed]).toEqual([2, 2]);
  // The others ended with the sweep that they were in, which has a half-step of the items for each of three folds.
  const counted = calls.length;
  for (const other of [0, 2]) {
    expect(calls.slice(failedAt).filter((one) => one === other).length).toBeLessThanOrEqual(3);
  }
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(calls.length).toBe(counted);
  await engine.close();
});

test('progress is one line for all: it never falls and ends below its total', async () => {
  const reports: Progress[] = [];
  await fitRanking(graph, { ...options, onProgress: (progress) => reports.push(progress) }, 3);
  expect(new Set(reports.map(({ stage }) => stage))).toEqual(new Set(['fitting 4 members']));
  const done = reports.map((report) => report.done);
  expect(done).toEqual([...done].sort((a, b) => a - b));
  expect(reports.at(-1)!.done).toBeLessThanOrEqual(reports.at(-1)!.total!);
  expect(reports.at(-1)!.note).toMatch(/^[0-3] of 4 done, change \d/);
});

test('the number of concurrent members is limited by memory and by threads', async () => {
  const engine = await createCpuEngine({ threads: 2 });
  const settings = rankingSettings(dataFacts(graph), options);
  expect(concurrentMembers(engine, graph, settings, 1e12)).toBeGreaterThan(1);
  expect(concurrentMembers(engine, graph, settings, 1000)).toBe(1);
  expect(concurrentMembers(engine, graph, { ...settings, average: 1 }, 1e12)).toBe(1);
  expect(concurrentMembers(createReferenceEngine(), graph, settings, 1e12)).toBe(1);
  // Tables of a gigabyte each.
  expect(concurrentMembers(engine, { ...graph, edges: 1e9 }, settings, 1e10)).toBe(1);
  await engine.close();
});
