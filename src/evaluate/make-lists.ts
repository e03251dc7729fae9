// Lists for the users of a task: by popularity, by a model, or made elsewhere and read from a table.

import { InputError, throwIfAborted } from '../errors.js';
import type { Model } from '../fit/model.js';
import type { BipartiteGraph } from '../graph/graph.js';
import { byFallingValue } from '../math/nth-largest.js';
import { type Lists, NO_CANDIDATE } from '../metrics/list-metrics.js';
import { createModelScorer } from '../predict/scoring/model-scorer.js';
import { weightsOf } from '../predict/user-query.js';
import type { TaskOptions } from '../progress.js';
import { grouped } from '../text/numbers.js';
import type { TableTask } from './table-task.js';

/** Lists, and the number of users without one. */
export interface MadeLists {
  readonly lists: Lists;
  readonly missing: number;
}

/** Items by training degree, ties by id, without the items that a user already has. */
export function popularityLists({ degree, excluded }: TableTask, n: number): MadeLists {
  const order = byFallingValue(degree);
  const lists = excluded.map((out) => {
    const had = new Set(out);
    const list = new Int32Array(Math.min(n, order.length - out.length));
    for (let at = 0, place = 0; at < list.length; place++)
      if (!had.has(order[place])) list[at++] = order[place];
    return list;
  });
  return { lists, missing: 0 };
}

/**
 * The best items by a model. Users of the model have their fitted factors, others are folded in. Users without a history get popular items,
 * as they would be served.
 */
export async function modelLists(
  model: Model,
  task: TableTask,
  n: number,
  options: TaskOptions = {},
): Promise<MadeLists> {
  const { items, users, excluded, history } = task;
  const ours = model.items.ids.findAll(items);
  const place = items.findAll(model.items.ids);
  if (place.every((at) => at === NO_CANDIDATE)) {
    throw new InputError(
      'the model knows none of the items of these parts: give a model fitted to the training part',
    );
  }
  const scorer = createModelScorer(model);
  try {
    const asked: number[] = [];
    const scorers = [];
    for (let u = 0; u < users.length; u++) {
      if (u % 256 === 0) throwIfAborted(options.signal);
      const row = model.users.ids.find(users.at(u));
      const items = ownItems(ours, history[u]);
      const own = { items, weights: row < 0 ? undefined : weightsOf(model, row, items) };
      if (row < 0 && items.length === 0) continue;
      asked.push(u);
      scorers.push(scorer.userScorer(row < 0 ? undefined : row, own));
    }
    if (asked.length === 0) {
      throw new InputError(
        `the model knows none of the ${users.length} users of the test part, nor any item that one of them has in training: give a model fitted to the training part`,
      );
    }
    // Items of the model that are no candidates are left out for every user.
    const others = Uint32Array.from(place.keys()).filter((item) => place[item] === NO_CANDIDATE);
    const without = asked.map((u) => {
      const own = ownItems(ours, excluded[u]);
      return others.length === 0 ? own : [...own, ...others];
    });
    const best = await scorer.best(scorers, { n, excluded: without }, options);
    const lists = [...popularityLists(task, n).lists];
    for (const [row, u] of asked.entries()) lists[u] = Int32Array.from(best[row], (item) => place[item]);
    return { lists, missing: 0 };
  } finally {
    await scorer.close();
  }
}

/** The model's items among the given candidates, ascending. */
function ownItems(ours: Int32Array, places: Uint32Array): Uint32Array {
  return Uint32Array.from(Int32Array.from(places, (at) => ours[at]).filter((item) => item >= 0)).sort();
}

/** Recommendations made elsewhere: an edge for each user and item, with a value that orders a user's items. */
export interface GivenRecommendations {
  readonly graph: BipartiteGraph;
  /** In the order of graph.users.neighbors. */
  readonly values: Float64Array;
  /** Whether the least value comes first (ranks) or the largest (scores). */
  readonly first: 'least' | 'largest';
}

/** Given lists, matched to the users and candidates of a task. */
export interface GivenLists extends MadeLists {
  /** Users of the file who are not evaluated. */
  readonly otherUsers: number;
  /** Recommended pairs that are in training: they are skipped, as in every list. */
  readonly seenPairs: number;
  /** Recommended pairs whose item is in neither part: they keep their rank and cannot be hits. */
  readonly unknownPairs: number;
  /** Users whose list is not empty and shorter than the longest that is evaluated. */
  readonly shortLists: number;
}

/** Puts given recommendations into lists; ties go by the order of items. */
export function givenLists(given: GivenRecommendations, task: TableTask, n: number): GivenLists {
  const { graph, values } = given;
  const sign = given.first === 'least' ? 1 : -1;
  const place = task.items.findAll(graph.items.ids).map((at) => Math.max(NO_CANDIDATE, at));
  const counts = { missing: 0, otherUsers: 0, seenPairs: 0, unknownPairs: 0, shortLists: 0 };
  let matched = 0;
  const popular = popularityLists(task, n).lists;
  const lists = Array.from({ length: task.users.length }, (_, u) => {
    const row = graph.users.ids.find(task.users.at(u));
    if (row < 0) {
      // Without a history, every method serves popular items.
      if (task.history[u].length === 0) return popular[u];
      counts.missing++;
      return new Int32Array(0);
    }
    matched++;
    const had = new Set(task.excluded[u]);
    const edges: number[] = [];
    for (let e = graph.users.offsets[row]; e < graph.users.offsets[row + 1]; e++) edges.push(e);
    edges.sort((a, b) => sign * (values[a] - values[b]) || a - b);
    const list = edges.map((e) => place[graph.users.neighbors[e]]);
    const kept = list.filter((at) => !had.has(at));
    counts.seenPairs += list.length - kept.length;
    counts.unknownPairs += kept.filter((at) => at === NO_CANDIDATE).length;
    if (kept.length === 0) counts.missing++;
    else if (kept.length < n) counts.shortLists++;
    return Int32Array.from(kept.slice(0, n));
  });
  counts.otherUsers = graph.users.count - matched;
  if (matched === 0) {
    throw new InputError(
      `none of the ${grouped(graph.users.count)} users of the recommendations is a user of the test part (for instance ` +
        `${graph.users.ids.at(0)}; the test part has ${task.users.at(0)}): give lists for the test part's users`,
    );
  }
  if (place.every((at) => at === NO_CANDIDATE)) {
    throw new InputError(
      `none of the ${grouped(graph.items.count)} items of the recommendations is an item of training or test (for instance ` +
        `${graph.items.ids.at(0)}; training and test have ${task.items.at(0)}): give lists of these items`,
    );
  }
  return { lists, ...counts };
}
