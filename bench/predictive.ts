// Are predictive intervals honest? Simulated sets of known priors are split, fitted and drawn from: how often the central 90 %
// of the draws holds the test graph's statistic, how far the draws are off on average, and the ranks of the observed
// among the draws. --all compares the default with alternatives: sizes as points; given hyperparameters; the fold-in that
// ascends the bound; and that fold-in with the unseen mass of the fit items.
//
//   npm run build && node scripts/run-ts.js bench/predictive.ts [sets 200] [size 120] [features 30] [shape 0.1]
//     [--multi] [--all] [--internal] [--calibrate N] [--draws N] [--rows FILE] [--from SET]
//
// --rows writes a line of JSON per set, way and statistic; --internal also corrects the intervals by known data,
// --calibrate by N replicas.

import { appendFileSync } from 'node:fs';
import { evaluateModel } from '../src/evaluate/evaluate.js';
import { knownFoldIn } from '../src/evaluate/held-out.js';
import { checkStatistic } from '../src/evaluate/predictive.js';
import { fit } from '../src/fit/fit.js';
import { eligibleMass, foldIn } from '../src/fit/fold-in/fold-in.js';
import { type ModelSide, meanTable, type PosteriorModel } from '../src/fit/model.js';
import type { FitOptions } from '../src/fit/options.js';
import type { GraphSide, SideName } from '../src/graph/graph.js';
import { randomStream } from '../src/math/random.js';
import type { SizeMode } from '../src/options/names.js';
import { createDrawer, type GraphStatistics, graphStatistics } from '../src/predict/draw/draw-graph.js';
import { type DrawPlan, drawPlan, fitItems, type VertexGroup } from '../src/predict/draw/draw-plan.js';
import type { VertexParameters } from '../src/process/assemble.js';
import { simulate } from '../src/process/poisson-model.js';
import { split } from '../src/sample/split.js';
import type { Split } from '../src/sample/split-types.js';
import { flag } from './flag.js';

const firstOption = process.argv.findIndex((a) => a.startsWith('--'));
const numbers = process.argv.slice(2, firstOption < 0 ? undefined : firstOption);
const [sets, size, features, shape] = [200, 120, 30, 0.1].map((fallback, i) =>
  Number(numbers[i] ?? fallback),
);
const multigraph = process.argv.includes('--multi');
const STATISTICS = ['users', 'items', 'edges', 'sigmaUsers', 'sigmaItems'] as const;
const WAYS = process.argv.includes('--all')
  ? ['default', 'sizes as points', 'hyperparameters given', 'exact fold-in', 'exact, with unseen']
  : ['default'];
const rowsFile = flag('--rows');
const from = Number(flag('--from', '0'));
const DRAWS = Number(flag('--draws', '100'));
const internal = process.argv.includes('--internal');
const replicas = Number(flag('--calibrate', '0'));

interface Row {
  /** Fraction of the draws below the observed value; ties count half. */
  readonly rank: number;
  readonly inside: number;
  /** Mean of the draws divided by the observed value, minus 1. */
  readonly error: number;
  /** Standard deviation of the draws over their mean. */
  readonly spread: number;
}
const rows = new Map<string, Row[]>();
/** For each way and set: the rates of the training users and of the held-out users. */
const rates = new Map<string, [number, number][]>();
const prior = { sigma: 0.2, tau: 1, shape, rate: shape, size };

for (let set = from; set < sets; set++) {
  const { graph, truth } = await simulate({
    ...{ users: prior, items: prior, features, seed: 1000 + set, multigraph },
    truth: true,
  });
  const parts = split(graph, { seed: set });
  const learned = { shape, rate: shape };
  const share = 1 - parts.testUsers;
  const given = { users: { ...prior, size: size * share }, items: prior };
  const fitted = (hyper: Pick<FitOptions, 'users' | 'items'>) =>
    fit(parts.train, { features, ...hyper, iterations: 200 }).then(({ model }) => model);
  const estimated = await fitted({ users: learned, items: learned });
  const observed = graphStatistics(parts.test);
  for (const way of WAYS) {
    const model = way === 'hyperparameters given' ? await fitted(given) : estimated;
    const eligible = fitItems(model, parts);
    const unseenShare = way === 'exact, with unseen' ? 1 - parts.testItems : 0;
    const activity = way.startsWith('exact') ? 'geometric' : 'mean';
    const folded = await foldIn(model, knownFoldIn(model, parts).graph, { eligible, unseenShare, activity });
    const { plan } = drawPlan(model, folded, parts, 'unconditional');
    const met = eligibleMass(model, 'items', { eligible, unseenShare });
    const sizes: SizeMode = way === 'sizes as points' ? 'point' : 'posterior';
    record(way, withMass(plan, met), sizes, set, observed);
    recordRates(way, model, folded, (side, name) => trueMass(graph[name], truth![name], side));
  }
  if (internal) await recordCorrected(estimated, parts, set);
  if (replicas > 0) await recordCalibrated(estimated, parts, set);
  process.stderr.write(`set ${set + 1} of ${sets}: ${graph.edges} edges\n`);
}

function withMass(plan: DrawPlan, met: Float64Array): DrawPlan {
  const [{ known, unseen }] = plan.users as readonly [VertexGroup];
  return {
    ...plan,
    users: [{ known: { ...known, otherMass: met }, unseen: unseen && { ...unseen, tilt: met } }],
  };
}

function record(way: string, plan: DrawPlan, sizes: SizeMode, set: number, observed: GraphStatistics): void {
  const draw = createDrawer(plan);
  const draws = Array.from(
    { length: DRAWS },
    (_, i) => draw(randomStream(set, i), { sizes, keep: false }).statistics,
  );
  for (const name of STATISTICS) {
    const values = draws.map((d) => d[name]).sort((a, b) => a - b);
    const mean = values.reduce((sum, v) => sum + v, 0) / DRAWS;
    const variance = values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / (DRAWS - 1);
    const { low, high } = checkStatistic(values, observed[name]);
    const inside = observed[name] >= low && observed[name] <= high;
    const below = values.reduce((n, v) => n + (v < observed[name] ? 1 : v === observed[name] ? 0.5 : 0), 0);
    add(
      `${way}|${name}`,
      {
        rank: below / DRAWS,
        inside: inside ? 1 : 0,
        error: mean / observed[name] - 1,
        spread: Math.sqrt(variance) / mean,
      },
      set,
    );
  }
}

function add(key: string, row: Row, set: number): void {
  const list = rows.get(key) ?? [];
  list.push(row);
  rows.set(key, list);
  const [way, name] = key.split('|');
  if (rowsFile) appendFileSync(rowsFile, `${JSON.stringify({ set, way, name, ...row })}\n`);
}

/** Mass of the vertices of a fitted side by their true weights and features. */
function trueMass(graph: GraphSide, { weights, features: values }: VertexParameters, side: ModelSide) {
  const mass = new Float64Array(features);
  for (let v = 0; v < side.count; v++) {
    const at = graph.ids.find(side.ids.at(v));
    for (let k = 0; k < features; k++) mass[k] += weights[at] * values[at * features + k];
  }
  return mass;
}

type MassOf = (side: ModelSide, name: SideName) => Float64Array;

/** Expected edges to the trained items, of training users and of held-out users: fitted divided by true. Latent counts add up. */
function recordRates(way: string, model: PosteriorModel, folded: ModelSide, truth: MassOf): void {
  const total = (users: ModelSide, mass: MassOf) => {
    const items = mass(model.items, 'items');
    return mass(users, 'users').reduce((sum, m, k) => sum + m * items[k], 0);
  };
  const fitted = (side: ModelSide) => {
    const mass = new Float64Array(features);
    meanTable(side, features).forEach((a, at) => {
      mass[at % features] += a;
    });
    return mass;
  };
  const ratio = (users: ModelSide) => total(users, fitted) / total(users, truth);
  const list = rates.get(way) ?? [];
  list.push([ratio(model.users), ratio(folded)]);
  rates.set(way, list);
}

/** The intervals of `auto` models: corrected by data that the fit knows. */
async function recordCorrected(model: PosteriorModel, parts: Split, set: number): Promise<void> {
  const { predictive } = await evaluateModel(model, parts, { draws: DRAWS, correct: true, seed: set });
  for (const name of STATISTICS) {
    const { low, high, pValue } = predictive!.draws[name]!;
    recordInterval('internal check', name, set, predictive!.observed[name]!, { low, high, pValue });
  }
}

/** The intervals corrected by replicas. */
async function recordCalibrated(model: PosteriorModel, parts: Split, set: number): Promise<void> {
  const { predictive } = await evaluateModel(model, parts, {
    draws: DRAWS,
    calibrate: replicas,
    seed: set,
  });
  for (const name of STATISTICS) {
    const corrected = predictive!.calibration!.statistics[name];
    if (!corrected) continue;
    recordInterval('calibrated', name, set, predictive!.observed[name]!, corrected);
  }
}

/** A corrected interval, and how far the observed value is from its middle, in half widths. */
function recordInterval(
  way: string,
  name: (typeof STATISTICS)[number],
  set: number,
  observed: number,
  { low, high, pValue }: { readonly low: number; readonly high: number; readonly pValue: number },
): void {
  const middle = (low + high) / 2;
  add(
    `${way}|${name}`,
    {
      rank: observed < middle ? pValue / 2 : 1 - pValue / 2,
      inside: observed >= low && observed <= high ? 1 : 0,
      error: middle / observed - 1,
      spread: (high - low) / (2 * 1.645 * middle),
    },
    set,
  );
}

const percent = (x: number) => `${(100 * x).toFixed(1)} %`.padStart(8);
console.log(
  `${sets - from} sets, size ${size}, K ${features}, a = b = ${shape}, ${multigraph ? 'multi' : 'simple'}`,
);
console.log(
  'way                 statistic   coverage      bias  spread of errors  of draws  ranks in ten bins, %',
);
for (const [key, list] of rows) {
  const [way, name] = key.split('|') as [string, string];
  const mean = (value: (row: Row) => number) => list.reduce((sum, row) => sum + value(row), 0) / list.length;
  const bias = mean((row) => row.error);
  const errors = Math.sqrt(mean((row) => (row.error - bias) ** 2));
  const bins = new Array<number>(10).fill(0);
  for (const { rank } of list) bins[Math.min(9, Math.floor(10 * rank))] += 100 / list.length;
  console.log(
    `${way.padEnd(22)} ${name.padEnd(10)}  ${percent(mean((row) => row.inside))}  ${percent(bias)}          ` +
      `${percent(errors)}  ${percent(mean((row) => row.spread))}  ${bins.map((b) => b.toFixed(0)).join(' ')}`,
  );
}
for (const [way, list] of rates) {
  const mean = (at: 0 | 1) => list.reduce((sum, pair) => sum + pair[at], 0) / list.length;
  console.log(
    `${way}: rates fitted / true, training users ${mean(0).toFixed(3)}, held-out ${mean(1).toFixed(3)}`,
  );
}
