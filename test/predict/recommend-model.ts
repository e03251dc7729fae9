// A small random model, made without a fit. It has what recommendation and explanation need.

import {
  columnSums,
  type ModelSide,
  meanTable,
  type PosteriorModel,
  type Ranker,
  type RankerMember,
} from '../../src/fit/model.js';
import { VertexIds } from '../../src/graph/ids.js';
import { type Random, randomStream } from '../../src/math/random.js';

export interface SmallModelOptions {
  readonly users?: number;
  readonly items?: number;
  readonly features?: number;
  readonly seed?: number;
  readonly multigraph?: boolean;
  readonly withSeen?: boolean;
}

export function smallModel({
  users = 12,
  items = 30,
  features = 4,
  seed = 1,
  multigraph = false,
  withSeen = true,
}: SmallModelOptions = {}): PosteriorModel {
  const random = randomStream(seed, 77);
  const offsets = new Uint32Array(users + 1);
  const neighbors: number[] = [];
  for (let u = 0; u < users; u++) {
    for (let i = 0; i < items; i++) if (random.uniform() < 0.2) neighbors.push(i);
    offsets[u + 1] = neighbors.length;
  }
  const seen = {
    offsets,
    neighbors: Uint32Array.from(neighbors),
    counts: multigraph ? Uint32Array.from(neighbors, () => 1 + random.below(4)) : undefined,
  };
  return {
    type: 'posterior',
    kind: 'sparse',
    features,
    multigraph,
    users: side(users, features, random, 'user'),
    items: side(items, features, random, 'item'),
    bound: undefined,
    provenance: {
      ...{ version: '0', seed, fingerprint: '', options: {}, bounds: [] },
      ...{ iterations: 0, converged: false },
    },
    ...(withSeen ? { seen } : {}),
  };
}

/** A model as a fit returns it: its degrees are those of the edges it stores. */
export function fittedModel(multigraph: boolean): PosteriorModel {
  const model = smallModel({ multigraph });
  const { offsets, neighbors } = model.seen!;
  const degree = Uint32Array.from({ length: model.users.count }, (_, u) => offsets[u + 1] - offsets[u]);
  const ofItems = new Uint32Array(model.items.count);
  for (const item of neighbors) ofItems[item]++;
  return { ...model, users: { ...model.users, degree }, items: { ...model.items, degree: ofItems } };
}

/** A ranker whose members have the means of these models. */
export function smallRanker(models: readonly PosteriorModel[], change: Partial<RankerMember> = {}): Ranker {
  const [{ users, items, seen, multigraph, provenance }] = models;
  return {
    type: 'ranker',
    method: 'ranking',
    multigraph,
    users: { count: users.count, ids: users.ids, degree: users.degree },
    items: { count: items.count, ids: items.ids, degree: items.degree },
    scores: {
      kind: 'factors',
      members: models.map((model, m) => ({
        features: model.features,
        items: meanTable(model.items, model.features),
        users: meanTable(model.users, model.features),
        userMass: columnSums(meanTable(model.users, model.features), model.features),
        fold: {
          kind: 'poisson',
          steps: 3,
          hyper: { users: model.users.hyper, items: model.items.hyper },
        },
        seed: m,
        iterations: 20,
        converged: true,
        ...change,
      })),
    },
    provenance,
    seen,
  };
}

function side(count: number, features: number, random: Random, name: string): ModelSide {
  const positive = (n: number, least: number) =>
    Float32Array.from({ length: n }, () => least + 3 * random.uniform() ** 3);
  return {
    count,
    ids: VertexIds.texts(Array.from({ length: count }, (_, v) => `${name} ${v}`)),
    weightShape: positive(count, 0.2),
    weightRate: positive(count, 0.5),
    featureShape: positive(count * features, 0.1),
    featureRate: positive(count * features, 0.3),
    unseenMass: new Float64Array(features).fill(0.2),
    hyper: { sigma: 0.2, tau: 1, shape: 0.1, rate: 0.1, size: 10 },
    degree: new Uint32Array(count).fill(1),
  };
}

/** E[γ_u] E[ω_i] Σ_k E[θ_uk] E[β_ik], term by term. */
export function rate(model: PosteriorModel, user: number, item: number): number {
  const K = model.features;
  const { users, items } = model;
  let sum = 0;
  for (let k = 0; k < K; k++) {
    sum +=
      (users.featureShape[user * K + k] / users.featureRate[user * K + k]) *
      (items.featureShape[item * K + k] / items.featureRate[item * K + k]);
  }
  return (
    (users.weightShape[user] / users.weightRate[user]) *
    (items.weightShape[item] / items.weightRate[item]) *
    sum
  );
}
