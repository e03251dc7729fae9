// graphex recommend --all-users, --batch: lists for many, to a file, to standard output or as one document. What is wrong
// with one of them costs only that one, and is counted and named.

import { InputError } from '../errors.js';
import type { Model } from '../fit/model.js';
import { isUsualName } from '../ingest/guess.js';
import { readSideTable } from '../ingest/side-table.js';
import { basisOf, FEW_LIKES } from '../predict/basis.js';
import type { Asker, Recommendation } from '../predict/recommend.js';
import { createRecommender, type Recommender } from '../predict/recommender.js';
import type { TitleBook } from '../predict/titles.js';
import { listPieces, type UserList } from '../store/list-pieces.js';
import { listsFormat, writeLists } from '../store/lists.js';
import { grouped } from '../text/numbers.js';
import { many, were } from '../text/phrases.js';
import { USERS_AND_ITEMS } from '../text/sides.js';
import { shown } from '../text/untrusted.js';
import type { CommandContext, CommandOutput } from './command.js';
import { knownUsers, type OpenedModel } from './model-source.js';
import { checkOutputs } from './outputs.js';

export interface ManyFlags {
  readonly batch?: string | undefined;
  readonly allUsers?: boolean | undefined;
  readonly output?: string | undefined;
  readonly force?: boolean | undefined;
  readonly n?: number | undefined;
  readonly includeSeen?: boolean | undefined;
  readonly explain?: boolean | undefined;
  readonly confidence?: boolean | undefined;
}

/** Lists that go to a file or to standard output hold items and scores alone. */
export async function checkMany(
  flags: ManyFlags,
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
  if (explain || confidence) {
    throw new InputError(
      `${explain ? '--explain' : '--confidence'} does not go with -o: lists in files hold items and scores; leave one of them out`,
    );
  }
  if (output === '-') {
    if (json)
      throw new InputError(
        '-o -: standard output takes the lists or the document of --json, not both; leave one out',
      );
    return;
  }
  listsFormat(output);
  await checkOutputs({ files: [output], inputs: [...inputs], force });
}

/** Someone to make a list for. */
export interface NamedAsker {
  readonly name: string;
  readonly asker: Asker;
}

/** Who asks, and what was left out on the way: by what is wrong, with the names. */
export interface Askers {
  readonly askers: readonly NamedAsker[];
  readonly skipped: readonly { readonly reason: string; readonly names: readonly string[] }[];
  /** Liked items that were left out. */
  readonly unknownItems: readonly string[];
}

/** Some of those who ask, and the model that knows them. */
export interface AskedGroup {
  readonly model: Model;
  readonly askers: readonly NamedAsker[];
}

/** Every user of the model. */
export function everyUser({ users }: Model): NamedAsker[] {
  return Array.from({ length: users.count }, (_, u) => ({
    name: users.ids.at(u),
    asker: { user: users.ids.at(u) },
  }));
}

/** Lists for all need somebody. */
export function requireUsers({ users, head: { names = USERS_AND_ITEMS } }: OpenedModel): void {
  if (users > 0) return;
  throw new InputError(
    `--all-users: the model was saved without ${names.users.many}; save it with them, or give what each likes with --batch`,
  );
}

/** A column of known users, or two columns: users who are folded in from the items beside them. */
export async function readBatch(path: string, opened: OpenedModel, titles: TitleBook): Promise<Askers> {
  const rows = await readSideTable(path, ['\t', ',']);
  if (rows.length === 0) throw new InputError(`--batch ${path}: the file is empty; give an id per line`);
  const width = rows[0].fields.length;
  const { users, items } = opened.head.names ?? USERS_AND_ITEMS;
  const isUser =
    width === 1
      ? await knownUsers(
          opened,
          rows.map(({ fields }) => fields[0]),
        )
      : new Set();
  const known = (fields: readonly string[]) =>
    width === 1 ? isUser.has(fields[0]) : titles.find(fields[1] ?? '') !== 'unknown';
  const named = [users.one, users.many, items.one, items.many];
  const isHeader = rows[0].fields.some((cell) => isUsualName(cell) || named.includes(cell.toLowerCase()));
  const body = isHeader && !known(rows[0].fields) && rows.length > 1 ? rows.slice(1) : rows;
  const bad: string[] = [];
  const strangers: string[] = [];
  const unknownItems = new Set<string>();
  const ambiguous = new Set<string>();
  const likes = new Map<string, string[]>();
  for (const { line, fields } of body) {
    const [user, item] = fields;
    if (fields.length !== Math.min(2, width) || !user || (width > 1 && !item)) {
      bad.push(`line ${line}`);
      continue;
    }
    const list = likes.get(user) ?? [];
    likes.set(user, list);
    if (width === 1) continue;
    const found = titles.find(item);
    if (found === 'ambiguous') ambiguous.add(item);
    else if (found === 'unknown') unknownItems.add(item);
    else list.push(titles.id(found.item));
  }
  const askers: NamedAsker[] = [];
  const empty: string[] = [];
  for (const [name, list] of likes) {
    if (width === 1) {
      if (!isUser.has(name)) strangers.push(name);
      else askers.push({ name, asker: { user: name } });
    } else if (list.length === 0) empty.push(name);
    else askers.push({ name, asker: { likes: list } });
  }
  const skipped = [
    {
      reason: `${width === 1 ? 'without a single id' : `without a ${users.one} and one ${items.one}`}, as in the first row`,
      names: bad,
    },
    { reason: 'unknown to the model', names: strangers },
    { reason: `without any ${items.one} that the model knows`, names: empty },
  ].filter(({ names }) => names.length > 0);
  if (askers.length === 0) {
    throw new InputError(
      `--batch ${path}: no list can be made: ${skipped.map(({ reason, names }) => `${grouped(names.length)} ${reason} (${some(names)})`).join('; ')}; check the file and the model`,
    );
  }
  return { askers, skipped, unknownItems: [...unknownItems, ...ambiguous] };
}

/** Names for a message: the first few. */
export function some(ids: readonly string[]): string {
  return (
    ids
      .slice(0, 5)
      .map((id) => shown(id))
      .join(', ') + (ids.length > 5 ? ', …' : '')
  );
}

/** Says what was left out. */
export function warnOfSkipped(
  { skipped, unknownItems }: Askers,
  model: Model,
  warn: CommandContext['warn'],
): void {
  const { items } = model.names ?? USERS_AND_ITEMS;
  for (const { reason, names } of skipped) {
    warn(`${grouped(names.length)} skipped, ${reason}: ${some(names)}`);
  }
  if (unknownItems.length > 0) {
    warn(
      `${many(unknownItems.length, { one: `liked ${items.one} is`, many: `liked ${items.many} are` })} unknown to the model and ${were(unknownItems.length)} left out: ${some(unknownItems)}`,
    );
  }
}

/** Items of an asker that the model knows. */
export function knownItems({ items, users, seen }: Model, asker: Asker): number {
  if ('likes' in asker) return new Set(asker.likes.filter((id) => items.ids.find(id) >= 0)).size;
  return users.degree[users.ids.find(asker.user)] ?? (seen ? 0 : FEW_LIKES);
}

/** Askers that are asked for together: enough for all threads, and a few megabytes of lists. */
const TOGETHER = 8192;

/** Writes the lists as they come: the next are made while these are written. */
export async function listsToOutput(
  groups: AsyncIterable<AskedGroup>,
  { head: model, users: everyone }: OpenedModel,
  found: Askers,
  flags: ManyFlags & { readonly output: string },
  { titles, exclude }: { readonly titles: TitleBook | undefined; readonly exclude: readonly string[] },
  { threads, signal, onProgress }: CommandContext,
): Promise<CommandOutput | undefined> {
  const { n, includeSeen, output } = flags;
  const total = flags.allUsers ? everyone : found.askers.length;
  let rows = 0;
  let done = 0;
  async function* batches(): AsyncGenerator<UserList[]> {
    for await (const group of groups) {
      const recommender = createRecommender(group.model);
      try {
        yield* batchesOf(recommender, group.askers);
      } finally {
        await recommender.close();
      }
    }
  }
  async function* batchesOf(
    recommender: Recommender,
    askers: readonly NamedAsker[],
  ): AsyncGenerator<UserList[]> {
    const ask = (at: number) =>
      recommender.recommendMany(
        askers.slice(at, at + TOGETHER).map(({ asker }) => asker),
        { n, includeSeen, exclude, threads, signal, onUnknown: () => {} },
      );
    let next: Promise<Recommendation[][]> | undefined = ask(0);
    for (let at = 0; at < askers.length; at += TOGETHER) {
      const lists = await next!;
      next = at + TOGETHER < askers.length ? ask(at + TOGETHER) : undefined;
      // A writer that fails leaves the next ones unasked for.
      next?.catch(() => {});
      done += lists.length;
      onProgress({ stage: 'ranking', done, total, unit: 'users' });
      yield lists.map((items, i) => {
        const { name, asker } = askers[at + i];
        rows += items.length;
        return {
          user: name,
          items: titles ? items.map((entry) => withTitle(entry, titles, model)) : items,
          basis: basisOf(knownItems(recommender.model, asker)),
        };
      });
    }
  }
  if (output === '-') {
    for await (const piece of listPieces('csv', batches(), titles !== undefined))
      await toStandardOutput(piece);
    return undefined;
  }
  await writeLists(output, batches(), titles !== undefined);
  const skipped = found.skipped.reduce((sum, { names }) => sum + names.length, 0);
  const { users } = model.names ?? USERS_AND_ITEMS;
  return {
    json: {
      output,
      users: total,
      rows,
      skipped,
      skippedBecause: found.skipped,
      unknownItems: found.unknownItems,
    },
    text: `wrote ${output}: ${many(rows, 'row')} for ${many(total, users)}${skipped > 0 ? `, ${grouped(skipped)} skipped` : ''}`,
  };
}

function withTitle(entry: Recommendation, titles: TitleBook, model: Model): UserList['items'][number] {
  const title = titles.of(model.items.ids.find(entry.item));
  return title === undefined ? entry : { ...entry, title };
}

/** Waits where the reader is slow; a reader that left ends the work without an error. */
async function toStandardOutput(piece: string | Uint8Array): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(piece, (error) => {
      if (!error) resolve();
      else if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit(0);
      else reject(error);
    });
  });
}
