// The names of the two sides of a graph. They are users and items unless the header says better: columns customer and product give
// customers and products.

import { InputError } from '../errors.js';
import type { Noun } from './phrases.js';
import { plural, singular } from './plurals.js';

/** The names of the two sides in sentences, on axes and in table heads. */
export interface SideNames {
  readonly users: Noun;
  readonly items: Noun;
}

export const USERS_AND_ITEMS: SideNames = Object.freeze({
  users: Object.freeze({ one: 'user', many: 'users' }),
  items: Object.freeze({ one: 'item', many: 'items' }),
});

/** Names as given by the user, in the plural: 'customers' and 'products'. */
export interface AskedNames {
  readonly users: string;
  readonly items: string;
}

/**
 * Builds names from the user's own words. Throws if a word is too long or both are the same.
 * @example
 * import { BipartiteGraph, sideNames } from 'graphex';
 * const names = sideNames({ users: 'customers', items: 'products' });
 * const graph = BipartiteGraph.fromEdges({ users: [0, 1], items: [0, 0], userCount: 2, itemCount: 1, names });
 * console.log(graph.names.users.one);
 */
export function sideNames(asked: AskedNames): SideNames {
  const noun = (side: 'users' | 'items'): Noun => {
    const text = String(asked[side] ?? '').trim();
    if (!isShortText(text)) {
      throw new InputError(
        `names: ${JSON.stringify(text)} is not a name for the ${side}; give a word or two in the plural, as in customers and products`,
      );
    }
    const one = singular(text);
    return Object.freeze({ one, many: one === text ? plural(text) : text });
  };
  const names = Object.freeze({ users: noun('users'), items: noun('items') });
  if (names.users.many === names.items.many) {
    throw new InputError(`names: both sides are called ${names.users.many}; give each a name of its own`);
  }
  return names;
}

/** Names from an untrusted file; undefined unless they are short words. */
export function readSideNames(value: unknown): SideNames | undefined {
  const { users, items } = (value ?? {}) as Partial<Record<keyof SideNames, Partial<Noun>>>;
  const nouns = [users, items].map((noun) =>
    isShortText(noun?.one) && isShortText(noun?.many) ? { one: noun.one, many: noun.many } : undefined,
  );
  if (!nouns[0] || !nouns[1] || nouns[0].many === nouns[1].many) return undefined;
  return Object.freeze({ users: Object.freeze(nouns[0]), items: Object.freeze(nouns[1]) });
}

/** The names that a table's header suggests; undefined if neither column suggests one. */
export function namesOfColumns(users: string, items: string): SideNames | undefined {
  const found = { users: nounOfColumn(users), items: nounOfColumn(items) };
  if (!found.users && !found.items) return undefined;
  const names = {
    users: found.users ?? USERS_AND_ITEMS.users,
    items: found.items ?? USERS_AND_ITEMS.items,
  };
  // If the users' column is called items, no name is taken: every option and figure would mean its opposite.
  const crossed = names.users.many === 'items' || names.items.many === 'users';
  return crossed || names.users.many === names.items.many ? undefined : names;
}

/** Words of a header that describe the form of a value, not the thing. */
const NOT_THINGS = new Set(
  'id ids no num number nr code key uuid guid idx index ref hash name names title label string str text sk pk fk the'.split(
    ' ',
  ),
);
/** Headers that name a role in the table rather than a thing. */
const PLACES = new Set(
  'col column field var variable value val row line count left right from to src dst source target data feature rating score time date year unnamed'.split(
    ' ',
  ),
);
const MEANT: Readonly<Record<string, string>> = {
  stock: 'product',
  sku: 'product',
  asin: 'product',
  prod: 'product',
  cust: 'customer',
  isbn: 'book',
  usr: 'user',
  uid: 'user',
  iid: 'item',
  doc: 'document',
  msg: 'message',
  repo: 'repository',
  pkg: 'package',
  dep: 'dependency',
};
/** Nouns that are often written together with id: userid, MOVIEID. */
const GROWN =
  /^(user|item|book|movie|film|song|track|artist|product|customer|client|author|paper|article|post|page|video|game|recipe|business|visitor|member|person|account|document|word|tag|package|session|group|event|question|store|student|course|viewer|listener|reader)s?(id|no|code|name|key)$/;

/** The thing that a column of this name holds: 'CustomerNo' → customers; undefined for 'u', 'col1' and the like. */
export function nounOfColumn(header: string): Noun | undefined {
  const words = header
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => GROWN.exec(word)?.[1] ?? word)
    .filter((word) => !NOT_THINGS.has(word));
  if (words.length === 0 || words.length > 2) return undefined;
  if (/[^\x20-\x7e]/.test(header) || words.some((word) => !/^[a-z]{3,20}$/.test(word) || PLACES.has(word))) {
    return undefined;
  }
  const last = words.at(-1)!;
  const one = [...words.slice(0, -1), singular(MEANT[last] ?? last)].join(' ');
  return Object.freeze({ one, many: plural(one) });
}

/** At most two words, without control characters or markup. */
function isShortText(value: unknown): value is string {
  return typeof value === 'string' && /^\p{L}[\p{L}\p{M}\p{N} '’.&/-]{0,39}$/u.test(value);
}
