import { describe, expect, it } from 'vitest';
import { type BipartiteGraph, degrees } from '../../src/graph/graph.js';
import { randomStream } from '../../src/math/random.js';
import { simulate } from '../../src/process/poisson-model.js';
import { pqSample } from '../../src/sample/pq.js';
import { tailIndexHalf } from '../../src/sparsity/tail-index.js';

// The theorem on which splits and predictions rest: (p,q)-sampling a graph of sizes (s, α) gives a graph of sizes (ps, qα), in
// distribution. Many draws of both kinds are compared statistic by statistic: their means to four standard errors, and their
// distributions by Kolmogorov and Smirnov at the level 1e-4.

const DRAWS = 120;
const [p, q] = [0.5, 0.4];
const prior = { tau: 1, shape: 0.3, rate: 0.3 };

const STATISTICS: Record<string, (graph: BipartiteGraph) => number> = {
  users: (g) => g.users.count,
  items: (g) => g.items.count,
  edges: (g) => g.edges,
  'users of degree 1': (g) => count(degrees(g.users), (d) => d === 1),
  'users of degree 2 to 4': (g) => count(degrees(g.users), (d) => d >= 2 && d <= 4),
  'users of degree 5 and more': (g) => count(degrees(g.users), (d) => d >= 5),
  'items of degree 1': (g) => count(degrees(g.items), (d) => d === 1),
  'items of degree 2 to 4': (g) => count(degrees(g.items), (d) => d >= 2 && d <= 4),
  'items of degree 5 and more': (g) => count(degrees(g.items), (d) => d >= 5),
  'largest user': (g) => degrees(g.users).reduce((a, b) => Math.max(a, b), 0),
  'σ̂ of the items': (g) => tailIndexHalf(degrees(g.items)),
};

function count(list: Uint32Array, test: (degree: number) => boolean): number {
  return list.reduce((n, d) => n + (test(d) ? 1 : 0), 0);
}

describe('(p,q)-sampling of a simulated graph is a simulated graph of the sampled sizes', () => {
  for (const [name, sigmaUsers, sigmaItems] of [
    ['dense users, sparse items', -0.4, 0.3],
    ['sparse on both sides', 0.2, 0.2],
  ] as const) {
    it(name, { timeout: 120_000 }, async () => {
      const sampled: BipartiteGraph[] = [];
      const fresh: BipartiteGraph[] = [];
      for (let draw = 0; draw < DRAWS; draw++) {
        const draws = async (size: number, alpha: number, seed: number) =>
          (
            await simulate({
              users: { ...prior, sigma: sigmaUsers, size },
              items: { ...prior, sigma: sigmaItems, size: alpha },
              features: 3,
              seed,
              threads: 1,
            })
          ).graph;
        const whole = await draws(24, 30, 1000 + draw);
        sampled.push(pqSample(whole, { users: p, items: q }, randomStream(5, draw)));
        fresh.push(await draws(24 * p, 30 * q, 50_000 + draw));
      }
      for (const [what, statistic] of Object.entries(STATISTICS)) {
        const a = sampled.map(statistic);
        const b = fresh.map(statistic);
        const gap = mean(a) - mean(b);
        const error = Math.sqrt((variance(a) + variance(b)) / DRAWS);
        expect(Math.abs(gap), `mean of ${what}: ${mean(a)} and ${mean(b)}`).toBeLessThan(4 * error + 1e-9);
        expect(largestGap(a, b), `distribution of ${what}`).toBeLessThan(ksLimit(DRAWS));
      }
    });
  }

  it('would notice sizes that are off by a third', async () => {
    const at = async (size: number, seed: number) =>
      (
        await simulate({
          users: { ...prior, sigma: 0.2, size },
          items: { ...prior, sigma: 0.2, size: 12 },
          features: 3,
          seed,
          threads: 1,
        })
      ).graph.users.count;
    const a: number[] = [];
    const b: number[] = [];
    for (let draw = 0; draw < DRAWS; draw++) {
      a.push(await at(12, 900 + draw));
      b.push(await at(16, 70_000 + draw));
    }
    expect(largestGap(a, b)).toBeGreaterThan(ksLimit(DRAWS));
  });
});

function mean(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0) / values.length;
}

function variance(values: readonly number[]): number {
  const m = mean(values);
  return values.reduce((sum, v) => sum + (v - m) ** 2, 0) / (values.length - 1);
}

/** Kolmogorov and Smirnov's distance of two samples. */
function largestGap(a: readonly number[], b: readonly number[]): number {
  const share = (values: readonly number[], x: number) => values.filter((v) => v <= x).length / values.length;
  return Math.max(...[...a, ...b].map((x) => Math.abs(share(a, x) - share(b, x))));
}

/** Exceeded by chance once in 10,000 times: sqrt(−½ log(½·1e-4)) · sqrt(2/n). */
function ksLimit(n: number): number {
  return Math.sqrt(-0.5 * Math.log(0.5e-4)) * Math.sqrt(2 / n);
}
