// Hand-made models and splits: posteriors that no fit has touched, small enough to check by integration.

import type { SideHyper } from '../../src/engine/engine.js';
import { eligibleMass } from '../../src/fit/fold-in/fold-in.js';
import type { ModelSide, PosteriorModel } from '../../src/fit/model.js';
import { buildGraph } from '../../src/graph/build.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { degrees } from '../../src/graph/graph.js';
import type { VertexIds } from '../../src/graph/ids.js';
import { gamma } from '../../src/math/distributions.js';
import { type Random, randomStream } from '../../src/math/random.js';
import { split } from '../../src/sample/split.js';
import type { Split } from '../../src/sample/split-types.js';

/** A random graph; vertices without an edge are left out. */
export function randomGraph(seed: number, users: number, items: number, edges: number): BipartiteGraph {
  const random = randomStream(seed);
  const skewed = (n: number) => Math.floor(n * random.uniform() ** 2);
  return buildGraph({
    users: Array.from({ length: edges + users }, (_, e) => (e < users ? e : skewed(users))),
    items: Array.from({ length: edges + users }, (_, e) => (e < items ? e : skewed(items))),
    userCount: users,
    itemCount: items,
  });
}

export function randomSplit(seed: number): Split {
  return split(randomGraph(seed, 40, 30, 160), { testUsers: 0.4, testItems: 0.4, seed });
}

/** A side whose rows have counts near their degree, spread over the features at random. */
export function randomSide(
  random: Random,
  ids: VertexIds,
  degree: Uint32Array,
  hyper: SideHyper,
  features: number,
  leftover: Float64Array = new Float64Array(features).fill(hyper.size * 0.05),
): ModelSide {
  const count = ids.length;
  const weightShape = new Float32Array(count);
  const featureShape = new Float32Array(count * features);
  for (let v = 0; v < count; v++) {
    const shares = Array.from({ length: features }, () => gamma(random, 0.5));
    const sum = shares.reduce((a, b) => a + b, 0);
    weightShape[v] = Math.max(degree[v] - hyper.sigma, 0.05);
    for (let k = 0; k < features; k++) {
      featureShape[v * features + k] = hyper.shape + (degree[v] * shares[k]) / sum;
    }
  }
  return {
    count,
    ids,
    weightShape,
    weightRate: new Float32Array(count).fill(hyper.tau + 5),
    featureShape,
    featureRate: new Float32Array(count * features).fill(hyper.rate + 2),
    unseenMass: leftover,
    hyper,
    degree,
  };
}

export interface SmallModel {
  readonly model: PosteriorModel;
  readonly folded: ModelSide;
  readonly split: Split;
}

/** A model of the split's training vertices and a posterior of its fold-in users. */
export function smallModel(
  seed: number,
  hyper: { readonly users: SideHyper; readonly items: SideHyper },
  options: { readonly multigraph?: boolean; readonly features?: number } = {},
): SmallModel {
  const random = randomStream(seed, 77);
  const parts = randomSplit(seed);
  const features = options.features ?? 3;
  const { train, foldIn } = parts;
  const model: PosteriorModel = {
    kind: hyper.users.size > 0 ? 'sparse' : 'dense',
    type: 'posterior',
    features,
    multigraph: options.multigraph ?? false,
    users: randomSide(random, train.users.ids, degrees(train.users), hyper.users, features),
    items: randomSide(random, train.items.ids, degrees(train.items), hyper.items, features),
    bound: undefined,
    provenance: {
      version: '0',
      seed,
      fingerprint: '',
      options: {},
      bounds: [],
      iterations: 0,
      converged: false,
    },
  };
  // Weights such that the expected edges of training are about those it has.
  const mass = { users: eligibleMass(model, 'users'), items: eligibleMass(model, 'items') };
  const expected = mass.users.reduce((sum, m, k) => sum + m * mass.items[k], 0);
  const scale = expected / train.edges;
  model.users.weightRate.forEach((rate, v) => {
    model.users.weightRate[v] = rate * scale;
  });
  return {
    model,
    folded: randomSide(random, foldIn.users.ids, degrees(foldIn.users), hyper.users, features),
    split: parts,
  };
}

export const NO_UNSEEN: SideHyper = { sigma: -0.1, tau: 1, shape: 0.3, rate: 0.4, size: 0 };
export const SPARSE: SideHyper = { sigma: 0.3, tau: 1, shape: 0.3, rate: 0.4, size: 6 };
