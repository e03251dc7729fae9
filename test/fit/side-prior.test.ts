import { describe, expect, test } from 'vitest';
import { fit } from '../../src/fit/fit.js';
import type { AscentOptions } from '../../src/fit/options.js';
import { describeSides, matchTau, tailPrior } from '../../src/fit/sides/side-prior.js';
import { unfinishedFit } from '../../src/fit/unfinished.js';
import { buildGraph } from '../../src/graph/build.js';
import { degrees } from '../../src/graph/graph.js';
import { VertexIds } from '../../src/graph/ids.js';
import { expectedLaplace } from '../../src/math/quadrature.js';
import { randomStream } from '../../src/math/random.js';
import { simulate } from '../../src/process/poisson-model.js';
import { sidePriorWords } from '../../src/report/words/side-prior.js';
import { countDegrees } from '../../src/sparsity/degree-counts.js';
import { USERS_AND_ITEMS } from '../../src/text/sides.js';

const side = (sigma: number, size: number, tau = 1) => ({ sigma, tau, shape: 0.5, rate: 0.5, size });
const shapes = { users: { shape: 0.5, rate: 0.5 }, items: { shape: 0.5, rate: 0.5 } };
/** A population of 1,000 users on average, some of them unseen, and items without end. */
const mixed = (seed: number) =>
  simulate({ users: side(-0.6, 600), items: side(0.4, 15), features: 4, seed }).then(({ graph, atoms }) => ({
    graph,
    population: atoms.users,
  }));

describe('the prior that the degrees of a side support', () => {
  test('negative tail indexes are found again, and a positive one', async () => {
    for (const seed of [1, 2]) {
      const both = await simulate({
        users: side(-0.5, 1500),
        items: side(-0.8, 6000, 20),
        features: 5,
        seed,
      });
      for (const [name, sigma] of [
        ['users', -0.5],
        ['items', -0.8],
      ] as const) {
        const prior = tailPrior(countDegrees(degrees(both.graph[name])));
        expect(prior.kind).toBe('dense');
        expect(Math.abs(prior.sigma - sigma)).toBeLessThan(0.12);
        expect(prior.standardError).toBeLessThan(0.1);
      }
      const items = tailPrior(countDegrees(degrees((await mixed(seed)).graph.items)));
      expect(items.kind).toBe('sparse');
      expect(Math.abs(items.sigma - 0.4)).toBeLessThan(0.1);
    }
  });

  test('vertices with many edges each are dense, a few vertices with one edge are not', () => {
    const many = Uint32Array.from({ length: 25 }, (_, v) => 80 + ((7 * v) % 40));
    expect(tailPrior(countDegrees(many)).kind).toBe('dense');
    expect(tailPrior(countDegrees([1, 1, 1, 2, 3]))).toMatchObject({ kind: 'sparse' });
  });
});

describe('the matched τ of a dense side', () => {
  const mass = Float64Array.from([30, 5, 80, 1]);
  const share = (tau: number, sigma: number) => {
    const prior = { ...side(sigma, 1), tau };
    return (
      expectedLaplace(
        prior,
        mass.map((m) => m / 2),
      ) / expectedLaplace(prior, mass)
    );
  };

  test('makes model and data lose the same share of vertices by thinning', () => {
    for (const [sigma, half] of [
      [-0.3, 0.1],
      [-1, 0.05],
      [-2.5, 0.3],
    ] as const) {
      const tau = matchTau(side(sigma, 1), half, mass);
      expect(share(tau, sigma)).toBeCloseTo(2 ** -half, 4);
    }
  });

  test('stays in its range if all vertices were seen, or hardly any', () => {
    expect(matchTau(side(-1, 1), 0, mass)).toBeCloseTo(Math.exp(-7), 10);
    expect(matchTau(side(-1, 1), 0.9999, mass)).toBeCloseTo(Math.exp(9), 6);
  });
});

describe('a fit with a prior for each side', () => {
  test('finds the size of a population of which a part was seen', async () => {
    const errors: number[] = [];
    let held = 0;
    for (const seed of [1, 2, 3, 4]) {
      const { graph, population } = await mixed(seed);
      const { model } = await fit(graph, { features: 4, engine: 'cpu', ...shapes });
      if (model.type !== 'posterior') throw new Error('no posterior');
      const sides = describeSides(model);
      expect(sides.items).toMatchObject({ kind: 'sparse', unseen: null, tau: 1 });
      expect(sides.users.kind).toBe('dense');
      const unseen = sides.users.unseen!;
      expect(unseen.low).toBeLessThan(unseen.high);
      errors.push((graph.users.count + unseen.mean) / population - 1);
      const missing = population - graph.users.count;
      if (missing >= unseen.low && missing <= unseen.high) held++;
    }
    const mean = errors.reduce((a, b) => a + b, 0) / errors.length;
    expect(Math.abs(mean)).toBeLessThan(0.04);
    expect(held).toBeGreaterThanOrEqual(3);
  });

  test('is the sparse model where both sides are sparse', async () => {
    const { graph } = await simulate({ users: side(0.4, 25), items: side(0.4, 25), features: 3, seed: 4 });
    const options = { features: 3, engine: 'cpu', iterations: 60 } as const;
    const auto = await fit(graph, options);
    const sparse = await fit(graph, { ...options, model: 'sparse' });
    expect(auto.model).toMatchObject({ kind: 'auto' });
    expect(auto.model).toMatchObject({
      bound: (sparse.model as { bound?: number }).bound,
      users: { hyper: (sparse.model as { users: { hyper?: unknown } }).users.hyper },
    });
  });

  test('keeps given values, and does not match a τ that is learned', async () => {
    const { graph } = await mixed(2);
    const options = { features: 3, engine: 'cpu', iterations: 60 } as const;
    const tau = async (users: object, learn: AscentOptions['learn'] = []) => {
      const { model } = await fit(graph, { ...options, users, learn });
      return (model as { users: { hyper: { tau: number } } }).users.hyper.tau;
    };
    expect(await tau({})).not.toBe(1);
    expect(await tau({ tau: 2 })).toBe(2);
    expect(await tau({ size: 500 })).toBe(1);
    expect(await tau({}, ['users.sigma'])).toBe(1);
  });

  test('resumes to the same numbers', async () => {
    const { graph } = await mixed(3);
    const options = { features: 3, engine: 'cpu' } as const;
    const whole = await fit(graph, options);
    const { iterations } = whole.model.provenance;
    const stop = new AbortController();
    const running = fit(graph, {
      ...options,
      signal: stop.signal,
      onProgress: ({ done }) => {
        if (done >= iterations / 2) stop.abort();
      },
    });
    const { checkpoint } = unfinishedFit(await running.catch((error) => error))!;
    const rest = await fit(graph, { ...options, resume: checkpoint });
    expect((rest.model as { bound?: number }).bound).toBe((whole.model as { bound?: number }).bound);
  });

  test('is reported even if the degrees hardly determine the tail index', async () => {
    const { graph } = await mixed(2);
    const { model } = await fit(graph, { features: 3, engine: 'cpu', iterations: 60 });
    if (model.type !== 'posterior') throw new Error('no posterior');
    const degree = Uint32Array.from({ length: 25 }, (_, v) => 80 + ((7 * v) % 40));
    expect(tailPrior(countDegrees(degree)).standardError).toBeGreaterThan(100);
    const { unseen } = describeSides({ ...model, users: { ...model.users, degree } }).users;
    expect([unseen!.mean, unseen!.low, unseen!.high].every(Number.isFinite)).toBe(true);
  });

  test('learned sigma and tau stay bounded if all vertices are alike', async () => {
    const random = randomStream(3, 1);
    const pairs = Array.from({ length: 3600 }, (_, pair) => pair).filter(() => random.uniform() < 0.2);
    const ids = VertexIds.range(60);
    const graph = buildGraph({
      users: pairs.map((pair) => Math.floor(pair / 60)),
      items: pairs.map((pair) => pair % 60),
      ...{ userCount: 60, itemCount: 60, userIds: ids, itemIds: ids, multigraph: false },
    });
    const alike = { shape: 20, rate: 20 };
    const { model } = await fit(graph, {
      ...{ features: 1, engine: 'cpu', iterations: 500, tolerance: 1e-9 },
      ...{ users: alike, items: alike, learn: ['sigma', 'tau'] },
    });
    if (model.type !== 'posterior') throw new Error('no posterior');
    for (const { hyper } of [model.users, model.items]) {
      expect(hyper.sigma).toBeGreaterThan(-10);
      expect(hyper.tau).toBeLessThan(30);
    }
  });
});

test('a prior is described in words', () => {
  const unknown = { standardError: { sigma: null, size: null }, sizeInterval: null };
  const open = {
    ...unknown,
    kind: 'sparse',
    sigma: 0.412,
    tau: 1,
    size: 20,
    tauMatched: false,
    unseen: null,
  } as const;
  const closed = {
    ...unknown,
    tauMatched: true,
    kind: 'dense',
    sigma: -1,
    tau: 3,
    size: 900,
    unseen: { mean: 761, low: 700, high: 830 },
  } as const;
  const seen = { users: 4339, items: 3665 };
  const context = { seen, names: USERS_AND_ITEMS, features: 30 };
  const said = sidePriorWords({ users: closed, items: open }, context);
  expect(said).toEqual([
    'About 5,100 users in all, given today’s items and K = 30 (90 % interval 5,039 to 5,169); 4,339 are seen.',
    'The number of items has no upper limit: 3,665 are seen so far, and rare ones keep appearing (tail index of the fitted prior 0.41).',
  ]);
  // The estimate is as exact as its interval.
  const narrow = { ...closed, unseen: { mean: 5661.2, low: 5650, high: 5674 } };
  expect(sidePriorWords({ users: narrow, items: open }, context)[0]).toMatch(
    /^About 10,010 users in all, .* 9,989 to 10,013\)/,
  );
  const all = { ...closed, unseen: { mean: 0.1, low: 0, high: 1 } };
  expect(sidePriorWords({ users: all, items: open }, context)[0]).toBe(
    'Users are a fixed population, and all 4,339 are seen.',
  );
});

test('a side says whether its tau was matched: a tau of 1 that is given was not, whatever its value', async () => {
  const { graph } = await mixed(3);
  const options = { ...shapes, features: 4, engine: 'cpu', iterations: 100 } as const;
  const free = (await fit(graph, options)).model;
  expect(free.users.tauMatched).toBe(true);
  expect(free.items.tauMatched).toBeUndefined(); // a sparse side has nothing to match
  const given = (await fit(graph, { ...options, users: { ...shapes.users, tau: 1 } })).model;
  expect(given.users).toMatchObject({ hyper: { tau: 1 } });
  expect(given.users.tauMatched).toBeUndefined();
  const sides = describeSides(free);
  expect(sides.users.tauMatched).toBe(true);
  expect(describeSides(given).users.tauMatched).toBe(false);
  // σ of both sides was estimated from the degrees, so it has an error; a given one has none.
  expect(sides.users.standardError.sigma).toBeGreaterThan(0);
  expect(sides.items.standardError.sigma).toBeGreaterThan(0);
  const fixed = (await fit(graph, { ...options, items: { ...shapes.items, sigma: 0.4 } })).model;
  expect(describeSides(fixed).items.standardError.sigma).toBeNull();
});
