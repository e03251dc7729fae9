// The sparse Poisson matrix model: GGP weights and Gamma features on both sides, Poisson edges by feature.
//
// The atoms of both sides above a cut are drawn one by one. Atoms below the cut enter only by their expected mass per
// feature: an edge to one of them makes a new vertex of degree 1. Items are drawn first, then the edges of every user
// given the items. Users are drawn in fixed pieces, each with its own random stream.

import { throwIfAborted } from '../errors.js';
import { type BipartiteGraph, type BySide, bySide } from '../graph/graph.js';
import { AliasTable } from '../math/alias.js';
import { poisson } from '../math/count-samplers.js';
import { allocate } from '../math/memory.js';
import { sumOf } from '../math/moments.js';
import { randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { withDefaults } from '../options/check-options.js';
import { SIMULATE } from '../options/commands/simulate.js';
import type { OptionsOf } from '../options/declare.js';
import { TASK } from '../options/shared.js';
import { createPool, createPoolHere, taskModule, threadCount } from '../parallel/pool.js';
import type { TaskOptions } from '../progress.js';
import { assembleGraph, type UserBelowCut, type VertexParameters } from './assemble.js';
import { sampleAtoms } from './ggp.js';
import { expectSimulation, simulationWork } from './parameters.js';
import type { FeaturePiece, RowEdges, RowPiece, TableArrays, TablePiece } from './rows.js';
import { missingMass } from './unseen.js';

/** The model, by default that of the paper's simulated set, and how to draw; declared in options/commands/simulate.ts. */
export interface SimulateOptions extends OptionsOf<typeof SIMULATE>, TaskOptions {}

/** A graph drawn from the model, and the truth behind it. */
export interface Simulation {
  readonly graph: BipartiteGraph;
  /** Atoms above the cut, drawn one by one. */
  readonly atoms: BySide<number>;
  /** The cut: atoms of smaller weight are not drawn one by one. 0: all atoms are drawn. */
  readonly cut: BySide<number>;
  /** Expected mass of the atoms below the cut, summed over features. Their edges are in the graph. */
  readonly missingMass: BySide<number>;
  /** Vertices of the graph that are below the cut; each has degree 1 by construction. */
  readonly belowCut: BySide<number>;
  /** Parameters of the vertices, if requested. */
  readonly truth: BySide<VertexParameters> | undefined;
}

/** Atoms in a piece of work. Part of the result: another size gives another graph of the same distribution. */
const ITEM_PIECE = 4096;
const USER_PIECE = 256;
/** With fewer expected draws the calling thread draws alone: starting workers would take longer. */
const WORTH_THREADS = 1e6;

/**
 * Draws a graph from the model. The same seed gives the same graph on any number of threads.
 * @example
 * import { simulate } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { sigma: 0.3, size: 30 }, items: { size: 30 }, seed: 1 });
 * console.log(graph.users.count, graph.items.count, graph.edges);
 */
export async function simulate(options: SimulateOptions = {}): Promise<Simulation> {
  const settings = withDefaults({ ...SIMULATE, ...TASK }, options);
  const { users, items, features, seed, multigraph, truth, tolerance, signal, onProgress } = settings;
  const expected = expectSimulation({ users, items, features }, tolerance);
  const { cut } = expected;
  throwIfAborted(signal);

  const none = new Float64Array(features);
  const missing = bySide((side) => missingMass(settings[side], none, cut[side]));
  const random = {
    users: randomStream(seed, STREAMS.userAtoms),
    items: randomStream(seed, STREAMS.itemAtoms),
  };
  const weights = bySide((side) => sampleAtoms(random[side], settings[side], cut[side]));
  const atoms = weights.items.length;
  const activity = allocate(Float64Array, features * atoms);

  const userPieces = pieces(weights.users.length, USER_PIECE);
  const itemPieces = pieces(atoms, ITEM_PIECE);
  const most = Math.max(userPieces.length, itemPieces.length, features);
  const pool =
    simulationWork(features, expected) < WORTH_THREADS
      ? await createPoolHere(ROWS)
      : await createPool(ROWS, threadCount(options.threads, most));
  try {
    const masses = await pool.map(
      'drawFeatures',
      itemPieces.map(
        (range): FeaturePiece => ({ seed, ...range, prior: items, weights: weights.items, activity }),
      ),
      { signal },
    );
    const itemMass = Float64Array.from(missing.items);
    for (const mass of masses as Float64Array[]) for (let k = 0; k < features; k++) itemMass[k] += mass[k];

    const tables: (TableArrays | undefined)[] = await pool.map(
      'buildTable',
      Array.from(missing.items, (belowCut, feature): TablePiece => ({ feature, atoms, activity, belowCut })),
      { signal },
    );

    let done = 0;
    const rows: RowEdges[] = await pool.map(
      'drawRows',
      userPieces.map(
        (range): RowPiece => ({
          seed,
          ...range,
          prior: users,
          weights: weights.users,
          atoms,
          tables,
          itemMass,
          multigraph,
          truth,
        }),
      ),
      {
        signal,
        onResult: () =>
          onProgress?.({ stage: 'drawing edges', done: ++done, total: userPieces.length, unit: 'pieces' }),
      },
    );
    throwIfAborted(signal);

    const assembled = assembleGraph({
      seed,
      parameters: settings,
      rows,
      usersBelowCut: drawUsersBelowCut(seed, missing.users, itemMass, tables, atoms),
      weights,
      activity,
      cut,
      multigraph,
      truth,
    });
    return Object.freeze({
      ...assembled,
      atoms: bySide((side) => weights[side].length),
      cut,
      missingMass: bySide((side) => sumOf(missing[side])),
    });
  } finally {
    await pool.close();
  }
}

/** Draws the edges of users below the cut: each edge has a user of its own. */
function drawUsersBelowCut(
  seed: number,
  missing: Float64Array,
  itemMass: Float64Array,
  tables: readonly (TableArrays | undefined)[],
  atoms: number,
): UserBelowCut[] {
  const random = randomStream(seed, STREAMS.belowCut);
  const result: UserBelowCut[] = [];
  tables.forEach((arrays, feature) => {
    const table = arrays && new AliasTable(arrays.borders, arrays.aliases);
    const edges = table ? poisson(random, missing[feature] * itemMass[feature]) : 0;
    for (let e = 0; e < edges; e++) {
      const item = table!.sample(random);
      result.push({ feature, item: item === atoms ? undefined : item });
    }
  });
  return result;
}

const ROWS = taskModule('./rows.js', import.meta.url);

function pieces(length: number, size: number): { piece: number; first: number; last: number }[] {
  return Array.from({ length: Math.ceil(length / size) }, (_, piece) => ({
    piece,
    first: piece * size,
    last: Math.min(length, (piece + 1) * size),
  }));
}
