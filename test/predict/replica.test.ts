import { describe, expect, it } from 'vitest';
import { fit } from '../../src/fit/fit.js';
import { degrees, SIDES } from '../../src/graph/graph.js';
import { createReplicator } from '../../src/predict/replica.js';
import { simulate } from '../../src/process/poisson-model.js';

const law = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 40 };

describe.each([false, true])('replicas of a fitted model, multigraph %s', (multigraph) => {
  it('have the size of the graph that it was fitted to, and are new each time', async () => {
    const { graph } = await simulate({ users: law, items: law, features: 4, seed: 5, multigraph });
    const given = { sigma: 0.2, shape: 0.3, rate: 0.3 };
    const { model } = await fit(graph, { features: 4, users: given, items: given, engine: 'reference' });
    const replicate = createReplicator(model);
    const replicas = Array.from({ length: 20 }, (_, replica) => replicate(1, replica));
    const mean = (value: (graph: (typeof replicas)[0]) => number) =>
      replicas.reduce((sum, replica) => sum + value(replica), 0) / replicas.length;
    // Twenty draws of some hundred vertices and thousands of edges: their mean is known to about 1 %.
    for (const side of SIDES) {
      expect(mean((replica) => replica[side].count) / graph[side].count).toBeCloseTo(1, 1);
      expect(Math.min(...degrees(replicas[0]![side]))).toBeGreaterThan(0);
    }
    expect(mean((replica) => replica.edges) / graph.edges).toBeCloseTo(1, 1);
    expect(mean((replica) => replica.total) / graph.total).toBeCloseTo(1, 1);
    expect(new Set(replicas.map((replica) => replica.edges)).size).toBeGreaterThan(5);
    expect(replicate(1, 3)).toEqual(replicas[3]);
  });
});

it('a model fitted for ranking has no replicas', async () => {
  const { graph } = await simulate({ users: law, items: law, features: 2, seed: 6 });
  const { model } = await fit(graph, { features: 2, objective: 'ranking', iterations: 2 });
  expect(() => createReplicator(model)).toThrow('--objective evidence');
});
