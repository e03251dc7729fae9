// Properties of the reference: the bound never falls, and one case has a closed form.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createReferenceEngine } from '../../src/engine/reference/reference-engine.js';
import { evidenceBound, logCountFactorials } from '../../src/fit/ascent/bound.js';
import { logPrior, maximizeHyper } from '../../src/fit/ascent/hyper.js';
import { HYPER_NAMES } from '../../src/options/shared.js';
import { placed, randomProblem } from './random-problem.js';

const shapes = fc.record({
  users: fc.integer({ min: 1, max: 15 }),
  items: fc.integer({ min: 1, max: 15 }),
  edges: fc.integer({ min: 1, max: 80 }),
  features: fc.integer({ min: 1, max: 5 }),
  multigraph: fc.boolean(),
  dense: fc.boolean(),
});

describe('the bound', () => {
  test('never falls over a half-step', async () => {
    const engine = createReferenceEngine();
    await fc.assert(
      fc.asyncProperty(shapes, fc.integer({ min: 0, max: 1e6 }), async (shape, seed) => {
        const problem = randomProblem(shape, seed);
        const { graph, hyper } = problem;
        const { tables, index } = await placed(engine, problem);
        const bound = async () => {
          const edges = await engine.edgeTerm(tables.users, index.users, tables.items);
          return evidenceBound(engine, tables, hyper, edges, logCountFactorials(graph.users.counts));
        };
        let before = -Infinity;
        for (let t = 0; t < 25; t++) {
          for (const [own, other] of [['users', 'items'] as const, ['items', 'users'] as const]) {
            await engine.update(tables[own], index[own], tables[other], {
              hyper: hyper[own],
              activity: 'geometric',
            });
            // Before its first update the items have no unseen mass, so the bound is not defined yet.
            if (t === 0 && own === 'users') continue;
            const after = await bound();
            expect(after).toBeGreaterThanOrEqual(before - 1e-12 * Math.abs(after));
            before = after;
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test('never falls, with the priors of hyperparameters, while these are learned', async () => {
    const engine = createReferenceEngine();
    const learnable = fc.subarray([...HYPER_NAMES], { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(
        shapes,
        learnable,
        learnable,
        fc.integer({ min: 0, max: 1e6 }),
        async (shape, ofUsers, ofItems, seed) => {
          const problem = randomProblem({ ...shape, dense: false }, seed);
          const { graph } = problem;
          let { hyper } = problem as { hyper: typeof problem.hyper };
          const { tables, index } = await placed(engine, problem);
          const bound = async () => {
            const edges = await engine.edgeTerm(tables.users, index.users, tables.items);
            const value = await evidenceBound(
              engine,
              tables,
              hyper,
              edges,
              logCountFactorials(graph.users.counts),
            );
            return value + logPrior(hyper.users) + logPrior(hyper.items);
          };
          for (let t = 0; t < 10; t++) {
            await engine.update(tables.users, index.users, tables.items, {
              hyper: hyper.users,
              activity: 'geometric',
            });
            await engine.update(tables.items, index.items, tables.users, {
              hyper: hyper.items,
              activity: 'geometric',
            });
            const before = await bound();
            hyper = await maximizeHyper(
              engine,
              tables,
              hyper,
              { users: ofUsers, items: ofItems },
              { users: 'geometric', items: 'geometric' },
            );
            const after = await bound();
            expect(after).toBeGreaterThanOrEqual(before - 1e-9 * Math.abs(before));
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});

test('one feature with items fixed is the conjugate Gamma posterior', async () => {
  // A multigraph of one feature with θ fixed at 1: counts g_ij ~ Poisson(γ_i ω_j β_j), so γ_i is exactly Gamma(Σ_j g_ij − σ, τ
  // + M), without any approximation.
  const engine = createReferenceEngine();
  const { graph, start } = randomProblem(
    { users: 12, items: 9, edges: 60, features: 1, multigraph: true },
    9,
  );
  const pinned = 1e12;
  const users = await engine.createTable(
    1,
    {
      ...start.users,
      featureShape: new Float64Array(12).fill(pinned),
      featureRate: new Float64Array(12).fill(pinned),
    },
    'geometric',
  );
  const items = await engine.createTable(1, start.items, 'geometric');
  const index = await engine.createIndex(graph.users);
  const hyper = { sigma: 0.3, tau: 1.7, shape: pinned, rate: pinned, size: 0 };
  for (let t = 0; t < 3; t++) await engine.update(users, index, items, { hyper, activity: 'geometric' });
  const { weightShape, weightRate } = await engine.read(users);
  const mass = (await engine.totals(items)).mass[0];
  for (let i = 0; i < 12; i++) {
    let total = 0;
    for (let e = graph.users.offsets[i]; e < graph.users.offsets[i + 1]; e++) total += graph.users.counts![e];
    expect(weightShape[i]).toBeCloseTo(total - 0.3, 9);
    expect(weightRate[i] / (1.7 + mass)).toBeCloseTo(1, 9);
  }
});
