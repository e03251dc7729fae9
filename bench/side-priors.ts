// Which prior of a side predicts best? Each candidate is fitted to splits of training parts (nested: the test parts are not used),
// or with --test, once everything is chosen, to the training parts themselves. Prints how often the 90 % interval holds each figure
// of the held-out graph, how far the mean is off, and how well the model ranks.
//
//   npm run build && node scripts/run-ts.js bench/side-priors.ts [--sets LIST] [--seeds 1,2,3] [--priors LIST] [--features 30,auto]
//     [--draws 60] [--test] [--rows FILE]
//
// Priors: auto; sparse, dense (the paper's); verdict (auto's σ, τ = 1); low, all (σ of the low or of all degrees on both sides); bound
// (σ learned). Draws of auto are corrected by known data, as `graphex evaluate` does; those of the others are as drawn. --rows FILE
// keeps a line of JSON for each fit and skips the fits that it has. Sets whose file is absent are skipped.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { evaluateModel } from '../src/evaluate/evaluate.js';
import { fit } from '../src/fit/fit.js';
import type { AscentOptions } from '../src/fit/options.js';
import { describeSides, LARGEST_SIGMA, SMALLEST_SIGMA, tailPrior } from '../src/fit/sides/side-prior.js';
import { type BipartiteGraph, degrees, SIDES, type SideName } from '../src/graph/graph.js';
import { readGraph } from '../src/ingest/read.js';
import { mean } from '../src/math/moments.js';
import { split } from '../src/sample/split.js';
import { countDegrees } from '../src/sparsity/degree-counts.js';
import { tailIndex } from '../src/sparsity/tail-index.js';
import { flag } from './flag.js';
import { setsNamed } from './sets.js';

const SETS: Readonly<Record<string, string>> = {
  ...setsNamed(
    'goodbooks',
    'online-retail',
    'julia-general',
    'movietweetings',
    'simulated-small',
    'acl-abstracts',
  ),
  sotu: '@sotu',
};
const STATISTICS = ['users', 'items', 'edges', 'sigmaUsers', 'sigmaItems'] as const;

const listed = (name: string, fallback: string) => flag(name, fallback).split(',');
const sets = listed('--sets', Object.keys(SETS).join(','));
const seeds = listed('--seeds', '1,2,3').map(Number);
const priors = listed('--priors', 'auto,sparse');
const numbers = listed('--features', '30').map((k) => (k === 'auto' ? k : Number(k)));
const draws = Number(flag('--draws', '60'));
const onTest = process.argv.includes('--test');
const rowsFile = flag('--rows');

/** σ of each side by one of the estimators of a check. */
function sigmas(graph: BipartiteGraph, way: 'low' | 'all' | 'verdict'): Record<SideName, { sigma: number }> {
  const of = (side: SideName) => {
    const degree = degrees(graph[side]);
    const prior = tailPrior(countDegrees(degree));
    if (way === 'verdict') return prior.sigma;
    const { lowDegrees, likelihood, half } = tailIndex(degree);
    return (way === 'low' ? lowDegrees : likelihood)?.estimate ?? half;
  };
  const bounded = (sigma: number) => Math.max(SMALLEST_SIGMA, Math.min(LARGEST_SIGMA, sigma));
  return { users: { sigma: bounded(of('users')) }, items: { sigma: bounded(of('items')) } };
}

function optionsOf(prior: string, graph: BipartiteGraph): AscentOptions {
  if (prior === 'auto' || prior === 'sparse' || prior === 'dense') return { model: prior };
  if (prior === 'bound') return { model: 'sparse', learn: ['sigma'] };
  if (prior === 'low' || prior === 'all' || prior === 'verdict')
    return { model: 'sparse', ...sigmas(graph, prior) };
  throw new Error(`--priors ${prior}: there are auto, sparse, dense, verdict, low, all, bound`);
}

interface Row {
  readonly key: string;
  readonly set: string;
  readonly prior: string;
  readonly features: number;
  readonly bound: number;
  /** By figure: observed, mean, and whether the interval holds it. */
  readonly figures: Readonly<Record<string, readonly [number, number, boolean]>>;
  readonly recall: number;
  readonly ndcg: number;
}

const rows: Row[] =
  rowsFile && existsSync(rowsFile)
    ? readFileSync(rowsFile, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Row)
    : [];

for (const set of sets) {
  const source = SETS[set];
  if (!source) throw new Error(`--sets ${set}: there are ${Object.keys(SETS).join(', ')}`);
  if (!source.startsWith('@') && !existsSync(source)) {
    console.log(`${set}: skipped, no ${source}`);
    continue;
  }
  const { graph } = await readGraph(source);
  for (const seed of seeds) {
    const outer = split(graph, { seed });
    const parts = onTest ? outer : split(outer.train, { seed: 100 + seed });
    for (const prior of priors) {
      for (const asked of numbers) {
        const key = [set, onTest ? 'test' : 'nested', seed, prior, asked, draws].join('|');
        if (rows.some((row) => row.key === key)) continue;
        const { model } = await fit(parts.train, {
          ...optionsOf(prior, parts.train),
          features: asked,
          engine: 'cpu',
        });
        const { predictive, ranking } = await evaluateModel(model, parts, { draws, engine: 'cpu', n: 20 });
        const figures = Object.fromEntries(
          STATISTICS.map((name) => {
            const { mean, low, high } = predictive!.draws[name]!;
            const observed = predictive!.observed[name]!;
            return [name, [observed, mean, observed >= low && observed <= high]] as const;
          }),
        );
        const { recallCapped: recall, ndcg } = ranking.all.mean;
        const { features, bound } = model;
        const label = asked === 'auto' ? `${prior}, K auto` : asked === 30 ? prior : `${prior}, K ${asked}`;
        const row: Row = { key, set, prior: label, features, bound: bound!, figures, recall, ndcg };
        rows.push(row);
        if (rowsFile) appendFileSync(rowsFile, `${JSON.stringify(row)}\n`);
        const kinds = SIDES.map((side) => describeSides(model)[side].kind).join(', ');
        process.stderr.write(`${key}: ${features} features, ${kinds}\n`);
      }
    }
  }
}

const wanted = rows.filter(
  ({ key, set }) => key.split('|')[1] === (onTest ? 'test' : 'nested') && sets.includes(set),
);
console.log(
  `${onTest ? 'test parts' : 'splits of training parts'}, ${draws} draws; errors in per cent, of tail indexes in hundredths`,
);
console.log(
  `| set | prior | K | in the interval | ${STATISTICS.join(' | ')} | capped recall@20 | nDCG | n |`,
);
console.log(`|---|---|---|---|${STATISTICS.map(() => '---|').join('')}---|---|---|`);
for (const set of [...sets, 'all']) {
  for (const prior of new Set(wanted.map((row) => row.prior))) {
    const of = wanted.filter((row) => row.prior === prior && (set === 'all' || row.set === set));
    if (of.length === 0) continue;
    const error = (name: string) =>
      mean(
        of.map(({ figures }) => {
          const [observed, foreseen] = figures[name];
          return 100 * Math.abs(name.startsWith('sigma') ? foreseen - observed : foreseen / observed - 1);
        }),
      ).toFixed(1);
    const held = of.flatMap(({ figures }) => Object.values(figures).filter(([, , inside]) => inside)).length;
    const numbersOfFeatures = [...new Set(of.map(({ features }) => features))]
      .sort((a, b) => a - b)
      .join(', ');
    console.log(
      `| ${set} | ${prior} | ${numbersOfFeatures} | ${held} of ${of.length * STATISTICS.length} | ` +
        `${STATISTICS.map(error).join(' | ')} | ${mean(of.map((row) => row.recall)).toFixed(3)} | ` +
        `${mean(of.map((row) => row.ndcg)).toFixed(3)} | ${of.length} |`,
    );
  }
}
