import { describe, expect, it } from 'vitest';
import { degrees } from '../../src/graph/graph.js';
import { NAMED_PROCESSES } from '../../src/process/examples.js';
import { type Intensity, sampleGraphex } from '../../src/process/graphex.js';
import { expectMean, expectSameMoments } from './statistics.js';

const unit: Intensity = { mass: 2, sample: (random) => random.uniform() };
const line: Intensity = { inverseTail: (mass) => mass, depth: 60 };
const sizes = { users: 5, items: 7 };

describe('general graphex processes', () => {
  it('have s·α·∬W edges in expectation, and Poisson many points', async () => {
    const edges: number[] = [];
    const points: number[] = [];
    for (let seed = 1; seed <= 2000; seed++) {
      const run = await sampleGraphex({
        users: unit,
        items: line,
        sizes,
        probability: (x, y) => x * Math.exp(-y),
        seed,
      });
      edges.push(run.graph.edges);
      points.push(run.items.positions.length);
    }
    expectMean(edges, 5 * 7 * 2 * 0.5, 'edges');
    expectMean(points, 7 * 60, 'points');
  });

  it('leaps give the distribution of the pair-by-pair draw', async () => {
    const probability = (x: number, y: number) => 1 / (1 + y * (1 + x)) ** 1.5;
    const counts = { true: [] as number[][], false: [] as number[][] };
    for (const decreasing of [true, false]) {
      for (let seed = 1; seed <= 1500; seed++) {
        const run = await sampleGraphex({
          users: unit,
          items: line,
          sizes,
          probability,
          decreasing,
          seed: decreasing ? seed : seed + 10_000,
        });
        const far = run.items.vertices.filter((v, j) => v >= 0 && run.items.positions[j] > 10).length;
        counts[`${decreasing}`].push([run.graph.edges, run.graph.users.count, run.graph.items.count, far]);
      }
    }
    ['edges', 'users', 'items', 'items far out'].forEach((name, at) => {
      expectSameMoments(
        counts.true.map((c) => c[at]),
        counts.false.map((c) => c[at]),
        name,
      );
    });
  });

  it('keep the points behind the graph: labels within the size, isolated points without a vertex', async () => {
    const run = await sampleGraphex({
      users: unit,
      items: line,
      sizes,
      probability: (x, y) => x * Math.exp(-y),
    });
    for (const side of ['users', 'items'] as const) {
      const { labels, vertices, positions } = run[side];
      expect(labels.length).toBe(positions.length);
      expect(labels.every((label) => label > 0 && label < sizes[side])).toBe(true);
      const used = [...vertices].filter((v) => v >= 0);
      expect(used).toEqual(Array.from({ length: run.graph[side].count }, (_, v) => v));
      expect(degrees(run.graph[side]).every((d) => d > 0)).toBe(true);
    }
    expect(run.items.vertices.some((v) => v < 0)).toBe(true);
    // Points of an infinite measure come in order of activity.
    expect([...run.items.positions]).toEqual([...run.items.positions].sort((a, b) => a - b));
  });

  it('an impossible edge never appears and a certain one always does', async () => {
    const probability = (x: number, y: number) => (x < 0.5 && y < 3 ? 1 : 0);
    const run = await sampleGraphex({ users: unit, items: line, sizes, probability });
    const near =
      run.users.positions.filter((x) => x < 0.5).length * run.items.positions.filter((y) => y < 3).length;
    expect(run.graph.edges).toBe(near);
    const leaps = await sampleGraphex({ users: unit, items: line, sizes, probability, decreasing: true });
    expect(leaps.graph.edges).toBe(near);
  });

  it('refuse invalid processes', async () => {
    const good = { users: unit, items: line, sizes, probability: () => 0.5 };
    await expect(sampleGraphex({ ...good, probability: () => 1.5 })).rejects.toThrow(/W\(.*\) is 1.5/);
    await expect(sampleGraphex({ ...good, probability: () => Number.NaN })).rejects.toThrow(/is NaN/);
    await expect(sampleGraphex({ ...good, sizes: { users: 0, items: 1 } })).rejects.toThrow(
      /sizes.users 0: expected/,
    );
    const infinite = { mass: Number.POSITIVE_INFINITY, sample: () => 0 };
    await expect(sampleGraphex({ ...good, users: infinite })).rejects.toThrow(/inverse tail/);
    await expect(sampleGraphex({ ...good, sizes: { users: 1, items: 1e9 } })).rejects.toThrow(/points/);
    await expect(sampleGraphex({ ...good, items: unit, decreasing: true })).rejects.toThrow(/decreasing/);
    const stop = AbortSignal.abort();
    await expect(sampleGraphex({ ...good, signal: stop })).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('named processes', () => {
  // ∬W in closed form or by hand: the expected edges per unit of both sizes.
  const masses = [
    ['dense', (Math.log(3) + Math.log(5) - Math.log(7)) / 8],
    ['sparse-items', Math.LN2],
  ] as const;

  it.each(masses)('%s has the expected number of edges', async (name, mass) => {
    const { process } = NAMED_PROCESSES[name];
    const small = { users: process.sizes.users / 10, items: process.sizes.items / 10 };
    const edges: number[] = [];
    for (let seed = 1; seed <= 40; seed++)
      edges.push((await sampleGraphex({ ...process, sizes: small, seed })).graph.edges);
    expectMean(edges, small.users * small.items * mass);
  });

  it('density is constant in the dense one and falls with the size in the sparse ones', async () => {
    const density = async (name: keyof typeof NAMED_PROCESSES, factor: number) => {
      const { process } = NAMED_PROCESSES[name];
      const scaled = { users: process.sizes.users * factor, items: process.sizes.items * factor };
      const { graph } = await sampleGraphex({ ...process, sizes: scaled });
      return graph.edges / (graph.users.count * graph.items.count);
    };
    const ratio = async (name: keyof typeof NAMED_PROCESSES) =>
      (await density(name, 0.1)) / (await density(name, 0.4));
    expect(Math.abs((await ratio('dense')) - 1)).toBeLessThan(0.3);
    expect(await ratio('sparse-items')).toBeGreaterThan(1.5);
    expect(await ratio('power-law')).toBeGreaterThan(1.5);
  });
});
