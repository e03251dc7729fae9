import { describe, expect, it } from 'vitest';
import { createCpuEngine } from '../../src/engine/cpu/cpu-engine.js';
import type { CountingEngine } from '../../src/engine/engine.js';
import { createReferenceEngine } from '../../src/engine/reference/reference-engine.js';
import { fitHierarchical, foldHierarchicalVertex, foldInHierarchical } from '../../src/fit/hierarchical.js';
import { collectLists, transposeLists } from '../../src/math/csr.js';
import { gamma } from '../../src/math/distributions.js';
import { randomStream } from '../../src/math/random.js';
import { correlation } from './correlation.js';

const PRIOR = { shape: 0.3, rateShape: 0.3, rateMean: 1 };
const K = 3;

/** A set drawn from the model, with the rates behind it; rates are scaled so that few pairs would have more than one edge. */
function drawn(users: number, items: number, seed: number) {
  const random = randomStream(seed, 97);
  const rows = (count: number, shape: number) =>
    Array.from({ length: count }, () => {
      const rate = 0.5 + gamma(random, 4) / 4;
      return Array.from({ length: K }, () => gamma(random, shape) / rate);
    });
  const [theta, beta] = [rows(users, 0.3), rows(items, 0.3)];
  const rateOf = (u: number, i: number) =>
    0.25 * theta[u].reduce((sum, value, k) => sum + value * beta[i][k], 0);
  const lists = collectLists(users, (u, add) => {
    for (let i = 0; i < items; i++) if (random.uniform() < 1 - Math.exp(-rateOf(u, i))) add(i);
  });
  return { edges: { users: lists, items: transposeLists(lists, items) }, rateOf };
}

const options = (features = K) => ({
  features,
  prior: { users: PRIOR, items: PRIOR },
  iterations: 120,
  tolerance: 1e-7,
  seed: 1,
});

const mean = ({ shape, rate }: Record<'shape' | 'rate', Float32Array>, at: number) => shape[at] / rate[at];

async function on<T>(engine: CountingEngine, task: (engine: CountingEngine) => Promise<T>): Promise<T> {
  try {
    return await task(engine);
  } finally {
    await engine.close();
  }
}

describe('hierarchical Poisson factorization', () => {
  const { edges } = drawn(400, 250, 5);

  it('recovers the rates of a set drawn from it, better for larger sets; one feature does not', async () => {
    /** The unexplained part of the true rates, and the expected number of edges as a fraction of the true one. */
    const recovery = async (users: number, items: number, features: number) => {
      const set = drawn(users, items, 5);
      const fitted = await on(await createCpuEngine({ threads: 2 }), (engine) =>
        fitHierarchical(engine, set.edges, options(features)),
      );
      const [truth, found]: number[][] = [[], []];
      for (let u = 0; u < users; u++) {
        for (let i = 0; i < items; i++) {
          truth.push(1 - Math.exp(-set.rateOf(u, i)));
          let rate = 0;
          for (let k = 0; k < features; k++) {
            rate += mean(fitted.users, u * features + k) * mean(fitted.items, i * features + k);
          }
          found.push(rate);
        }
      }
      const expected = found.reduce((sum, rate) => sum + rate, 0) / set.edges.users.values.length;
      return { left: 1 - correlation(found, truth) ** 2, expected };
    };
    const small = await recovery(400, 250, K);
    const large = await recovery(800, 500, K);
    expect(large.expected).toBeCloseTo(1, 1);
    expect(large.left).toBeLessThan(0.75 * small.left);
    expect(large.left).toBeLessThan((await recovery(800, 500, 1)).left / 2);
  });

  it('never lowers its bound, which engines agree on', async () => {
    const reference = await on(createReferenceEngine(), (engine) =>
      fitHierarchical(engine, edges, options()),
    );
    expect(reference.bounds.length).toBeGreaterThan(3);
    for (const [at, [, bound]] of reference.bounds.entries()) {
      if (at > 0) expect(bound).toBeGreaterThanOrEqual(reference.bounds[at - 1][1] - 1e-6);
    }
    const cpu = await on(await createCpuEngine({ threads: 2 }), (engine) =>
      fitHierarchical(engine, edges, { ...options(), iterations: 20 }),
    );
    for (const [at, [sweeps, bound]] of cpu.bounds.entries()) {
      expect(reference.bounds[at][0]).toBe(sweeps);
      expect(Math.abs(bound / reference.bounds[at][1] - 1)).toBeLessThan(1e-4);
    }
  });

  it('its bound lies between the log-likelihood at its means and that of an empty fit', async () => {
    const fitted = await on(createReferenceEngine(), (engine) => fitHierarchical(engine, edges, options()));
    let likelihood = 0;
    for (let u = 0; u < 400; u++) {
      const mine = new Set(edges.users.values.subarray(edges.users.offsets[u], edges.users.offsets[u + 1]));
      for (let i = 0; i < 250; i++) {
        let rate = 0;
        for (let k = 0; k < K; k++) rate += mean(fitted.users, u * K + k) * mean(fitted.items, i * K + k);
        likelihood += (mine.has(i) ? Math.log(rate) : 0) - rate;
      }
    }
    const bound = fitted.bounds.at(-1)![1];
    expect(bound).toBeLessThan(likelihood);
    expect(bound).toBeGreaterThan(1.6 * likelihood);
  });

  it('has the shapes and rates of the last updates', async () => {
    const { users } = await on(createReferenceEngine(), (engine) =>
      fitHierarchical(engine, edges, options()),
    );
    for (const u of [0, 7, 399]) {
      let sum = 0;
      for (let k = 0; k < K; k++) sum += mean(users, u * K + k);
      // Every edge counts 1, spread over the features.
      const shapes = users.shape.subarray(u * K, (u + 1) * K).reduce((a, b) => a + b, 0);
      const degree = edges.users.offsets[u + 1] - edges.users.offsets[u];
      expect(shapes).toBeCloseTo(degree + K * PRIOR.shape, 4);
      expect(users.rateRate[u]).toBeCloseTo(PRIOR.rateShape / PRIOR.rateMean + sum, 5);
    }
    expect(users.rateShape).toBeCloseTo(PRIOR.rateShape + K * PRIOR.shape, 12);
  });

  it('is the same on any number of threads', async () => {
    const both = await Promise.all(
      [1, 3].map(async (threads) =>
        on(await createCpuEngine({ threads }), (engine) =>
          fitHierarchical(engine, edges, { ...options(), iterations: 15 }),
        ),
      ),
    );
    expect(both[0].items).toEqual(both[1].items);
    expect(both[0].bounds).toEqual(both[1].bounds);
  });

  it('folds one user in as in a batch, over the items that could have been met', async () => {
    const { items } = await on(createReferenceEngine(), (engine) =>
      fitHierarchical(engine, edges, options()),
    );
    const means = items.shape.map((s, at) => s / items.rate[at]);
    const shown = Uint8Array.from({ length: 250 }, (_, i) => (i % 3 ? 1 : 0));
    const history = collectLists(3, (row, add) => {
      for (let e = edges.users.offsets[row]; e < edges.users.offsets[row + 1]; e++) {
        if (shown[edges.users.values[e]]) add(edges.users.values[e]);
      }
    });
    const fold = { shown, features: K, prior: PRIOR, steps: 12 };
    const rows = await on(await createCpuEngine({ threads: 1 }), (engine) =>
      foldInHierarchical(engine, means, history, fold),
    );
    const mass = new Float64Array(K);
    for (let i = 0; i < 250; i++) for (let k = 0; k < K; k++) mass[k] += shown[i] * means[i * K + k];
    for (let row = 0; row < 3; row++) {
      const own = history.values.subarray(history.offsets[row], history.offsets[row + 1]);
      const { shape, rate } = foldHierarchicalVertex(means, own, K, mass, { ...PRIOR, steps: 12 });
      for (let k = 0; k < K; k++) {
        expect(Math.abs(rows[row * K + k] / (shape[k] / rate[k]) - 1)).toBeLessThan(1e-4);
      }
      // Every item counts 1, in addition to the prior.
      expect(shape.reduce((a, b) => a + b, 0)).toBeCloseTo(own.length + K * PRIOR.shape, 9);
    }
  });
});
