// A posterior as tensors: users.* and items.* hold shapes, rates, leftover masses, degrees and ids. Files of version 1
// also held rankers in this form, members under members.N.*; they are read as rankers.

import { z } from 'zod';
import type { TableValues } from '../engine/engine.js';
import { RANKING_STEPS } from '../fit/fold-in/fold-in.js';
import {
  columnSums,
  type Model,
  type ModelSide,
  meanTable,
  type PosteriorModel,
  type Ranker,
  type RankerMember,
} from '../fit/model.js';
import { SIDES, type SideName } from '../graph/graph.js';
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
/** Logarithms of counts beyond this are no counts. */
const LARGEST_LOG = 1e3;
const spread = z.number().gt(0).max(LARGEST_LOG);
const countLawSchema = z.object({
  mean: z.number().min(-LARGEST_LOG).max(LARGEST_LOG),
  spread,
  users: spread,
  items: spread,
});
const headSchema = z.object({
  ...recordShape,
  kind: z.enum(MODEL_KINDS),
  objective: z.enum(['evidence', 'ranking']),
  features: z.number().int().min(1),
  bound: z.number().nullable(),
  hyper: hyperSchema,
  /** Whether the fit matched τ. Earlier files do not say it: they matched it if it is not 1. */
  tau_matched: z.object({ users: z.boolean(), items: z.boolean() }).optional(),
  bounds: boundsSchema,
  counts: countLawSchema.optional(),
  evidence: z.object({ sparse: z.number(), dense: z.number(), difference: z.number() }).optional(),
});
type Head = z.infer<typeof headSchema>;

const LOGARITHM: Range = {
  ok: (x) => Math.abs(x) <= LARGEST_LOG,
  says: 'the logarithm of a count',
};
const VARIANCE: Range = {
  ok: (x) => x >= 0 && x <= LARGEST_LOG ** 2,
  says: 'the variance of a logarithm of a count',
};

/** Half-steps of a fold-in into a sum of posteriors. */
const POSTERIOR_STEPS = 60;

export function putPosterior(tensors: Map<string, Tensor>, model: PosteriorModel): Record<string, string> {
  for (const name of SIDES) {
    const put = putInto(tensors, `${name}.`);
    const side = model[name];
    putTable(put, side, side.count, model.features);
    put('leftover', side.unseenMass);
    putVertices(put, side);
    if (side.counts) {
      put('count_mean', side.counts.mean);
      put('count_variance', side.counts.variance);
    }
  }
  if (model.seen) putSeen(tensors, model.seen);
  const { kind, features, multigraph, users, items, provenance } = model;
  const hyper = { users: users.hyper, items: items.hyper };
  // The objective is for readers of version 1, which held rankers in the same form.
  return toMetadata({
    kind,
    objective: 'evidence',
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

/**
 * A model of version 1, and the Gammas of the fit that was stopped, which its checkpoint goes on from. Of a model by shard
 * the users are `apart`.
 */
export function getPosterior(
  read: TensorReader,
  metadata: Readonly<Record<string, string>>,
  apart = false,
): { readonly model: Model; readonly stopped: Readonly<Record<SideName, ModelSide>> } {
  const { head, ...sides } = getFit(read, '', metadata);
  const { users, items } = sides;
  for (const name of SIDES) {
    if ((sides[name].count === 0) !== (apart && name === 'users')) throw new Error(`there are no ${name}`);
  }
  if (!apart) checkDegrees(users, items);
  const seen = getSeen(read, users, items);
  const heads = z
    .array(z.record(z.string(), z.string()))
    .max(1000)
    .parse(metadata.members === undefined ? [] : JSON.parse(metadata.members));
  if (head.objective === 'evidence' && heads.length === 0) {
    const model: PosteriorModel = Object.freeze({
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
        ...(head.evidence ? { evidence: head.evidence } : {}),
      }),
      ...(seen === undefined ? {} : { seen }),
    });
    return { model, stopped: sides };
  }
  const fits = [{ head, ...sides }, ...heads.map((own, m) => getFit(read, `members.${m}.`, own))];
  for (const fit of fits) {
    for (const name of SIDES) {
      if (fit[name].count !== sides[name].count) throw new Error(`members differ in their ${name}`);
    }
  }
  const vertices = ({ count, ids, degree }: ModelSide) => Object.freeze({ count, ids, degree });
  const model: Ranker = Object.freeze({
    type: 'ranker',
    method: head.objective === 'ranking' ? 'ranking' : 'ascent',
    ...traitsOf(head),
    users: vertices(users),
    items: vertices(items),
    scores: Object.freeze({ kind: 'factors', members: Object.freeze(fits.map(memberOf)) }),
    provenance: Object.freeze(recordOf(head)),
    ...(seen === undefined ? {} : { seen }),
  });
  return { model, stopped: fits[fits.length - 1] };
}

interface StoredFit extends Readonly<Record<SideName, ModelSide>> {
  readonly head: Head;
}

function getFit(read: TensorReader, prefix: string, metadata: Readonly<Record<string, string>>): StoredFit {
  const head = fromMetadata(headSchema, metadata);
  const side = (name: SideName): ModelSide => {
    const own = `${prefix}${name}.`;
    const vertices = getVertices(read, own);
    return Object.freeze({
      ...vertices,
      ...getTable(read, own, Float32Array, vertices.count, head.features),
      unseenMass: read.numbers(`${own}leftover`, Float64Array, head.features, NOT_NEGATIVE),
      hyper: Object.freeze(head.hyper[name]),
      ...((head.tau_matched?.[name] ?? head.hyper[name].tau !== 1) && { tauMatched: true as const }),
      ...(head.counts && {
        counts: Object.freeze({
          mean: read.numbers(`${own}count_mean`, Float32Array, vertices.count, LOGARITHM),
          variance: read.numbers(`${own}count_variance`, Float32Array, vertices.count, VARIANCE),
        }),
      }),
    });
  };
  return { head, users: side('users'), items: side('items') };
}

function memberOf({ head, users, items }: StoredFit): RankerMember {
  const { features, hyper, seed, iterations, converged } = head;
  const means = meanTable(users, features);
  return Object.freeze({
    features,
    items: meanTable(items, features),
    users: means,
    userMass: columnSums(means, features),
    fold: Object.freeze({
      kind: 'poisson',
      steps: head.objective === 'ranking' ? RANKING_STEPS : POSTERIOR_STEPS,
      hyper,
    }),
    seed,
    iterations,
    converged,
  });
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
