// Splits. `pq`: a random draw per user and per item cuts the graph in four; training users keep all their items. `edges`:
// the naive uniform hold-out, for comparison; it prefers vertices of high degree. `time`: the latest edges are the test part. `last`:
// the last edges of each user are. `new-items`: all edges of some items are, so that training never saw these items.

import { InputError } from '../errors.js';
import { fingerprint } from '../graph/fingerprint.js';
import { type BipartiteGraph, type BySide, bySide, type PartSize } from '../graph/graph.js';
import type { VertexIds } from '../graph/ids.js';
import { selectEdges, selectVertices } from '../graph/subgraph.js';
import type { EdgeRows } from '../math/csr.js';
import { sumOf } from '../math/moments.js';
import { randomStream, shuffle } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { withDefaults } from '../options/check-options.js';
import { FOLDS, SPLIT } from '../options/commands/split.js';
import type { OptionsOf } from '../options/declare.js';
import { option, optionError } from '../options/error.js';
import { SPLIT_TIMES } from '../options/library.js';
import type { SplitMethod } from '../options/names.js';
import { shown } from '../text/untrusted.js';
import { drawAssignment } from './pq.js';
import type { Split, SplitTimes } from './split-types.js';

/** Fractions, method and seed of a split; declared in options/commands/split.ts. */
export interface SplitOptions extends OptionsOf<typeof SPLIT & typeof SPLIT_TIMES> {}

/**
 * Splits a graph into training, fold-in and test parts by users and items, without favouring vertices of high degree.
 * @example
 * import { simulate, split } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * const { train, foldIn, test } = split(graph, { testUsers: 0.2, testItems: 0.2, seed: 1 });
 * console.log(train.edges, foldIn.edges, test.edges);
 */
export function split(graph: BipartiteGraph, options: SplitOptions = {}): Split {
  const { testUsers, testItems, method, seed, times, last } = withDefaults(
    { ...SPLIT, ...SPLIT_TIMES },
    options,
  );
  if (method !== 'pq' && method !== 'new-items' && options.testItems !== undefined) {
    throw optionError`${option('testItems')} has no meaning with ${option('method')} ${method}: only the methods pq and new-items hold out items`;
  }
  if (method === 'new-items' && options.testUsers !== undefined) {
    throw optionError`${option('testUsers')} has no meaning with ${option('method')} new-items: ${option('testItems')} is the fraction of the items`;
  }
  if (method === 'last' && options.testUsers !== undefined) {
    throw optionError`${option('testUsers')} has no meaning with ${option('method')} last: ${option('last')} is the number of edges of each user`;
  }
  if (method !== 'last' && last !== undefined) {
    throw optionError`${option('last')} is for ${option('method')} last; leave it out, or split by it`;
  }
  checkTimes(graph, method, times);
  const about = { method, seed, testUsers, testItems };
  if (method === 'pq') {
    const drawn = pqAssignment(graph.users.count, graph.items.count, about);
    return pqSplit(graph, drawn, times, { ...about, fingerprint: fingerprint(graph) });
  }
  const random = randomStream(seed, STREAMS.split);
  const cut = method === 'time' ? latest(times!, testUsers) : undefined;
  const drawn = {
    users: new Uint8Array(graph.users.count),
    items:
      method === 'new-items'
        ? drawAssignment(graph.items.count, testItems, random.derive(1))
        : new Uint8Array(graph.items.count),
  };
  const labels =
    cut !== undefined
      ? Uint8Array.from(times!, (time) => (time >= cut ? LABELS.test : LABELS.train))
      : method === 'last'
        ? lastOfUsers(graph, times!, last ?? 1)
        : method === 'new-items'
          ? Uint8Array.from(graph.users.neighbors, (item) => drawn.items[item])
          : drawAssignment(graph.edges, testUsers, random.derive(2));
  const parts = {
    train: selectEdges(graph, labels, LABELS.train),
    foldIn: selectEdges(graph, labels, LABELS.foldIn),
    test: selectEdges(graph, labels, LABELS.test),
  };
  const whole = { ...about, fingerprint: fingerprint(graph) };
  return finishSplit(graph, parts, drawn, times && timesOfParts(times, labels, cut), whole);
}

/**
 * K splits of a graph: the users are cut into K folds of equal size at random, and each split holds out one of them. Each has
 * its own test items.
 * @example
 * import { simulate, splitFolds } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * console.log(splitFolds(graph, 3, { testItems: 0.3, seed: 1 }).map(({ test }) => test.users.count));
 */
export function splitFolds(
  graph: BipartiteGraph,
  folds: number,
  options: Pick<SplitOptions, 'testItems' | 'seed' | 'times'> = {},
): Split[] {
  withDefaults({ folds: FOLDS }, { folds });
  const { testItems, seed, times } = withDefaults({ ...SPLIT, ...SPLIT_TIMES }, options);
  if (folds > graph.users.count) {
    throw optionError`${option('folds')} ${folds}: the data have only ${graph.users.count} users; give fewer folds`;
  }
  checkTimes(graph, 'pq', times);
  const random = randomStream(seed, STREAMS.split);
  const order = shuffle(
    Array.from({ length: graph.users.count }, (_, u) => u),
    random.derive(3),
  );
  const fold = new Uint8Array(graph.users.count);
  for (const [place, user] of order.entries()) fold[user] = place % folds;
  const whole = fingerprint(graph);
  return Array.from({ length: folds }, (_, f) => {
    const users = fold.map((own) => (own === f ? 1 : 0));
    const items = drawAssignment(graph.items.count, testItems, random.derive(4, f));
    const about = { method: 'pq', seed, testUsers: 1 / folds, testItems, fingerprint: whole } as const;
    return pqSplit(graph, { users, items }, times, about);
  });
}

type About = Pick<Split, 'method' | 'seed' | 'testUsers' | 'testItems' | 'fingerprint'>;
/** 1 marks a held-out user or a test item. */
type Drawn = BySide<Uint8Array>;

function pqSplit(graph: BipartiteGraph, drawn: Drawn, times: Float64Array | undefined, about: About): Split {
  const { users, items } = drawn;
  const everyItem = new Uint8Array(items.length).fill(1);
  const parts = {
    train: selectVertices(graph, opposite(users), everyItem),
    foldIn: selectVertices(graph, users, opposite(items)),
    test: selectVertices(graph, users, items),
  };
  return finishSplit(graph, parts, drawn, times && timesOfParts(times, pqLabels(graph.users, drawn)), about);
}

function finishSplit(
  graph: BipartiteGraph,
  parts: Pick<Split, 'train' | 'foldIn' | 'test'>,
  drawn: Drawn,
  times: SplitTimes | undefined,
  about: About,
): Split {
  for (const name of ['train', 'test'] as const) {
    if (parts[name].edges === 0) {
      const { users: all, items: each, edges } = graph;
      throw emptyPart(name, { users: all.count, items: each.count, edges }, about);
    }
  }
  return Object.freeze({
    ...about,
    ...parts,
    ...(times && { times }),
    assignment: Object.freeze(bySide((side) => Object.freeze({ ids: graph[side].ids, drawn: drawn[side] }))),
  });
}

/** The random draws of a `pq` split, in the order of the ids of each side. */
export function pqAssignment(
  users: number,
  items: number,
  { testUsers, testItems, seed }: Pick<Split, 'testUsers' | 'testItems' | 'seed'>,
): Drawn {
  const random = randomStream(seed, STREAMS.split);
  return {
    users: drawAssignment(users, testUsers, random.derive(0)),
    items: drawAssignment(items, testItems, random.derive(1)),
  };
}

export function emptyPart(
  name: 'train' | 'test',
  { users, items, edges }: PartSize,
  { method, testUsers, testItems }: Pick<Split, 'method' | 'testUsers' | 'testItems'>,
): InputError {
  const fraction = `test fraction ${method === 'new-items' ? testItems : testUsers}`;
  const [what, remedy] = {
    pq: [`test fractions ${testUsers} and ${testItems}`, 'other fractions, another seed,'],
    edges: [fraction, 'another fraction, another seed,'],
    'new-items': [fraction, 'another fraction, another seed,'],
    time: [`${fraction}, and edges of one moment stay together`, 'another fraction'],
    last: ['no user has more edges than the split takes', 'fewer edges of each user'],
  }[method];
  return new InputError(
    `the ${name} part of the split has no edges (${users} users, ${items} items, ${edges} edges; ${what}): ` +
      `use ${remedy} or more data`,
  );
}

/** The time from which on at least the given fraction of the edges lies; edges of one moment stay together. */
export function latest(times: Float64Array, fraction: number): number {
  return times.slice().sort()[Math.floor((1 - fraction) * times.length)];
}

export function pqLabels({ offsets, neighbors }: EdgeRows, drawn: Drawn): Uint8Array {
  const labels = new Uint8Array(neighbors.length);
  for (let u = 0; u + 1 < offsets.length; u++) {
    if (!drawn.users[u]) continue;
    for (let e = offsets[u]; e < offsets[u + 1]; e++)
      labels[e] = drawn.items[neighbors[e]] ? LABELS.test : LABELS.foldIn;
  }
  return labels;
}

function timesOfParts(times: Float64Array, labels: Uint8Array, cut?: number): SplitTimes {
  const labelled = (label: number) => times.filter((_, e) => labels[e] === label);
  return Object.freeze({
    ...(cut !== undefined && { cut }),
    ...{ train: labelled(LABELS.train), foldIn: labelled(LABELS.foldIn), test: labelled(LABELS.test) },
  });
}

/** Marks the last `count` edges of each user who has more than `count`. */
function lastOfUsers({ users }: BipartiteGraph, times: Float64Array, count: number): Uint8Array {
  const late = new Uint8Array(times.length);
  for (let u = 0; u < users.count; u++) {
    if (users.offsets[u + 1] - users.offsets[u] <= count) continue;
    for (const edge of lastEdges(users, u, times, count)) late[edge] = 1;
  }
  return late;
}

/** The last `count` edges of a user. Among edges of the same time, those of the last items come first. */
export function lastEdges({ offsets }: EdgeRows, user: number, times: Float64Array, count: number): number[] {
  const own = Array.from({ length: offsets[user + 1] - offsets[user] }, (_, e) => offsets[user] + e);
  return own.sort((a, b) => times[b] - times[a] || b - a).slice(0, count);
}

function checkTimes(graph: BipartiteGraph, method: SplitMethod, times: Float64Array | undefined): void {
  if (times === undefined) {
    if (method !== 'time' && method !== 'last') return;
    throw optionError`${option('method')} ${method} needs the time of each edge: give ${option('times')}`;
  }
  requireTimes(times, graph.edges);
}

/** Refuses times that are not one finite number for each edge. */
export function requireTimes(times: Float64Array, edges: number): void {
  if (times.length !== edges) {
    throw optionError`${option('times')}: ${times.length} times for ${edges} edges; give one for each`;
  }
  const bad = times.findIndex((time) => !Number.isFinite(time));
  if (bad >= 0)
    throw optionError`${option('times')}: the time of edge ${bad} is ${times[bad]}; give finite numbers`;
}

/** The label of the edges of each part. */
export const LABELS = { train: 0, test: 1, foldIn: 2 } as const;

function opposite(drawn: Uint8Array): Uint8Array {
  return drawn.map((one) => 1 - one);
}

/**
 * Vertices of the fold-in and test parts that are not in the training part, and their edges: a model must drop them.
 * With `pq` only items count, because held-out users are folded in; with `new-items` only users, because attributes score the items.
 */
export function unseenByTraining(split: Split): { readonly foldIn: PartSize; readonly test: PartSize } {
  const seen = {
    users: split.method !== 'pq' ? vertexMask(split.assignment.users.ids, split.train.users.ids) : undefined,
    items:
      split.method !== 'new-items'
        ? vertexMask(split.assignment.items.ids, split.train.items.ids)
        : undefined,
  };
  const count = (part: BipartiteGraph): PartSize => {
    const newUsers = seen.users && notIn(seen.users, split.assignment.users.ids, part.users.ids);
    const newItems = seen.items && notIn(seen.items, split.assignment.items.ids, part.items.ids);
    let edges = 0;
    for (let user = 0; user < part.users.count; user++) {
      const isNew = newUsers?.[user] ?? 0;
      for (let e = part.users.offsets[user]; e < part.users.offsets[user + 1]; e++) {
        edges += isNew | (newItems?.[part.users.neighbors[e]] ?? 0);
      }
    }
    return { users: newUsers ? sumOf(newUsers) : 0, items: newItems ? sumOf(newItems) : 0, edges };
  };
  return { foldIn: count(split.foldIn), test: count(split.test) };
}

/** How many vertices of each side the random draws chose, with or without an edge in a part. */
export function drawnVertices(assignment: Split['assignment']): BySide<number> {
  return bySide((side) => sumOf(assignment[side].drawn));
}

/** Positions in `whole` of the vertices of a part. The ids are a subsequence, so one walk finds all. */
export function positions(whole: VertexIds, part: VertexIds): Uint32Array {
  const result = new Uint32Array(part.length);
  let at = 0;
  for (let v = 0; v < part.length; v++) {
    while (at < whole.length && whole.values[at] !== part.values[v]) at++;
    if (at === whole.length)
      throw new InputError(`vertex ${shown(part.at(v))} of a part is not in the whole graph`);
    result[v] = at++;
  }
  return result;
}

function vertexMask(whole: VertexIds, part: VertexIds): Uint8Array {
  const mask = new Uint8Array(whole.length);
  for (const v of positions(whole, part)) mask[v] = 1;
  return mask;
}

function notIn(mask: Uint8Array, whole: VertexIds, part: VertexIds): Uint8Array {
  return Uint8Array.from(positions(whole, part), (v) => 1 - mask[v]);
}
