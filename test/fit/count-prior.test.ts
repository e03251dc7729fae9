import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { evaluateModel } from '../../src/evaluate/evaluate.js';
import { fit } from '../../src/fit/fit.js';
import { foldBase, foldVertex } from '../../src/fit/fold-in/fold-in.js';
import { drawCount, fitCounts, foldCounts } from '../../src/fit/sides/count-prior.js';
import { unfinishedFit } from '../../src/fit/unfinished.js';
import { buildGraph, MAX_COUNT } from '../../src/graph/build.js';
import { type BipartiteGraph, simpleGraph } from '../../src/graph/graph.js';
import { VertexIds } from '../../src/graph/ids.js';
import { normal } from '../../src/math/distributions.js';
import { randomStream } from '../../src/math/random.js';
import { createReplicator } from '../../src/predict/draw/replica.js';
import { recommend } from '../../src/predict/recommend.js';
import { simulate } from '../../src/process/poisson-model.js';
import { split } from '../../src/sample/split.js';
import { modelFromBytes, modelTensors, modelToBytes } from '../../src/store/model-bytes.js';
import { encodeTensors } from '../../src/store/tensors.js';

const TRUTH = { mean: 0.8, spread: 1.1, users: 0.7, items: 0.5 };
const SIDE = { sigma: 0.1, tau: 1, shape: 0.4, rate: 0.4, size: 60 };
const quick = { features: 3, iterations: 40, threads: 1, model: 'sparse' } as const;

/** The pairs of a graph with counts drawn from the model. */
function counted(graph: BipartiteGraph, count: (user: number, item: number) => number): BipartiteGraph {
  const users: number[] = [];
  const items: number[] = [];
  const counts: number[] = [];
  for (let u = 0; u < graph.users.count; u++) {
    for (let e = graph.users.offsets[u]; e < graph.users.offsets[u + 1]; e++) {
      users.push(u);
      items.push(graph.users.neighbors[e]);
      counts.push(count(u, graph.users.neighbors[e]));
    }
  }
  return buildGraph({
    ...{ users, items, counts, userCount: graph.users.count, itemCount: graph.items.count },
    ...{ userIds: graph.users.ids, itemIds: graph.items.ids, multigraph: true },
  });
}

function byModel(graph: BipartiteGraph, seed: number) {
  const random = randomStream(seed, 5);
  const users = Array.from({ length: graph.users.count }, () => TRUTH.users * normal(random));
  const items = Array.from({ length: graph.items.count }, () => TRUTH.items * normal(random));
  return {
    graph: counted(graph, (u, j) => drawCount(random, TRUTH.mean + users[u] + items[j], TRUTH.spread)),
    users,
  };
}

const tiny = (pairs: readonly (readonly [number, number, number])[]) =>
  buildGraph({
    users: pairs.map(([u]) => u),
    items: pairs.map(([, j]) => j),
    counts: pairs.map(([, , n]) => n),
    userCount: 1 + Math.max(...pairs.map(([u]) => u)),
    itemCount: 1 + Math.max(...pairs.map(([, j]) => j)),
    userIds: VertexIds.range(1 + Math.max(...pairs.map(([u]) => u))),
    itemIds: VertexIds.range(1 + Math.max(...pairs.map(([, j]) => j))),
    multigraph: true,
  });

let edges: BipartiteGraph;
let uneven: BipartiteGraph;
let poissonian: BipartiteGraph;
beforeAll(async () => {
  edges = (await simulate({ users: SIDE, items: SIDE, features: 3, seed: 2 })).graph;
  uneven = byModel(edges, 1).graph;
  poissonian = (await simulate({ users: SIDE, items: SIDE, features: 3, seed: 2, multigraph: true })).graph;
});

describe('the model of counts', () => {
  it('finds the parameters that drew them, over several seeds', () => {
    for (const seed of [1, 2, 3]) {
      const { prior } = fitCounts(byModel(edges, seed).graph);
      expect(prior.mean).toBeGreaterThan(TRUTH.mean - 0.25);
      expect(prior.mean).toBeLessThan(TRUTH.mean + 0.25);
      expect(prior.spread).toBeGreaterThan(0.95 * TRUTH.spread);
      expect(prior.spread).toBeLessThan(1.05 * TRUTH.spread);
      for (const side of ['users', 'items'] as const) {
        expect(prior[side]).toBeGreaterThan(0.75 * TRUTH[side]);
        expect(prior[side]).toBeLessThan(1.25 * TRUTH[side]);
      }
    }
  });

  it('finds the effects of unseen users from their counts', () => {
    const { graph, users } = byModel(edges, 4);
    const { prior, effects } = fitCounts(graph);
    const folded = foldCounts(prior, 'users', graph.users, effects.items);
    let [n, off] = [0, 0];
    for (let u = 0; u < graph.users.count; u++) {
      // With the fitted items held fixed, fold-in gives a user the same effects as the fit.
      expect(Math.abs(folded.mean[u] - effects.users.mean[u])).toBeLessThan(0.02);
      const z = (folded.mean[u] - users[u]) / Math.sqrt(folded.variance[u] + 0.02);
      n++;
      off += z * z;
    }
    expect(off / n).toBeGreaterThan(0.5);
    expect(off / n).toBeLessThan(2);
  });

  it.each([
    [
      'all counts 1',
      [
        [0, 0, 1],
        [0, 1, 1],
        [1, 0, 1],
      ],
    ],
    [
      'all counts alike',
      [
        [0, 0, 7],
        [0, 1, 7],
        [1, 0, 7],
      ],
    ],
    ['one edge', [[0, 0, 3]]],
    [
      'the largest count',
      [
        [0, 0, MAX_COUNT],
        [0, 1, 1],
        [1, 1, MAX_COUNT],
      ],
    ],
  ] as [string, [number, number, number][]][])(
    'stays finite with %s, and so do its draws',
    (_name, pairs) => {
      const { prior, effects, bound } = fitCounts(tiny(pairs));
      for (const value of [
        ...Object.values(prior),
        bound,
        ...effects.users.mean,
        ...effects.items.variance,
      ]) {
        expect(Number.isFinite(value)).toBe(true);
      }
      const random = randomStream(1);
      for (let n = 0; n < 100; n++) {
        const count = drawCount(random, prior.mean + 3 * prior.users, 3 * prior.spread);
        expect(Number.isInteger(count) && count >= 1 && count <= MAX_COUNT).toBe(true);
      }
    },
  );

  it('has a bound at least as high as with fewer effects, up to the tolerance of the search', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(6), fc.nat(6), fc.integer({ min: 1, max: 5000 })), {
          minLength: 1,
          maxLength: 60,
        }),
        (pairs) => {
          const graph = tiny(pairs);
          const both = fitCounts(graph).bound;
          expect(Number.isFinite(both)).toBe(true);
          expect(both).toBeLessThanOrEqual(0);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('a fit of counts', () => {
  it('takes a Poisson model for Poisson counts, a hurdle model for others, and says why', async () => {
    const plain = await fit(poissonian, quick);
    expect(plain.countChoice!.model).toBe('poisson');
    expect(plain.model).toMatchObject({ multigraph: true });
    const { countChoice, model } = await fit(uneven, quick);
    expect(countChoice!.model).toBe('hurdle');
    expect(countChoice!.evidence!.pairs).toBeGreaterThan(countChoice!.evidence!.limit);
    expect(model.multigraph).toBe(false);
    expect(model.counts!.spread).toBeCloseTo(TRUTH.spread, 1);
  });

  it('takes a Poisson model if there are too few data to hold users back', async () => {
    for (const rows of [1, 2, 5, 12]) {
      const users = Array.from({ length: rows }, (_, i) => i % 4);
      const items = Array.from({ length: rows }, (_, i) => Math.floor(i / 4));
      const counts = users.map((u) => 1 + 7 * u);
      const userCount = Math.min(rows, 4);
      const itemCount = Math.ceil(rows / 4);
      const tiny = buildGraph({ users, items, counts, userCount, itemCount, multigraph: true });
      const { countChoice } = await fit(tiny, quick);
      expect(countChoice).toEqual({ model: 'poisson', evidence: null });
    }
  });

  it('does what is asked for, and leaves the edges to the simple model', async () => {
    const hurdle = (await fit(uneven, { ...quick, counts: 'hurdle' })).model;
    const simple = (await fit(simpleGraph(uneven), quick)).model;
    expect(hurdle.bound).toBe(simple.bound);
    expect(hurdle.items.featureShape).toEqual(simple.items.featureShape);
    const poisson = (await fit(uneven, { ...quick, counts: 'poisson' })).model;
    expect(poisson.counts).toBeUndefined();
    expect(poisson.bound).not.toBe(hurdle.bound);
    await expect(fit(uneven, { ...quick, counts: 'gamma' as 'hurdle' })).rejects.toThrow(/^counts "gamma"/);
  });

  it('predicts the pairs and the tail of their counts, which a Poisson model does not', async () => {
    const check = async (counts: 'hurdle' | 'poisson', seed: number) => {
      const parts = split(uneven, { seed, testUsers: 0.3, testItems: 0.3 });
      const { model } = await fit(parts.train, { ...quick, counts });
      const { draws, observed } = (await evaluateModel(model, parts, { draws: 40, threads: 1 })).predictive!;
      const off = (name: 'edges' | 'tail') => Math.abs(Math.log(draws[name]!.mean / observed[name]!));
      return { edges: off('edges'), tail: off('tail') };
    };
    const tails = { hurdle: 0, poisson: 0 };
    for (const seed of [1, 2, 3]) {
      const [own, poisson] = [await check('hurdle', seed), await check('poisson', seed)];
      expect(own.edges).toBeLessThan(0.2);
      expect(poisson.edges).toBeGreaterThan(2 * own.edges);
      tails.hurdle += own.tail;
      tails.poisson += poisson.tail;
    }
    expect(tails.hurdle).toBeLessThan(tails.poisson);
  });

  it('is saved and loaded whole, recommends, explains, folds in and makes replicas with counts', async () => {
    const { model } = await fit(uneven, { ...quick, counts: 'hurdle' });
    const again = await modelFromBytes(modelToBytes(model));
    if (again.type !== 'posterior') throw new Error('no posterior');
    expect(again.counts).toEqual(model.counts);
    expect(again.users.counts).toEqual(model.users.counts);
    const user = model.users.ids.at(0);
    expect(await recommend(again, { user }, { n: 3 })).toEqual(await recommend(model, { user }, { n: 3 }));
    const base = foldBase(again, 'users');
    const once = foldVertex(base, [0, 1]);
    expect(foldVertex(base, [0, 1], { counts: [900, 1] })).toEqual(once);
    const replica = createReplicator(again)(1, 0);
    expect(replica.multigraph).toBe(true);
    expect(replica.total).toBeGreaterThan(1.5 * replica.edges);
  });

  it('keeps the largest count in its file', async () => {
    const { model } = await fit(
      tiny([
        [0, 0, MAX_COUNT],
        [0, 1, 1],
        [1, 1, 2],
      ]),
      { ...quick, features: 1, counts: 'hurdle' },
    );
    const again = await modelFromBytes(modelToBytes(model));
    expect(again.seen!.counts).toEqual(model.seen!.counts);
  });

  it('resumes to the same numbers', async () => {
    const options = { ...quick, counts: 'hurdle', engine: 'reference' } as const;
    const abort = new AbortController();
    const stopped = await fit(uneven, {
      ...options,
      signal: abort.signal,
      onProgress: ({ done }) => {
        if (done >= 10) abort.abort();
      },
    }).catch(unfinishedFit);
    const { checkpoint } = stopped!;
    const { model } = await fit(uneven, { resume: checkpoint });
    const straight = (await fit(uneven, options)).model;
    expect(model.bound).toBe(straight.bound);
    expect(model.counts).toEqual(straight.counts);
  });

  it.each([
    ['a spread of 0', { counts: '{"mean":0,"spread":0,"users":1,"items":1}' }, /counts\.spread/],
    ['a mean beyond counts', { counts: '{"mean":1e9,"spread":1,"users":1,"items":1}' }, /counts\.mean/],
    ['not a model', { counts: '"log-normal"' }, /counts/],
  ])('refuses a file with %s, in words', async (_name, changed, message) => {
    const { model } = await fit(uneven, { ...quick, iterations: 5, counts: 'hurdle' });
    const file = modelTensors(model);
    const pieces = encodeTensors({ ...file, metadata: { ...file.metadata, ...changed } });
    const bytes = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
    await expect(modelFromBytes(bytes)).rejects.toThrow(message);
  });

  it('refuses a file whose effects are missing or not numbers', async () => {
    const { model } = await fit(uneven, { ...quick, iterations: 5, counts: 'hurdle' });
    const forge = (name: string, value: Float32Array | undefined) => {
      const file = modelTensors(model);
      const tensors = new Map(file.tensors);
      if (value) tensors.set(name, { shape: [value.length], data: value });
      else tensors.delete(name);
      return Buffer.concat(encodeTensors({ ...file, tensors }).map((piece) => Buffer.from(piece)));
    };
    await expect(modelFromBytes(forge('items.count_mean', undefined))).rejects.toThrow(
      /items\.count_mean is missing/,
    );
    const bad = new Float32Array(model.users.count).fill(Number.NaN);
    await expect(modelFromBytes(forge('users.count_variance', bad))).rejects.toThrow(
      /users\.count_variance holds NaN/,
    );
  });
});
