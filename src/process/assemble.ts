// Turns the rows of a simulation into a graph: drops vertices without an edge, numbers the rest, builds both orders.

import { type BySide, createGraph, SIDES, type SideName } from '../graph/graph.js';
import { VertexIds } from '../graph/ids.js';
import { allocate } from '../math/memory.js';
import { randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import type { ModelParameters } from './parameters.js';
import { drawAtomBelowCut, type RowEdges } from './rows.js';

/** An edge of a user below the cut. */
export interface UserBelowCut {
  readonly feature: number;
  /** The item atom, or undefined for an item that is below the cut too. */
  readonly item: number | undefined;
}

/** The true parameters of a side's vertices. */
export interface VertexParameters {
  readonly weights: Float64Array;
  /** Vertices × features, row-major. */
  readonly features: Float64Array;
}

interface AssembleInput {
  readonly seed: number;
  readonly parameters: ModelParameters;
  readonly rows: readonly RowEdges[];
  readonly usersBelowCut: readonly UserBelowCut[];
  readonly weights: BySide<Float64Array>;
  readonly activity: Float64Array;
  readonly cut: BySide<number>;
  readonly multigraph: boolean;
  readonly truth: boolean;
}

/** On both sides atoms come first, in their random order. Vertices below the cut follow, in the order of their edges. */
export function assembleGraph(input: AssembleInput) {
  const { rows, usersBelowCut, multigraph } = input;
  const atoms = input.weights.items.length;

  const used = new Uint8Array(atoms);
  let atomUsers = 0;
  let itemsBelowCut = 0;
  let edges = usersBelowCut.length;
  for (const { degrees, belowCut, items } of rows) {
    for (let e = 0; e < items.length; e++) used[items[e]] = 1;
    edges += items.length;
    for (let row = 0; row < degrees.length; row++) {
      if (degrees[row] + belowCut[row] > 0) atomUsers++;
      edges += belowCut[row];
      itemsBelowCut += belowCut[row];
    }
  }
  for (const { item } of usersBelowCut) {
    if (item === undefined) itemsBelowCut++;
    else used[item] = 1;
  }
  const itemOf = new Uint32Array(atoms);
  let atomItems = 0;
  for (let i = 0; i < atoms; i++) if (used[i]) itemOf[i] = atomItems++;
  const userCount = atomUsers + usersBelowCut.length;
  const itemCount = atomItems + itemsBelowCut;

  const offsets = allocate(Uint32Array, userCount + 1);
  const neighbors = allocate(Uint32Array, edges);
  const counts = multigraph ? allocate(Uint32Array, edges) : undefined;
  let user = 0;
  let at = 0;
  let nextBelowCut = atomItems;
  for (const piece of rows) {
    let e = 0;
    for (let row = 0; row < piece.degrees.length; row++) {
      const end = e + piece.degrees[row];
      if (end === e && piece.belowCut[row] === 0) continue;
      for (; e < end; e++) {
        if (counts) counts[at] = piece.counts![e];
        neighbors[at++] = itemOf[piece.items[e]];
      }
      for (let d = 0; d < piece.belowCut[row]; d++) {
        if (counts) counts[at] = 1;
        neighbors[at++] = nextBelowCut++;
      }
      offsets[++user] = at;
    }
  }
  for (const { item } of usersBelowCut) {
    if (counts) counts[at] = 1;
    neighbors[at++] = item === undefined ? nextBelowCut++ : itemOf[item];
    offsets[++user] = at;
  }

  return {
    graph: createGraph({
      userIds: VertexIds.range(userCount),
      itemIds: VertexIds.range(itemCount),
      byUser: { offsets, neighbors, counts },
    }),
    belowCut: { users: usersBelowCut.length, items: itemsBelowCut },
    truth: input.truth
      ? { users: userTruth(input, userCount), items: itemTruth(input, used, itemCount) }
      : undefined,
  };
}

function userTruth(input: AssembleInput, count: number): VertexParameters {
  const table = createTable(input, 'users', count);
  const { features: width } = input.parameters;
  let atom = 0;
  for (const { degrees, belowCut, features } of input.rows) {
    for (let row = 0; row < degrees.length; row++, atom++) {
      if (degrees[row] + belowCut[row] === 0) continue;
      table.add(input.weights.users[atom], features!.subarray(row * width, (row + 1) * width));
    }
  }
  return table.finish(input.usersBelowCut.map((edge) => edge.feature));
}

function itemTruth(input: AssembleInput, used: Uint8Array, count: number): VertexParameters {
  const { rows, usersBelowCut, activity } = input;
  const table = createTable(input, 'items', count);
  const weights = input.weights.items;
  const row = new Float64Array(input.parameters.features);
  for (let i = 0; i < used.length; i++) {
    if (!used[i]) continue;
    for (let k = 0; k < row.length; k++) row[k] = activity[k * used.length + i] / weights[i];
    table.add(weights[i], row);
  }
  const edgeFeatures: number[] = [];
  for (const { belowCutFeature } of rows) for (const feature of belowCutFeature!) edgeFeatures.push(feature);
  for (const { item, feature } of usersBelowCut) if (item === undefined) edgeFeatures.push(feature);
  return table.finish(edgeFeatures);
}

/** The parameters of `count` vertices: those that are added, then those below the cut. */
function createTable({ seed, parameters, cut }: AssembleInput, side: SideName, count: number) {
  const { features } = parameters;
  const weights = new Float64Array(count);
  const values = new Float64Array(count * features);
  let vertex = 0;
  function add(weight: number, row: Float64Array): void {
    weights[vertex] = weight;
    values.set(row, vertex++ * features);
  }
  return {
    add,
    /** `edgeFeatures`: the feature of the edge of each vertex below the cut. */
    finish(edgeFeatures: readonly number[]): VertexParameters {
      const random = randomStream(seed, STREAMS.belowCut, SIDES.indexOf(side));
      const row = new Float64Array(features);
      for (const feature of edgeFeatures) {
        add(drawAtomBelowCut(random, parameters[side], cut[side], feature, row), row);
      }
      return Object.freeze({ weights, features: values });
    },
  };
}
