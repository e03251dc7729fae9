// A ranker as tensors: what serving needs. Each member has a table of means for each side, in single or half precision.
// Users are stored, folded in from their items, or left out.

import { z } from 'zod';
import { InputError } from '../errors.js';
import { NOBODY } from '../fit/fold-in/user-tables.js';
import {
  columnSums,
  type ItemScores,
  type Ranker,
  type RankerMember,
  type RankerScores,
  type Vertices,
} from '../fit/model.js';
import { SIDES } from '../graph/graph.js';
import { lengths } from '../math/csr.js';
import { allocate } from '../math/memory.js';
import type { OptionsOf } from '../options/declare.js';
import type { STORAGE } from '../options/library.js';
import { PRECISIONS, type Precision, USER_STORAGE } from '../options/names.js';
import type { SparseWeights } from '../topn/query.js';
import { fromHalf, toHalf } from './float16.js';
import {
  FINITE,
  NOT_NEGATIVE,
  POSITIVE,
  type Put,
  putInto,
  type Range,
  signed,
  type TensorReader,
} from './tensor-reader.js';
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

/** How a ranker is stored; declared in options/library.ts. */
export interface RankerStorage extends OptionsOf<typeof STORAGE> {}

/** The largest setting that a file may hold: larger than any that a search finds, and still finite in float32. */
const LARGEST_SETTING = 1e12;
const setting = z.number().gt(0).max(LARGEST_SETTING);
const settingOrZero = z.number().min(0).max(LARGEST_SETTING);
const steps = z.number().int().min(1).max(10_000);
const foldSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('poisson'),
    steps,
    hyper: hyperSchema,
    weighed: z.literal(true).optional(),
  }),
  z.object({ kind: z.literal('least-squares'), lambda: setting, alpha: settingOrZero }),
  z.object({
    kind: z.literal('hierarchical'),
    steps,
    shape: setting,
    rateShape: setting,
    rateMean: setting,
  }),
]);
const memberSchema = z.object({
  features: z.number().int().min(1).max(65_536),
  fold: foldSchema,
  share: setting.optional(),
  seed: z.number().int().min(0),
  iterations: z.number().int().min(0),
  converged: z.boolean(),
});
const exponent = z.number().min(0).max(2);
const gain = z.number().min(-1e6).max(1);
export const blendSchema = z.object({
  heldBack: z.number().int().min(0),
  weights: z.object({
    neighbours: z.number().int().min(1).max(1000),
    lambda: setting,
    dropout: settingOrZero,
    // Files of version 0.2 have no exponents: every user and item counts alike.
    users: exponent.default(0),
    candidates: exponent.default(0),
    similarities: settingOrZero.default(0),
    history: exponent.default(0.6),
  }),
  leastSquares: z.object({ lambda: setting, alpha: settingOrZero }),
  adds: z.object({ weights: gain, similarities: gain, leastSquares: gain }).optional(),
  edges: z.number().int().min(1),
  kept: z.boolean().optional(),
});
/** The largest time or span in milliseconds; dates have smaller ones. */
const LARGEST_TIME = 1e18;
const span = z.number().gt(0).max(LARGEST_TIME);
const share = z.number().min(-1e6).max(1e6);
const recencySchema = z.object({
  halfLife: span,
  latest: z.number().min(-LARGEST_TIME).max(LARGEST_TIME),
});
export const searchSchema = z.object({
  heldBack: z.number().int().min(0),
  halfLife: span.optional(),
  tried: z.array(z.object({ halfLife: span, gain: share, error: share })).max(100),
});
const headSchema = z.object({
  ...recordShape,
  type: z.literal('ranker'),
  method: z.string().min(1).max(100),
  scores: z.enum(['factors', 'items', 'popularity']),
  precision: z.enum(PRECISIONS),
  users: z.enum(USER_STORAGE),
  members: z.array(memberSchema).max(1000).optional(),
  blend: blendSchema.optional(),
  weighed: recencySchema.optional(),
  recency: searchSchema.optional(),
});
type Head = z.infer<typeof headSchema>;

export function putRanker(
  tensors: Map<string, Tensor>,
  model: Ranker,
  { precision = 'float32', users = 'stored' }: RankerStorage,
): Record<string, string> {
  if (users === 'folded' && !model.seen) {
    throw new InputError(
      'users cannot be folded in on demand: the model does not know their items; store the users, or leave them out',
    );
  }
  const { scores } = model;
  for (const name of SIDES) {
    if (name === 'items' || users !== 'none') putVertices(putInto(tensors, `${name}.`), model[name]);
  }
  if (model.seen && users !== 'none') putSeen(tensors, model.seen);
  if (scores.kind === 'factors') {
    for (const [m, member] of scores.members.entries()) {
      const put = putInto(tensors, `members.${m}.`);
      const form = memberPrecision(member, precision);
      putMeans(put, 'items', member.items, model.items.count, form, member.userMass);
      if (users === 'stored' && member.users) {
        const weights = columnSums(member.items, member.features);
        putMeans(put, 'users', member.users, model.users.count, form, weights);
      }
      put('user_mass', member.userMass);
    }
    if (scores.itemWeights) putSparse(putInto(tensors, 'blend.'), scores.itemWeights, 'float32');
  } else if (scores.kind === 'items') {
    putWeights(putInto(tensors, 'weights.'), scores, model.items.count, precision);
  }
  const hasUserTables = scores.kind === 'factors' && scores.members.every((member) => member.users);
  const { method, multigraph, provenance } = model;
  return toMetadata({
    type: 'ranker',
    method,
    multigraph,
    names: model.names,
    scores: scores.kind,
    precision,
    users: users === 'stored' && !hasUserTables ? 'folded' : users,
    ...(scores.kind === 'factors' && {
      members: scores.members.map(({ features, fold, share, seed, iterations, converged }) => ({
        features,
        fold,
        ...(share !== undefined && { share }),
        seed,
        iterations,
        converged,
      })),
    }),
    ...(model.recency && { weighed: model.recency }),
    ...provenance,
  });
}

/** Members of a blend have numbers of both signs: half precision would change lists and save little. */
function memberPrecision(
  { share }: { readonly share?: number | undefined },
  precision: Precision,
): Precision {
  return share === undefined ? precision : 'float32';
}

function putMeans(
  put: Put,
  name: string,
  table: Float32Array,
  rows: number,
  precision: Precision,
  weights?: Float64Array,
): void {
  const shape = [rows, rows === 0 ? 0 : table.length / rows];
  if (precision === 'float32') {
    put(name, table, shape);
    return;
  }
  const { values, scales } = toHalf(table, rows, weights);
  put(name, values, shape);
  put(`${name}_scale`, scales);
}

function getMeans(
  read: TensorReader,
  name: string,
  rows: number,
  features: number,
  precision: Precision,
  range: Range,
): Float32Array {
  if (precision === 'float32') return read.numbers(name, Float32Array, rows * features, range);
  const values = read.get(name, Uint16Array, rows * features);
  const scales = read.numbers(`${name}_scale`, Float32Array, rows, POSITIVE);
  const table = fromHalf({ values, scales }, allocate(Float32Array, values.length));
  const bad = table.findIndex((value) => !range.ok(value));
  if (bad >= 0)
    throw new Error(`tensor ${name} holds ${table[bad]} at ${bad}, where a model has ${range.says}`);
  return table;
}

/** Weights by the item that they come from: a full table, or for each item their number and the items they lead to. */
function putWeights(put: Put, scores: ItemScores, count: number, precision: Precision): void {
  const { offsets, targets, weights } = scores;
  if (offsets && targets) putSparse(put, { offsets, targets, weights }, precision);
  else putMeans(put, 'values', weights, count, precision);
}

export function putSparse(
  put: Put,
  { offsets, targets, weights }: SparseWeights,
  precision: Precision,
): void {
  put('targets', signed(targets));
  put('lengths', signed(lengths({ offsets })));
  putMeans(put, 'values', weights, 1, precision);
}

function getWeights(read: TensorReader, count: number, precision: Precision): ItemScores {
  if (!read.has('weights.targets')) {
    const weights = getMeans(read, 'weights.values', count, count, precision, FINITE);
    return Object.freeze({ kind: 'items', offsets: undefined, targets: undefined, weights });
  }
  return Object.freeze({ kind: 'items', ...getSparse(read, 'weights.', count, precision) });
}

/** Sparse weights with `count` rows; their targets are below `columns`. */
export function getSparse(
  read: TensorReader,
  prefix: string,
  count: number,
  precision: Precision,
  columns = count,
): SparseWeights {
  const lengths = read.whole(`${prefix}lengths`, count);
  const long = lengths.findIndex((length) => length > columns);
  if (long >= 0) throw new Error(`item ${long} has ${lengths[long]} weights for ${columns} items`);
  const offsets = read.offsets(`${prefix}lengths`, lengths);
  const targets = read.lists(`${prefix}targets`, offsets, columns, 'an item');
  const weights = getMeans(read, `${prefix}values`, 1, targets.length, precision, FINITE);
  return Object.freeze({ offsets, targets, weights });
}

export function getRanker(read: TensorReader, metadata: Readonly<Record<string, string>>): Ranker {
  const head = fromMetadata(headSchema, metadata);
  const items = getVertices(read, 'items.');
  const without = head.users === 'none';
  const users = without ? NOBODY : getVertices(read, 'users.');
  if (items.count === 0) throw new Error('there are no items');
  if (!without && users.count === 0) throw new Error('there are no users');
  if (!without) checkDegrees(users, items);
  const seen = without ? undefined : getSeen(read, users, items);
  if (head.users === 'folded' && !seen)
    throw new Error('tensor users.neighbors is missing or of another type');
  return Object.freeze({
    type: 'ranker',
    method: head.method,
    ...traitsOf(head),
    users,
    items,
    scores: getScores(read, head, users, items),
    provenance: Object.freeze({
      ...recordOf(head),
      ...(head.blend && { blend: head.blend }),
      ...(head.recency && { recency: head.recency }),
    }),
    ...(seen === undefined ? {} : { seen }),
    ...(head.weighed && { recency: Object.freeze(head.weighed) }),
  });
}

function getScores(read: TensorReader, head: Head, users: Vertices, items: Vertices): RankerScores {
  if (head.scores === 'popularity') return Object.freeze({ kind: 'popularity' });
  if (head.scores === 'items') return getWeights(read, items.count, head.precision);
  const { precision } = head;
  const members = (head.members ?? []).map((member, m): RankerMember => {
    const { features, fold } = member;
    const form = memberPrecision(member, precision);
    const range = fold.kind === 'least-squares' ? FINITE : NOT_NEGATIVE;
    const table = (side: 'users' | 'items', rows: number) =>
      getMeans(read, `members.${m}.${side}`, rows, features, form, range);
    return Object.freeze({
      ...member,
      items: table('items', items.count),
      users: head.users === 'stored' ? table('users', users.count) : undefined,
      userMass: read.numbers(`members.${m}.user_mass`, Float64Array, features, FINITE),
    });
  });
  if (members.length === 0) throw new Error('a ranker with factors has no member');
  const itemWeights = read.has('blend.targets') && getSparse(read, 'blend.', items.count, 'float32');
  return Object.freeze({
    kind: 'factors',
    members: Object.freeze(members),
    ...(itemWeights && { itemWeights }),
  });
}
