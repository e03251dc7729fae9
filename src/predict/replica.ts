// A replica: a graph drawn from a fitted model, like the one it was fitted to. Its vertices are those of the model, with
// weights and features from their posterior, and the unseen atoms of both sides. Splitting, fitting and drawing again on
// replicas shows how far predictive intervals can be trusted on data of this kind (evaluate/calibrate.ts).

import { InputError } from '../errors.js';
import { eligibleMass } from '../fit/fold-in.js';
import type { Model } from '../fit/model.js';
import { buildGraph } from '../graph/build.js';
import { type BipartiteGraph, otherSide, type SideName } from '../graph/graph.js';
import { VertexIds } from '../graph/ids.js';
import { randomStream } from '../math/random.js';
import { createDrawer } from './draw-graph.js';
import { type DrawPlan, knownVertices, type SidePlan, unseen } from './draw-plan.js';

/** A function that draws replicas by their seed and number. Vertices are numbered anew; isolated ones are dropped. */
export function createReplicator(model: Model): (seed: number, replica: number) => BipartiteGraph {
  if (model.objective === 'ranking') {
    throw new InputError(
      'replicas need a posterior, and a model fitted with --objective ranking has none: fit with --objective evidence',
    );
  }
  const draw = createDrawer(replicaPlan(model));
  return (seed, replica) => {
    const { edges } = draw(randomStream(seed, REPLICA_STREAM, replica), { sizes: 'posterior', keep: true });
    const users = renumbered(edges!.users, edges!.userCount);
    const items = renumbered(edges!.items, edges!.itemCount);
    return buildGraph({
      users: users.vertices,
      items: items.vertices,
      userCount: users.count,
      itemCount: items.count,
      userIds: VertexIds.range(users.count),
      itemIds: VertexIds.range(items.count),
      multigraph: model.multigraph,
    });
  };
}

const REPLICA_STREAM = 0x4e91;

/** All vertices of the model and the unseen of both sides, to be drawn as the graph that the model was fitted to was. */
export function replicaPlan(model: Model): DrawPlan {
  const side = (name: SideName): SidePlan => {
    const own = model[name];
    const met = eligibleMass(model, otherSide(name));
    const all = Uint32Array.from({ length: own.count }, (_, row) => row);
    return {
      known: knownVertices(own, all, model.features, met),
      unseen: unseen(own, 1, met, met),
    };
  };
  return {
    features: model.features,
    multigraph: model.multigraph,
    users: side('users'),
    items: side('items'),
  };
}

/** Vertices numbered in the order in which they first occur. */
function renumbered(
  vertices: Uint32Array,
  most: number,
): { readonly vertices: Uint32Array; readonly count: number } {
  const number = new Uint32Array(most); // 1 + the new number
  let count = 0;
  return {
    vertices: vertices.map((v) => {
      number[v] ||= ++count;
      return number[v] - 1;
    }),
    count,
  };
}
