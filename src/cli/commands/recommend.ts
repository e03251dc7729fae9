// graphex recommend: items for a known user, for a new one by what they like, for a file of users or for all users.

import { catalogueOf } from '../../attributes/info.js';
import { InputError } from '../../errors.js';
import type { Model } from '../../fit/model.js';
import { readSideTable } from '../../ingest/side-file.js';
import { NAMES_LINE } from '../../ingest/side-table.js';
import type { RECOMMEND, RECOMMEND_COMMAND } from '../../options/commands/recommend.js';
import type { OptionsOf } from '../../options/declare.js';
import type { ExplainListOptions } from '../../predict/explain/explain-lists.js';
import type { UserQuery } from '../../predict/recommend.js';
import { createRecommender } from '../../predict/recommender.js';
import type { TitleBook } from '../../predict/titles.js';
import { listText } from '../../report/terminal/lists.js';
import { nextLine } from '../../report/terminal/text-table.js';
import { listPieces, type UserList } from '../../store/list-pieces.js';
import { listsFormat, writeLists } from '../../store/write-table.js';
import { list, many } from '../../text/phrases.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import { firstShown, lines, shown } from '../../text/untrusted.js';
import { type CommandContext, type CommandOutput, declareCommand, type TypedOptions } from '../command.js';
import { type Listing, listingJson, makeListings } from '../listings.js';
import { byModel, modelsInTurn, type OpenedModel, openModel, requireUser } from '../model-source.js';
import { checkOutputs } from '../outputs.js';
import { writeOut } from '../stdout.js';
import { idByTitle, itemsIn, readTitles } from '../titles.js';
import {
  type BatchQueries,
  knownLikes,
  type NamedQuery,
  readBatch,
  warnOfSkipped,
} from './recommend-batch.js';

type RecommendFlags = OptionsOf<typeof RECOMMEND_COMMAND & typeof RECOMMEND>;

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
  (context, typed, path: string) => run(path, typed, context),
);

async function run(path: string, typed: TypedOptions<'recommend'>, context: CommandContext) {
  const values = { ...typed.own, ...typed.options };
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
  const titles = await readTitles(values.titles, model, context);
  await requireUser(opened, values.user);
  const found = await askedFor();
  if (values.allUsers) requireUsers(opened);
  warnOfSkipped(found, opened, titles, context.warn);
  warnOfExcluded();
  const { confidence, output } = values;
  const { threads, signal, onProgress } = context;
  const total = values.allUsers ? opened.users : found.queries.length;
  // A warning has named unknown items.
  const onUnknown = () => {};
  const options = { ...typed.options, confidence, exclude, threads, signal, onUnknown };
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
    if (!values.allUsers) {
      yield* byModel(
        opened,
        found.queries.map((one) => ({ ...one, query: byTitle(one.query, titles) })),
      );
      return;
    }
    for await (const one of modelsInTurn(opened, signal)) yield { model: one, queries: everyUser(one) };
  }

  function warnOfExcluded(): void {
    const { items } = model.names ?? USERS_AND_ITEMS;
    const strange = exclude.filter((id) => catalogueOf(model).ids.find(id) < 0);
    if (strange.length > 0) {
      context.warn(
        `${many(strange.length, { one: 'id of --exclude is', many: 'ids of --exclude are' })} not among the ${items.many} of the model: ${firstShown(strange)}`,
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

/** Rows of a table hold only items and scores; lines of JSON hold the same fields as the document of --json. */
async function checkMany(
  flags: RecommendFlags,
  inputs: readonly (string | undefined)[],
  json: boolean,
): Promise<void> {
  const { output, allUsers, explain, confidence, force } = flags;
  if (output === undefined) {
    if (allUsers && !json) {
      throw new InputError(
        '--all-users: say where the lists go: -o FILE.csv, .jsonl or .parquet, -o - for standard output, or --json',
      );
    }
    return;
  }
  const { kind } = output === '-' ? { kind: 'csv' } : listsFormat(output);
  if ((explain || confidence) && kind !== 'jsonl') {
    throw new InputError(
      `${explain ? '--explain' : '--confidence'} does not go with -o ${output}: rows hold items and scores; write .jsonl, or leave one of them out`,
    );
  }
  if (output === '-') {
    if (json)
      throw new InputError(
        '-o -: standard output takes the lists or the document of --json, not both; leave one out',
      );
    return;
  }
  await checkOutputs({ files: [output], inputs: [...inputs], force });
}

/** Some of the users, and the model that knows them. */
interface AskedGroup {
  readonly model: Model;
  readonly queries: readonly NamedQuery[];
}

function everyUser({ users }: Model): NamedQuery[] {
  return Array.from({ length: users.count }, (_, u) => ({
    name: users.ids.at(u),
    query: { user: users.ids.at(u) },
  }));
}

/** Lists for all users need a model that holds users. */
function requireUsers({ users, head: { names = USERS_AND_ITEMS } }: OpenedModel): void {
  if (users > 0) return;
  throw new InputError(
    `--all-users: the model was saved without ${names.users.many}; save it with them, or give what each likes with --batch`,
  );
}

/** Users per batch: enough for all threads, and a few megabytes of lists. */
const BATCH = 8192;
/** Smaller with explanations, which are long. */
const EXPLAINED_BATCH = 512;

/** The lists of all groups, batch by batch: while one is used, the next is computed. */
async function* listingsOf(
  groups: AsyncIterable<AskedGroup>,
  titles: TitleBook,
  options: ExplainListOptions,
  onDone: (lists: number) => void,
): AsyncGenerator<Listing[]> {
  const batch = options.explain || options.confidence ? EXPLAINED_BATCH : BATCH;
  let done = 0;
  for await (const { model, queries } of groups) {
    const recommender = createRecommender(model);
    const ask = (at: number) => makeListings(recommender, queries.slice(at, at + batch), titles, options);
    try {
      let next = queries.length > 0 ? ask(0) : undefined;
      for (let at = batch; next; at += batch) {
        const listings = await next;
        next = at < queries.length ? ask(at) : undefined;
        // If a write fails, no further batch is computed.
        next?.catch(() => {});
        done += listings.length;
        onDone(done);
        yield listings;
      }
    } finally {
      await recommender.close();
    }
  }
}

/** Writes the lists to the output and says what was written. */
async function listsToOutput(
  lists: AsyncIterable<Listing[]>,
  { head: model, users: everyone, byShard }: OpenedModel,
  found: BatchQueries,
  flags: RecommendFlags & { readonly output: string; readonly path: string },
  titles: TitleBook,
): Promise<CommandOutput | undefined> {
  const { output, path } = flags;
  const withTitles = flags.titles !== undefined || (model.info?.items?.titles.length ?? 0) > 0;
  const total = flags.allUsers ? everyone : found.queries.length;
  let rows = 0;
  async function* batches(): AsyncGenerator<UserList[]> {
    for await (const listings of lists) {
      for (const { items } of listings) rows += items.length;
      yield listings.map((listing) => listingJson(listing, titles));
    }
  }
  if (output === '-') {
    // A terminal would interpret control characters in ids and titles; a file or a program gets them unchanged.
    const { isTTY } = process.stdout;
    for await (const piece of listPieces('csv', batches(), withTitles)) {
      await writeOut(isTTY ? lines(String(piece)) : piece);
    }
    return undefined;
  }
  await writeLists(output, batches(), withTitles);
  const countOf = (kind: 'users' | 'rows') =>
    found.skipped.reduce((sum, { of, names }) => sum + (of === kind ? names.length : 0), 0);
  const [skippedUsers, skippedRows] = [countOf('users'), countOf('rows')];
  const { users } = model.names ?? USERS_AND_ITEMS;
  const skipped = [
    ...(skippedUsers > 0 ? [many(skippedUsers, users)] : []),
    ...(skippedRows > 0 ? [many(skippedRows, 'row')] : []),
  ];
  return {
    json: {
      output,
      users: total,
      rows,
      skipped: skippedUsers + skippedRows,
      skippedUsers,
      skippedRows,
      skippedBecause: found.skipped,
      repeatedRows: found.repeated?.rows ?? 0,
      unknownItems: found.unknownItems,
    },
    text: `wrote ${output}: ${many(rows, 'row')} for ${many(total, users)}${skipped.length > 0 ? `, ${list(skipped)} skipped` : ''}\n${byShard ? nextLine('merge', path, '-o', 'model.safetensors') : nextLine('serve', path)}`,
  };
}
