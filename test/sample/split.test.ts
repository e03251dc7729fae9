import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError } from '../../src/errors.js';
import { type SplitOptions, split, unseenByTraining } from '../../src/sample/split.js';
import type { Split } from '../../src/sample/split-types.js';
import { compareSplit } from '../../src/sparsity/split-bias.js';
import { edgeList, graphOf, problems, someGraph } from './random-graph.js';

/** Small graphs may leave a part empty, which split refuses; the property holds for the others. */
function trySplit(...args: Parameters<typeof split>): Split | undefined {
  try {
    return split(...args);
  } catch (error) {
    if (error instanceof InputError) return undefined;
    throw error;
  }
}

describe('split', () => {
  const fraction = fc.double({ min: 0.05, max: 0.95, noNaN: true });
  const method = fc.constantFrom('pq', 'edges' as const);

  it('parts are valid and disjoint, and add up to the whole graph', () => {
    fc.assert(
      fc.property(
        someGraph,
        fraction,
        fraction,
        method,
        fc.nat(1000),
        (graph, testUsers, testItems, method, seed) => {
          const parts = trySplit(graph, { testUsers, testItems, method, seed });
          if (!parts) return;
          for (const part of [parts.train, parts.foldIn, parts.test]) expect(problems(part)).toEqual([]);
          const all = [parts.train, parts.foldIn, parts.test].flatMap(edgeList).sort();
          expect(all).toEqual(edgeList(graph));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('pq: the assignment decides the part of every edge, and covers every vertex', () => {
    fc.assert(
      fc.property(someGraph, fraction, fraction, fc.nat(1000), (graph, testUsers, testItems, seed) => {
        const parts = trySplit(graph, { testUsers, testItems, seed });
        if (!parts) return;
        const { users, items } = parts.assignment;
        expect([users.drawn.length, items.drawn.length]).toEqual([graph.users.count, graph.items.count]);
        const coin = (coins: typeof users, id: string) => coins.drawn[coins.ids.find(id)];
        const expected = { train: [] as string[], foldIn: [] as string[], test: [] as string[] };
        for (const edge of edgeList(graph)) {
          const [user, item] = edge.split(' ');
          if (coin(users, user!) === 0) expected.train.push(edge);
          else if (coin(items, item!) === 0) expected.foldIn.push(edge);
          else expected.test.push(edge);
        }
        for (const part of ['train', 'foldIn', 'test'] as const) {
          expect(edgeList(parts[part])).toEqual(expected[part].sort());
        }
      }),
      { numRuns: 40 },
    );
  });

  it('same seed, same split; another seed, another', () => {
    const graph = graphOf(Array.from({ length: 400 }, (_, e) => [e % 37, (e * 7) % 29] as const));
    const drawn = (seed: number) => [...split(graph, { seed }).assignment.users.drawn].join('');
    expect(drawn(3)).toBe(drawn(3));
    expect(drawn(3)).not.toBe(drawn(4));
    expect(edgeList(split(graph, { seed: 3 }).test)).toEqual(edgeList(split(graph, { seed: 3 }).test));
    expect(split(graph, { seed: 3 }).fingerprint).toBe(split(graph, { seed: 4 }).fingerprint);
  });

  it('counts what training never saw', () => {
    fc.assert(
      fc.property(someGraph, method, fc.nat(1000), (graph, method, seed) => {
        const parts = trySplit(graph, { testUsers: 0.5, testItems: 0.5, method, seed });
        if (!parts) return;
        const unseen = unseenByTraining(parts);
        for (const name of ['foldIn', 'test'] as const) {
          const isNew = (edge: string) => {
            const [user, item] = edge.split(' ');
            const newUser = method === 'edges' && parts.train.users.ids.find(user!) < 0;
            return newUser || parts.train.items.ids.find(item!) < 0;
          };
          expect(unseen[name].edges).toBe(edgeList(parts[name]).filter(isNew).length);
          const newItems = [...parts[name].items.ids.values].filter(
            (id) => parts.train.items.ids.find(id) < 0,
          );
          expect(unseen[name].items).toBe(newItems.length);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('refuses fractions outside (0, 1), an unknown method, and a graph too small to have a test part', () => {
    const graph = graphOf([
      [1, 1],
      [2, 2],
    ]);
    for (const testUsers of [0, 1, -1, Number.NaN])
      expect(() => split(graph, { testUsers })).toThrow(/testUsers/);
    expect(() => split(graph, { method: 'rows' as 'pq' })).toThrow(
      /method "rows": expected one of pq, edges/,
    );
    expect(() => split(graph, { testUsers: 0.01, testItems: 0.01 })).toThrow(
      /test part of the split has no edges/,
    );
    // What the method does not have is not advised.
    const times = Float64Array.of(1, 1);
    const problem = (options: SplitOptions) => {
      try {
        return split(graph, options).method;
      } catch (error) {
        return String(error).replace(/^.*2 edges; /, '');
      }
    };
    expect(problem({ testUsers: 0.01, testItems: 0.01 })).toBe(
      'test fractions 0.01 and 0.01): use other fractions, another seed, or more data',
    );
    expect(problem({ method: 'edges', testUsers: 0.01 })).toBe(
      'test fraction 0.01): use another fraction, another seed, or more data',
    );
    expect(problem({ method: 'new-items', testItems: 0.01 })).toBe(
      'test fraction 0.01): use another fraction, another seed, or more data',
    );
    expect(problem({ method: 'time', times, testUsers: 0.3 })).toBe(
      'test fraction 0.3, and edges of one moment stay together): use another fraction or more data',
    );
    expect(problem({ method: 'last', times })).toBe(
      'no user has more edges than the split takes): use fewer edges of each user or more data',
    );
  });

  it('edge hold-out prefers vertices of high degree; random draws do not', () => {
    // Users 0…9 have 60 edges each, users 10…399 one each.
    const pairs: [number, number][] = [];
    for (let user = 0; user < 10; user++) for (let item = 0; item < 60; item++) pairs.push([user, item]);
    for (let user = 10; user < 400; user++) pairs.push([user, user % 60]);
    const graph = graphOf(pairs);
    const preferences = (method: 'pq' | 'edges') =>
      Array.from({ length: 100 }, (_, seed) => {
        const { users } = compareSplit(graph, split(graph, { method, seed }));
        return users.heldOutDegree / users.whole.meanDegree;
      });
    const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
    const coins = preferences('pq');
    const error = Math.sqrt(mean(coins.map((v) => (v - mean(coins)) ** 2)) / coins.length);
    expect(Math.abs(mean(coins) - 1)).toBeLessThan(4 * error);
    expect(error).toBeLessThan(0.05);
    expect(mean(preferences('edges'))).toBeGreaterThan(2);
  });
});
