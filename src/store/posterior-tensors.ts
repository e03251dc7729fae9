// A posterior as tensors: users.* and items.* hold shapes, rates, unseen masses, degrees and ids.

import { z } from 'zod';
import type { TableValues } from '../engine/engine.js';
import type { ModelSide, PosteriorModel } from '../fit/model.js';
import { SIDES, type SideName } from '../graph/graph.js';
import { FEATURES } from '../options/commands/fit.js';
import { MODEL_KINDS } from '../options/names.js';
import { NOT_NEGATIVE, POSITIVE, type Put, putInto, type Range, type TensorReader } from './tensor-reader.js';
import type { Tensor } from './tensors.js';
import {
  checkDegrees,
  fromMetadata,
  getSeen,
  getVertices,
  hyperSchema,
  putSeen,
  putVertices,
  recordOf,
  recordShape,
  toMetadata,
  traitsOf,
} from './vertex-tensors.js';

export const boundsSchema = z.array(z.tuple([z.number(), z.number()]));
const LARGEST_LOG = 1e3;
const spread = z.number().gt(0).max(LARGEST_LOG);
const countPriorSchema = z.object({
  mean: z.number().min(-LARGEST_LOG).max(LARGEST_LOG),
  spread,
  users: spread,
  items: spread,
});
const headSchema = z.object({
  ...recordShape,
  kind: z.enum(MODEL_KINDS),
  type: z.literal('posterior'),
  features: z.number().int().min(1).max(FEATURES.max),
  bound: z.number().nullable(),
  hyper: hyperSchema,
  /** Whether the fit matched τ. */
  tau_matched: z.object({ users: z.boolean(), items: z.boolean() }),
  bounds: boundsSchema,
  counts: countPriorSchema.optional(),
  evidence: z.object({ sparse: z.number(), dense: z.number(), difference: z.number() }).optional(),
});

const LOGARITHM: Range = {
  ok: (x) => Math.abs(x) <= LARGEST_LOG,
  says: 'the logarithm of a count',
};
const VARIANCE: Range = {
  ok: (x) => x >= 0 && x <= LARGEST_LOG ** 2,
  says: 'the variance of a logarithm of a count',
};

export function putPosterior(tensors: Map<string, Tensor>, model: PosteriorModel): Record<string, string> {
  for (const name of SIDES) {
    const put = putInto(tensors, `${name}.`);
    const side = model[name];
    putTable(put, side, side.count, model.features);
    put('unseen_mass', side.unseenMass);
    putVertices(put, side);
    const { draws } = side;
    if (draws) {
      put('draws', draws, [draws.length / (side.count * model.features), side.count, model.features]);
    }
    if (side.counts) {
      put('count_mean', side.counts.mean);
      put('count_variance', side.counts.variance);
    }
  }
  if (model.seen) putSeen(tensors, model.seen);
  const { kind, features, multigraph, users, items, provenance } = model;
  const hyper = { users: users.hyper, items: items.hyper };
  return toMetadata({
    type: 'posterior',
    kind,
    features,
    multigraph,
    names: model.names,
    counts: model.counts,
    hyper,
    tau_matched: { users: users.tauMatched === true, items: items.tauMatched === true },
    bound: model.bound ?? null,
    ...provenance,
  });
}

export function putTable(put: Put, table: TableValues, rows: number, features: number): void {
  put('weight_shape', table.weightShape);
  put('weight_rate', table.weightRate);
  put('feature_shape', table.featureShape, [rows, features]);
  put('feature_rate', table.featureRate, [rows, features]);
}

/** `apart`: the users lie elsewhere, as in a model by shard. */
export function getPosterior(
  read: TensorReader,
  metadata: Readonly<Record<string, string>>,
  apart = false,
): PosteriorModel {
  const head = fromMetadata(headSchema, metadata);
  const side = (name: SideName): ModelSide => {
    const prefix = `${name}.`;
    const vertices = getVertices(read, prefix);
    if ((vertices.count === 0) !== (apart && name === 'users')) throw new Error(`there are no ${name}`);
    return Object.freeze({
      ...vertices,
      ...getTable(read, prefix, Float32Array, vertices.count, head.features),
      unseenMass: read.numbers(`${prefix}unseen_mass`, Float64Array, head.features, NOT_NEGATIVE),
      hyper: Object.freeze(head.hyper[name]),
      ...(head.tau_matched[name] && { tauMatched: true as const }),
      ...(read.has(`${prefix}draws`) && {
        draws: read.numbers(`${prefix}draws`, Float32Array, undefined, NOT_NEGATIVE),
      }),
      ...(head.counts && {
        counts: Object.freeze({
          mean: read.numbers(`${prefix}count_mean`, Float32Array, vertices.count, LOGARITHM),
          variance: read.numbers(`${prefix}count_variance`, Float32Array, vertices.count, VARIANCE),
        }),
      }),
    });
  };
  const [users, items] = [side('users'), side('items')];
  if (!apart) checkDegrees(users, items);
  checkDraws(users, items, head.features);
  const seen = getSeen(read, users, items);
  return Object.freeze({
    type: 'posterior',
    kind: head.kind,
    features: head.features,
    ...traitsOf(head),
    ...(head.counts && { counts: Object.freeze(head.counts) }),
    users,
    items,
    bound: head.bound ?? undefined,
    provenance: Object.freeze({
      ...recordOf(head),
      bounds: head.bounds,
      ...(head.evidence && { evidence: head.evidence }),
    }),
    ...(seen && { seen }),
  });
}

/** Both sides have the same whole number of draws. */
function checkDraws(users: ModelSide, items: ModelSide, features: number): void {
  const [ofUsers, ofItems] = [users, items].map(
    ({ draws, count }) => (draws?.length ?? 0) / (count * features),
  );
  if ((users.draws || items.draws) && !(Number.isInteger(ofUsers) && ofUsers === ofItems)) {
    throw new Error('the draws of users and items do not match');
  }
}

export function getTable<T extends Float32Array | Float64Array>(
  read: TensorReader,
  prefix: string,
  type: new (buffer: ArrayBufferLike) => T,
  rows: number,
  features: number,
): { weightShape: T; weightRate: T; featureShape: T; featureRate: T } {
  return {
    weightShape: read.numbers(`${prefix}weight_shape`, type, rows, NOT_NEGATIVE),
    weightRate: read.numbers(`${prefix}weight_rate`, type, rows, POSITIVE),
    featureShape: read.numbers(`${prefix}feature_shape`, type, rows * features, NOT_NEGATIVE),
    featureRate: read.numbers(`${prefix}feature_rate`, type, rows * features, POSITIVE),
  };
}
