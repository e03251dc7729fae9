import { describe, expect, it } from 'vitest';
import { foldHeldOut } from '../../src/evaluate/held-out.js';
import { fit } from '../../src/fit/fit.js';
import { degrees, SIDES } from '../../src/graph/graph.js';
import { createReplicator } from '../../src/predict/draw/replica.js';
import { simulate } from '../../src/process/poisson-model.js';
import { split } from '../../src/sample/split.js';

const prior = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 40 };

describe.each([false, true])('replicas of a fitted model, multigraph %s', (multigraph) => {
  it('have the size of the graph that it was fitted to, and are new each time', async () => {
    const { graph } = await simulate({ users: prior, items: prior, features: 4, seed: 5, multigraph });
    const given = { sigma: 0.2, shape: 0.3, rate: 0.3 };
    const { model } = await fit(graph, { features: 4, users: given, items: given, engine: 'reference' });
    const replicate = createReplicator(model);
    const replicas = Array.from({ length: 100 }, (_, replica) => replicate(1, replica));
    /** The replicas' mean over the observed value: within the range and four standard errors. */
    const expectMean = (
      name: string,
      value: (graph: (typeof replicas)[0]) => number,
      [low, high]: readonly [number, number],
    ) => {
      const ratios = replicas.map((replica) => value(replica) / value(graph));
      const mean = ratios.reduce((sum, x) => sum + x, 0) / ratios.length;
      const squares = ratios.reduce((sum, x) => sum + (x - mean) ** 2, 0);
      const room = 4 * Math.sqrt(squares / (ratios.length - 1) / ratios.length);
      expect(mean, name).toBeGreaterThan(low - room);
      expect(mean, name).toBeLessThan(high + room);
    };
    // The predictive counts of docs/appendix/trust.md: vertices right within 2 %; edges right within 1 % in multigraphs, 3 to 9
    // % too few in simple graphs. A hundred replicas know their means to 0.2 % (edges) and 0.4 % (vertices).
    for (const side of SIDES) {
      expectMean(side, (replica) => replica[side].count, [0.98, 1.02]);
      expect(Math.min(...degrees(replicas[0][side]))).toBeGreaterThan(0);
    }
    const edges = multigraph ? ([0.99, 1.01] as const) : ([0.91, 0.97] as const);
    expectMean('edges', (replica) => replica.edges, edges);
    expectMean('total', (replica) => replica.total, edges);
    expect(new Set(replicas.map((replica) => replica.edges)).size).toBeGreaterThan(5);
    expect(replicate(1, 3)).toEqual(replicas[3]);
  });
});

it('with the held-out users replicas have the size of the whole that was split', async () => {
  const { graph } = await simulate({ users: prior, items: prior, features: 4, seed: 5, multigraph: true });
  const parts = split(graph, { seed: 2, testUsers: 0.4 });
  const given = { sigma: 0.2, shape: 0.3, rate: 0.3 };
  const { model } = await fit(parts.train, { features: 4, users: given, items: given, engine: 'reference' });
  const { folded } = await foldHeldOut(model, parts, { engine: 'reference' });
  const replicate = createReplicator(model, { folded: folded!, split: parts });
  const alone = createReplicator(model);
  const mean = (draw: typeof replicate, value: (replica: ReturnType<typeof replicate>) => number) =>
    Array.from({ length: 20 }, (_, r) => value(draw(1, r))).reduce((sum, x) => sum + x, 0) / 20;
  // The held-out users, who are two fifths, are known by their fold-in edges alone.
  expect(mean(replicate, (r) => r.users.count) / graph.users.count).toBeCloseTo(1, 1);
  expect(mean(replicate, (r) => r.total) / graph.total).toBeCloseTo(1, 1);
  expect(mean(alone, (r) => r.users.count) / parts.train.users.count).toBeCloseTo(1, 1);
});

it('a ranker has no replicas', async () => {
  const { graph } = await simulate({ users: prior, items: prior, features: 2, seed: 6 });
  const { model } = await fit(graph, { features: 2, method: 'ranking', iterations: 2 });
  expect(() => createReplicator(model as never)).toThrow('fit with method ascent');
});
