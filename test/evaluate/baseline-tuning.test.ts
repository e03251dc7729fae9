import { describe, expect, it } from 'vitest';
import type { Baseline } from '../../src/evaluate/baselines/baseline.js';
import { ease } from '../../src/evaluate/baselines/ease.js';
import { popularity } from '../../src/evaluate/baselines/popularity.js';
import { baselineData, fitBaselines } from '../../src/evaluate/baselines/run-baselines.js';
import { slim } from '../../src/evaluate/baselines/slim.js';
import { tuneBaseline } from '../../src/evaluate/baselines/tuning.js';
import { splitRankingTask } from '../../src/evaluate/split-task.js';
import { buildGraph } from '../../src/graph/build.js';
import { holdBack, shownItems, someCandidates, someUsers } from '../../src/metrics/held-back.js';
import { alongValues, geometric, searchSettings } from '../../src/metrics/setting-search.js';
import { BASELINES } from '../../src/options/names.js';
import { split } from '../../src/sample/split.js';
import { communityLists, dataOf } from './baseline-data.js';
import { listOf } from './brute-force.js';

describe('tune', () => {
  it('continues from any start until the score falls on both sides along every axis', async () => {
    const peak = (s: Readonly<Record<string, number>>) =>
      -(Math.log2(s.a! / 4096) ** 2) - (s.b! - 7) ** 2 - 0.1 * Math.log2(s.a! / 4096) * (s.b! - 7);
    const axes = { a: geometric(1, 2), b: alongValues(2, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) };
    const found = await searchSettings(axes, async (s) => peak(s), { maxTrials: 100 });
    expect(found.best.setting).toEqual({ a: 4096, b: 7 });
    expect(found.finished).toBe(true);
    expect(new Set(found.trials.map((t) => JSON.stringify(t.setting))).size).toBe(found.trials.length);
    const short = await searchSettings(axes, async (s) => peak(s), { maxTrials: 5 });
    expect(short).toMatchObject({ finished: false, best: { setting: { a: 16, b: 2 } } });
    expect(short.trials.length).toBe(5);
  });

  it('continues an earlier search with other axes, without repeating a trial', async () => {
    let tried = 0;
    const score = async (s: Readonly<Record<string, number>>) => {
      tried++;
      return -Math.abs(s.a! - 8) - Math.abs(s.b! - 4);
    };
    const first = await searchSettings({ a: geometric(1, 2), b: alongValues(1, [1]) }, score);
    expect(first.best.setting).toEqual({ a: 8, b: 1 });
    const second = await searchSettings({ b: geometric(1, 2) }, score, { from: first });
    expect(second.best.setting).toEqual({ a: 8, b: 4 });
    expect(second.trials.length).toBe(tried);
    const none = await searchSettings({ b: geometric(64, 2) }, score, {
      from: first,
      maxTrials: first.trials.length,
    });
    expect(none).toEqual({ ...first, finished: false });
  });

  it('takes a more expensive value only for a sufficient gain, and a cheaper one for any gain', async () => {
    const score = new Map([
      [8, 0.4996],
      [16, 0.5],
      [32, 0.5004],
      [64, 0.7],
    ]);
    const dial = { ...geometric(16, 2, 8, 64), gain: 2e-3 };
    const found = await searchSettings({ a: dial }, async (s) => score.get(s.a!)!);
    expect(found.best.setting).toEqual({ a: 16 });
    expect(found.trials.map(({ setting }) => setting.a)).toEqual([16, 32, 8]);
    const down = await searchSettings({ a: { ...dial, start: 32 } }, async (s) => -score.get(s.a!)!);
    expect(down.best.setting).toEqual({ a: 8 });
    const up = await searchSettings({ a: { ...dial, start: 32 } }, async (s) => score.get(s.a!)!);
    expect(up.best.setting).toEqual({ a: 64 });
  });

  it('stays within limits', async () => {
    const found = await searchSettings({ a: geometric(8, 2, 1, 64) }, async (s) => s.a!);
    expect(found.best.setting).toEqual({ a: 64 });
    expect(found.finished).toBe(true);
  });
});

describe('holdBack', () => {
  it('splits training users: shown items are the history, hidden ones are predicted, and neither is in the data', () => {
    const all = dataOf(communityLists(200, 60, 3, 12), 60, 12);
    const { data, history, task } = holdBack(all, { seed: 1 });
    const held = history.offsets.length - 1;
    expect(held).toBe(40);
    expect(task.rows).toBe(held);
    expect(data.users.offsets.length - 1).toBe(160);
    expect(data.users.values.length).toBe(data.items.values.length);
    expect(history.values.every((item) => all.shown[item] === 1)).toBe(true);
    expect(task.candidates.every((item) => all.shown[item] === 0)).toBe(true);
    expect(Array.from(task.candidates)).toEqual(Array.from(data.candidates));
    // Every edge of a held-back user with known items is either shown or hidden, never both.
    const keys = new Set(Array.from({ length: 160 }, (_, row) => listOf(data.users, row).join()));
    const rest = Array.from({ length: 200 }, (_, row) => listOf(all.users, row)).filter(
      (l) => !keys.has(l.join()),
    );
    expect(rest.length).toBe(held);
    for (const [row, list] of rest.entries()) {
      const hidden = listOf(task.relevant, row).map((position) => task.candidates[position]);
      expect([...listOf(history, row), ...hidden].sort((a, b) => a - b)).toEqual(list);
    }
    const again = holdBack(all, { seed: 1 });
    expect(Array.from(again.history.values)).toEqual(Array.from(history.values));
    expect(Array.from(holdBack(all, { seed: 2 }).history.values)).not.toEqual(Array.from(history.values));
    expect(holdBack(all, { seed: 1, maxUsers: 7 }).task).toMatchObject({ rows: 7 });
  });
});

describe('someUsers', () => {
  it('keeps whole users, evenly spaced, and all users if they are few', () => {
    const data = dataOf(communityLists(300, 60, 3, 30), 60, 30);
    const edges = data.users.values.length;
    const third = someUsers(data, edges / 3);
    expect(third.users.offsets.length - 1).toBe(100);
    for (const row of [0, 50, 99]) expect(listOf(third.users, row)).toEqual(listOf(data.users, 3 * row + 2));
    expect(third.items.values.length).toBe(third.users.values.length);
    expect(Math.abs(third.users.values.length / edges - 1 / 3)).toBeLessThan(0.05);
    expect(someUsers(data, edges)).toBe(data);
  });
});

describe('someCandidates', () => {
  it('evaluates the same users on evenly spaced candidates, and on all candidates if they are few', () => {
    const validation = holdBack(dataOf(communityLists(80, 60, 3, 4), 60, 4), { seed: 3 });
    const { data, task, history, heldBack } = someCandidates(validation, 5);
    const all = validation.task;
    expect(task.candidates.length).toBe(5);
    expect(data.candidates).toEqual(task.candidates);
    expect([history, heldBack, data.users]).toEqual([
      validation.history,
      validation.heldBack,
      validation.data.users,
    ]);
    for (let row = 0; row < task.rows; row++) {
      const items = listOf(all.relevant, row).map((c) => all.candidates[c]);
      expect(listOf(task.relevant, row).map((c) => task.candidates[c])).toEqual(
        items.filter((item) => task.candidates.includes(item)),
      );
    }
    const places = Array.from(task.candidates, (item) => all.candidates.indexOf(item));
    const gaps = places.slice(1).map((place, i) => place - places[i]);
    expect(Math.max(...gaps) - Math.min(...gaps)).toBeLessThanOrEqual(1);
    expect(someCandidates(validation, all.candidates.length)).toBe(validation);
  });
});

describe('tuneBaseline', () => {
  it('tunes on fewer candidates if edges are many, but not on too few', async () => {
    const lists = communityLists(300, 1600, 4, 22);
    const small = holdBack({ users: lists, shown: shownItems(1600, 1) }, { seed: 1 });
    expect(small.data.candidates.length).toBeGreaterThan(260);
    const candidatesOf = async (of: Baseline, edges: number) => {
      const seen: number[] = [];
      const byCandidate: Baseline = {
        ...popularity,
        ...(of.tuningCandidates && { tuningCandidates: of.tuningCandidates }),
        axes: () => [{ lambda: alongValues(1, [1]) }],
        fit: (data, setting) => {
          seen.push(data.candidates.length);
          return popularity.fit(data, setting);
        },
      };
      const users = { ...small.data.users, values: new Uint32Array(edges) };
      await tuneBaseline(byCandidate, { ...small, data: { ...small.data, users } }, { seed: 1 });
      return seen;
    };
    const all = small.data.candidates.length;
    expect(await candidatesOf(ease, 1e5)).toEqual([all]);
    expect(await candidatesOf(ease, Math.floor(1.7e9 / 260))).toEqual([260]);
    expect(await candidatesOf(ease, 2e7)).toEqual([256]);
    // SLIM is tuned on all candidates unless the data have many edges.
    expect(await candidatesOf(slim, 2e7)).toEqual([all]);
    expect([
      slim.tuningCandidates?.({ users: 3000, edges: 3e6 }),
      ease.tuningCandidates?.({ users: 3000, edges: 1e6 }),
    ]).toEqual([800, 800]);
    expect(slim.tuningCandidates?.({ users: 3000, edges: 1e6 })).toBe(Infinity);
    expect(await candidatesOf(popularity, 2e7)).toEqual([all]);
  });
});

describe('fitBaselines', () => {
  const communities = (users: number, items: number) => {
    const lists = communityLists(users, items, 4, 20);
    return buildGraph({
      users: Array.from({ length: users }, (_, u) => listOf(lists, u).map(() => u)).flat(),
      items: lists.values,
      userCount: users,
      itemCount: items,
    });
  };
  const graph = communities(400, 120);
  /** Enough for workers. */
  const large = communities(1800, 240);

  it('tunes, fits and evaluates all on the same users; all personal baselines beat popularity on communities', async () => {
    const parts = split(graph, { testUsers: 0.3, testItems: 0.3, seed: 2 });
    const task = splitRankingTask(parts);
    const stages = new Set<string>();
    const { results, skipped } = await fitBaselines(parts, task, {
      n: 5,
      maxTrials: 6,
      onProgress: ({ stage }) => stages.add(stage),
    });
    expect(skipped).toEqual([]);
    expect(results.map((r) => r.name)).toEqual([...BASELINES]);
    const [popularity, ...personal] = results;
    for (const result of personal) {
      expect(result.ranking.all.mean.recall).toBeGreaterThan(popularity!.ranking.all.mean.recall + 0.1);
      expect(Array.from(result.ranking.all.rows)).toEqual(Array.from(popularity!.ranking.all.rows));
      expect(result.trials.length).toBeGreaterThan(1);
      expect(result.trials.length).toBeLessThanOrEqual(6);
      const best = Math.max(...result.trials.map((t) => t.score));
      expect(result.trials.find((t) => t.score === best)!.setting).toMatchObject(
        Object.fromEntries(Object.entries(result.setting).filter(([key]) => key !== 'iterations')),
      );
    }
    expect([...stages]).toContain('EASE: tuning');
    const data = baselineData(parts, task);
    expect(task.history.values.every((item) => data.shown[item] === 1)).toBe(true);
    expect(task.candidates.every((item) => data.shown[item] === 0)).toBe(true);
  });

  it('has the same figures from workers, which report progress, as from one thread', async () => {
    const parts = split(large, { testUsers: 0.1, testItems: 0.2, seed: 2 });
    expect(parts.train.edges).toBeGreaterThan(20_000);
    const task = splitRankingTask(parts);
    const told = new Set<string>();
    const run = (threads: number) =>
      fitBaselines(parts, task, {
        ...{ baselines: ['popularity', 'knn', 'ease', 'slim'], n: 5, maxTrials: 3, threads },
        onProgress: ({ stage }) => threads > 1 && told.add(stage),
      });
    const [alone, beside] = [await run(1), await run(3)];
    const figures = ({ results }: typeof alone) => results.map(({ seconds: _, ...rest }) => rest);
    expect(figures(beside)).toEqual(figures(alone));
    expect([...told]).toContain('SLIM: tuning');
  });

  it('ends its workers on request', async () => {
    const parts = split(large, { testUsers: 0.1, testItems: 0.2, seed: 2 });
    const stop = new AbortController();
    const reason = new Error('enough');
    const stopped = fitBaselines(parts, splitRankingTask(parts), {
      threads: 2,
      signal: stop.signal,
      onProgress: () => stop.abort(reason),
    });
    await expect(stopped).rejects.toBe(reason);
  });

  it('waits for the others if one fails, and says what failed', async () => {
    const parts = split(graph, { testUsers: 0.3, testItems: 0.3, seed: 2 });
    const begun = new Set<string>();
    const failed = fitBaselines(parts, splitRankingTask(parts), {
      maxTrials: 2,
      onProgress: ({ stage }) => {
        begun.add(stage);
        if (stage === 'iALS: tuning') throw new Error('no more of this');
      },
    });
    await expect(failed).rejects.toThrow('no more of this');
    expect([...begun]).toContain('HPF: fitting');
  });

  it('compares all of them on a split by edges, where candidates are inputs too', async () => {
    const parts = split(graph, { method: 'edges', seed: 2 });
    const report = await fitBaselines(parts, splitRankingTask(parts), { maxTrials: 2 });
    expect(report.skipped).toEqual([]);
    expect(report.results).toHaveLength(BASELINES.length);
  });
});
