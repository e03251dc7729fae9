// The last items of some users, held back from a refit: both models must predict them. Only items that the present
// model has not seen of the user qualify, so that it has no advantage.

import type { Model } from '../fit/model.js';
import type { BipartiteGraph } from '../graph/graph.js';
import { randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { ownItems } from '../predict/user-query.js';

/** A user of the comparison, by ids. */
export interface HeldBackUser {
  readonly likes: readonly string[];
  /** The times of the likes, if the data have times. */
  readonly times?: readonly number[] | undefined;
  readonly held: readonly string[];
}

interface HeldBack {
  /** For each edge by user: 1 if it is held back. */
  readonly labels: Uint8Array;
  readonly users: readonly HeldBackUser[];
}

/** The most users of a comparison, and the largest share of all edges that is held back. */
const MOST_USERS = 2000;
const MOST_EDGES = 0.05;
/** The largest share of a user's items that is held back, and the most items. */
const SHARE = 0.2;
const MOST_ITEMS = 5;

/** `times` are those of the edges in the order of graph.users; undefined: any items that are new are held back. */
export function holdBackLast(
  graph: BipartiteGraph,
  times: Float64Array | undefined,
  present: Model,
  seed: number,
): HeldBack {
  const { users, items } = graph;
  const labels = new Uint8Array(graph.edges);
  const chosen: HeldBackUser[] = [];
  if (!present.seen) return { labels, users: chosen };
  const random = randomStream(seed, STREAMS.refit);
  const order = Uint32Array.from(users.ids.length === 0 ? [] : Array(users.count).keys());
  let heldEdges = 0;
  for (let at = 0; at < order.length; at++) {
    if (chosen.length >= MOST_USERS || heldEdges >= MOST_EDGES * graph.edges) break;
    // Fisher-Yates, as far as it is needed.
    const other = at + random.below(order.length - at);
    [order[at], order[other]] = [order[other], order[at]];
    const user = order[at];
    const [first, last] = [users.offsets[user], users.offsets[user + 1]];
    const most = Math.min(MOST_ITEMS, Math.max(1, Math.floor(SHARE * (last - first))), last - first - 1);
    if (most < 1) continue;
    const held = newEdges(graph, present, user)
      .sort((a, b) => (times ? times[b] - times[a] : 0) || b - a)
      .slice(0, most);
    if (held.length === 0) continue;
    for (const edge of held) labels[edge] = 1;
    heldEdges += held.length;
    const likes: string[] = [];
    const when: number[] = [];
    for (let e = first; e < last; e++) {
      if (labels[e] !== 0) continue;
      likes.push(items.ids.at(users.neighbors[e]));
      if (times) when.push(times[e]);
    }
    chosen.push({
      likes,
      ...(times && { times: when }),
      held: held.map((edge) => items.ids.at(users.neighbors[edge])),
    });
  }
  return { labels, users: chosen };
}

/** The edges of a user that the present model has not seen. */
function newEdges({ users, items }: BipartiteGraph, present: Model, user: number): number[] {
  const row = present.users.ids.find(users.ids.at(user));
  const seen = new Set(row < 0 ? [] : ownItems(present, row).items);
  const edges: number[] = [];
  for (let e = users.offsets[user]; e < users.offsets[user + 1]; e++) {
    const item = present.items.ids.find(items.ids.at(users.neighbors[e]));
    if (item < 0 || !seen.has(item)) edges.push(e);
  }
  return edges;
}
