// The rows of a simulation → a graph: vertices without an edge dropped, the rest numbered, both orders.

import { type BipartiteGraph, createGraph, type SideName } from '../graph/graph.js';
import { VertexIds } from '../graph/ids.js';
import { allocate } from '../math/memory.js';
import { randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import type { ModelParameters } from './parameters.js';
import { drawDustAtom, type RowEdges } from './rows.js';
import type { SidePrior } from './unseen.js';

/** An edge of the users' dust. */
export interface DustUser {
  readonly feature: number;
  /** The item atom, or undefined for an item that is dust too. */
  readonly item: number | undefined;
}

/** The true parameters of a side's vertices. */
export interface VertexParameters {
  readonly weights: Float64Array;
  /** Vertices × features, row-major. */
  readonly features: Float64Array;
}

export interface AssembleInput {
  readonly seed: number;
  readonly parameters: ModelParameters;
  readonly rows: readonly RowEdges[];
  readonly dustUsers: readonly DustUser[];
  readonly userWeights: Float64Array;
  readonly itemWeights: Float64Array;
  readonly activity: Float64Array;
  readonly cut: Readonly<Record<SideName, number>>;
  readonly multigraph: boolean;
  readonly truth: boolean;
}

export interface Assembled {
  readonly graph: BipartiteGraph;
  readonly dust: Readonly<Record<SideName, number>>;
  readonly truth: Readonly<Record<SideName, VertexParameters>> | undefined;
}

/** Atoms come first on both sides, in their (random) order; dust, in order of its edges, after them. */
export function assembleGraph(input: AssembleInput): Assembled {
  const { rows, dustUsers, multigraph } = input;
  const atoms = input.itemWeights.length;

  const used = new Uint8Array(atoms);
  let atomUsers = 0;
  let itemDust = 0;
  let edges = dustUsers.length;
  for (const { degrees, dust, items } of rows) {
    for (let e = 0; e < items.length; e++) used[items[e]] = 1;
    edges += items.length;
    for (let row = 0; row < degrees.length; row++) {
      if (degrees[row] + dust[row] > 0) atomUsers++;
      edges += dust[row];
      itemDust += dust[row];
    }
  }
  for (const { item } of dustUsers) {
    if (item === undefined) itemDust++;
    else used[item] = 1;
  }
  const itemOf = new Uint32Array(atoms);
  let atomItems = 0;
  for (let i = 0; i < atoms; i++) if (used[i]) itemOf[i] = atomItems++;
  const userCount = atomUsers + dustUsers.length;
  const itemCount = atomItems + itemDust;

  const offsets = allocate(Uint32Array, userCount + 1);
  const neighbors = allocate(Uint32Array, edges);
  const counts = multigraph ? allocate(Uint32Array, edges) : undefined;
  let user = 0;
  let at = 0;
  let nextDust = atomItems;
  for (const piece of rows) {
    let e = 0;
    for (let row = 0; row < piece.degrees.length; row++) {
      const end = e + piece.degrees[row];
      if (end === e && piece.dust[row] === 0) continue;
      for (; e < end; e++) {
        if (counts) counts[at] = piece.counts![e];
        neighbors[at++] = itemOf[piece.items[e]];
      }
      for (let d = 0; d < piece.dust[row]; d++) {
        if (counts) counts[at] = 1;
        neighbors[at++] = nextDust++;
      }
      offsets[++user] = at;
    }
  }
  for (const { item } of dustUsers) {
    if (counts) counts[at] = 1;
    neighbors[at++] = item === undefined ? nextDust++ : itemOf[item];
    offsets[++user] = at;
  }

  return {
    graph: createGraph({
      userIds: VertexIds.range(userCount),
      itemIds: VertexIds.range(itemCount),
      byUser: { offsets, neighbors, counts },
    }),
    dust: { users: dustUsers.length, items: itemDust },
    truth: input.truth
      ? { users: userTruth(input, userCount), items: itemTruth(input, used, itemCount) }
      : undefined,
  };
}

function userTruth({ seed, rows, dustUsers, parameters, userWeights, cut }: AssembleInput, count: number) {
  const table = createTable(parameters.features, count);
  let atom = 0;
  for (const { degrees, dust, features } of rows) {
    for (let row = 0; row < degrees.length; row++, atom++) {
      if (degrees[row] + dust[row] === 0) continue;
      const from = row * parameters.features;
      table.add(userWeights[atom], features!.subarray(from, from + parameters.features));
    }
  }
  table.addDust(
    seed,
    0,
    parameters.users,
    cut.users,
    dustUsers.map((edge) => edge.feature),
  );
  return table.parameters;
}

function itemTruth(
  { seed, rows, dustUsers, parameters, itemWeights, activity, cut }: AssembleInput,
  used: Uint8Array,
  count: number,
) {
  const { features } = parameters;
  const table = createTable(features, count);
  const row = new Float64Array(features);
  for (let i = 0; i < used.length; i++) {
    if (!used[i]) continue;
    for (let k = 0; k < features; k++) row[k] = activity[k * used.length + i] / itemWeights[i];
    table.add(itemWeights[i], row);
  }
  const dustFeatures: number[] = [];
  for (const { dustFeature } of rows) for (const feature of dustFeature!) dustFeatures.push(feature);
  for (const { item, feature } of dustUsers) if (item === undefined) dustFeatures.push(feature);
  table.addDust(seed, 1, parameters.items, cut.items, dustFeatures);
  return table.parameters;
}

/** Fills a side's parameters vertex by vertex. */
function createTable(features: number, count: number) {
  const weights = new Float64Array(count);
  const values = new Float64Array(count * features);
  let vertex = 0;
  function add(weight: number, row: Float64Array): void {
    weights[vertex] = weight;
    values.set(row, vertex++ * features);
  }
  return {
    add,
    addDust(seed: number, side: number, law: SidePrior, cut: number, edgeFeatures: readonly number[]): void {
      const random = randomStream(seed, STREAMS.dust, side);
      const row = new Float64Array(features);
      for (const feature of edgeFeatures) add(drawDustAtom(random, law, cut, feature, row), row);
    },
    parameters: Object.freeze({ weights, features: values }),
  };
}
