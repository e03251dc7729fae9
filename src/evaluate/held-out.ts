// The held-out users of a split: which of their edges a model can use, their fold-in and scores, and the test graph that draws
// are compared with.

import { InputError } from '../errors.js';
import { foldIn, matchRows } from '../fit/fold-in/fold-in.js';
import {
  type Model,
  type ModelSide,
  meanTable,
  type PosteriorModel,
  type Ranker,
  type Vertices,
} from '../fit/model.js';
import { agesOf, historyWeights } from '../fit/ranking/recency.js';
import type { BipartiteGraph } from '../graph/graph.js';
import { dropEdgesOfItems, selectVertices } from '../graph/subgraph.js';
import { once } from '../math/once.js';
import type { DrawsGiven, EngineName } from '../options/names.js';
import { fitItems } from '../predict/draw/draw-plan.js';
import { createModelScorer } from '../predict/scoring/model-scorer.js';
import type { RowLists } from '../predict/scoring/scorer.js';
import { weightsOf } from '../predict/user-query.js';
import type { TaskOptions } from '../progress.js';
import type { Split } from '../sample/split-types.js';

/** Edges that a model cannot use, and the users who have no other edges. */
export interface DroppedEdges {
  readonly edges: number;
  readonly users: number;
}

/** The graph that draws are compared with: the test part; with the paper's draws only its vertices that have a posterior. */
export function observedGraph(
  model: PosteriorModel,
  folded: ModelSide,
  split: Split,
  drawsGiven: DrawsGiven,
): BipartiteGraph {
  const { test } = split;
  if (drawsGiven !== 'paper') return test;
  const users = Uint8Array.from(folded.ids.findAll(test.users.ids), (at) => (folded.degree[at] > 0 ? 1 : 0));
  const items = Uint8Array.from(model.items.ids.findAll(test.items.ids), (at) => (at >= 0 ? 1 : 0));
  return selectVertices(test, users, items);
}

/** The engine of the fold-in, and progress. */
interface HeldOutOptions extends TaskOptions {
  readonly engine?: EngineName | undefined;
}

const NONE: DroppedEdges = { edges: 0, users: 0 };

/**
 * The posterior of the held-out users, a row for each user of the fold-in part. Two choices were measured on simulated
 * sets (docs/predictive.md). First, the mass is that of the fit items in training: edges to other fit items are
 * dropped, so their absence must not count either. Second, the edge pass uses means, because exp(E log ·) gives
 * held-out users less mass than training gives similar users.
 */
export async function foldHeldOut(model: PosteriorModel, split: Split, options: HeldOutOptions = {}) {
  if (split.method !== 'pq') return { folded: undefined, dropped: NONE };
  const { graph, dropped } = knownFoldIn(model, split);
  return { folded: await foldByMeans(model, graph, fitItems(model, split), options), dropped };
}

/** Folds in users who could have met only the eligible items of the model; edge passes use means. */
export function foldByMeans(
  model: PosteriorModel,
  graph: BipartiteGraph,
  eligible: Uint8Array,
  { engine = 'auto', threads, signal, onProgress }: HeldOutOptions,
): Promise<ModelSide> {
  const how = { eligible, unseenShare: 0, activity: 'mean', engine } as const;
  return foldIn(model, graph, { ...how, threads, signal, onProgress });
}

/**
 * Folds in the users of a split and scores them; users of training are scored if the split holds out edges. `history` has their items,
 * as splitRankingTask gives it. `folded` is the posterior of held-out users, undefined for rankers.
 */
export async function heldOutScores(
  model: Model,
  split: Split,
  history: RowLists,
  options: HeldOutOptions = {},
) {
  const scorer = createModelScorer(model);
  if (model.type === 'posterior') {
    const { folded, dropped } = await foldHeldOut(model, split, options);
    if (!folded) checkUsers(model.users, split.train);
    const users = meanTable(folded ?? model.users, model.features);
    return { folded, dropped, scorer: scorer.manyScorer(history, [users]) };
  }
  const known = split.method !== 'pq';
  if (known && model.users.count > 0) checkUsers(model.users, split.train);
  const { graph, dropped } = known ? { graph: split.train, dropped: NONE } : knownFoldIn(model, split);
  const eligible = once(() => (known ? undefined : fitItems(model, split)));
  const ages = ageWeights(model, split);
  const weighed = ages ? { ...history, weights: weighAll(ages, history.offsets, history.values) } : history;
  const rows = once(() => {
    const matched = matchRows(graph, 'users', model.items.ids);
    return ages ? { ...matched, weights: weighAll(ages, matched.offsets, matched.neighbors) } : matched;
  });
  const factors: Float32Array[] = [];
  const { threads, signal, onProgress, engine } = options;
  for (const { users, foldMany } of scorer.members ?? []) {
    const how = { eligible: eligible(), engine, threads, signal, onProgress };
    factors.push(known && users ? users : await foldMany!(rows(), how));
  }
  return { folded: undefined, dropped, scorer: scorer.manyScorer(weighed, factors) };
}

/** The weights by age of a row's items. */
type RowWeights = (row: number, items: Uint32Array) => Float32Array;

/**
 * The weights by age for a model that has such weights: by the ages that it stores, or by the times of the fold-in part. Undefined if
 * there are none.
 */
function ageWeights(model: Ranker, split: Split): RowWeights | undefined {
  const { recency } = model;
  if (!recency) return undefined;
  if (split.method !== 'pq') return model.seen?.ages && ((row, items) => weightsOf(model, row, items)!);
  const times = split.times?.foldIn;
  if (!times) return undefined;
  const { users, items } = split.foldIn;
  const places = model.items.ids.findAll(items.ids);
  return (row, own) => {
    const [first, last] = [users.offsets[row], users.offsets[row + 1]];
    const ages = agesOf(times.subarray(first, last), recency);
    const ageOf = new Map(Array.from(ages, (age, e) => [places[users.neighbors[first + e]], age]));
    return historyWeights(Float32Array.from(own, (item) => ageOf.get(item) ?? 0));
  };
}

function weighAll(weightsOf: RowWeights, offsets: Uint32Array, values: Uint32Array): Float32Array {
  const weights = new Float32Array(values.length);
  for (let row = 0; row + 1 < offsets.length; row++) {
    weights.set(weightsOf(row, values.subarray(offsets[row], offsets[row + 1])), offsets[row]);
  }
  return weights;
}

/** The model's rows must be in the order of the training users. */
function checkUsers(side: Vertices, train: BipartiteGraph): void {
  const { ids } = train.users;
  if (ids.length === side.count && side.ids.findAll(ids).every((at, u) => at === u)) return;
  throw new InputError(
    "the model's users are not those of the split's training part: evaluate a model with the split it was fitted to",
  );
}

/** The fold-in part without edges to items that the model does not know; a user can be left without edges. */
export function knownFoldIn(
  model: Model,
  { foldIn: graph }: Split,
): { readonly graph: BipartiteGraph; readonly dropped: DroppedEdges } {
  const known = Uint8Array.from(model.items.ids.findAll(graph.items.ids), (at) => (at >= 0 ? 1 : 0));
  if (known.every((k) => k === 1)) return { graph, dropped: NONE };
  const kept = dropEdgesOfItems(graph, known);
  const { offsets } = kept.users;
  let users = 0;
  for (let user = 0; user < kept.users.count; user++) if (offsets[user] === offsets[user + 1]) users++;
  return { graph: kept, dropped: { edges: graph.edges - kept.edges, users } };
}
