// graphex recommend --batch: the users in the file. Rows of a known user are added to the user's history in the model. A bad row or user is
// left out, counted and named; the others are kept.

import { InputError } from '../../errors.js';
import type { Model } from '../../fit/model.js';
import { isUsualName, looksLikeHeader } from '../../ingest/formats/guess.js';
import { readSideTable } from '../../ingest/side-file.js';
import { NAMES_LINE } from '../../ingest/side-table.js';
import { nearestId } from '../../predict/nearest-id.js';
import type { UserQuery } from '../../predict/recommend.js';
import type { TitleBook } from '../../predict/titles.js';
import { ownItems } from '../../predict/user-query.js';
import { grouped } from '../../text/numbers.js';
import { article, many, type Noun, were } from '../../text/phrases.js';
import { nounOfColumn, type SideNames, USERS_AND_ITEMS } from '../../text/sides.js';
import { firstShown, shown } from '../../text/untrusted.js';
import type { CommandContext } from '../command.js';
import { knownUsers, type OpenedModel } from '../model-source.js';

/** A user to make a list for. */
export interface NamedQuery {
  readonly name: string;
  readonly query: UserQuery;
  /** Items in addition to those of this user in the model. */
  readonly adds?: readonly string[];
}

/** Rows or users that were left out for one reason: ids, or lines of the file. */
interface Skipped {
  readonly of: 'rows' | 'users';
  readonly reason: string;
  readonly names: readonly string[];
}

/** The users to make lists for, and what was left out. */
export interface BatchQueries {
  readonly queries: readonly NamedQuery[];
  readonly skipped: readonly Skipped[];
  /** Liked items that were left out. */
  readonly unknownItems: readonly string[];
  /** Rows that repeat an earlier row, and their users. */
  readonly repeated?: { readonly rows: number; readonly names: readonly string[] };
  /** Users whose history is not stored in the model: only the rows of the file count. */
  readonly withoutHistory?: readonly string[];
  /** Users whose items are all unknown to the model: they get popular items. */
  readonly withoutItems?: readonly string[];
}

/** Separators of a batch. A space is not one of them, because ids contain spaces. */
const SEPARATORS = ['::', '\t', ',', ';'];
/** Number of rows from which a header is recognised. */
const LOOK = 200;

/** Reads a column of known users, or users and their items. Columns are found by name, else they are the first two. */
export async function readBatch(
  path: string,
  opened: OpenedModel,
  titles: TitleBook,
  signal?: AbortSignal,
): Promise<BatchQueries> {
  const names = opened.head.names ?? USERS_AND_ITEMS;
  const pick = (header: readonly string[]) => pairIn(header, names);
  const rows = await readSideTable(path, { separators, pick, signal });
  if (rows.length === 0) throw new InputError(`--batch ${path}: the file is empty; give an id per line`);
  const width = rows[0].fields.length;
  const place = await header();
  const body = place === undefined ? rows : rows.slice(1);
  const [userAt, itemAt] = place ?? [0, 1];
  const unit = rows[0].line === NAMES_LINE && !/\.(jsonl|ndjson)(\.gz)?$/i.test(path) ? 'row' : 'line';
  const bad: string[] = [];
  const unknownItems = new Set<string>();
  const ambiguous = new Set<string>();
  const likes = new Map<string, number[]>();
  const again = new Set<string>();
  let repeated = 0;
  for (const { line, fields } of body) {
    const [user, item] = [fields[userAt], fields[itemAt]];
    if (fields.length !== width || !user || (width > 1 && !item)) {
      bad.push(`${unit} ${line}`);
      continue;
    }
    let items = likes.get(user);
    if (items && width === 1) {
      repeated++;
      again.add(user);
    }
    if (!items) likes.set(user, (items = []));
    if (width === 1) continue;
    const found = titles.find(item);
    if (found === 'ambiguous') ambiguous.add(item);
    else if (found === 'unknown') unknownItems.add(item);
    else items.push(found.item);
  }
  const users = [...likes.keys()];
  const known = await knownUsers(opened, [...users, ...users.map((user) => user.trim())]);
  const remembered = opened.byShard !== undefined || opened.head.seen !== undefined;
  const queries: NamedQuery[] = [];
  const strangers: string[] = [];
  const spaced: string[] = [];
  const withoutItems: string[] = [];
  const withoutHistory: string[] = [];
  for (const [name, found] of likes) {
    // Counts of a multigraph add up.
    const items = opened.head.multigraph ? found : [...new Set(found)];
    if (items.length < found.length) {
      repeated += found.length - items.length;
      again.add(name);
    }
    const ids = items.map((item) => titles.id(item));
    if (known.has(name) && (width === 1 || remembered)) {
      queries.push({ name, query: { user: name }, ...(ids.length > 0 && { adds: ids }) });
    } else if (ids.length > 0) {
      queries.push({ name, query: { likes: ids } });
      if (known.has(name)) withoutHistory.push(name);
    } else if (width > 1) {
      queries.push({ name, query: { likes: [] } });
      withoutItems.push(name);
    } else if (known.has(name.trim())) spaced.push(name);
    else strangers.push(name);
  }
  // If the model knows nothing in the file, the file is for another model or has other columns.
  if (withoutItems.length === queries.length) queries.length = 0;
  const { users: user, items: item } = names;
  const whole = width === 1 ? 'a single id' : `${article(user.one)} and ${article(item.one)}`;
  const columns = width > 2 ? ` in ${grouped(width)} columns` : '';
  const skipped: Skipped[] = [
    { of: 'rows', reason: `without ${whole}${columns}, as in the first row`, names: bad },
    { of: 'users', reason: 'unknown to the model', names: strangers },
    {
      of: 'users',
      reason: 'unknown to the model; the spaces around the id count as part of it',
      names: spaced,
    },
    {
      of: 'users',
      reason: `without any ${item.one} that the model knows`,
      names: queries.length === 0 ? withoutItems : [],
    },
  ];
  const left = skipped.filter(({ names: some }) => some.length > 0);
  if (queries.length === 0) {
    const why = left.map((one) => `${counted(one, user)} ${one.reason} (${firstShown(one.names)})`);
    const taken =
      place !== undefined && width > 1
        ? `; the ${user.many} were taken from column ${userAt + 1}, the ${item.many} from column ${itemAt + 1}`
        : '';
    throw new InputError(
      `--batch ${path}: no list can be made: ${why.join('; ') || 'there is no row in it'}${taken}; check the file and the model`,
    );
  }
  return {
    queries,
    skipped: left,
    unknownItems: [...unknownItems, ...ambiguous],
    repeated: { rows: repeated, names: [...again] },
    withoutHistory,
    withoutItems,
  };

  /** In a file with one column, an id may contain separators. */
  async function separators(lines: readonly string[]): Promise<readonly string[]> {
    const cut = lines.filter((line) => SEPARATORS.some((separator) => line.includes(separator)));
    return (await knownUsers(opened, cut)).size > 0 ? ['\n'] : SEPARATORS;
  }

  /** The columns that the first row names; undefined if the first row is data. */
  async function header(): Promise<readonly number[] | undefined> {
    const [{ line, fields }, ...below] = rows.slice(0, LOOK);
    if (line === NAMES_LINE) return [0, 1];
    const sides = [names.users, names.items].filter((noun) => fields.some((cell) => isNamed(cell, noun)));
    if (below.length === 0) return undefined;
    // A row that names both columns is not a pair of ids.
    if (sides.length === 2) return pairIn(fields, names);
    const cells = below.map((row) => row.fields);
    const says =
      sides.length > 0 ||
      fields.some(isUsualName) ||
      looksLikeHeader(fields, cells, [...fields.keys()].slice(0, 2), rows.length <= LOOK);
    if (!says) return undefined;
    const isRow =
      width === 1
        ? (await knownUsers(opened, [fields[0]])).size > 0
        : fields.some((cell) => titles.find(cell) !== 'unknown');
    return isRow ? undefined : pairIn(fields, names);
  }
}

/** The positions of users and items: the columns named as the model names its sides, or the first two. */
function pairIn(header: readonly string[], { users, items }: SideNames): number[] {
  if (header.length < 2) return [0];
  const at = (noun: Noun, usual: Noun) => {
    const own = header.findIndex((cell) => isNamed(cell, noun));
    return own >= 0 ? own : header.findIndex((cell) => isNamed(cell, usual));
  };
  const user = at(users, USERS_AND_ITEMS.users);
  const item = at(items, USERS_AND_ITEMS.items);
  const other = (taken: number) => (taken === 0 ? 1 : 0);
  if (user >= 0) return [user, item >= 0 && item !== user ? item : other(user)];
  return item >= 0 ? [other(item), item] : [0, 1];
}

function isNamed(cell: string, { one, many: all }: Noun): boolean {
  const name = cell.trim().toLowerCase();
  return name === one || name === all || nounOfColumn(cell)?.many === all;
}

/** The query for a user: the file's items are added to the user's history in the model, and the user is folded in again. */
export function queryIn(model: Model, { query, adds }: NamedQuery): UserQuery {
  if (adds === undefined || !('user' in query)) return query;
  const { ids } = model.items;
  const own = ownItems(model, model.users.ids.find(query.user));
  const has = new Set(Array.from(own.items, (item) => ids.at(item)));
  // Without new items, the user's fitted row is used.
  if (!model.multigraph && adds.every((id) => has.has(id))) return query;
  return {
    likes: [...has, ...adds],
    ...(own.counts && { counts: [...Array.from(own.counts), ...adds.map(() => 1)] }),
  };
}

/** The likes of one new user. Unknown items are left out. */
export function knownLikes(likes: readonly string[], titles: TitleBook): BatchQueries {
  const unknownItems = [...new Set(likes.filter((like) => titles.meant(like) === 'unknown'))];
  const name = 'new user';
  const left = likes.filter((like) => !unknownItems.includes(like));
  return {
    queries: [{ name, query: { likes: left } }],
    skipped: [],
    unknownItems,
    withoutItems: left.length === 0 ? [name] : [],
  };
}

function counted({ of, names }: Skipped, users: Noun): string {
  return many(names.length, of === 'rows' ? 'row' : users);
}

/** Warns of what was left out. */
export function warnOfSkipped(
  { queries, skipped, unknownItems, repeated, withoutHistory = [], withoutItems = [] }: BatchQueries,
  { head: model }: OpenedModel,
  titles: TitleBook,
  warn: CommandContext['warn'],
): void {
  const { users, items } = model.names ?? USERS_AND_ITEMS;
  for (const one of skipped) warn(`${counted(one, users)} skipped, ${one.reason}: ${firstShown(one.names)}`);
  if (repeated && repeated.rows > 0) {
    const repeat = { one: 'row repeats', many: 'rows repeat' };
    warn(
      `${many(repeated.rows, repeat)} an earlier row and ${were(repeated.rows)} ignored: ${firstShown(repeated.names)}`,
    );
  }
  if (withoutHistory.length > 0) {
    warn(
      `the model stores no histories, so ${many(withoutHistory.length, users)} ${were(withoutHistory.length)} treated as new, with only the ${items.many} of the file: ${firstShown(withoutHistory)}`,
    );
  }
  if (unknownItems.length > 0) {
    const [first] = unknownItems;
    const near = titles.near(first) ?? nearestId(first, model.items.ids);
    const meant = near === undefined ? undefined : shown(near);
    warn(
      `${many(unknownItems.length, { one: `liked ${items.one} is`, many: `liked ${items.many} are` })} unknown to the model and ${were(unknownItems.length)} left out: ${firstShown(unknownItems)}${meant === undefined ? '' : `; did you mean ${meant}?`}`,
    );
  }
  if (withoutItems.length > 0) {
    const whose =
      queries.length === 1
        ? 'the list has'
        : `${many(withoutItems.length, users)} (${firstShown(withoutItems)}) ${withoutItems.length === 1 ? 'gets' : 'get'}`;
    warn(`no liked ${items.one} is known to the model, so ${whose} popular ${items.many}`);
  }
}
