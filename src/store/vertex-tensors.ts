// What every model file has: the vertices of both sides, the edges it was fitted to, and the record of its fit.

import { z } from 'zod';
import type { FitRecord, SeenItems, Vertices } from '../fit/model.js';
import { SIDES, type SideName } from '../graph/graph.js';
import { readSideNames } from '../text/sides.js';
import { type Put, putIds, putInto, signed, type TensorReader } from './tensor-reader.js';
import type { Tensor } from './tensors.js';

/** Beyond this a σ is no tail index, and sums over it do not end. */
const LEAST_SIGMA = -1e6;

const sideHyper = z.object({
  sigma: z.number().gt(LEAST_SIGMA).lt(1),
  tau: z.number().gt(0),
  shape: z.number().gt(0),
  rate: z.number().gt(0),
  size: z.number().min(0),
});
export const hyperSchema = z.object({ users: sideHyper, items: sideHyper });

const whole = z.number().int().min(0);

/** Fields of the metadata that every model has; values but texts are stored as JSON. */
export const recordShape = {
  multigraph: z.boolean(),
  // Words that are no names are not worth a model: they are left out, not refused.
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
  return { version, seed, fingerprint, options: givenOptions(options), iterations, converged };
}

/** Files before version 0.2 hold resolved settings, with hyperparameters under `given` or `hyper`; these are options again. */
function givenOptions(stored: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (stored.given === undefined && stored.hyper === undefined) return stored;
  const { given, hyper, learn, objective, former: _, engine, ...rest } = stored;
  const side = (name: SideName) => {
    const { size, ...others } =
      ((hyper ?? given) as Partial<Record<SideName, { size?: unknown }>>)[name] ?? {};
    return hyper || size === undefined ? others : { ...others, size };
  };
  const gibbs = engine === 'gibbs';
  const names = SIDES.flatMap((name) =>
    ((learn as Partial<Record<SideName, string[]>> | undefined)?.[name] ?? []).map(
      (what) => `${name}.${what}`,
    ),
  );
  return {
    ...rest,
    ...(engine !== undefined && !gibbs && { engine }),
    ...(hyper === undefined && { learn: names }),
    method: objective === 'ranking' ? 'ranking' : gibbs ? 'gibbs' : 'ascent',
    users: side('users'),
    items: side('items'),
  };
}

/** What a model says of its sides beside the tensors. */
export function traitsOf(head: z.infer<z.ZodObject<typeof recordShape>>) {
  const names = readSideNames(head.names);
  return { multigraph: head.multigraph, ...(names && { names }) };
}

/** Texts as they are, everything else as JSON, so that other readers see plain values. */
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

/** Ids and degrees of one side. */
export function putVertices(put: Put, { degree, ids }: Vertices): void {
  put('degree', signed(degree));
  putIds(put, ids);
}

export function getVertices(read: TensorReader, prefix: string): Vertices {
  const ids = read.ids(prefix);
  return Object.freeze({ count: ids.length, ids, degree: read.whole(`${prefix}degree`, ids.length) });
}

/** Degrees of a graph: no vertex has more edges than the other side has vertices, and both sides count the same edges. */
export function checkDegrees(users: Vertices, items: Vertices): void {
  const total = (own: Vertices, other: Vertices, name: string) => {
    let sum = 0;
    for (let v = 0; v < own.count; v++) {
      if (own.degree[v] > other.count) {
        throw new Error(
          `tensor ${name}.degree holds ${own.degree[v]}, and there are ${other.count} on the other side`,
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

/** Where each user's items begin follows from the degrees. */
export function putSeen(tensors: Map<string, Tensor>, { neighbors, counts }: SeenItems): void {
  const put = putInto(tensors, 'users.');
  put('neighbors', signed(neighbors));
  if (counts) put('counts', signed(counts));
}

/** `some`: the users are not all, so that items have users elsewhere. */
export function getSeen(
  read: TensorReader,
  users: Vertices,
  items: Vertices,
  some = false,
): SeenItems | undefined {
  if (!read.has('users.neighbors')) return undefined;
  const offsets = new Uint32Array(users.count + 1);
  for (let u = 0; u < users.count; u++) {
    const next = offsets[u] + users.degree[u];
    if (next > 0xffffffff) throw new Error('tensor users.degree adds up to more edges than a model has');
    offsets[u + 1] = next;
  }
  const neighbors = read.whole('users.neighbors', offsets[users.count]);
  const counted = new Uint32Array(items.count);
  for (let u = 0; u < users.count; u++) {
    for (let e = offsets[u]; e < offsets[u + 1]; e++) {
      const item = neighbors[e];
      if (item >= items.count)
        throw new Error(
          `tensor users.neighbors names items that are not there: number ${item}, where the last is ${items.count - 1}`,
        );
      if (e > offsets[u] && item <= neighbors[e - 1]) {
        throw new Error('tensor users.neighbors does not ascend within a user');
      }
      counted[item]++;
    }
  }
  const wrong = counted.findIndex((n, item) => (some ? n > items.degree[item] : n !== items.degree[item]));
  if (wrong >= 0) {
    throw new Error(`item ${wrong} has ${counted[wrong]} users, and its degree says ${items.degree[wrong]}`);
  }
  // Signed by type alone: a count may have all 32 bits.
  const counts = read.has('users.counts')
    ? new Uint32Array(read.get('users.counts', Int32Array, neighbors.length).buffer)
    : undefined;
  if (counts?.includes(0)) throw new Error('tensor users.counts holds 0 for an edge');
  return Object.freeze({ offsets, neighbors, counts });
}
