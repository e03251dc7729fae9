import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError } from '../../src/errors.js';
import { degrees } from '../../src/graph/graph.js';
import { randomStream } from '../../src/math/random.js';
import { pqSample } from '../../src/sample/pq.js';
import { countDegrees, expectedSurvivors } from '../../src/sparsity/degree-counts.js';
import { edgeList, graphOf, problems, someGraph } from './random-graph.js';

describe('pqSample', () => {
  it('gives a sound graph whose edges are those between the vertices it keeps', () => {
    fc.assert(
      fc.property(
        someGraph,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat(1000),
        (graph, level, seed) => {
          const sample = pqSample(graph, { users: level, items: 1 - level / 2 }, randomStream(seed));
          expect(problems(sample)).toEqual([]);
          const whole = new Set(edgeList(graph));
          for (const edge of edgeList(sample)) expect(whole.has(edge)).toBe(true);
          // The sample is an induced subgraph: it has every edge of the whole graph between two kept vertices.
          const kept = edgeList(graph).filter((edge) => {
            const [user, item] = edge.split(' ');
            return sample.users.ids.find(user!) >= 0 && sample.items.ids.find(item!) >= 0;
          });
          expect(edgeList(sample)).toEqual(kept);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('keeps all at level 1, nothing at level 0, and the same for the same stream', () => {
    const graph = graphOf([
      [1, 2],
      [1, 3],
      [2, 3],
      [5, 9],
    ]);
    expect(edgeList(pqSample(graph, { users: 1, items: 1 }, randomStream(1)))).toEqual(edgeList(graph));
    const none = pqSample(graph, { users: 0, items: 1 }, randomStream(1));
    expect([none.users.count, none.items.count, none.edges]).toEqual([0, 0, 0]);
    const half = () => edgeList(pqSample(graph, { users: 0.5, items: 0.5 }, randomStream(4)));
    expect(half()).toEqual(half());
  });

  it('has the expected numbers: pqE edges, p·sum(1-(1-q)^d) users', () => {
    const random = randomStream(12);
    const graph = graphOf(Array.from({ length: 3000 }, () => [random.below(300), random.below(90)] as const));
    const [p, q, draws] = [0.3, 0.2, 400];
    let users = 0;
    let items = 0;
    let edges = 0;
    let squares = 0;
    for (let draw = 0; draw < draws; draw++) {
      const sample = pqSample(graph, { users: p, items: q }, randomStream(77, draw));
      users += sample.users.count;
      items += sample.items.count;
      edges += sample.edges;
      squares += sample.edges ** 2;
    }
    const spread = Math.sqrt(squares / draws - (edges / draws) ** 2) / Math.sqrt(draws);
    expect(Math.abs(edges / draws - p * q * graph.edges)).toBeLessThan(4 * spread);
    const expectedUsers = p * expectedSurvivors(countDegrees(degrees(graph.users)), q);
    const expectedItems = q * expectedSurvivors(countDegrees(degrees(graph.items)), p);
    expect(users / draws / expectedUsers).toBeCloseTo(1, 1);
    expect(items / draws / expectedItems).toBeCloseTo(1, 1);
  });

  it('refuses a level that is not a probability', () => {
    const graph = graphOf([[1, 1]]);
    for (const level of [-0.1, 1.5, Number.NaN]) {
      expect(() => pqSample(graph, { users: level, items: 1 }, randomStream(1))).toThrow(InputError);
    }
  });
});
