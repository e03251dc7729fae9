// Simulation-based calibration: over many simulated graphs of known parameters, how often does an interval that claims
// 90 % hold the truth? For the tail index (degree likelihood), the sizes (closed form of the bound), and the rates of
// pairs (the fit's Gammas). Predictive intervals: bench/predictive.ts.
//
//   npm run build && node scripts/run-ts.js bench/calibration.ts [sets 200] [--rows FILE]
//
// --rows writes a line of JSON per rank, which bench/figures.ts draws.

import { appendFileSync } from 'node:fs';
import { ascend } from '../src/fit/ascent/ascent.js';
import { sizePosteriors } from '../src/fit/sides/size-posterior.js';
import { degrees, SIDES } from '../src/graph/graph.js';
import { gamma } from '../src/math/distributions.js';
import { type Random, randomStream } from '../src/math/random.js';
import { simulate } from '../src/process/poisson-model.js';
import { tailIndex } from '../src/sparsity/tail-index.js';
import { flag, leadingNumber } from './flag.js';

const sets = leadingNumber(200);
const rowsFile = flag('--rows');
const DRAWS = 199;
const PAIRS = 20;
const K = 4;

interface Tally {
  inside: number;
  below: number;
  above: number;
  all: number;
  /** Ranks of the truth among the draws, in ten bins: flat when calibrated. */
  readonly bins: number[];
}
const tallies = new Map<string, Tally>();
/** For each set, log(ŝ/s) of users and items, and its variance according to Gamma(rows, ·). */
const sizeErrors: { error: number; claimed: number }[][] = [];

function tally(set: number, name: string, truth: number, draws: readonly number[]): void {
  let t = tallies.get(name);
  if (!t) {
    t = { inside: 0, below: 0, above: 0, all: 0, bins: new Array(10).fill(0) };
    tallies.set(name, t);
  }
  const share = draws.filter((d) => d < truth).length / draws.length;
  t.all++;
  if (share < 0.05) t.below++;
  else if (share > 0.95) t.above++;
  else t.inside++;
  t.bins[Math.min(9, Math.floor(10 * share))]++;
  if (rowsFile)
    appendFileSync(rowsFile, `${JSON.stringify({ set, name, rank: share, draws: draws.length })}\n`);
}

/** A draw of each pair's rate from the fit's Gammas. */
type Fitted = Awaited<ReturnType<typeof ascend>>['model'];
function drawRate(model: Fitted, i: number, j: number, random: Random): number {
  const of = (shape: number, rate: number) => gamma(random, shape) / rate;
  const { users, items } = model;
  let sum = 0;
  for (let k = 0; k < K; k++) {
    sum +=
      of(users.featureShape[i * K + k], users.featureRate[i * K + k]) *
      of(items.featureShape[j * K + k], items.featureRate[j * K + k]);
  }
  return sum * of(users.weightShape[i], users.weightRate[i]) * of(items.weightShape[j], items.weightRate[j]);
}

for (let set = 0; set < sets; set++) {
  const random = randomStream(5, set);
  // Each set has its own parameters, drawn at random.
  const sigma = { users: -0.5 + random.uniform(), items: -0.5 + random.uniform() };
  const size = { users: 25 + 35 * random.uniform(), items: 25 + 35 * random.uniform() };
  const prior = (side: 'users' | 'items') => ({
    sigma: sigma[side],
    tau: 1,
    shape: 0.5,
    rate: 0.5,
    size: size[side],
  });
  const { graph, truth } = await simulate({
    users: prior('users'),
    items: prior('items'),
    features: K,
    seed: set,
    truth: true,
  });
  const given = (side: 'users' | 'items') => ({ sigma: sigma[side], tau: 1, shape: 0.5, rate: 0.5 });
  const { model } = await ascend(graph, {
    features: K,
    engine: 'cpu',
    threads: 1,
    users: given('users'),
    items: given('items'),
  });
  for (const side of SIDES) {
    const index = tailIndex(degrees(graph[side]));
    for (const [way, fitted] of Object.entries({
      'low degrees': index.lowDegrees,
      'all degrees': index.likelihood,
    })) {
      const error = fitted?.standardError;
      if (!fitted || error === undefined) continue;
      const draws = Array.from(
        { length: DRAWS },
        (_, d) => fitted.estimate + error * normalQuantile((d + 0.5) / DRAWS),
      );
      tally(set, `tail index by ${way}, ${sigma[side] < 0 ? 'dense' : 'sparse'} sides`, sigma[side], draws);
    }
    (sizeErrors[set] ??= []).push({
      error: Math.log(model[side].hyper.size / size[side]),
      claimed: 1 / model[side].count,
    });
    // Given the other side's mass s | data ~ Gamma(rows, E[ψ]), E[ψ] = rows / ŝ.
    const { count, hyper } = model[side];
    tally(
      set,
      'sizes, the scale taken for known',
      size[side],
      Array.from({ length: DRAWS }, () => (gamma(random, count) * hyper.size) / count),
    );
  }
  const sizes = sizePosteriors(model);
  for (const side of SIDES) {
    const { low, high } = sizes[side]!.interval;
    // The interval is symmetric in the logarithm.
    const spread = Math.log(high / low) / (2 * 1.6449);
    const draws = Array.from(
      { length: DRAWS },
      (_, d) => Math.sqrt(low * high) * Math.exp(spread * normalQuantile((d + 0.5) / DRAWS)),
    );
    tally(set, 'sizes, with the spread of the scale', size[side], draws);
  }
  for (let p = 0; p < PAIRS; p++) {
    const [i, j] = [random.below(graph.users.count), random.below(graph.items.count)];
    const { users, items } = truth!;
    let rate = 0;
    for (let k = 0; k < K; k++) rate += users.features[i * K + k] * items.features[j * K + k];
    rate *= users.weights[i] * items.weights[j];
    tally(
      set,
      'rates of pairs',
      rate,
      Array.from({ length: DRAWS }, () => drawRate(model, i, j, random)),
    );
  }
}

/** Inverse of the normal distribution function by bisection: only a few hundred are needed. */
function normalQuantile(p: number): number {
  let [low, high] = [-8, 8];
  for (let t = 0; t < 60; t++) {
    const middle = (low + high) / 2;
    if (normalCdf(middle) < p) low = middle;
    else high = middle;
  }
  return low;
}
function normalCdf(x: number): number {
  // Simpson's rule on [0, |x|].
  const n = 200;
  const h = Math.abs(x) / n;
  let sum = 0;
  for (let i = 0; i <= n; i++)
    sum += Math.exp(-((i * h) ** 2) / 2) * (i === 0 || i === n ? 1 : i % 2 ? 4 : 2);
  return 0.5 + (Math.sign(x) * (sum * h)) / 3 / Math.sqrt(2 * Math.PI);
}

console.log(
  `${sets} simulated sets\n| what | 90 % interval holds it | truth below | truth above | ranks in ten bins | n |\n|---|---|---|---|---|---|`,
);
for (const [name, t] of tallies) {
  const share = (x: number) => `${((100 * x) / t.all).toFixed(0)} %`;
  console.log(
    `| ${name} | ${share(t.inside)} | ${share(t.below)} | ${share(t.above)} | ${t.bins.map((b) => Math.round((100 * b) / t.all)).join(' ')} | ${t.all} |`,
  );
}
const rootMean = (value: (set: (typeof sizeErrors)[number]) => number) =>
  `${(100 * Math.sqrt(sizeErrors.reduce((sum, one) => sum + value(one), 0) / sets)).toFixed(0)} %`;
console.log(
  `sizes: product of both sides off by ${rootMean(([u, i]) => (u!.error + i!.error) ** 2)} (root mean square), ratio by ` +
    `${rootMean(([u, i]) => (u!.error - i!.error) ** 2)}; claimed for either ${rootMean(([u, i]) => u!.claimed + i!.claimed)}`,
);
