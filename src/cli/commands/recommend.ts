// graphex recommend: items for a known user, for a new one by what they like, or for a file of users.

import { catalogueOf } from '../../attributes/info.js';
import { InputError } from '../../errors.js';
import { readSideTable } from '../../ingest/side-file.js';
import { NAMES_LINE } from '../../ingest/side-table.js';
import type { UserQuery } from '../../predict/recommend.js';
import type { TitleBook } from '../../predict/titles.js';
import { listText } from '../../report/terminal/lists.js';
import { many } from '../../text/phrases.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import { shown } from '../../text/untrusted.js';
import { type CommandContext, declareCommand } from '../command.js';
import { type Listing, listingJson } from '../listings.js';
import { byModel, modelsInTurn, openModel, requireUser } from '../model-source.js';
import { idByTitle, itemsIn, readTitles } from '../titles.js';
import { type BatchQueries, knownLikes, readBatch, some, warnOfSkipped } from './recommend-batch.js';
import {
  type AskedGroup,
  checkMany,
  everyUser,
  listingsOf,
  listsToOutput,
  type RecommendFlags,
  requireUsers,
} from './recommend-many.js';

export const register = declareCommand(
  'recommend',
  {
    description: 'Recommends items to a user of the model, or to a new user by a few liked items.',
    takes: { '<model>': 'a model file made by `graphex fit`, or its folder with users by shard' },
    examples: [
      'graphex recommend model.safetensors --user 4711 -n 10',
      'graphex recommend model.safetensors --likes 112,235,4081 --explain',
      'graphex recommend model.safetensors --all-users -n 20 -o lists.parquet',
      'graphex recommend my.model --likes "I, Robot" --likes Heat --titles films.csv',
    ],
  },
  (context, { own, options }, path: string) => run(path, { ...own, ...options }, context),
);

async function run(path: string, values: RecommendFlags, context: CommandContext) {
  const asked = (
    [
      ['--user', values.user],
      ['--likes', values.likes],
      ['--batch', values.batch],
      ['--all-users', values.allUsers || undefined],
    ] as const
  ).filter(([, value]) => value !== undefined);
  if (asked.length !== 1) {
    const given = asked.map(([flag]) => flag).join(' and ');
    throw new InputError(
      `${given && `${given} were both given; `}give one of --user ID, --likes ITEM,ITEM,…, --all-users and --batch FILE`,
    );
  }
  const toMany = values.batch !== undefined || values.allUsers === true;
  if (toMany) await checkMany(values, [path, values.batch, values.exclude, values.titles], context.json);
  else if (values.output !== undefined) {
    throw new InputError('-o is for the lists of many: add --all-users or --batch FILE, or leave it out');
  }
  const exclude = values.exclude === undefined ? [] : await readLines(values.exclude, context.signal);
  const opened = await openModel(path);
  const { head: model } = opened;
  const titles = await readTitles(values.titles, model, context.signal);
  await requireUser(opened, values.user);
  const found = await askedFor();
  if (values.allUsers) requireUsers(opened);
  warnOfSkipped(found, opened, titles, context.warn);
  warnOfExcluded();
  const { n, filter, includeSeen, explain, confidence, output } = values;
  const { threads, signal, onProgress } = context;
  const total = values.allUsers ? opened.users : found.queries.length;
  // A warning has named unknown items.
  const options = {
    n,
    filter,
    includeSeen,
    explain,
    confidence,
    exclude,
    threads,
    signal,
    onUnknown: () => {},
  };
  const lists = listingsOf(groups(), titles, options, (done) =>
    onProgress({ stage: 'ranking', done, total, unit: 'users' }),
  );
  if (toMany && output !== undefined) {
    return listsToOutput(lists, opened, found, { ...values, output, path }, titles);
  }
  return answer();

  async function askedFor(): Promise<BatchQueries> {
    const { user, batch, likes } = values;
    if (batch !== undefined) return readBatch(batch, opened, titles, context.signal);
    if (user === undefined && likes) return knownLikes(itemsIn(likes, titles), titles);
    const queries = user === undefined ? [] : [{ name: user, query: { user } }];
    return { queries, skipped: [], unknownItems: [] };
  }

  /** The users by the model that holds them; users by shard are read one shard at a time. */
  async function* groups(): AsyncGenerator<AskedGroup> {
    if (values.allUsers) {
      for await (const one of modelsInTurn(opened, context.signal)) {
        yield { model: one, queries: everyUser(one) };
      }
      return;
    }
    const all = found.queries.map((one) => ({ ...one, query: byTitle(one.query, titles) }));
    for await (const { model: one, asked: queries } of byModel(opened, all)) yield { model: one, queries };
  }

  function warnOfExcluded(): void {
    const { items } = model.names ?? USERS_AND_ITEMS;
    const strange = exclude.filter((id) => catalogueOf(model).ids.find(id) < 0);
    if (strange.length > 0) {
      context.warn(
        `${many(strange.length, { one: 'id of --exclude is', many: 'ids of --exclude are' })} not among the ${items.many} of the model: ${some(strange)}`,
      );
    }
  }

  async function answer() {
    const listings: Listing[] = [];
    for await (const some of lists) listings.push(...some);
    // Lists arrive in the order of shards; they are printed in the order of the file.
    const place = new Map(found.queries.map(({ name }, at) => [name, at]));
    listings.sort((a, b) => (place.get(a.user) ?? 0) - (place.get(b.user) ?? 0));
    const documents = listings.map((listing) => listingJson(listing, titles));
    if (!toMany) {
      const [{ items, confidence: ofList }] = documents;
      // One list is an array of items, so each item repeats what is said of the whole list.
      return {
        json: items.map((entry) => ({ ...entry, ...(ofList && { confidence: ofList }) })),
        text: listText(listings[0], model, titles),
      };
    }
    return {
      json: documents,
      text: listings
        .map((listing) => `${shown(listing.user)}\n${listText(listing, model, titles)}\n`)
        .join('\n'),
    };
  }
}

/** Replaces titles by ids; a title that several items share is refused. */
function byTitle(query: UserQuery, titles: TitleBook): UserQuery {
  if (!('likes' in query)) return query;
  const likes = query.likes.map((like) => idByTitle(String(like), titles));
  return { ...query, likes };
}

/** One id per line, or the first column of a table with a header. */
async function readLines(path: string, signal: AbortSignal): Promise<string[]> {
  const rows = await readSideTable(path, { separators: ['\n'], pick: () => [0], signal });
  return rows.filter(({ line, fields }) => line !== NAMES_LINE && fields[0]).map(({ fields }) => fields[0]);
}
