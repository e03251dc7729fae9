// graphex recommend --all-users, --batch: lists for many, to a file, to standard output or as one document.

import { InputError } from '../../errors.js';
import type { Model } from '../../fit/model.js';
import type { RECOMMEND, RECOMMEND_COMMAND } from '../../options/commands/recommend.js';
import type { OptionsOf } from '../../options/declare.js';
import type { ExplainListOptions } from '../../predict/explain/explain-lists.js';
import { createRecommender } from '../../predict/recommender.js';
import type { TitleBook } from '../../predict/titles.js';
import { nextLine } from '../../report/terminal/text-table.js';
import { listPieces, type UserList } from '../../store/list-pieces.js';
import { listsFormat, writeLists } from '../../store/write-table.js';
import { many } from '../../text/phrases.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import { lines } from '../../text/untrusted.js';
import type { CommandOutput } from '../command.js';
import { type Listing, listingJson, makeListings } from '../listings.js';
import type { OpenedModel } from '../model-source.js';
import { checkOutputs } from '../outputs.js';
import { writeOut } from '../stdout.js';
import { type BatchQueries, type NamedQuery, skippedOf, skippedWords } from './recommend-batch.js';

export type RecommendFlags = OptionsOf<typeof RECOMMEND_COMMAND & typeof RECOMMEND>;

/** Rows of a table hold only items and scores; lines of JSON hold the same fields as the document of --json. */
export async function checkMany(
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
export interface AskedGroup {
  readonly model: Model;
  readonly queries: readonly NamedQuery[];
}

/** Every user of the model. */
export function everyUser({ users }: Model): NamedQuery[] {
  return Array.from({ length: users.count }, (_, u) => ({
    name: users.ids.at(u),
    query: { user: users.ids.at(u) },
  }));
}

/** Lists for all users need a model that holds users. */
export function requireUsers({ users, head: { names = USERS_AND_ITEMS } }: OpenedModel): void {
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
export async function* listingsOf(
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
export async function listsToOutput(
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
  const [skippedUsers, skippedRows] = (['users', 'rows'] as const).map((of) => skippedOf(found.skipped, of));
  const { users } = model.names ?? USERS_AND_ITEMS;
  const skipped = skippedWords(found.skipped, users);
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
    text: `wrote ${output}: ${many(rows, 'row')} for ${many(total, users)}${skipped && `, ${skipped}`}\n${byShard ? nextLine('merge', path, '-o model.safetensors') : nextLine('serve', path)}`,
  };
}
