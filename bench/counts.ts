// Which distribution do counts follow, given that a pair occurs? Distributions are fitted to training parts of training parts.
// They are compared by the log probability of the counts of held-out users' test edges, in nats an edge, given the fold-in counts.
//
//   npm run build && node scripts/run-ts.js bench/counts.ts [splits 5] [--only NAME]

import { existsSync } from 'node:fs';
import { fit } from '../src/fit/fit.js';
import { foldIn } from '../src/fit/fold-in/fold-in.js';
import { meanTable } from '../src/fit/model.js';
import { fitCounts, foldCounts } from '../src/fit/sides/count-prior.js';
import type { BipartiteGraph } from '../src/graph/graph.js';
import { readGraph } from '../src/ingest/read.js';
import { poisson } from '../src/math/count-samplers.js';
import { normal } from '../src/math/distributions.js';
import { maximize } from '../src/math/maximize.js';
import { mean } from '../src/math/moments.js';
import { truncateNormal } from '../src/math/normal.js';
import { randomStream } from '../src/math/random.js';
import { lgamma, log1mexp, logFactorial } from '../src/math/special.js';
import { simulate } from '../src/process/poisson-model.js';
import { pqSample } from '../src/sample/pq.js';
import { split } from '../src/sample/split.js';
import type { Split } from '../src/sample/split-types.js';
import { flag, leadingNumber } from './flag.js';
import { SETS as SOURCES } from './sets.js';

const splits = leadingNumber(5);
const only = flag('--only');

/** A pair to predict: the row of the held-out user in the fold-in part, and that of the item in training. */
interface Pair {
  readonly user: number;
  readonly item: number;
  readonly count: number;
}

function testPairs({ train, foldIn: known, test }: Split): Pair[] {
  const pairs: Pair[] = [];
  for (let u = 0; u < test.users.count; u++) {
    const user = known.users.ids.find(test.users.ids.at(u));
    for (let e = test.users.offsets[u]; e < test.users.offsets[u + 1]; e++) {
      const item = train.items.ids.find(test.items.ids.at(test.users.neighbors[e]));
      if (user >= 0 && item >= 0) pairs.push({ user, item, count: test.users.counts![e] });
    }
  }
  return pairs;
}

/** The fold-in part, with items of training only. */
function foldRows({ train, foldIn: known }: Split) {
  const item = Array.from({ length: known.items.count }, (_, j) =>
    train.items.ids.find(known.items.ids.at(j)),
  );
  const offsets = new Uint32Array(known.users.count + 1);
  const neighbors: number[] = [];
  const counts: number[] = [];
  for (let u = 0; u < known.users.count; u++) {
    for (let e = known.users.offsets[u]; e < known.users.offsets[u + 1]; e++) {
      const j = item[known.users.neighbors[e]];
      if (j < 0) continue;
      neighbors.push(j);
      counts.push(known.users.counts![e]);
    }
    offsets[u + 1] = neighbors.length;
  }
  return {
    count: known.users.count,
    offsets,
    neighbors: Uint32Array.from(neighbors),
    counts: Uint32Array.from(counts),
  };
}

type Distribution = (parts: Split) => Promise<(pair: Pair) => number> | ((pair: Pair) => number);

const rounded =
  (...sides: readonly ('users' | 'items')[]): Distribution =>
  (parts) => {
    const { prior: distribution, effects } = fitCounts(parts.train, sides);
    const own = foldCounts(distribution, 'users', foldRows(parts), effects.items);
    const out = { logProbability: 0, mean: 0, variance: 0 };
    return ({ user, item, count }) => {
      const mean = distribution.mean + own.mean[user] + effects.items.mean[item];
      const spread = Math.sqrt(distribution.spread ** 2 + own.variance[user] + effects.items.variance[item]);
      const low = count > 1 ? (Math.log(count - 1) - mean) / spread : -Infinity;
      return truncateNormal(low, (Math.log(count) - mean) / spread, out).logProbability;
    };
  };

/** Distributions of count − 1 with a log-linear mean: effects by Newton steps, shrunk by normal priors. */
interface Linear {
  /** log P, and score and information for the log mean. */
  readonly log: (y: number, eta: number, shape: number) => number;
  readonly score: (y: number, eta: number, shape: number) => readonly [number, number];
  readonly shapes: readonly [number, number];
}

const NEGATIVE_BINOMIAL: Linear = {
  log: (y, eta, logShape) => {
    const r = Math.exp(logShape);
    const m = Math.exp(eta);
    return (
      lgamma(y + r) - lgamma(r) - logFactorial(y) + r * Math.log(r / (r + m)) + y * (eta - Math.log(r + m))
    );
  },
  score: (y, eta, logShape) => {
    const r = Math.exp(logShape);
    const m = Math.exp(eta);
    return [((y - m) * r) / (r + m), (m * r) / (r + m)];
  },
  shapes: [-7, 5],
};

const SWEEPS = 12;
const MOST_EDGES = 50_000;

/** Points and weights of a normal. */
const GRID = Array.from({ length: 17 }, (_, n) => -4 + n / 2);
const WEIGHT = GRID.map((z) => Math.exp((-z * z) / 2));
const TOTAL = WEIGHT.reduce((a, b) => a + b, 0);
const LOG_NORMAL_POISSON: Linear = {
  log: (y, eta, logSpread) => mixture(y, eta, logSpread)[0],
  score: (y, eta, logSpread) => {
    const [, mean, square] = mixture(y, eta, logSpread);
    const s2 = Math.exp(2 * logSpread);
    // Score and information of the latent logarithm given the count; the information of EM is accurate enough.
    return [mean / s2, Math.max(1e-9, (1 - (square - mean * mean) / s2) / s2)];
  },
  shapes: [-3, 2],
};
function mixture(y: number, eta: number, logSpread: number): readonly [number, number, number] {
  const s = Math.exp(logSpread);
  let sum = 0;
  let mean = 0;
  let square = 0;
  // Points lie around the peak of the product, so that large counts are not lost between points.
  const center = y > 0 ? Math.max(-4, Math.min(8, ((Math.log(y) - eta) / s) * (y / (y + 1 / (s * s))))) : 0;
  const narrow = 1 / Math.sqrt(1 + s * s * y);
  for (let n = 0; n < GRID.length; n++) {
    const x = center + GRID[n] * narrow;
    const lambda = eta + s * x;
    const log = y * lambda - Math.exp(lambda) - logFactorial(y) - 0.5 * x * x;
    const w = Math.exp(log);
    sum += w;
    mean += w * s * x;
    square += w * s * x * s * x;
  }
  if (!(sum > 0)) return [-700, 0, s * s];
  return [Math.log((sum * narrow) / TOTAL), mean / sum, square / sum];
}

const linear =
  (distribution: Linear, ...sides: readonly ('users' | 'items')[]): Distribution =>
  (parts) => {
    const { offsets, neighbors, counts } = parts.train.users;
    const edges = neighbors.length;
    const user = new Uint32Array(edges);
    for (let u = 0; u < parts.train.users.count; u++) user.fill(u, offsets[u], offsets[u + 1]);
    const index = { users: user, items: neighbors };
    const part = {
      users: new Float64Array(parts.train.users.count),
      items: new Float64Array(parts.train.items.count),
    };
    const prior = { users: 0.25, items: 0.25 };
    let y1 = 0;
    for (let e = 0; e < edges; e++) y1 += counts![e] - 1;
    let mu = Math.log(Math.max(1e-6, y1 / edges));
    let shape = 0;
    const eta = (e: number) => mu + part.users[user[e]] + part.items[neighbors[e]];
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
      if (sweep % 4 === 2) {
        const step = Math.max(1, Math.floor(edges / 20_000));
        const total = (x: number) => {
          let sum = 0;
          for (let e = 0; e < edges; e += step) sum += distribution.log(counts![e] - 1, eta(e), x);
          return sum;
        };
        shape = maximize(total, ...distribution.shapes, { tolerance: 1e-3 });
      }
      let [g, h] = [0, 1e-9];
      for (let e = 0; e < edges; e++) {
        const [score, info] = distribution.score(counts![e] - 1, eta(e), shape);
        g += score;
        h += info;
      }
      mu += Math.max(-1, Math.min(1, g / h));
      for (const side of sides) {
        const grad = new Float64Array(part[side].length);
        const info = new Float64Array(part[side].length);
        for (let e = 0; e < edges; e++) {
          const [score, i] = distribution.score(counts![e] - 1, eta(e), shape);
          grad[index[side][e]] += score;
          info[index[side][e]] += i;
        }
        let square = 0;
        for (let v = 0; v < grad.length; v++) {
          const precision = info[v] + 1 / prior[side];
          part[side][v] += Math.max(-1, Math.min(1, (grad[v] - part[side][v] / prior[side]) / precision));
          square += part[side][v] ** 2 + 1 / precision;
        }
        prior[side] = Math.max(1e-6, square / grad.length);
      }
    }
    const rows = foldRows(parts);
    const own = new Float64Array(rows.count);
    if (sides.includes('users')) {
      for (let u = 0; u < rows.count; u++) {
        for (let step = 0; step < 20; step++) {
          let grad = -own[u] / prior.users;
          let info = 1 / prior.users;
          for (let e = rows.offsets[u]; e < rows.offsets[u + 1]; e++) {
            const at = mu + own[u] + part.items[rows.neighbors[e]];
            const [score, i] = distribution.score(rows.counts[e] - 1, at, shape);
            grad += score;
            info += i;
          }
          own[u] += Math.max(-1, Math.min(1, grad / info));
        }
      }
    }
    return ({ user: u, item, count }) => distribution.log(count - 1, mu + own[u] + part.items[item], shape);
  };

const poissonModel: Distribution = async (parts) => {
  const { model } = await fit(parts.train, {
    features: 30,
    model: 'auto',
    iterations: 80,
  });
  const rows = foldRows(parts);
  const folded = await foldIn(model, {
    ...parts.foldIn,
    users: { ...parts.foldIn.users, ...rows },
    items: { ...parts.train.items },
    edges: rows.neighbors.length,
  } as BipartiteGraph);
  const users = meanTable(folded, 30);
  const items = meanTable(model.items, 30);
  return ({ user, item, count }) => {
    let rate = 1e-12;
    for (let k = 0; k < 30; k++) rate += users[user * 30 + k] * items[item * 30 + k];
    return count * Math.log(rate) - rate - logFactorial(count) - log1mexp(rate);
  };
};

const DISTRIBUTIONS: Readonly<Record<string, Distribution>> = {
  'Poisson, K = 30': poissonModel,
  'shifted negative binomial': linear(NEGATIVE_BINOMIAL),
  '… with items': linear(NEGATIVE_BINOMIAL, 'items'),
  '… with users and items': linear(NEGATIVE_BINOMIAL, 'users', 'items'),
  'shifted log-normal Poisson': linear(LOG_NORMAL_POISSON),
  '… with items ': linear(LOG_NORMAL_POISSON, 'items'),
  '… with users and items ': linear(LOG_NORMAL_POISSON, 'users', 'items'),
  'log-normal, rounded up': rounded(),
  '… with items  ': rounded('items'),
  '… with users and items  ': rounded('users', 'items'),
};

async function load(name: string): Promise<BipartiteGraph | undefined> {
  const read = async (path: string) =>
    existsSync(path) ? (await readGraph(path, { multigraph: true, count: '3' })).graph : undefined;
  const SIDE = { sigma: 0.2, tau: 1, shape: 0.1, rate: 0.1, size: 120 };
  switch (name) {
    case 'online-retail':
      return read(SOURCES['online-retail']);
    case 'acl-abstracts, a fifth': {
      const whole = await read(SOURCES['acl-abstracts']);
      return whole && split(whole, { testUsers: 0.8, testItems: 0.01, seed: 1 }).train;
    }
    case '@sotu':
      return (await readGraph('@sotu', { multigraph: true })).graph;
    case 'simulated Poisson':
      return (await simulate({ users: SIDE, items: SIDE, features: 30, multigraph: true, seed: 1 })).graph;
    default:
      return redrawn();
  }
}

/** The simulated set with counts of a shifted negative binomial, one mean for each item. */
async function redrawn(): Promise<BipartiteGraph | undefined> {
  const graph = await load('simulated Poisson');
  if (!graph) return undefined;
  const random = randomStream(9, 1);
  const part = Array.from({ length: graph.items.count }, () => 0.5 + normal(random));
  const { BipartiteGraph: Graph } = await import('../src/graph/public.js');
  const pairs: [string, string][] = [];
  for (let u = 0; u < graph.users.count; u++) {
    for (let e = graph.users.offsets[u]; e < graph.users.offsets[u + 1]; e++) {
      const j = graph.users.neighbors[e];
      const rate = Math.exp(part[j]) * -Math.log(random.uniform() || 0.5);
      const n = 1 + Math.min(50, poisson(random, rate));
      for (let c = 0; c < n; c++) pairs.push([graph.users.ids.at(u), graph.items.ids.at(j)]);
    }
  }
  return Graph.fromPairs(pairs, { multigraph: true });
}

const SETS = [
  'online-retail',
  '@sotu',
  'acl-abstracts, a fifth',
  'simulated Poisson',
  'simulated edges, geometric counts',
];
for (const name of SETS) {
  if (only && !name.includes(only)) continue;
  const graph = await load(name);
  if (!graph) {
    console.log(`${name}: not here, skipped`);
    continue;
  }
  const whole = split(graph, { testUsers: 0.2, testItems: 0.2, seed: 1 }).train;
  // Enough to tell distributions apart, and few enough for those that need quadrature.
  const kept = Math.min(1, Math.sqrt(MOST_EDGES / whole.edges));
  const train = pqSample(whole, { users: kept, items: kept }, randomStream(1, 77));
  const scores = new Map<string, number[]>(
    Object.keys(DISTRIBUTIONS).map((distribution) => [distribution, []]),
  );
  for (let seed = 1; seed <= splits; seed++) {
    const parts = split(train, { testUsers: 0.2, testItems: 0.2, seed });
    const pairs = testPairs(parts);
    for (const [distribution, make] of Object.entries(DISTRIBUTIONS)) {
      const log = await make(parts);
      scores.get(distribution)!.push(pairs.reduce((sum, pair) => sum + log(pair), 0) / pairs.length);
      process.stderr.write(
        `${name}, split ${seed}, ${distribution}: ${scores.get(distribution)!.at(-1)!.toFixed(4)}\n`,
      );
    }
  }
  console.log(
    `\n${name}: ${train.edges} training edges, counts ${train.total}; nats an edge over ${splits} splits`,
  );
  for (const [distribution, values] of scores) {
    console.log(
      `  ${distribution.padEnd(30)} ${mean(values).toFixed(4)}  (${values.map((v) => v.toFixed(3)).join(' ')})`,
    );
  }
}
