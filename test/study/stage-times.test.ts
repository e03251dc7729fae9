import { describe, expect, it, vi } from 'vitest';
import type { Progress } from '../../src/progress.js';
import type { RankedMethod } from '../../src/study/leaderboard.js';
import { PLAIN_ROW } from '../../src/study/leaderboard.js';
import { studySettings } from '../../src/study/options.js';
import { StageTimes } from '../../src/study/stage-times.js';

const row = (id: string): RankedMethod =>
  ({
    ...PLAIN_ROW,
    id,
    kind: 'model',
    ranking: { n: 20, depth: 100, all: { mean: { recall: 0, ndcg: 0 } } },
  }) as unknown as RankedMethod;

function recorded(signal?: AbortSignal) {
  const told: string[] = [];
  const times = new StageTimes(
    {
      ...(signal && { signal }),
      onProgress: ({ stage }: Progress) => told.push(stage),
      onFinding: (finding) => told.push(finding.kind === 'method' ? `found ${finding.row.id}` : 'check'),
    },
    studySettings({ model: 'sparse', features: 3 }, 1000),
  );
  times.run = 0;
  return { times, told };
}

/** A promise and the function that resolves it. */
function later() {
  let come = () => {};
  const promise = new Promise<void>((resolve) => {
    come = resolve;
  });
  return { promise, come };
}

describe('concurrent work of a study', () => {
  it('reports the first unfinished piece, then the next from its present state, and all results in order', async () => {
    const { times, told } = recorded();
    const [models, baselines] = [later(), later()];
    const all = times.runAll(
      [
        async (own) => {
          await own.stage({ stage: 'fit', model: 'sparse' }, () => models.promise);
          own.found(row('sparse'));
          return 'models';
        },
        async (own) => {
          await own.stage({ stage: 'fit', model: 'ranking' }, async () => {});
          own.found(row('ranking'));
          return 'ranking';
        },
        async (own) => {
          await own.stage({ stage: 'baselines' }, async ({ onProgress }) => {
            onProgress?.({ stage: 'early', done: 1 });
            await baselines.promise;
            onProgress?.({ stage: 'late', done: 2 });
          });
          own.found(row('knn'));
          return 'baselines';
        },
      ],
      true,
    );
    await new Promise((resolve) => setTimeout(resolve));
    expect(told).toEqual(['fit sparse model']);
    models.come();
    await new Promise((resolve) => setTimeout(resolve));
    baselines.come();
    expect(await all).toEqual(['models', 'ranking', 'baselines']);
    expect(told).toEqual([
      'fit sparse model',
      'found sparse',
      'fit ranker',
      'found ranking',
      'baselines',
      'baselines: late',
      'found knn',
    ]);
    expect(times.times.map(({ stage, model }) => [stage, model])).toEqual([
      ['fit', 'sparse'],
      ['fit', 'ranking'],
      ['baselines', undefined],
    ]);
  });

  it('is timed without the wait in which no piece could run', async () => {
    let now = 1000;
    const timer = vi.spyOn(performance, 'now').mockImplementation(() => now);
    const { times } = recorded();
    await times.stage({ stage: 'baselines' }, async (_, waited) => {
      now += 7000;
      waited(5000);
    });
    timer.mockRestore();
    expect(times.times.map(({ seconds }) => seconds)).toEqual([2]);
  });

  it('stops if one piece fails, and throws its error', async () => {
    const { times } = recorded();
    const stopped: string[] = [];
    const untilStopped = (name: string) => (own: StageTimes) =>
      own.stage({ stage: 'baselines' }, async ({ signal }) => {
        await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
        stopped.push(name);
      });
    const fails = () => Promise.reject(new RangeError('not finite'));
    await expect(times.runAll([untilStopped('a'), fails, untilStopped('b')], true)).rejects.toThrow(
      new RangeError('not finite'),
    );
    expect(stopped).toEqual(['a', 'b']);
  });

  it('stops on the signal of the study, with its reason', async () => {
    const stop = new AbortController();
    const { times } = recorded(stop.signal);
    const reason = new Error('enough');
    const all = times.runAll(
      [1, 2].map(
        () => (own: StageTimes) =>
          own.stage(
            { stage: 'baselines' },
            ({ signal }) =>
              new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve())),
          ),
      ) as never,
      true,
    );
    stop.abort(reason);
    await expect(all).rejects.toBe(reason);
  });

  it('runs the pieces one after the other if they are not parallel, all with the times of the study', async () => {
    const { times } = recorded();
    const order: number[] = [];
    const turn = (n: number) => async (own: StageTimes) => {
      expect(own).toBe(times);
      order.push(n);
      await new Promise((resolve) => setTimeout(resolve));
      order.push(-n);
    };
    await times.runAll([turn(1), turn(2)], false);
    expect(order).toEqual([1, -1, 2, -2]);
  });
});
