import { describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/graph/build.js';
import type { ModelParameters } from '../../src/process/parameters.js';
import { simulate } from '../../src/process/poisson-model.js';
import { estimateSizes, sizeFromBound } from '../../src/process/sizes.js';

const side = (sigma: number, size: number) => ({ sigma, tau: 1, shape: 0.1, rate: 0.1, size });
/** `spread`: relative standard deviation of the estimate over graphs, from the table of docs/model.md. */
const SETTINGS: readonly (ModelParameters & { readonly name: string; readonly spread: number })[] = [
  { name: 'both sparse', spread: 0.05, users: side(0.2, 120), items: side(0.2, 120), features: 30 },
  { name: 'both very sparse', spread: 0.14, users: side(0.5, 60), items: side(0.4, 80), features: 10 },
  {
    name: 'dense users, sparse items',
    spread: 0.06,
    users: side(-0.3, 200),
    items: side(0.3, 100),
    features: 10,
  },
  { name: 'both dense', spread: 0.06, users: side(-0.3, 200), items: side(-0.3, 200), features: 10 },
  { name: 'unequal sizes', spread: 0.08, users: side(0.1, 300), items: side(0.3, 40), features: 20 },
];

const prior = ({ users, items, features }: (typeof SETTINGS)[number]) => ({ users, items, features });

describe('sizes of simulated graphs', () => {
  it.each(SETTINGS)('the simulation estimate with the true sigma recovers them: $name', async (setting) => {
    const { graph } = await simulate({ ...prior(setting), seed: 11 });
    const sizes = await estimateSizes(graph, { ...prior(setting), seed: 100 });
    expect(Math.abs(sizes.users / setting.users.size - 1)).toBeLessThan(4 * setting.spread);
    expect(Math.abs(sizes.items / setting.items.size - 1)).toBeLessThan(4 * setting.spread);
  });

  it.each(SETTINGS)('the closed form recovers them from the true masses: $name', async (setting) => {
    const { graph, truth, missingMass } = await simulate({ ...prior(setting), seed: 12, truth: true });
    for (const [own, other] of [
      ['users', 'items'],
      ['items', 'users'],
    ] as const) {
      const mass = new Float64Array(setting.features).fill(missingMass[other] / setting.features);
      truth![other].weights.forEach((w, j) => {
        for (let k = 0; k < setting.features; k++)
          mass[k] += w * truth![other].features[j * setting.features + k];
      });
      const estimate = sizeFromBound(setting[own], graph[own].count, mass);
      // U is Poisson given the masses.
      const error = setting[own].size / Math.sqrt(graph[own].count);
      expect(Math.abs(estimate - setting[own].size) / error).toBeLessThan(4.5);
    }
  });

  it('the seed of the simulations has an effect, and equal seeds give equal sizes', async () => {
    const setting = SETTINGS[3];
    const { graph } = await simulate({ ...prior(setting), seed: 13 });
    const once = await estimateSizes(graph, { ...prior(setting), seed: 1 });
    expect(await estimateSizes(graph, { ...prior(setting), seed: 1 })).toEqual(once);
    expect(await estimateSizes(graph, { ...prior(setting), seed: 2 })).not.toEqual(once);
  });

  // With such tail indexes 300,000 edges have 280,000 atoms, and each has as many features.
  const heavy = { users: side(0.5, 1), items: side(0.95, 1), features: 30 };
  const tiny = buildGraph({ users: [0, 1, 2], items: [0, 0, 1], userCount: 3, itemCount: 2 });

  it('a tiny graph with heavy tails takes seconds, and an abort takes effect immediately', async () => {
    const began = performance.now();
    const sizes = await estimateSizes(tiny, { ...heavy, threads: 1 });
    expect(sizes.users).toBeGreaterThan(0);
    expect(performance.now() - began).toBeLessThan(60_000);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    const stopping = performance.now();
    await expect(estimateSizes(tiny, { ...heavy, threads: 1, signal: stop.signal })).rejects.toThrow(
      /half-written/,
    );
    expect(performance.now() - stopping).toBeLessThan(5000);
  });

  it('a tail index at which simulations do not determine the size is refused with its side', async () => {
    const rows = Array.from({ length: 40 }, (_, row) => row);
    const uneven = buildGraph({
      users: rows.map((row) => row % 7),
      items: rows,
      userCount: 7,
      itemCount: 40,
    });
    const extreme = { users: side(0.999, 1), items: side(0.999, 1), features: 30 };
    await expect(estimateSizes(uneven, extreme)).rejects.toThrow(
      /the size of the users cannot be estimated by simulation at a tail index of 0.999; give the size/,
    );
  });

  it('a graph without edges has no sizes', async () => {
    const graph = buildGraph({ users: [], items: [], userCount: 0, itemCount: 0 });
    await expect(estimateSizes(graph, prior(SETTINGS[0]))).rejects.toThrow(/without edges/);
  });
});
