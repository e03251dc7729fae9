// Does the fit find the truth? Simulated graphs with known parameters, fitted with the true hyperparameters: expected
// edge rates against true ones, and features up to their order.
//
//   node scripts/run-ts.js bench/fit-recovery.ts

import { ascend } from '../src/fit/ascent/ascent.js';
import { meanTable } from '../src/fit/model.js';
import { randomStream } from '../src/math/random.js';
import { simulate } from '../src/process/poisson-model.js';

const PAIRS = 200_000;
const side = (sigma: number, size: number, shape: number) => ({ sigma, tau: 1, shape, rate: shape, size });
const CASES = {
  'sparse, K = 10': { users: side(0.2, 300, 0.1), items: side(0.2, 300, 0.1), features: 10 },
  'sparse, K = 30': { users: side(0.2, 300, 0.1), items: side(0.2, 300, 0.1), features: 30 },
  'very sparse, K = 10': { users: side(0.5, 200, 0.1), items: side(0.5, 200, 0.1), features: 10 },
  'dense, K = 10': { users: side(-0.5, 700, 0.1), items: side(-0.5, 700, 0.1), features: 10 },
  'dense users, sparse items, K = 10': {
    users: side(-0.5, 700, 0.1),
    items: side(0.4, 250, 0.1),
    features: 10,
  },
  'multigraph, sparse, K = 10': {
    users: side(0.2, 300, 0.1),
    items: side(0.2, 300, 0.1),
    features: 10,
    multigraph: true,
  },
};

function correlation(x: Float64Array, y: Float64Array): number {
  const n = x.length;
  let [sx, sy, sxx, syy, sxy] = [0, 0, 0, 0, 0];
  for (let i = 0; i < n; i++) {
    sx += x[i];
    sy += y[i];
    sxx += x[i] ** 2;
    syy += y[i] ** 2;
    sxy += x[i] * y[i];
  }
  return (sxy - (sx * sy) / n) / Math.sqrt((sxx - sx ** 2 / n) * (syy - sy ** 2 / n));
}

/** Mean of the best correlations when each true feature is matched with a fitted one, greedily. */
function matchedFeatures(truth: Float64Array, fitted: Float32Array, rows: number, K: number): number {
  const column = (t: ArrayLike<number>, k: number) =>
    Float64Array.from({ length: rows }, (_, i) => Math.sqrt(t[i * K + k]));
  const all: [number, number, number][] = [];
  for (let a = 0; a < K; a++) {
    const x = column(truth, a);
    for (let b = 0; b < K; b++) all.push([correlation(x, column(fitted, b)), a, b]);
  }
  all.sort((p, q) => q[0] - p[0]);
  const [usedA, usedB] = [new Set<number>(), new Set<number>()];
  let sum = 0;
  for (const [c, a, b] of all) {
    if (usedA.has(a) || usedB.has(b)) continue;
    usedA.add(a);
    usedB.add(b);
    sum += c;
  }
  return sum / K;
}

console.log(
  '| graph | edges | correlation of rates (of their logarithms) | true / fitted rate by decile of the fitted | features matched |\n|---|---|---|---|---|',
);
for (const [name, parameters] of Object.entries(CASES)) {
  const { graph, truth } = await simulate({ ...parameters, seed: 2, truth: true });
  const K = parameters.features;
  const { model } = await ascend(graph, {
    features: K,
    engine: 'cpu',
    users: parameters.users,
    items: parameters.items,
  });
  const [users, items] = [meanTable(model.users, K), meanTable(model.items, K)];
  const random = randomStream(3);
  const [real, fitted] = [new Float64Array(PAIRS), new Float64Array(PAIRS)];
  for (let p = 0; p < PAIRS; p++) {
    const [i, j] = [random.below(graph.users.count), random.below(graph.items.count)];
    let [t, f] = [0, 0];
    for (let k = 0; k < K; k++) {
      t += truth!.users.features[i * K + k] * truth!.items.features[j * K + k];
      f += users[i * K + k] * items[j * K + k];
    }
    real[p] = t * truth!.users.weights[i] * truth!.items.weights[j];
    fitted[p] = f;
  }
  const order = Array.from(fitted.keys()).sort((a, b) => fitted[a] - fitted[b]);
  const deciles = Array.from({ length: 10 }, (_, d) => {
    const slice = order.slice((d * PAIRS) / 10, ((d + 1) * PAIRS) / 10);
    const sum = (v: Float64Array) => slice.reduce((s, p) => s + v[p], 0);
    return (sum(real) / sum(fitted)).toFixed(2);
  });
  const log = (v: Float64Array) => v.map((x) => Math.log(x + 1e-12));
  const weighted = Float64Array.from(
    truth!.users.features,
    (x, at) => x * truth!.users.weights[Math.floor(at / K)],
  );
  console.log(
    `| ${name} | ${graph.edges} | ${correlation(real, fitted).toFixed(3)} (${correlation(log(real), log(fitted)).toFixed(3)}) | ` +
      `${deciles.join(' ')} | ${matchedFeatures(weighted, users, graph.users.count, K).toFixed(3)} |`,
  );
}
