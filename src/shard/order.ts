// The users of all shards in the order of their ids, as if they had never been cut apart.

import type { VertexIds as Ids } from '../graph/ids.js';
import { VertexIds } from '../graph/ids.js';
import { allocateFrom } from '../math/memory.js';

/** Where the users of all shards come in the order of their ids. */
export interface Places {
  readonly ids: Ids;
  /** Of each user in that order. */
  readonly degree: Uint32Array;
  /** By shard and row. */
  readonly of: readonly Uint32Array[];
}

/** Takes the ids of all shards, one after the other: they are held, 20 bytes each and the length of texts. */
export async function placesOf(
  sizes: readonly number[],
  read: (shard: number) => Promise<{ readonly ids: Ids; readonly degree: Uint32Array }>,
): Promise<Places> {
  const count = sizes.reduce((sum, size) => sum + size, 0);
  let integers = true;
  const numbers = new Float64Array(count);
  const texts: string[] = [];
  const unordered = new Uint32Array(count);
  let at = 0;
  for (let s = 0; s < sizes.length; s++) {
    const { ids, degree } = await read(s);
    unordered.set(degree, at);
    if (ids.length > 0) integers &&= ids.kind === 'integer';
    for (let v = 0; v < ids.length; v++, at++) {
      if (ids.kind === 'integer') numbers[at] = (ids.values as Float64Array)[v];
      else texts[at] = ids.at(v);
    }
  }
  // Where some shards have texts, all ids are.
  const text = (u: number) => texts[u] ?? String(numbers[u]);
  const order = Uint32Array.from({ length: count }, (_, u) => u);
  order.sort(integers ? (a, b) => numbers[a] - numbers[b] : (a, b) => (text(a) < text(b) ? -1 : 1));
  const places = new Uint32Array(count);
  for (let v = 0; v < count; v++) places[order[v]] = v;
  at = 0;
  const of = sizes.map((size) => {
    at += size;
    return places.subarray(at - size, at);
  });
  return {
    ids: integers ? VertexIds.integers(numbers.sort()) : VertexIds.texts(Array.from(order, text)),
    degree: allocateFrom(order.map((u) => unordered[u])),
    of,
  };
}
