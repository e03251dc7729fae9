// The last items of some users, held back from a refit: both models must predict them. Only items that the present
// model has not seen of the user qualify, so that it has no advantage. Most users with new items are left out, so that
// the new model can learn from these.

import type { Model } from '../fit/model.js';
import type { BipartiteGraph } from '../graph/graph.js';
import { randomStream, shuffle } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { ownItems } from '../predict/user-query.js';

/** A user of the comparison, by ids. */
export interface HeldBackUser {
  readonly likes: readonly string[];
  /** The times of the likes, if the data have times. */
  readonly times?: readonly number[] | undefined;
  readonly held: readonly string[];
}

/** The share of the users with new items whose last items are held back, and the fewest and the most users. */
const USER_SHARE = 0.25;
const FEWEST_USERS = 20;
const MOST_USERS = 2000;
/** The largest share of all edges that is held back, if the fewest users have less. */
const MOST_EDGES = 0.05;
/** The largest share of a user's items that is held back, and the most items. */
const ITEM_SHARE = 0.2;
const MOST_ITEMS = 5;

/**
 * The users of the comparison, none if they are too few; and a label for each edge by user, 1 if it is held back. `times` are those of the
 * edges in the order of graph.users; undefined: any items that are new are held back.
 */
export function holdBackLast(
  graph: BipartiteGraph,
  times: Float64Array | undefined,
  present: Model,
  seed: number,
) {
  const { users, items } = graph;
  const newEdges = edgesToPredict(graph, present);
  const random = randomStream(seed, STREAMS.refit);
  const order = shuffle([...newEdges.keys()], random);
  const most = Math.min(MOST_USERS, Math.max(FEWEST_USERS, USER_SHARE * order.length));
  const labels = new Uint8Array(graph.edges);
  const chosen: HeldBackUser[] = [];
  let heldEdges = 0;
  for (const user of order) {
    if (chosen.length >= most) break;
    if (chosen.length >= FEWEST_USERS && heldEdges >= MOST_EDGES * graph.edges) break;
    const [first, last] = [users.offsets[user], users.offsets[user + 1]];
    const count = Math.min(MOST_ITEMS, Math.max(1, Math.floor(ITEM_SHARE * (last - first))));
    // Edges of the same time are in random order: in the order of ids, the last items by id would never be learned.
    const held = shuffle(newEdges.get(user)!, random)
      .sort((a, b) => (times ? times[b] - times[a] : 0))
      .slice(0, count);
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
  return chosen.length < FEWEST_USERS
    ? { labels: new Uint8Array(graph.edges), users: [] }
    : { labels, users: chosen };
}

/** For each user with at least two items: the edges that the present model has not seen, if there are some. */
function edgesToPredict({ users, items }: BipartiteGraph, present: Model): Map<number, number[]> {
  const found = new Map<number, number[]>();
  if (!present.seen) return found;
  const rows = present.users.ids.findAll(users.ids);
  const columns = present.items.ids.findAll(items.ids);
  for (let user = 0; user < users.count; user++) {
    const [first, last] = [users.offsets[user], users.offsets[user + 1]];
    if (last - first < 2) continue;
    const seen = new Set(rows[user] < 0 ? [] : ownItems(present, rows[user]).items);
    const edges: number[] = [];
    for (let e = first; e < last; e++) {
      const item = columns[users.neighbors[e]];
      if (item < 0 || !seen.has(item)) edges.push(e);
    }
    if (edges.length > 0) found.set(user, edges);
  }
  return found;
}
