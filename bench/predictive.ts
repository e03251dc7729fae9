// Are predictive intervals honest? Simulated sets of known law, each split, fitted and drawn: how often the central 90 %
// of the draws holds the test graph's statistic, and how far the draws are off on average. Four ways beside each other:
// the default; sizes as points; the fold-in that ascends the bound; and that one with the unseen fit items' mass.
//
//   npm run build && node scripts/run-ts.js bench/predictive.ts [sets 20] [size 120] [features 30] [shape 0.1] [--multi]

import { knownFoldIn } from '../src/evaluate/evaluate.js';
import { fit } from '../src/fit/fit.js';
import { eligibleMass, foldIn } from '../src/fit/fold-in.js';
import { randomStream } from '../src/math/random.js';
import {
  createDrawer,
  type GraphStatistics,
  graphStatistics,
  type SizeMode,
} from '../src/predict/draw-graph.js';
import { type DrawPlan, drawPlan, fitItems } from '../src/predict/draw-plan.js';
import { simulate } from '../src/process/poisson-model.js';
import { split } from '../src/sample/split.js';

const numbers = process.argv.slice(2).filter((a) => /^[\d.]+$/.test(a));
const [sets, size, features, shape] = [20, 120, 30, 0.1].map((fallback, i) => Number(numbers[i] ?? fallback));
const multigraph = process.argv.includes('--multi');
const DRAWS = 100;
const STATISTICS = ['users', 'items', 'edges', 'sigmaUsers', 'sigmaItems'] as const;
const WAYS = ['default', 'sizes as points', 'exact fold-in', 'exact, with unseen'] as const;

interface Row {
  readonly inside: number;
  /** Mean of the draws over the observed, less 1. */
  readonly error: number;
  /** Standard deviation of the draws over their mean. */
  readonly spread: number;
}
const rows = new Map<string, Row[]>();
const law = { sigma: 0.2, tau: 1, shape, rate: shape, size };

for (let set = 0; set < sets; set++) {
  const { graph } = await simulate({ users: law, items: law, features, seed: 1000 + set, multigraph });
  const parts = split(graph, { seed: set });
  const given = { shape, rate: shape };
  const { model } = await fit(parts.train, { features, users: given, items: given, iterations: 200 });
  const observed = graphStatistics(parts.test);
  const eligible = fitItems(model, parts);
  const known = knownFoldIn(model, parts).graph;
  for (const way of WAYS) {
    const unseenShare = way === 'exact, with unseen' ? 1 - parts.testItems : 0;
    const activity = way.startsWith('exact') ? 'exact' : 'mean';
    const folded = await foldIn(model, known, { eligible, unseenShare, activity });
    const { plan } = drawPlan(model, folded, parts, 'unconditional');
    const met = eligibleMass(model, 'items', { eligible, unseenShare });
    const sizes: SizeMode = way === 'sizes as points' ? 'point' : 'posterior';
    record(way, withMass(plan, met), sizes, set, observed);
  }
  process.stderr.write(`set ${set + 1} of ${sets}: ${graph.edges} edges\n`);
}

function withMass(plan: DrawPlan, met: Float64Array): DrawPlan {
  const { known, unseen } = plan.users;
  return {
    ...plan,
    users: { known: { ...known, otherMass: met }, unseen: unseen && { ...unseen, tilt: met } },
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
    const inside = observed[name] >= values[4]! && observed[name] <= values[DRAWS - 5]!;
    const list = rows.get(`${way}|${name}`) ?? [];
    list.push({
      inside: inside ? 1 : 0,
      error: mean / observed[name] - 1,
      spread: Math.sqrt(variance) / mean,
    });
    rows.set(`${way}|${name}`, list);
  }
}

const percent = (x: number) => `${(100 * x).toFixed(1)} %`.padStart(8);
console.log(
  `${sets} sets, size ${size}, K ${features}, a = b = ${shape}, ${multigraph ? 'multi' : 'simple'}`,
);
console.log('way                 statistic   coverage      bias  spread of errors  of draws');
for (const [key, list] of rows) {
  const [way, name] = key.split('|') as [string, string];
  const mean = (value: (row: Row) => number) => list.reduce((sum, row) => sum + value(row), 0) / list.length;
  const bias = mean((row) => row.error);
  const errors = Math.sqrt(mean((row) => (row.error - bias) ** 2));
  console.log(
    `${way.padEnd(19)} ${name.padEnd(10)}  ${percent(mean((row) => row.inside))}  ${percent(bias)}          ${percent(errors)}  ${percent(mean((row) => row.spread))}`,
  );
}
