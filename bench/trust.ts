// How far to trust coordinate ascent: six small graphs, its answer beside the exact posterior's from long chains.
//
//   node scripts/run-ts.js bench/trust.ts [draws] [--write]
//
// Prints a table (docs/trust.md has the last one); --write keeps the exact posteriors, small, for the tests.

import { writeFileSync } from 'node:fs';
import { ascend } from '../src/fit/ascent.js';
import { gibbsPosterior } from '../src/fit/gibbs.js';
import type { Model } from '../src/fit/model.js';
import { randomStream } from '../src/math/random.js';
import { simulate } from '../src/process/poisson-model.js';
import { SMALL_GRAPHS } from '../test/fit/small-graphs.js';

const draws = Number(process.argv.slice(2).find((a) => /^\d+$/.test(a)) ?? 2000);
const PAIRS = 400;

/** Mean and standard deviation of γ_i ω_j Σ_k θ_ik β_jk when all factors are independent Gammas, as the fit has them. */
function fittedRate(model: Model, i: number, j: number): [number, number] {
  const K = model.features;
  const { users, items } = model;
  let mean = 0;
  let sumOfVariances = 0;
  for (let k = 0; k < K; k++) {
    const [ts, bs] = [users.featureShape[i * K + k]!, items.featureShape[j * K + k]!];
    const m = (ts / users.featureRate[i * K + k]!) * (bs / items.featureRate[j * K + k]!);
    mean += m;
    sumOfVariances += m * m * ((1 + 1 / ts) * (1 + 1 / bs) - 1);
  }
  const [ws, os] = [users.weightShape[i]!, items.weightShape[j]!];
  const scale = (ws / users.weightRate[i]!) * (os / items.weightRate[j]!);
  const second = (1 + 1 / ws) * (1 + 1 / os) * (sumOfVariances + mean * mean);
  return [scale * mean, scale * Math.sqrt(second - mean * mean)];
}

function correlation(x: readonly number[], y: readonly number[]): number {
  const mean = (v: readonly number[]) => v.reduce((a, b) => a + b, 0) / v.length;
  const [mx, my] = [mean(x), mean(y)];
  let [xy, xx, yy] = [0, 0, 0];
  x.forEach((a, i) => {
    xy += (a - mx) * (y[i]! - my);
    xx += (a - mx) ** 2;
    yy += (y[i]! - my) ** 2;
  });
  return xy / Math.sqrt(xx * yy);
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
const kept: Record<string, unknown> = {};
console.log(
  '| graph | edges | R-hat | rates: correlation | rates: fitted / exact | spread: fitted / exact | weights, users | weights, items | unseen users | unseen items |\n|---|---|---|---|---|---|---|---|---|---|',
);
for (const [name, { parameters }] of Object.entries(SMALL_GRAPHS)) {
  const { graph } = await simulate(parameters);
  const given = { users: parameters.users, items: parameters.items };
  const { model, checkpoint } = await ascend(graph, {
    ...given,
    features: parameters.features,
    engine: 'reference',
    iterations: 2000,
    tolerance: 1e-9,
  });
  const random = randomStream(9);
  const pairs = new Uint32Array(2 * PAIRS);
  for (let p = 0; p < PAIRS; p++) {
    // Half of the pairs are edges.
    const i = random.below(graph.users.count);
    const degree = graph.users.offsets[i + 1]! - graph.users.offsets[i]!;
    const j =
      p % 2 === 0
        ? graph.users.neighbors[graph.users.offsets[i]! + random.below(degree)]!
        : random.below(graph.items.count);
    pairs.set([i, j], 2 * p);
  }
  const exact = await gibbsPosterior(graph, {
    features: parameters.features,
    hyper: given,
    start: checkpoint.tables,
    warmup: Math.ceil(draws / 2),
    draws,
    pairs,
  });
  const fitted = Array.from({ length: PAIRS }, (_, p) => fittedRate(model, pairs[2 * p]!, pairs[2 * p + 1]!));
  const exactMeans = Array.from(exact.pairRates.mean);
  const weights = (side: 'users' | 'items') =>
    model[side].weightShape.reduce((s, x, i) => s + x / model[side].weightRate[i]!, 0);
  const mass = (side: 'users' | 'items') => {
    const K = model.features;
    const total = model[side].leftover.slice();
    for (let v = 0; v < model[side].count; v++) {
      for (let k = 0; k < K; k++) {
        total[k]! +=
          (model[side].weightShape[v]! / model[side].weightRate[v]!) *
          (model[side].featureShape[v * K + k]! / model[side].featureRate[v * K + k]!);
      }
    }
    return total;
  };
  const unseenRate = (side: 'users' | 'items') => {
    const other = mass(side === 'users' ? 'items' : 'users');
    return model[side].leftover.reduce((sum, m, k) => sum + m * other[k]!, 0);
  };
  const sum = (v: readonly number[]) => v.reduce((a, b) => a + b, 0);
  const rHat = Math.max(...Object.values(exact.scalars).map((s) => s.splitRHat));
  const ratio = (a: number, b: number) => (b === 0 ? '–' : (a / b).toFixed(2));
  console.log(
    `| ${name} | ${graph.edges} | ${rHat.toFixed(3)} | ${correlation(
      fitted.map((f) => f[0]),
      exactMeans,
    ).toFixed(3)} | ` +
      `${ratio(sum(fitted.map((f) => f[0])), sum(exactMeans))} | ` +
      `${median(fitted.map((f, p) => f[1] / exact.pairRates.standardDeviation[p]!)).toFixed(2)} | ` +
      `${ratio(weights('users'), exact.scalars.userWeights.mean)} | ${ratio(weights('items'), exact.scalars.itemWeights.mean)} | ` +
      `${ratio(unseenRate('users'), exact.scalars.unseenUserRate.mean)} | ${ratio(unseenRate('items'), exact.scalars.unseenItemRate.mean)} |`,
  );
  kept[name] = {
    edges: graph.edges,
    draws: draws * exact.chains,
    scalars: Object.fromEntries(
      Object.entries(exact.scalars).map(([key, s]) => [
        key,
        { mean: s.mean, standardDeviation: s.standardDeviation, effectiveSamples: s.effectiveSamples },
      ]),
    ),
    pairs: Array.from(pairs.subarray(0, 40)),
    rates: Array.from(exact.pairRates.mean.subarray(0, 20), (x) => Number(x.toPrecision(4))),
  };
}
if (process.argv.includes('--write')) {
  writeFileSync('test/fit/posteriors.json', `${JSON.stringify(kept, null, 1)}\n`);
}
