// What every model file holds: the vertices of both sides, the edges of the data, and the record of the fit.

import { z } from 'zod';
import type { FitRecord, SeenItems, Vertices } from '../fit/model.js';
import { HYPER } from '../options/shared.js';
import { LARGEST_SIZE } from '../process/sizes.js';
import { readSideNames } from '../text/sides.js';
import { NOT_NEGATIVE, type Put, putIds, putInto, signed, type TensorReader } from './tensor-reader.js';
import type { Tensor } from './tensors.js';

/** Hyperparameters that a fit learns or matches may leave the bounds of the options by this factor. */
const SLACK = 1000;
const { sigma, tau, shape, rate } = HYPER;
const positive = ({ min, max }: { readonly min: number; readonly max: number }) =>
  z
    .number()
    .min(min / SLACK)
    .max(max * SLACK);
const sideHyper = z.object({
  sigma: z
    .number()
    .min(sigma.min * SLACK)
    .lt(sigma.below),
  tau: positive(tau),
  shape: positive(shape),
  rate: positive(rate),
  // A fit of few sweeps may learn a size of any magnitude that float32 holds.
  size: z.number().min(0).max(LARGEST_SIZE),
});
export const hyperSchema = z.object({ users: sideHyper, items: sideHyper });

const whole = z.number().int().min(0);

/** Fields of the metadata that every model has. Values other than texts are stored as JSON. */
export const recordShape = {
  multigraph: z.boolean(),
  // Names that are not valid are dropped; the model is still good.
  names: z.unknown().optional(),
  version: z.string(),
  seed: whole,
  fingerprint: z.string(),
  options: z.record(z.string(), z.unknown()),
  iterations: whole,
  converged: z.boolean(),
};

export function recordOf(head: z.infer<z.ZodObject<typeof recordShape>>): FitRecord {
  const { version, seed, fingerprint, options, iterations, converged } = head;
  return { version, seed, fingerprint, options, iterations, converged };
}

/** What the metadata says of the sides. */
export function traitsOf(head: z.infer<z.ZodObject<typeof recordShape>>) {
  const names = readSideNames(head.names);
  return { multigraph: head.multigraph, ...(names && { names }) };
}

/** Texts stay as they are, and other values become JSON, so that other readers see plain values. */
export function toMetadata(head: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(head)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}

export function fromMetadata<T extends z.ZodRawShape>(
  schema: z.ZodObject<T>,
  metadata: Readonly<Record<string, string>>,
): z.infer<z.ZodObject<T>> {
  const values: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(schema.shape)) {
    const text = metadata[key];
    if (text === undefined) continue;
    const isText =
      field instanceof z.ZodString || field instanceof z.ZodEnum || field instanceof z.ZodLiteral;
    values[key] = isText ? text : JSON.parse(text);
  }
  return schema.parse(values);
}

export function putVertices(put: Put, { degree, ids }: Vertices): void {
  put('degree', signed(degree));
  putIds(put, ids);
}

export function getVertices(read: TensorReader, prefix: string): Vertices {
  const ids = read.ids(prefix);
  return Object.freeze({ count: ids.length, ids, degree: read.whole(`${prefix}degree`, ids.length) });
}

/** Checks degrees: no vertex has more edges than the other side has vertices, and both sides have the same number of edges. */
export function checkDegrees(users: Vertices, items: Vertices): void {
  const total = (own: Vertices, other: Vertices, name: string) => {
    let sum = 0;
    for (let v = 0; v < own.count; v++) {
      if (own.degree[v] > other.count) {
        throw new Error(
          `tensor ${name}.degree holds ${own.degree[v]}, and the other side has ${other.count} vertices`,
        );
      }
      sum += own.degree[v];
    }
    return sum;
  };
  const [byUsers, byItems] = [total(users, items, 'users'), total(items, users, 'items')];
  if (byUsers !== byItems) {
    throw new Error(`the degrees of the users add up to ${byUsers} edges, those of the items to ${byItems}`);
  }
}

/** The degrees say where the items of each user start. */
export function putSeen(tensors: Map<string, Tensor>, { neighbors, counts, ages }: SeenItems): void {
  const put = putInto(tensors, 'users.');
  put('neighbors', signed(neighbors));
  if (counts) put('counts', signed(counts));
  if (ages) put('ages', ages);
}

/** `some`: these are only some of the users, so that an item's degree may be larger. */
export function getSeen(
  read: TensorReader,
  users: Vertices,
  items: Vertices,
  some = false,
): SeenItems | undefined {
  if (!read.has('users.neighbors')) return undefined;
  const offsets = read.offsets('users.degree', users.degree);
  const neighbors = read.lists('users.neighbors', offsets, items.count, 'a user');
  const counted = new Uint32Array(items.count);
  for (const item of neighbors) counted[item]++;
  const wrong = counted.findIndex((n, item) => (some ? n > items.degree[item] : n !== items.degree[item]));
  if (wrong >= 0) {
    throw new Error(`item ${wrong} has ${counted[wrong]} users, and its degree is ${items.degree[wrong]}`);
  }
  // A count may use all 32 bits; only the type is signed.
  const counts = read.has('users.counts')
    ? new Uint32Array(read.get('users.counts', Int32Array, neighbors.length).buffer)
    : undefined;
  if (counts?.includes(0)) throw new Error('tensor users.counts holds 0 for an edge');
  const ages = read.has('users.ages')
    ? read.numbers('users.ages', Float32Array, neighbors.length, NOT_NEGATIVE)
    : undefined;
  return Object.freeze({ offsets, neighbors, counts, ...(ages && { ages }) });
}
