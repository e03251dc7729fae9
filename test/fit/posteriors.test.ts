// The exact posteriors of six small graphs, from long chains (bench/trust.ts): short chains must agree with them, and
// coordinate ascent must be no farther from them than docs/appendix/trust.md says.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { REPLICA_STATISTICS, type ReplicaStatistic, replicaChain } from '../../bench/exact-replica.js';
import { ascend } from '../../src/fit/ascent/ascent.js';
import { eligibleMass } from '../../src/fit/fold-in/fold-in.js';
import { runChain } from '../../src/fit/gibbs/chain-tasks.js';
import { GIBBS_SCALARS, type GibbsScalar } from '../../src/fit/gibbs/sampler.js';
import type { PosteriorModel } from '../../src/fit/model.js';
import { type BySide, otherSide, SIDES } from '../../src/graph/graph.js';
import { type ChainSummary, summarizeChains } from '../../src/math/diagnostics.js';
import { randomStream } from '../../src/math/random.js';
import { createDrawer } from '../../src/predict/draw/draw-graph.js';
import { replicaPlan } from '../../src/predict/draw/replica.js';
import { simulate } from '../../src/process/poisson-model.js';
import { correlation } from './correlation.js';
import { SMALL_GRAPHS } from './small-graphs.js';

type KeptSummary = Omit<ChainSummary, 'splitRHat' | 'interval'>;
interface Kept {
  readonly edges: number;
  readonly scalars: Record<GibbsScalar, KeptSummary>;
  readonly replicas: Record<ReplicaStatistic, KeptSummary>;
  /** Draws of all chains together. */
  readonly draws: number;
  /** Twenty pairs [user, item, …], and the posterior means of their rates. */
  readonly pairs: readonly number[];
  readonly rates: readonly number[];
}
const kept: Record<string, Kept> = JSON.parse(
  readFileSync(new URL('./posteriors.json', import.meta.url), 'utf8'),
);

/** Short chains of each graph, and draws of each. */
const [CHAINS, DRAWS] = [8, 60];

/** Standard error of the mean. */
const errorOf = (s: KeptSummary) => s.standardDeviation / Math.sqrt(s.effectiveSamples);

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
const mean = (values: readonly number[]) => sum(values) / values.length;

/** Mean of γ_i ω_j Σ_k θ_ik β_jk. */
function fittedRate({ users, items, features: K }: PosteriorModel, i: number, j: number): number {
  let dot = 0;
  for (let k = 0; k < K; k++) {
    const [ik, jk] = [i * K + k, j * K + k];
    dot +=
      (users.featureShape[ik] / users.featureRate[ik]) * (items.featureShape[jk] / items.featureRate[jk]);
  }
  return (users.weightShape[i] / users.weightRate[i]) * (items.weightShape[j] / items.weightRate[j]) * dot;
}

/** Σ_k γ_i θ_ik ω_j β_jk of a draw. */
function drawnRate({ users, items }: BySide<Float32Array>, K: number, i: number, j: number): number {
  return sum(Array.from({ length: K }, (_, k) => users[i * K + k] * items[j * K + k]));
}

/** The error of the fit's replicas in docs/appendix/trust.md: ranges of the ratio fitted / exact, for means and spreads. */
function stated(statistic: ReplicaStatistic, multigraph: boolean) {
  if (statistic === 'users' || statistic === 'items') return { mean: [0.975, 1.02], spread: [0.97, 1.12] };
  if (!multigraph) return { mean: [0.9, 0.98], spread: [1.02, 1.17] };
  if (statistic === 'edges') return { mean: [0.985, 1], spread: [1.02, 1.1] };
  return { mean: [0.99, 1], spread: [1.18, 1.26] };
}

describe.each(Object.entries(SMALL_GRAPHS))('%s', (name, { parameters }) => {
  const given = { users: parameters.users, items: parameters.items };
  const fitted = simulate(parameters).then(async ({ graph }) => ({
    graph,
    ...(await ascend(graph, {
      ...given,
      features: parameters.features,
      engine: 'reference',
      iterations: 2000,
      tolerance: 1e-9,
    })),
  }));

  const chains = fitted.then(({ graph, checkpoint }) =>
    Array.from({ length: CHAINS }, (_, chain) =>
      runChain({
        problem: { graph, features: parameters.features, hyper: given },
        start: checkpoint.tables,
        seed: 79,
        chain,
        warmup: 100,
        draws: DRAWS,
        keep: DRAWS,
      }),
    ),
  );

  test('short chains agree with the long ones', async () => {
    const { graph } = await fitted;
    expect(graph.edges).toBe(kept[name].edges);
    const short = await chains;
    for (const scalar of GIBBS_SCALARS) {
      const long = kept[name].scalars[scalar];
      const now = summarizeChains(short.map(({ scalars }) => scalars[scalar]));
      const error = Math.hypot(errorOf(long), errorOf(now));
      // Short chains know their own error only roughly: half a standard deviation is allowed for that.
      expect(Math.abs(now.mean - long.mean), scalar).toBeLessThan(
        4 * error + 0.5 * long.standardDeviation + 1e-9,
      );
    }
  });

  test('rates of pairs: short chains agree with the long ones', async () => {
    const { graph } = await fitted;
    const { rates, pairs, draws: longDraws } = kept[name];
    const results = await chains;
    for (const [p, long] of rates.entries()) {
      const ofChains = results.map((result) =>
        result.kept.map((draw) => drawnRate(draw, parameters.features, pairs[2 * p], pairs[2 * p + 1])),
      );
      const means = ofChains.map(mean);
      const now = mean(means);
      const square = mean(ofChains.flat().map((rate) => rate ** 2));
      const error = Math.sqrt(sum(means.map((m) => (m - now) ** 2)) / (CHAINS - 1) / CHAINS);
      // The error of the long chains follows from their number of draws. Five errors are allowed, because eight chains know
      // theirs only roughly. In simple graphs large rates move slowly, and short chains still depend on their start: this
      // allows half a standard deviation.
      const room =
        5 * error * Math.sqrt(1 + (CHAINS * DRAWS) / longDraws) +
        (graph.multigraph ? 0 : 0.5 * Math.sqrt(square - now ** 2));
      expect(Math.abs(now - long), `pair ${p}`).toBeLessThan(room);
    }
  });

  test('coordinate ascent: rates of pairs are right in multigraphs, and within the stated range in simple graphs', async () => {
    const { graph, model } = await fitted;
    const { rates, pairs } = kept[name];
    const now = rates.map((_, p) => fittedRate(model, pairs[2 * p], pairs[2 * p + 1]));
    const ratio = sum(now) / sum(rates);
    // docs/appendix/trust.md has 400 pairs: 1.00 with a correlation of .999 in multigraphs, .56 in the dense simple graph, .75 to
    // 1.07 in the others. Of the twenty kept ones a few large rates decide, so the ranges are wider.
    let range = [0.5, 1];
    if (graph.multigraph) range = [0.95, 1.05];
    else if (name === 'dense, simple') range = [0.45, 0.6];
    // These graphs have several optima. Two random bases of the profiles give the twenty pairs 0.55 and 1.09, and 0.66 and 1.22.
    else if (name === 'dense users, sparse items') range = [0.5, 1.15];
    else if (name === 'very sparse') range = [0.5, 1.41];
    expect(ratio).toBeGreaterThan(range[0]);
    expect(ratio).toBeLessThan(range[1]);
    expect(correlation(now, rates)).toBeGreaterThan(graph.multigraph ? 0.998 : 0.7);
  });

  test('coordinate ascent: rates of the unseen are right, weights of the seen too low', async () => {
    const { model } = await fitted;
    const { scalars } = kept[name];
    for (const side of SIDES) {
      const weights = sum(
        Array.from(model[side].weightShape, (shape, i) => shape / model[side].weightRate[i]),
      );
      const exact = scalars[side === 'users' ? 'userWeights' : 'itemWeights'].mean;
      expect(weights / exact).toBeGreaterThan(0.4);
      expect(weights / exact).toBeLessThan(0.85);
      const mass = eligibleMass(model, otherSide(side));
      const unseen = sum(Array.from(model[side].unseenMass, (m, k) => m * mass[k]));
      const exactUnseen = scalars[side === 'users' ? 'unseenUserRate' : 'unseenItemRate'];
      // Within 3 % on sparse sides, up to a third too many on dense ones.
      const range = given[side].sigma > 0 ? [0.97, 1.03] : [1, 4 / 3];
      const room = (4 * errorOf(exactUnseen)) / exactUnseen.mean;
      expect(unseen / exactUnseen.mean, `unseen ${side}`).toBeGreaterThan(range[0] * (1 - room));
      expect(unseen / exactUnseen.mean, `unseen ${side}`).toBeLessThan(range[1] * (1 + room));
    }
  });

  test('replicas of short chains agree with those of the long ones', async () => {
    const { graph, checkpoint } = await fitted;
    const task = {
      problem: { graph, features: parameters.features, hyper: given },
      start: checkpoint.tables,
      warmup: 150,
      draws: 300,
      every: 3,
      seed: 78,
    };
    const chains = [0, 1].map((chain) => replicaChain({ ...task, chain }));
    for (const statistic of REPLICA_STATISTICS) {
      const long = kept[name].replicas[statistic];
      const now = summarizeChains(chains.map((chain) => chain[statistic]));
      expect(Math.abs(now.mean - long.mean), statistic).toBeLessThan(
        4 * Math.hypot(errorOf(long), errorOf(now)),
      );
    }
  });

  test('coordinate ascent: replicas have the vertices, and in simple graphs too few edges', async () => {
    const { graph, model } = await fitted;
    const draw = createDrawer(replicaPlan(model));
    const drawn = Array.from(
      { length: 1000 },
      (_, r) => draw(randomStream(12, r), { sizes: 'point', keep: false }).statistics,
    );
    for (const statistic of REPLICA_STATISTICS) {
      const exact = kept[name].replicas[statistic];
      const now = summarizeChains([drawn.map((one) => one[statistic])]);
      const range = stated(statistic, graph.multigraph);
      const error = 4 * Math.hypot(errorOf(exact) / exact.mean, errorOf(now) / now.mean);
      expect(now.mean / exact.mean, statistic).toBeGreaterThan(range.mean[0] - error);
      expect(now.mean / exact.mean, statistic).toBeLessThan(range.mean[1] + error);
      // A standard deviation is known to one part in √(2n), as of a normal's.
      const spreadError = 4 * Math.sqrt(1 / (2 * exact.effectiveSamples) + 1 / (2 * now.effectiveSamples));
      const ratio = now.standardDeviation / exact.standardDeviation;
      expect(ratio, `${statistic}, spread`).toBeGreaterThan(range.spread[0] - spreadError);
      expect(ratio, `${statistic}, spread`).toBeLessThan(range.spread[1] + spreadError);
    }
  });
});
