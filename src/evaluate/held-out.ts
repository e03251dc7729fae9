// The held-out side of a split: what of it a model can use, its users' posterior, and the test graph that draws are
// compared with.

import type { EngineName } from '../engine/select.js';
import { foldIn, matchRows } from '../fit/fold-in/fold-in.js';
import { memberFold } from '../fit/fold-in/member-fold.js';
import type { Model, ModelSide, PosteriorModel, RankerMember } from '../fit/model.js';
import type { BipartiteGraph } from '../graph/graph.js';
import { dropEdgesOfItems, selectVertices } from '../graph/subgraph.js';
import { type DrawsGiven, fitItems } from '../predict/draw/draw-plan.js';
import type { TaskOptions } from '../progress.js';
import type { Split } from '../sample/split-types.js';

/** Edges that carry no parameters, and the users whose every edge is such. */
export interface DroppedEdges {
  readonly edges: number;
  readonly users: number;
}

/** What draws are compared with: the raw test part, or what the paper leaves of it, the vertices that have a posterior. */
export function observedGraph(
  model: PosteriorModel,
  folded: ModelSide,
  split: Split,
  drawsGiven: DrawsGiven,
): BipartiteGraph {
  const { test } = split;
  if (drawsGiven !== 'paper') return test;
  const users = Uint8Array.from({ length: test.users.count }, (_, u) =>
    (folded.degree[folded.ids.find(test.users.ids.at(u))] ?? 0) > 0 ? 1 : 0,
  );
  const items = Uint8Array.from({ length: test.items.count }, (_, i) =>
    model.items.ids.find(test.items.ids.at(i)) >= 0 ? 1 : 0,
  );
  return selectVertices(test, users, items);
}

export interface Folding {
  readonly folded: ModelSide | undefined;
  readonly dropped: DroppedEdges;
}

/**
 * The posterior of the held-out users, a row for each user of the fold-in part. Two choices, both measured on simulated
 * sets (docs/predictive.md): the mass that these users could have met is that of the trained fit items alone, since
 * edges to other fit items are dropped and their absence must not count either; and the edge pass uses means
 * throughout, since exp(E log ·) gives held-out users less mass than training gives their like.
 */
export async function foldHeldOut(
  model: PosteriorModel,
  split: Split,
  options: TaskOptions & { readonly engine?: EngineName | undefined } = {},
): Promise<Folding> {
  if (split.method !== 'pq') return { folded: undefined, dropped: { edges: 0, users: 0 } };
  const { graph, dropped } = knownFoldIn(model, split);
  const { threads, signal, onProgress, engine = 'auto' } = options;
  const eligible = fitItems(model, split);
  const folded = await foldIn(model, graph, {
    eligible,
    unseenShare: 0,
    activity: 'mean',
    engine,
    threads,
    signal,
    onProgress,
  });
  return { folded, dropped };
}

/** The same for one member of a ranker: mean activities of the held-out users, or of all where edges are held out. */
export async function foldHeldOutMember(
  model: Model,
  member: RankerMember,
  split: Split,
  options: TaskOptions & { readonly engine?: EngineName | undefined } = {},
): Promise<Float32Array> {
  const ofEdges = split.method !== 'pq';
  const graph = ofEdges ? split.train : knownFoldIn(model, split).graph;
  const eligible = ofEdges ? undefined : fitItems(model, split);
  const { threads, signal, onProgress, engine } = options;
  return memberFold(member, model.multigraph).foldMany(matchRows(graph, 'users', model.items.ids), {
    ...{ eligible, engine, threads, signal, onProgress },
  });
}

/** The fold-in part without edges to items that the model does not know; a user may be left with none. */
export function knownFoldIn(
  model: Model,
  { foldIn: graph }: Split,
): { readonly graph: BipartiteGraph; readonly dropped: DroppedEdges } {
  const known = Uint8Array.from({ length: graph.items.count }, (_, j) =>
    model.items.ids.find(graph.items.ids.at(j)) >= 0 ? 1 : 0,
  );
  if (known.every((k) => k === 1)) return { graph, dropped: { edges: 0, users: 0 } };
  const kept = dropEdgesOfItems(graph, known);
  const { offsets } = kept.users;
  let users = 0;
  for (let user = 0; user < kept.users.count; user++) if (offsets[user] === offsets[user + 1]) users++;
  return { graph: kept, dropped: { edges: graph.edges - kept.edges, users } };
}
