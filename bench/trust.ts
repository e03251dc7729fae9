// How far to trust coordinate ascent: its result on six small graphs, compared with the exact posterior from long chains.
//
//   npm run build && node scripts/run-ts.js bench/trust.ts [draws 3000] [--write] [--rows FILE]
//
// Prints the tables of docs/appendix/trust.md; --write keeps the exact posteriors, small, for the tests; --rows writes a line of
// JSON per graph, which bench/figures.ts draws.

import { appendFileSync, writeFileSync } from 'node:fs';
import { ascend } from '../src/fit/ascent/ascent.js';
import { eligibleMass } from '../src/fit/fold-in/fold-in.js';
import { type GibbsPosterior, gibbsPosterior } from '../src/fit/gibbs/gibbs.js';
import type { PosteriorModel } from '../src/fit/model.js';
import { type BipartiteGraph, otherSide, type SideName } from '../src/graph/graph.js';
import { type ChainSummary, summarizeChains } from '../src/math/diagnostics.js';
import { meanAndSpread } from '../src/math/moments.js';
import { quantile } from '../src/math/quantile.js';
import { randomStream } from '../src/math/random.js';
import type { SizeMode } from '../src/options/names.js';
import { createPool, type TaskModule, threadCount } from '../src/parallel/pool.js';
import { createDrawer, graphStatistics } from '../src/predict/draw/draw-graph.js';
import { replicaPlan } from '../src/predict/draw/replica.js';
import { simulate } from '../src/process/poisson-model.js';
import { SMALL_GRAPHS } from '../test/fit/small-graphs.js';
import {
  REPLICA_STATISTICS,
  type ReplicaChainTask,
  type ReplicaStatistic,
  type ReplicaTrace,
} from './exact-replica.js';
import { flag, leadingNumber } from './flag.js';
import type { Ratio, TrustRow } from './trust-charts.js';

const EXACT_REPLICAS: TaskModule = {
  name: 'exact-replica',
  base: import.meta.url,
  worker: () => {
    throw new Error('benchmarks run in Node');
  },
  here: () => import('./exact-replica.js'),
};
const draws = leadingNumber(3000);
const rowsFile = flag('--rows');
const PAIRS = 400;
const CHAINS = 4;
/** Sweeps between two graphs drawn from a chain. */
const EVERY = 3;
/** Graphs drawn from a fit. */
const REPLICAS = 4000;

/** Mean and standard deviation of γ_i ω_j Σ_k θ_ik β_jk when all factors are independent Gammas, as the fit has them. */
function fittedRate(model: PosteriorModel, i: number, j: number): [number, number] {
  const K = model.features;
  const { users, items } = model;
  let mean = 0;
  let sumOfVariances = 0;
  for (let k = 0; k < K; k++) {
    const [ts, bs] = [users.featureShape[i * K + k], items.featureShape[j * K + k]];
    const m = (ts / users.featureRate[i * K + k]) * (bs / items.featureRate[j * K + k]);
    mean += m;
    sumOfVariances += m * m * ((1 + 1 / ts) * (1 + 1 / bs) - 1);
  }
  const [ws, os] = [users.weightShape[i], items.weightShape[j]];
  const scale = (ws / users.weightRate[i]) * (os / items.weightRate[j]);
  const second = (1 + 1 / ws) * (1 + 1 / os) * (sumOfVariances + mean * mean);
  return [scale * mean, scale * Math.sqrt(second - mean * mean)];
}

/** Pairs [user, item, …] of random users. Every second pair is an edge; the others have a random item. */
function choosePairs(graph: BipartiteGraph): Uint32Array {
  const random = randomStream(9);
  const pairs = new Uint32Array(2 * PAIRS);
  for (let p = 0; p < PAIRS; p++) {
    const i = random.below(graph.users.count);
    const degree = graph.users.offsets[i + 1] - graph.users.offsets[i];
    const j =
      p % 2 === 0
        ? graph.users.neighbors[graph.users.offsets[i] + random.below(degree)]
        : random.below(graph.items.count);
    pairs.set([i, j], 2 * p);
  }
  return pairs;
}

/** The rate of a pair over the kept draws. */
function exactRate({ users, items }: GibbsPosterior, graph: BipartiteGraph, K: number, i: number, j: number) {
  const draws = users.draws.length / (graph.users.count * K);
  const rates = new Float64Array(draws);
  for (let d = 0; d < draws; d++) {
    const [own, other] = [(d * graph.users.count + i) * K, (d * graph.items.count + j) * K];
    for (let k = 0; k < K; k++) rates[d] += users.draws[own + k] * items.draws[other + k];
  }
  return meanAndSpread(rates);
}

function isEdge({ users }: BipartiteGraph, i: number, j: number): boolean {
  return users.neighbors.subarray(users.offsets[i], users.offsets[i + 1]).includes(j);
}

const sum = (v: ArrayLike<number>) => Array.from(v).reduce((a, b) => a + b, 0);
const ascending = (v: readonly number[]) => [...v].sort((a, b) => a - b);

function correlation(x: readonly number[], y: readonly number[]): number {
  const [mx, my] = [sum(x) / x.length, sum(y) / y.length];
  let [xy, xx, yy] = [0, 0, 0];
  x.forEach((a, i) => {
    xy += (a - mx) * (y[i] - my);
    xx += (a - mx) ** 2;
    yy += (y[i] - my) ** 2;
  });
  return xy / Math.sqrt(xx * yy);
}

function sumOfWeights(model: PosteriorModel, side: SideName): number {
  return sum(model[side].weightShape.map((shape, i) => shape / model[side].weightRate[i]));
}

/** Expected edges of the unseen vertices of a side. */
function unseenRate(model: PosteriorModel, side: SideName): number {
  const met = eligibleMass(model, otherSide(side));
  return sum(model[side].unseenMass.map((mass, k) => mass * met[k]));
}

/** Statistics of the fit's replicas, with given sizes, or with sizes drawn as if they were estimated. */
function fittedReplicas(model: PosteriorModel, sizes: SizeMode): Record<ReplicaStatistic, ChainSummary> {
  const draw = createDrawer(replicaPlan(model));
  const all = Array.from(
    { length: REPLICAS },
    (_, r) => draw(randomStream(3, r), { sizes, keep: false }).statistics,
  );
  return summaries((name) => [all.map((one) => one[name])]);
}

async function exactReplicas(
  task: Omit<ReplicaChainTask, 'chain'>,
): Promise<Record<ReplicaStatistic, ChainSummary>> {
  const pool = await createPool(EXACT_REPLICAS, threadCount(undefined, CHAINS));
  try {
    const tasks = Array.from({ length: CHAINS }, (_, chain) => ({ ...task, chain }));
    const traces = await pool.map<ReplicaChainTask, ReplicaTrace>('replicaChain', tasks);
    return summaries((name) => traces.map((trace) => trace[name]));
  } finally {
    await pool.close();
  }
}

function summaries(
  chains: (name: ReplicaStatistic) => readonly ArrayLike<number>[],
): Record<ReplicaStatistic, ChainSummary> {
  return Object.fromEntries(
    REPLICA_STATISTICS.map((name) => [name, summarizeChains(chains(name))]),
  ) as Record<ReplicaStatistic, ChainSummary>;
}

/** Standard error of a mean, relative to it. */
const relativeError = (s: ChainSummary) => s.standardDeviation / Math.sqrt(s.effectiveSamples) / s.mean;

function ratioOf(name: string, ratio: number, error: number): Ratio {
  return { name, ratio, low: ratio * Math.exp(-1.96 * error), high: ratio * Math.exp(1.96 * error) };
}

function middleHalf(name: string, ratios: readonly number[]): Ratio {
  const sorted = ascending(ratios);
  return {
    name,
    ratio: quantile(sorted, 0.5),
    low: quantile(sorted, 0.25),
    high: quantile(sorted, 0.75),
  };
}

const WORDS: Readonly<Record<ReplicaStatistic, string>> = {
  users: 'users',
  items: 'items',
  edges: 'edges',
  total: 'sum of counts',
};
const SHORT_WORDS = { ...WORDS, total: 'counts' };
const kept: Record<string, unknown> = {};
const posteriorTable = [
  '| graph | edges | R-hat | rates: correlation | rates: fitted / exact | spread: fitted / exact | weights, users | weights, items | unseen users | unseen items |',
  '|---|---|---|---|---|---|---|---|---|---|',
];
const predictedTable = [
  '| graph | of a replica | observed | exact: mean ± sd | fitted: mean ± sd | mean: fitted / exact | spread: fitted / exact | spread, sizes drawn |',
  '|---|---|---|---|---|---|---|---|',
];

for (const [name, { parameters }] of Object.entries(SMALL_GRAPHS)) {
  const { graph } = await simulate(parameters);
  const hyper = { users: parameters.users, items: parameters.items };
  const { features } = parameters;
  const { model, checkpoint } = await ascend(graph, {
    ...hyper,
    features,
    engine: 'reference',
    iterations: 2000,
    tolerance: 1e-9,
  });
  const pairs = choosePairs(graph);
  const chains = { start: checkpoint.tables, warmup: Math.ceil(draws / 2), draws };
  const bytes = 4 * features * (graph.users.count + graph.items.count);
  const keep = Math.min(CHAINS * draws, Math.floor(2 ** 30 / bytes));
  const exact = await gibbsPosterior(graph, { ...chains, features, hyper, chains: CHAINS, keep });
  const { users, items } = graph;
  const bare = { ...graph, users: { ...users, ids: undefined }, items: { ...items, ids: undefined } };
  const replicas = {
    exact: await exactReplicas({
      ...chains,
      problem: { graph: bare as unknown as BipartiteGraph, features, hyper },
      seed: 1,
      every: EVERY,
    }),
    fitted: fittedReplicas(model, 'point'),
    sizesDrawn: fittedReplicas(model, 'posterior'),
  };

  const fitted = Array.from({ length: PAIRS }, (_, p) => fittedRate(model, pairs[2 * p], pairs[2 * p + 1]));
  const rates = fitted.map((f) => f[0]);
  const exactOnes = fitted.map((_, p) => exactRate(exact, graph, features, pairs[2 * p], pairs[2 * p + 1]));
  const spreads = fitted.map((f, p) => f[1] / exactOnes[p].spread);
  const exactRates = exactOnes.map((one) => one.mean);
  const { userWeights, itemWeights, unseenUserRate, unseenItemRate } = exact.scalars;
  const sides = [
    ratioOf('weights, users', sumOfWeights(model, 'users') / userWeights.mean, relativeError(userWeights)),
    ratioOf('weights, items', sumOfWeights(model, 'items') / itemWeights.mean, relativeError(itemWeights)),
    ratioOf('unseen users', unseenRate(model, 'users') / unseenUserRate.mean, relativeError(unseenUserRate)),
    ratioOf('unseen items', unseenRate(model, 'items') / unseenItemRate.mean, relativeError(unseenItemRate)),
  ];
  const rHat = Math.max(
    ...Object.values(exact.scalars).map((s) => s.splitRHat),
    ...Object.values(replicas.exact).map((s) => s.splitRHat),
  );
  const two = (x: number) => x.toFixed(2);
  posteriorTable.push(
    `| ${name} | ${graph.edges} | ${rHat.toFixed(3)} | ${correlation(rates, exactRates).toFixed(3)} | ` +
      `${two(sum(rates) / sum(exactRates))} | ${two(quantile(ascending(spreads), 0.5))} | ` +
      `${sides.map((side) => two(side.ratio)).join(' | ')} |`,
  );

  const statistics = REPLICA_STATISTICS.filter((s) => s !== 'total' || graph.multigraph);
  const observed = graphStatistics(graph);
  const predicted = statistics.flatMap((statistic) => {
    const [e, f, drawn] = [
      replicas.exact[statistic],
      replicas.fitted[statistic],
      replicas.sizesDrawn[statistic],
    ];
    const shown = (s: ChainSummary) => `${s.mean.toFixed(1)} ± ${s.standardDeviation.toFixed(1)}`;
    predictedTable.push(
      `| ${name} | ${WORDS[statistic]} | ${observed[statistic]} | ${shown(e)} | ${shown(f)} | ` +
        `${(f.mean / e.mean).toFixed(3)} | ${two(f.standardDeviation / e.standardDeviation)} | ` +
        `${two(drawn.standardDeviation / e.standardDeviation)} |`,
    );
    return [
      ratioOf(
        `replica: ${SHORT_WORDS[statistic]}`,
        f.mean / e.mean,
        Math.hypot(relativeError(e), relativeError(f)),
      ),
      ratioOf(
        `replica: ${SHORT_WORDS[statistic]}, sd`,
        f.standardDeviation / e.standardDeviation,
        Math.sqrt(1 / (2 * e.effectiveSamples) + 1 / (2 * REPLICAS)), // as of a normal's
      ),
    ];
  });

  if (rowsFile) {
    const row: TrustRow = {
      graph: name,
      exactRates: exactRates.map((x) => Number(x.toPrecision(4))),
      fittedRates: rates.map((x) => Number(x.toPrecision(4))),
      isEdge: rates.map((_, p) => isEdge(graph, pairs[2 * p], pairs[2 * p + 1])),
      ratios: [
        middleHalf(
          'rates of pairs',
          rates.map((rate, p) => rate / exactRates[p]),
        ),
        middleHalf('rates of pairs, sd', spreads),
        ...sides,
        ...predicted,
      ],
    };
    appendFileSync(rowsFile, `${JSON.stringify(row)}\n`);
  }
  const short = ({ mean, standardDeviation, effectiveSamples }: ChainSummary) => ({
    mean,
    standardDeviation,
    effectiveSamples,
  });
  const shortAll = (all: Readonly<Record<string, ChainSummary>>) =>
    Object.fromEntries(Object.entries(all).map(([key, s]) => [key, short(s)]));
  kept[name] = {
    edges: graph.edges,
    draws: draws * exact.chains,
    scalars: shortAll(exact.scalars),
    replicas: shortAll(replicas.exact),
    pairs: Array.from(pairs.subarray(0, 40)),
    rates: exactRates.slice(0, 20).map((rate) => Number(rate.toPrecision(4))),
  };
  process.stderr.write(`${name}: done\n`);
}
console.log([...posteriorTable, '', ...predictedTable].join('\n'));
if (process.argv.includes('--write')) {
  writeFileSync('test/fit/posteriors.json', `${JSON.stringify(kept, null, 1)}\n`);
}
