// Builds a graph from pairs of ids in memory, with the same order of vertices as reading a table.

import { InputError } from '../errors.js';
import { withDefaults } from '../options/check-options.js';
import type { OptionsOf } from '../options/declare.js';
import { show } from '../options/error.js';
import { PAIRS } from '../options/library.js';
import { buildGraph, MAX_COUNT } from './build.js';
import type { BipartiteGraph } from './graph.js';
import { MAX_ID_BYTES, sortIds, type VertexIds } from './ids.js';

/** An id: a text, or an exact whole number. */
type Id = string | number;

/** A text that stands for an exact whole number; everything else stays a text. */
const WHOLE = /^(0|-?[1-9]\d{0,14})$/;

/**
 * Builds a graph from pairs of ids, in any order. Repeated pairs become one edge; with `multigraph` their counts add up.
 * A third entry is the count of the pair.
 *
 * @example BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'tea'], ['bob', 'milk']])
 */
export function graphOfPairs(
  pairs: Iterable<readonly [user: Id, item: Id, count?: number]>,
  options: OptionsOf<typeof PAIRS> = {},
): BipartiteGraph {
  const { multigraph } = withDefaults(PAIRS, options);
  const users = new IdList('user');
  const items = new IdList('item');
  const counts: number[] = [];
  for (const [user, item, count = 1] of pairs) {
    users.add(user);
    items.add(item);
    if (!Number.isInteger(count) || count < 1 || count > MAX_COUNT) {
      throw new InputError(
        `pair ${counts.length + 1}: the count is ${count}; a count must be a whole number from 1 to ${MAX_COUNT}`,
      );
    }
    counts.push(count);
  }
  if (counts.length === 0) throw new InputError('pairs: the list is empty; give at least one [user, item]');
  const [u, i] = [users.finish(), items.finish()];
  return buildGraph({
    users: u.vertices,
    items: i.vertices,
    counts,
    userCount: u.ids.length,
    itemCount: i.ids.length,
    userIds: u.ids,
    itemIds: i.ids,
    multigraph,
  });
}

function idProblem(id: unknown): string | undefined {
  if (typeof id === 'bigint') return 'write it as a text, as in String(id)';
  if (typeof id === 'number' && Number.isSafeInteger(id)) return undefined;
  if (typeof id !== 'string' || id === '' || !id.isWellFormed())
    return 'an id is a text that is not empty, or a whole number';
  if (id.includes('\0')) return 'an id holds no zero byte';
  // A character has at most three bytes, so short texts need no encoding.
  const long = 3 * id.length > MAX_ID_BYTES && new TextEncoder().encode(id).length > MAX_ID_BYTES;
  return long ? `an id has at most ${MAX_ID_BYTES} bytes` : undefined;
}

class IdList {
  readonly #places = new Map<string, number>();
  readonly #rows: number[] = [];

  constructor(readonly side: string) {}

  add(id: Id): void {
    const problem = idProblem(id);
    if (problem !== undefined) {
      throw new InputError(
        `pair ${this.#rows.length + 1}: the ${this.side} is ${show(typeof id === 'string' ? id.slice(0, 60) : id)}; ${problem}`,
      );
    }
    const text = String(id);
    let place = this.#places.get(text);
    if (place === undefined) {
      place = this.#places.size;
      this.#places.set(text, place);
    }
    this.#rows.push(place);
  }

  finish(): { vertices: Uint32Array; ids: VertexIds } {
    const texts = [...this.#places.keys()];
    const { ids, order } = sortIds(
      texts,
      texts.every((text) => WHOLE.test(text)),
    );
    const rank = new Uint32Array(order.length);
    for (const [vertex, place] of order.entries()) rank[place] = vertex;
    return { vertices: Uint32Array.from(this.#rows, (place) => rank[place]), ids };
  }
}
