import { beforeAll, describe, expect, it } from 'vitest';
import { fit } from '../../src/fit/fit.js';
import { backtest, unexplainedError } from '../../src/forecast/backtest.js';
import { type ForecastOptions, forecastGrowth } from '../../src/forecast/forecast.js';
import { countInterval, project } from '../../src/forecast/project.js';
import { buildGraph } from '../../src/graph/build.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { selectVertices } from '../../src/graph/subgraph.js';
import { randomStream } from '../../src/math/random.js';
import { simulate } from '../../src/process/poisson-model.js';
import { drawAssignment } from '../../src/sample/pq.js';

const side = { sigma: 0.3, tau: 1, shape: 0.5, rate: 0.5, size: 70 };
let graph: BipartiteGraph;
beforeAll(async () => {
  graph = (await simulate({ users: side, items: side, features: 6, seed: 3 })).graph;
});
const quick: ForecastOptions = { draws: 0, trials: 10 };
const thinUsers = (share: number, seed: number) => {
  const users = drawAssignment(graph.users.count, share, randomStream(seed));
  return {
    part: selectVertices(graph, users, new Uint8Array(graph.items.count).fill(1)),
    growth: graph.users.count / users.reduce((a, b) => a + b, 0),
  };
};

describe('a projection', () => {
  it.each([2, 5])(
    'from 1/%s of the users contains the number of items in about nine of ten cases',
    (times) => {
      let held = 0;
      let error = 0;
      const cases = 60;
      for (let seed = 0; seed < cases; seed++) {
        const { part, growth } = thinUsers(1 / times, seed);
        const { projections } = project(
          { own: part.users, other: part.items },
          [growth],
          randomStream(seed, 1),
        );
        const { low, high, mean } = countInterval(projections[0].vertices.lowDegrees!, part.items.count);
        error += (mean / graph.items.count - 1) / cases;
        if (graph.items.count >= low && graph.items.count <= high) held++;
      }
      expect(held / cases).toBeGreaterThanOrEqual(0.8);
      expect(held / cases).toBeLessThanOrEqual(0.99);
      expect(Math.abs(error)).toBeLessThan(0.04);
    },
  );

  it('includes the number of edges and the density', () => {
    const { projections } = project({ own: graph.users, other: graph.items }, [2], randomStream(1));
    const [{ edges, density, vertices }] = projections;
    expect(edges.value).toBe(2 * graph.edges);
    expect(density.value).toBeCloseTo(graph.edges / (graph.users.count * vertices.lowDegrees!.value), 12);
    expect(edges.error).toBeGreaterThan(0);
  });
});

describe('forecastGrowth', () => {
  it('forecasts items from users, users from items, edges from both', async () => {
    const found = await forecastGrowth(graph, { ...quick, usersTimes: 2, itemsTimes: 1.5, until: 3 });
    const { users, items, edges, density } = found.forecast!;
    expect(edges.mean).toBe(3 * graph.edges);
    expect(items.mean).toBeGreaterThan(1.5 * graph.items.count);
    expect(users.mean).toBeGreaterThan(2 * graph.users.count);
    expect(density.mean).toBeCloseTo(edges.mean / (users.mean * items.mean), 12);
    for (const { low, mean, high } of [users, items, edges, density]) {
      expect(low).toBeLessThan(mean);
      expect(high).toBeGreaterThan(mean);
    }
    expect(found.estimators.lowDegrees!.items).toEqual(items);
    expect(found.backtest!.trials).toBe(10);
    expect(found.backtest!.error).toBeGreaterThan(0);
    expect(found.sides.items.curve[0]).toMatchObject({ times: 1, mean: graph.items.count });
    expect(found.sides.items.curve.at(-1)!.times).toBe(3);
    expect(found.modelLeftOut).toBe('unasked');
  });

  it('growth of the users alone gives the requested number of users', async () => {
    const { forecast } = await forecastGrowth(graph, { ...quick, until: 2 });
    expect(forecast!.users).toEqual({
      mean: 2 * graph.users.count,
      low: 2 * graph.users.count,
      high: 2 * graph.users.count,
    });
  });

  it('the same seed gives the same forecast, another one other intervals', async () => {
    const [a, b, c] = await Promise.all(
      [1, 1, 2].map((seed) => forecastGrowth(graph, { ...quick, until: 2, seed })),
    );
    expect(a).toEqual(b);
    expect(c.forecast!.items.mean).toBe(a.forecast!.items.mean);
    expect(c.forecast!.items).not.toEqual(a.forecast!.items);
  });

  it('the discovery rate is the share of edges that lead to a vertex of one edge', async () => {
    const { sides } = await forecastGrowth(graph, { ...quick, until: 2 });
    let single = 0;
    for (let v = 0; v < graph.items.count; v++) {
      if (graph.items.offsets[v + 1] - graph.items.offsets[v] === 1) single++;
    }
    expect(sides.items.discoveryRate).toBeCloseTo(single / graph.edges, 12);
    expect(sides.items.saturation).toBeUndefined();
  });

  it('a dense side has a limit: all its vertices, and the edges until 95 % of them are seen', async () => {
    // 400 items that each user meets with probability 1 %: users know nearly all of them in the end.
    const random = randomStream(5);
    const pairs: [number, number][] = [];
    for (let u = 0; u < 150; u++)
      for (let i = 0; i < 400; i++) if (random.uniform() < 0.01) pairs.push([u, i]);
    const dense = compact(pairs);
    const { sides } = await forecastGrowth(dense, { ...quick, until: 2 });
    const { all, edges } = sides.items.saturation!;
    expect(all).toBeGreaterThan(360);
    expect(all).toBeLessThan(440);
    // e^(−λ) = .05 at λ = 3 edges an item, 1.5 so far.
    expect(edges / (400 * 3)).toBeGreaterThan(0.7);
    expect(edges / (400 * 3)).toBeLessThan(1.4);
  });

  it('refuses, with the reason, if its own back-test fails', async () => {
    // One hub is the only item of a fifth of the users. Most random draws lose the hub and all these users with it.
    const random = randomStream(2);
    const pairs: [number, number][] = [];
    for (let u = 0; u < 1800; u++) {
      if (u < 360) pairs.push([u, 0]);
      else for (let e = 0; e < 8; e++) pairs.push([u, 1 + random.below(100)]);
    }
    const found = await forecastGrowth(compact(pairs), { ...quick, usersTimes: 1, itemsTimes: 5, until: 5 });
    expect(found.refused).toMatchObject({ reason: 'missed', side: 'items', times: 5 });
    expect(found.refused!.coverage).toBeLessThan(0.6);
    expect(found.forecast).toBeUndefined();
    expect(found.sides.users.curve.at(-1)!.times).toBeLessThan(5);
    const few = compact([
      [0, 0],
      [1, 1],
      [2, 2],
      [3, 0],
    ]);
    expect((await forecastGrowth(few, { ...quick, until: 2 })).refused).toMatchObject({ reason: 'few' });
  });

  it.each([
    [{ usersTimes: 0.5 }, /usersTimes 0.5: expected a number, at least 1/],
    [{ itemsTimes: Number.NaN }, /itemsTimes NaN: expected a number/],
    [{ until: 1e9 }, /until 1000000000: expected a number, at least 1 and at most 1,000/],
    [{ trials: 2 }, /trials 2: expected a whole number, at least 5/],
    [{ times: new Float64Array(3) }, /times: 3 for \d+ edges/],
  ] as const)('refuses %o', async (options, message) => {
    await expect(forecastGrowth(graph, { ...quick, ...options })).rejects.toThrow(message);
  });

  it('stops on request', async () => {
    await expect(forecastGrowth(graph, { ...quick, signal: AbortSignal.abort() })).rejects.toThrow();
  });
});

describe('draws from the model', () => {
  it('forecast the growth of a graph that the model drew', async () => {
    const { part, growth } = thinUsers(0.5, 11);
    const { size: _, ...prior } = side;
    const { model } = await fit(part, { features: 6, users: prior, items: prior, threads: 1 });
    const found = await forecastGrowth(part, {
      usersTimes: growth,
      until: growth,
      trials: 5,
      draws: 10,
      model,
      threads: 1,
    });
    const drawn = found.sides.items.curve.at(-1)!.estimators.model!;
    expect(Math.abs(drawn.mean / graph.items.count - 1)).toBeLessThan(0.08);
    expect(found.sides.items.curve[0].estimators.model!.mean).toBe(part.items.count);
    expect(found.modelLeftOut).toBeUndefined();
  });
});

describe('back-tests', () => {
  it('widen by the error that chance does not explain, and by nothing else', () => {
    const record = { error: 0, coverage: 1, trials: 16 };
    expect(unexplainedError({ ...record, bias: 0.1, spread: 0.4 })).toBe(0);
    expect(unexplainedError({ ...record, bias: -0.5, spread: 0.4 })).toBeCloseTo(Math.sqrt(0.24), 10);
    expect(unexplainedError(undefined)).toBe(0);
  });

  it('say how every estimator did', async () => {
    const [two, five] = await backtest({ own: graph.users, other: graph.items }, [2, 5], 10, randomStream(1));
    expect(two.estimators.goodToulmin!.trials).toBeGreaterThan(4);
    expect(five.estimators.goodToulmin).toBeUndefined();
    expect(five.estimators.chao2!.bias).toBeLessThan(five.estimators.lowDegrees!.bias);
    expect(five.estimators.power!.bias).toBeGreaterThan(five.estimators.lowDegrees!.bias);
    expect(two.estimators.lowDegrees!.error).toBeLessThan(0.1);
  });
});

describe('with times', () => {
  const timed = (time: (user: number, random: number) => number) => {
    const random = randomStream(9);
    const { offsets, count } = graph.users;
    const times = new Float64Array(graph.edges);
    for (let u = 0; u < count; u++) times.fill(time(u, random.uniform()), offsets[u], offsets[u + 1]);
    return times;
  };

  it('growth that does not depend on time is called exchangeable', async () => {
    const { time } = await forecastGrowth(graph, {
      ...quick,
      until: 2,
      times: timed((_, r) => 1e12 + 1e9 * r),
    });
    expect(time!.tests.map(({ cut }) => cut)).toEqual(['arrival', 'calendar']);
    expect(time!.exchangeable).toBe(true);
  });

  it('users who bring more and more new items are detected', async () => {
    // The users that come last are those with the most items.
    const degree = (u: number) => graph.users.offsets[u + 1] - graph.users.offsets[u];
    const { time } = await forecastGrowth(graph, {
      ...quick,
      until: 2,
      times: timed((u, r) => degree(u) + r / 10),
    });
    expect(time!.exchangeable).toBe(false);
    expect(time!.tests[0].error).toBeLessThan(-0.1);
  });
});

function compact(pairs: readonly (readonly [number, number])[]): BipartiteGraph {
  const number = (side: 0 | 1) => new Map([...new Set(pairs.map((p) => p[side]))].map((v, i) => [v, i]));
  const [users, items] = [number(0), number(1)];
  return buildGraph({
    users: pairs.map((p) => users.get(p[0])!),
    items: pairs.map((p) => items.get(p[1])!),
    userCount: users.size,
    itemCount: items.size,
  });
}
