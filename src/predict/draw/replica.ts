// A replica: a graph drawn from a fitted model, like the one it was fitted to, or like the whole of a split of which it saw
// the training part. Its vertices are those that have a posterior, with weights and features from it, and unseen atoms.
// Splitting, fitting and drawing again on replicas shows how far predictive intervals can be trusted on data of this kind
// (evaluate/calibrate.ts).

import { eligibleMass } from '../../fit/fold-in/fold-in.js';
import { type ModelSide, needPosterior, type PosteriorModel } from '../../fit/model.js';
import { type BipartiteGraph, otherSide, type SideName } from '../../graph/graph.js';
import { VertexIds } from '../../graph/ids.js';
import { randomStream } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import type { Split } from '../../sample/split-types.js';
import { type DrawnSide, drawnGraph } from './draw.js';
import { createDrawer, type DrawnEdges } from './draw-graph.js';
import { type DrawPlan, fitItems, knownVertices, rowsWhere, unseen, type VertexGroup } from './draw-plan.js';

/** The users that a split holds out of training. */
export interface HeldOutUsers {
  /** Their posterior by fold-in. */
  readonly folded: ModelSide;
  readonly split: Split;
}

/**
 * Returns a function that draws the replica of a given seed and number. A replica resembles the graph that the model was fitted
 * to or, with `heldOut`, the whole graph that was split. Isolated vertices are dropped and the others renumbered.
 */
export function createReplicator(
  model: PosteriorModel,
  heldOut?: HeldOutUsers,
): (seed: number, replica: number) => BipartiteGraph {
  needPosterior(model, 'replicas');
  const draw = createDrawer(replicaPlan(model, heldOut));
  return (seed, replica) => {
    const { edges } = draw(randomStream(seed, STREAMS.replicas, replica), { sizes: 'posterior', keep: true });
    return drawnGraph(model, edges!, renumbered);
  };
}

/** The plan of a replica: all vertices of the model, the unseen ones of both sides and, if given, the held-out users. */
export function replicaPlan(model: PosteriorModel, heldOut?: HeldOutUsers): DrawPlan {
  const fitted = (name: SideName): VertexGroup => {
    const own = model[name];
    const met = eligibleMass(model, otherSide(name));
    const all = rowsWhere(own, () => true);
    return { known: knownVertices(own, all, met), unseen: unseen(own, 1, met, met) };
  };
  return {
    features: model.features,
    multigraph: model.multigraph,
    counts: model.counts,
    users: heldOut ? [fitted('users'), heldOutGroup(model, heldOut)] : [fitted('users')],
    items: [fitted('items')],
  };
}

/** Held-out users could have met the trained fit items only; those of a replica can meet every item. */
function heldOutGroup(model: PosteriorModel, { folded, split }: HeldOutUsers): VertexGroup {
  const met = eligibleMass(model, 'items', { eligible: fitItems(model, split), unseenShare: 0 });
  const p = split.testUsers;
  const rows = rowsWhere(folded, (i) => folded.degree[i] > 0);
  return {
    known: knownVertices(folded, rows, met),
    unseen: unseen(model.users, p / (1 - p), met, eligibleMass(model, 'items')),
  };
}

/** Vertices numbered in the order in which they first occur. */
function renumbered(side: SideName, { [side]: drawn, counted }: DrawnEdges): DrawnSide {
  const number = new Uint32Array(counted[side]); // 1 + the new number
  let count = 0;
  const vertices = drawn.map((v) => {
    number[v] ||= ++count;
    return number[v] - 1;
  });
  return { vertices, ids: VertexIds.range(count) };
}
