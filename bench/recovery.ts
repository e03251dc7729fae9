// How well σ and the sizes are recovered from graphs of known parameters: the table of docs/appendix/simulation.md. Five settings, five
// graphs each; mean and spread of the estimates.

import { degrees, type GraphSide } from '../src/graph/graph.js';
import { meanAndSpread } from '../src/math/moments.js';
import type { ModelParameters } from '../src/process/parameters.js';
import { simulate } from '../src/process/poisson-model.js';
import { estimateSizes, sizeFromBound } from '../src/process/sizes.js';
import { countDegrees } from '../src/sparsity/degree-counts.js';
import { fitDegrees } from '../src/sparsity/degree-likelihood.js';
import { tailIndexHalf } from '../src/sparsity/tail-index.js';

const GRAPHS = 5;
const side = (sigma: number, size: number) => ({ sigma, tau: 1, shape: 0.1, rate: 0.1, size });
const settings: readonly ModelParameters[] = [
  { users: side(0.2, 120), items: side(0.2, 120), features: 30 },
  { users: side(0.5, 60), items: side(0.4, 80), features: 10 },
  { users: side(-0.3, 200), items: side(0.3, 100), features: 10 },
  { users: side(-0.3, 200), items: side(-0.3, 200), features: 10 },
  { users: side(0.1, 300), items: side(0.3, 40), features: 20 },
];

const columns = [
  'side',
  'true σ',
  'σ̂',
  'likelihood',
  'true size',
  'size at σ̂',
  'at the likelihood',
  'at the true σ',
  'from true masses',
];
console.log(`| ${columns.join(' | ')} |\n|${'---|'.repeat(columns.length)}`);
for (const setting of settings) {
  const rows = { users: [] as number[][], items: [] as number[][] };
  for (let seed = 1; seed <= GRAPHS; seed++) {
    const { graph, truth, missingMass } = await simulate({ ...setting, seed, truth: true });
    const sigma = { users: tailIndexHalf(degrees(graph.users)), items: tailIndexHalf(degrees(graph.items)) };
    const likelihood = { users: likelihoodOf(graph.users), items: likelihoodOf(graph.items) };
    const sizesAt = (sigmas: { users: number; items: number }) =>
      estimateSizes(graph, {
        features: setting.features,
        seed: 1000 + seed,
        users: { ...setting.users, sigma: sigmas.users },
        items: { ...setting.items, sigma: sigmas.items },
      });
    const byHalf = await sizesAt(sigma);
    const byLikelihood = await sizesAt(likelihood);
    const byTruth = await sizesAt({ users: setting.users.sigma, items: setting.items.sigma });
    for (const [own, other] of [
      ['users', 'items'],
      ['items', 'users'],
    ] as const) {
      const mass = new Float64Array(setting.features).fill(missingMass[other] / setting.features);
      truth![other].weights.forEach((w, j) => {
        for (let k = 0; k < mass.length; k++) mass[k] += w * truth![other].features[j * mass.length + k];
      });
      rows[own].push([
        sigma[own],
        likelihood[own],
        byHalf[own],
        byLikelihood[own],
        byTruth[own],
        sizeFromBound(setting[own], graph[own].count, mass),
      ]);
    }
  }
  for (const own of ['users', 'items'] as const) {
    const column = (at: number) => rows[own].map((row) => row[at]);
    const cells = [
      own,
      setting[own].sigma,
      written(column(0), 3),
      written(column(1), 2),
      setting[own].size,
      ...[2, 3, 4, 5].map((at) => written(column(at), 0)),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

function likelihoodOf(side: GraphSide): number {
  const fit = fitDegrees(countDegrees(degrees(side)));
  if (!fit) throw new Error('too few degrees to fit');
  return fit.estimate;
}

function written(values: readonly number[], digits: number): string {
  const { mean, spread } = meanAndSpread(values);
  return `${mean.toFixed(digits)} ± ${spread.toFixed(digits)}`;
}
