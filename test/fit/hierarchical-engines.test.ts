// Hierarchical Poisson factorization on every engine, to the tolerance that each declares, and the findings of its
// authors.

import { describe, expect, it, test } from 'vitest';
import type { CountingEngine } from '../../src/engine/engine.js';
import { createReferenceEngine } from '../../src/engine/reference/reference-engine.js';
import { hpf } from '../../src/evaluate/baselines/hpf.js';
import { fitHierarchical, foldInHierarchical } from '../../src/fit/hierarchical.js';
import { collectLists, transposeLists } from '../../src/math/csr.js';
import { gamma } from '../../src/math/distributions.js';
import { randomStream } from '../../src/math/random.js';
import { COUNTING_ENGINES } from '../engine/engines.js';
import { findTestGpu, skipReason } from '../engine/swiftshader.js';
import { communityLists, dataOf, scoresOf, shownOnly } from '../evaluate/baseline-data.js';
import { correlation } from './correlation.js';

const gpu = await findTestGpu();
const PRIOR = { shape: 0.3, rateShape: 0.3, rateMean: 1 };
/** Features of the drawn data, and of the fit in the tests of the hierarchy. */
const K = 4;
const MANY = 12;

/**
 * Drawn from the model with about `edges` edges: rates of the rows have a long tail, so activities have one too. A
 * fifth of the edges are hidden.
 */
function drawn(users: number, items: number, edges: number, seed: number) {
  const random = randomStream(seed, 98);
  const side = (count: number) =>
    Array.from({ length: count }, () => {
      const rate = 0.05 + gamma(random, 0.7);
      return { rate, features: Array.from({ length: K }, () => gamma(random, 0.3) / rate) };
    });
  const [theta, beta] = [side(users), side(items)];
  const rateOf = (u: number, i: number) =>
    theta[u].features.reduce((sum, value, k) => sum + value * beta[i].features[k], 0);
  const expected = (scale: number) => {
    let sum = 0;
    for (let u = 0; u < users; u++) {
      for (let i = 0; i < items; i++) sum += 1 - Math.exp(-scale * rateOf(u, i));
    }
    return sum;
  };
  let scale = 1;
  while (expected(scale) > edges) scale *= 0.8;
  const hidden: [number, number][] = [];
  const lists = collectLists(users, (u, add) => {
    for (let i = 0; i < items; i++) {
      if (random.uniform() >= 1 - Math.exp(-scale * rateOf(u, i))) continue;
      if (random.uniform() < 0.2) hidden.push([u, i]);
      else add(i);
    }
  });
  return { edges: { users: lists, items: transposeLists(lists, items) }, hidden, rates: theta };
}

const options = (features: number, iterations: number, prior = PRIOR) => ({
  features,
  prior: { users: prior, items: prior },
  iterations,
  tolerance: 1e-9,
  seed: 1,
});

async function on<T>(engine: CountingEngine, task: (engine: CountingEngine) => Promise<T>): Promise<T> {
  try {
    return await task(engine);
  } finally {
    await engine.close();
  }
}

/** Features of both sides, bounds, and new users, of whom every third item is unknown. */
async function outcome(engine: CountingEngine) {
  const { edges } = drawn(60, 45, 500, 3);
  const { users, items, bounds } = await fitHierarchical(engine, edges, options(K, 12));
  const means = items.shape.map((shape, at) => shape / items.rate[at]);
  const shown = Uint8Array.from({ length: 45 }, (_, i) => (i % 3 ? 1 : 0));
  const history = collectLists(60, (row, add) => {
    for (let e = edges.users.offsets[row]; e < edges.users.offsets[row + 1]; e++) {
      if (shown[edges.users.values[e]]) add(edges.users.values[e]);
    }
  });
  const folded = await foldInHierarchical(engine, means, history, {
    ...{ shown, features: K, prior: PRIOR, steps: 12 },
  });
  const user = users.shape.map((shape, at) => shape / users.rate[at]);
  return { user, means, rates: users.rateRate, folded, bounds: bounds.map(([, bound]) => bound) };
}

/** The largest difference, relative to the value or to the mean if that is larger. */
function worst(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  const values = Array.from(expected);
  const scale = values.reduce((sum, x) => sum + Math.abs(x), 0) / values.length;
  return values.reduce(
    (most, x, at) => Math.max(most, Math.abs(actual[at] - x) / Math.max(Math.abs(x), scale)),
    0,
  );
}

describe('hierarchical Poisson factorization on every engine', async () => {
  const expected = await on(createReferenceEngine(), outcome);

  it.each(COUNTING_ENGINES)('is that of the reference on $name', async ({ create }) => {
    await on(await create(), async (engine) => {
      const actual = await outcome(engine);
      for (const [name, values] of Object.entries(expected)) {
        expect(actual[name as keyof typeof expected].length).toBe(values.length);
        const difference = worst(actual[name as keyof typeof expected], values);
        expect(difference, name).toBeLessThanOrEqual(Math.max(engine.tolerance, 1e-12));
      }
    });
  });

  test.skipIf(!gpu.available)('the baseline lists on the GPU what it lists on the CPU', async () => {
    const users = communityLists(80, 60, 3, 21);
    const data = dataOf(users, 60, 21);
    const history = shownOnly(data, users);
    const lists = async (engine: 'cpu' | 'gpu') => {
      const fitted = await hpf.fit(data, { features: 8, shape: 0.3 }, { engine, seed: 2 });
      const scorer = await fitted.scorer(history);
      return Array.from({ length: 80 }, (_, row) => {
        const scores = scoresOf(scorer, row, data.candidates);
        return { scores, list: [...scores.keys()].toSorted((a, b) => scores[b] - scores[a]).slice(0, 5) };
      });
    };
    const [cpu, onGpu] = [await lists('cpu'), await lists('gpu')];
    for (const [row, { scores, list }] of cpu.entries()) {
      expect(worst(onGpu[row].scores, scores)).toBeLessThan(2e-3);
      // Places differ where two scores do not.
      for (const [place, item] of onGpu[row].list.entries()) {
        expect(Math.abs(scores[item] / scores[list[place]] - 1)).toBeLessThan(4e-3);
      }
    }
  });

  test.runIf(!gpu.available)(skipReason(gpu), () => {});
});

describe.each([9, 10])('the findings of its authors, on set %d drawn with long tails', async (seed) => {
  const [userCount, itemCount] = [500, 300];
  const { edges, hidden, rates } = drawn(userCount, itemCount, 2500, seed);
  const fitted = (prior: typeof PRIOR) =>
    on(createReferenceEngine(), (engine) => fitHierarchical(engine, edges, options(MANY, 40, prior)));
  const hierarchical = await fitted(PRIOR);

  /** The mean logarithm of the share of all rates that belongs to a hidden edge. */
  const predicts = ({ users, items }: typeof hierarchical) => {
    const mean = (side: typeof users, at: number) => side.shape[at] / side.rate[at];
    const rateOf = (u: number, i: number) => {
      let rate = 0;
      for (let k = 0; k < MANY; k++) rate += mean(users, u * MANY + k) * mean(items, i * MANY + k);
      return rate;
    };
    let total = 0;
    for (let u = 0; u < userCount; u++) for (let i = 0; i < itemCount; i++) total += rateOf(u, i);
    return hidden.reduce((sum, [u, i]) => sum + Math.log(rateOf(u, i) / total), 0) / hidden.length;
  };

  it('learns the rate of every row', () => {
    const { offsets } = edges.users;
    const active = rates.map((_, u) => u).filter((u) => offsets[u + 1] > offsets[u]);
    const learned = active.map((u) => -Math.log(hierarchical.users.rateRate[u]));
    const truth = active.map((u) => Math.log(rates[u].rate));
    expect(correlation(learned, truth)).toBeGreaterThan(0.5);
  });

  it('predicts hidden edges better than without the hierarchy, by the bound as well', async () => {
    // A prior that fixes the rates at their mean.
    const flat = await fitted({ ...PRIOR, rateShape: 1e7 });
    expect(predicts(hierarchical)).toBeGreaterThan(predicts(flat) + 0.03);
    expect(hierarchical.bounds.at(-1)![1]).toBeGreaterThan(flat.bounds.at(-1)![1]);
  });
});
