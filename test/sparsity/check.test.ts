import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AbortError, InputError } from '../../src/errors.js';
import { buildGraph } from '../../src/graph/build.js';
import { type BipartiteGraph, degrees, transpose } from '../../src/graph/graph.js';
import { readGraph } from '../../src/ingest/read.js';
import { randomStream } from '../../src/math/random.js';
import { simulate } from '../../src/process/poisson-model.js';
import { pqSample } from '../../src/sample/pq.js';
import { checkSparsity, DEFAULT_LEVELS } from '../../src/sparsity/check.js';
import { expectedDensity, sampledDensities } from '../../src/sparsity/curves.js';
import { countDegrees } from '../../src/sparsity/degree-counts.js';
import { graphOf, someGraph } from '../sample/random-graph.js';

const sharedData = join(import.meta.dirname, '../../../shared/data');

describe('density curves', () => {
  it('one pass gives the result of sampling level by level', () => {
    fc.assert(
      fc.property(someGraph, fc.nat(1000), (graph, seed) => {
        const levels = [0.1, 0.35, 0.8, 1];
        const streams = () => [8, 9, 10, 11].map((r) => randomStream(seed, r));
        const all = sampledDensities(graph.users, graph.items, levels, streams());
        const which = seed % 4;
        const found = all[which];
        expect(sampledDensities(graph.users, graph.items, levels, [streams()[which]])).toEqual([found]);
        // The same uniforms, one level at a time, by brute force.
        const random = streams()[which];
        const uniforms = Array.from({ length: graph.users.count }, () => random.uniform());
        levels.forEach((level, l) => {
          const users = uniforms.filter((u) => u <= level).length;
          const items = new Set<number>();
          let edges = 0;
          uniforms.forEach((u, user) => {
            if (u > level) return;
            for (let e = graph.users.offsets[user]; e < graph.users.offsets[user + 1]; e++) {
              items.add(graph.users.neighbors[e]);
              edges++;
            }
          });
          if (users === 0) expect(found[l]).toBeUndefined();
          else expect(found[l]).toBeCloseTo(edges / (users * items.size), 12);
        });
      }),
      { numRuns: 60 },
    );
  });

  it('agrees with pqSample in the mean, and the exact line with both', async () => {
    const { graph } = await simulate({
      users: { sigma: -0.3, tau: 1, shape: 0.5, rate: 0.5, size: 60 },
      items: { sigma: 0.4, tau: 1, shape: 0.5, rate: 0.5, size: 60 },
      features: 3,
      threads: 1,
    });
    const level = 0.25;
    const draws = 200;
    const bySampling = Array.from({ length: draws }, (_, draw) => {
      const sample = pqSample(graph, { users: level, items: 1 }, randomStream(31, draw));
      return sample.edges / (sample.users.count * sample.items.count);
    });
    const byPass = Array.from(
      { length: draws },
      (_, draw) => sampledDensities(graph.users, graph.items, [level], [randomStream(32, draw)])[0]![0]!,
    );
    const exact = expectedDensity(
      countDegrees(degrees(graph.users)),
      countDegrees(degrees(graph.items)),
      level,
    );
    const error = Math.sqrt(variance(byPass) / draws);
    expect(Math.abs(mean(byPass) - mean(bySampling))).toBeLessThan(4 * Math.SQRT2 * error);
    // A ratio of expectations is not the expectation of a ratio: the gap shrinks with the graph, here to a percent.
    expect(Math.abs(mean(byPass) / exact - 1)).toBeLessThan(0.02);
  });

  it('a side sampled to 1 has the density of the graph, exactly and in every replicate', async () => {
    const graph = graphOf(Array.from({ length: 200 }, (_, e) => [e % 31, (e * e) % 17] as const));
    const { curves, density } = await checkSparsity(graph, { replicates: 3 });
    for (const side of ['users', 'items'] as const) {
      const last = curves[side].at(-1)!;
      expect(last.level).toBe(1);
      expect(last.expected).toBeCloseTo(density, 14);
      expect(last.sampled).toHaveLength(3);
      for (const sampled of last.sampled) expect(sampled).toBeCloseTo(density, 14);
    }
  });
});

describe('checkSparsity', () => {
  const graph = graphOf(Array.from({ length: 900 }, (_, e) => [e % 101, (e * 13) % 67] as const));

  it('exchanging the sides exchanges everything but the draws', async () => {
    const a = await checkSparsity(graph, { replicates: 0 });
    const b = await checkSparsity(transpose(graph), { replicates: 0 });
    expect([b.users, b.items]).toEqual([a.items, a.users]);
    expect(b.sigma.users).toEqual(a.sigma.items);
    expect(b.curves.items).toEqual(a.curves.users);
    expect(b.degrees.users).toEqual(a.degrees.items);
    expect([b.verdict.users, b.verdict.items]).toEqual([a.verdict.items, a.verdict.users]);
  });

  it('takes its options: seed, replicates, levels', async () => {
    const one = await checkSparsity(graph, { seed: 1 });
    expect(await checkSparsity(graph, { seed: 1 })).toEqual(one);
    const two = await checkSparsity(graph, { seed: 2 });
    expect(two.curves.users[3].sampled).not.toEqual(one.curves.users[3].sampled);
    expect(one.curves.users.map((p) => p.level)).toEqual(DEFAULT_LEVELS);
    const few = await checkSparsity(graph, { replicates: 2, levels: [1, 0.5, 0.5] });
    expect(few.curves.items.map((p) => [p.level, p.sampled.length])).toEqual([
      [0.5, 2],
      [1, 2],
    ]);
  });

  it('refuses invalid options, and stops on request', async () => {
    await expect(checkSparsity(graph, { levels: [0] })).rejects.toThrow(
      /levels 0: expected a number, above 0 and at most 1/,
    );
    await expect(checkSparsity(graph, { levels: [] })).rejects.toThrow(InputError);
    await expect(checkSparsity(graph, { replicates: 1.5 })).rejects.toThrow(/replicates 1.5/);
    const empty = buildGraph({ users: [], items: [], userCount: 0, itemCount: 0 });
    await expect(checkSparsity(empty)).rejects.toThrow(/no edges/);
    await expect(checkSparsity(graph, { signal: AbortSignal.abort() })).rejects.toThrow(AbortError);
  });

  it('accepts a graph of one edge', async () => {
    const check = await checkSparsity(graphOf([[1, 1]]));
    expect(check.density).toBe(1);
    expect([check.verdict.users, check.verdict.items]).toEqual(['unclear', 'unclear']);
    expect(JSON.stringify(check)).not.toMatch(/null|NaN|Infinity/);
  });
});

describe('verdict', () => {
  const prior = { tau: 1, shape: 0.3, rate: 0.3 };
  const verdictOf = async (graph: BipartiteGraph) => (await checkSparsity(graph, { replicates: 0 })).verdict;

  it('distinguishes dense users from sparse items, and gives reasons', async () => {
    const { graph } = await simulate({
      users: { ...prior, sigma: -0.4, size: 150 },
      items: { ...prior, sigma: 0.4, size: 150 },
      features: 5,
      seed: 3,
      threads: 1,
    });
    const verdict = await verdictOf(graph);
    expect([verdict.users, verdict.items]).toEqual(['dense', 'sparse']);
    expect(verdict.reasons).toMatchObject({ users: { code: 'clear' }, items: { code: 'clear' } });
    const { users, items } = verdict.reasons as Record<string, { estimate: number; standardError: number }>;
    expect(items.estimate - 2 * items.standardError).toBeGreaterThan(0.015);
    expect(users.estimate + 2 * users.standardError).toBeLessThan(0.015);
  });

  it('is right nearly always and never wrong at σ = −0.1 and at 0.2 (bench/verdict.ts measures this at length)', async () => {
    const judged: Record<string, string[]> = { '-0.1': [], '0.2': [] };
    for (let seed = 1; seed <= 8; seed++) {
      const { graph } = await simulate({
        users: { ...prior, sigma: -0.1, size: 85 },
        items: { ...prior, sigma: 0.2, size: 85 },
        features: 6,
        seed,
        threads: 1,
      });
      expect(graph.edges).toBeGreaterThan(10_000);
      const verdict = await verdictOf(graph);
      judged['-0.1'].push(verdict.users);
      judged['0.2'].push(verdict.items);
    }
    expect(judged['-0.1']).not.toContain('sparse');
    expect(judged['0.2']).not.toContain('dense');
    expect(judged['-0.1'].filter((j) => j === 'dense').length).toBeGreaterThanOrEqual(7);
    expect(judged['0.2'].filter((j) => j === 'sparse').length).toBeGreaterThanOrEqual(7);
  });

  it('is unclear, with the reason, for few vertices, single edges, capped and filtered degrees', async () => {
    const random = randomStream(8);
    const few = graphOf(Array.from({ length: 100 }, () => [random.below(20), random.below(1000)] as const));
    expect((await verdictOf(few)).reasons.users).toEqual({ code: 'few', vertices: 20 });

    const single = graphOf(Array.from({ length: 200 }, (_, user) => [user, user % 3] as const));
    expect((await verdictOf(single)).reasons.users).toEqual({ code: 'single' });

    // Lists cut at 20: everyone who had more has exactly 20.
    const capped: [number, number][] = [];
    for (let user = 0; user < 600; user++) {
      const wanted = Math.min(20, Math.ceil(8 * random.uniform() ** -0.7));
      for (let i = 0; i < wanted; i++) capped.push([user, (user * 31 + i * 7) % 997]);
    }
    expect((await verdictOf(graphOf(capped))).reasons.users).toMatchObject({ code: 'capped', degree: 20 });

    // Users with fewer than 20 edges were removed, although the distribution has many of them.
    const filtered: [number, number][] = [];
    for (let user = 0; user < 600; user++) {
      const wanted = Math.ceil(-60 * Math.log(random.uniform()));
      if (wanted < 20) continue;
      for (let i = 0; i < wanted; i++) filtered.push([user, (user * 31 + i * 7) % 1009]);
    }
    expect((await verdictOf(graphOf(filtered))).reasons.users).toMatchObject({ code: 'filtered', least: 20 });
  });

  it('calls a full graph, and one of independent random edges, dense', async () => {
    const full = graphOf(Array.from({ length: 80 * 70 }, (_, e) => [e % 80, Math.floor(e / 80)] as const));
    expect((await verdictOf(full)).users).toBe('dense');
    const random = randomStream(4);
    const pairs: [number, number][] = [];
    for (let u = 0; u < 300; u++)
      for (let i = 0; i < 250; i++) if (random.uniform() < 0.2) pairs.push([u, i]);
    const coins = await verdictOf(graphOf(pairs));
    expect([coins.users, coins.items]).toEqual(['dense', 'dense']);
  });
});

describe.skipIf(!existsSync(sharedData))('shared data sets (skipped if ../shared/data is absent)', () => {
  // Counts and σ̂ of ../shared/data/README.md; reference values of the likelihood.
  const sets = [
    ['goodbooks/to_read.csv.gz', 48_871, 9_986, 912_705, 0.078, 0.008, -1.1, -0.67, 'dense', 'dense'],
    ['movietweetings/ratings.dat.gz', 21_081, 12_611, 141_695, 0.447, 0.472, 0.31, 0.44, 'sparse', 'sparse'],
    [
      'online-retail/customer_product_qty.tsv.gz',
      4_339,
      3_665,
      266_802,
      0.025,
      0.06,
      -0.82,
      -0.52,
      'dense',
      'dense',
    ],
    [
      'julia-general/package_depends.tsv.gz',
      13_455,
      6_258,
      108_958,
      0.136,
      0.433,
      -1.2,
      0.42,
      'dense',
      'sparse',
    ],
  ] as const;
  it.each(sets)('%s', async (file, users, items, edges, halfU, halfI, likeU, likeI, judgeU, judgeI) => {
    const { graph } = await readGraph(join(sharedData, file));
    const check = await checkSparsity(graph);
    expect([check.users, check.items, check.edges]).toEqual([users, items, edges]);
    expect(Math.abs(check.sigma.users.half - halfU)).toBeLessThanOrEqual(0.0006);
    expect(Math.abs(check.sigma.items.half - halfI)).toBeLessThanOrEqual(0.0006);
    expect(check.sigma.users.likelihood!.estimate).toBeCloseTo(
      likeU,
      likeU === -1.1 || likeU === -1.2 ? 1 : 2,
    );
    expect(check.sigma.items.likelihood!.estimate).toBeCloseTo(likeI, 2);
    expect([check.verdict.users, check.verdict.items]).toEqual([judgeU, judgeI]);
    for (const side of ['users', 'items'] as const) {
      for (const { level, expected, sampled } of check.curves[side]) {
        if (level < 0.2) continue;
        const error = Math.sqrt(variance(sampled) / sampled.length);
        expect(Math.abs(mean(sampled) - expected), `${side} at ${level}`).toBeLessThan(
          6 * error + 0.01 * expected,
        );
      }
    }
  });
});

function mean(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0) / values.length;
}

function variance(values: readonly number[]): number {
  const m = mean(values);
  return values.reduce((sum, v) => sum + (v - m) ** 2, 0) / (values.length - 1);
}
