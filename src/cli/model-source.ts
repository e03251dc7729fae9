// A model on a command line: a file, or a folder with the users by shard, of which only the users asked for are read.

import { InputError, throwIfAborted } from '../errors.js';
import { type Model, needPosterior, type PosteriorModel } from '../fit/model.js';
import type { UserQuery } from '../predict/recommend.js';
import { attributesOfUser } from '../predict/scoring/attribute-users.js';
import {
  isModelFolder,
  type ModelShards,
  openModelShards,
  readModelShard,
  shardOfUser,
} from '../shard/model-folder.js';
import { loadModel } from '../store/model-file.js';
import { many } from '../text/phrases.js';
import { USERS_AND_ITEMS } from '../text/sides.js';
import { shown } from '../text/untrusted.js';

export interface OpenedModel {
  /** The whole model; without its users if they are by shard. */
  readonly head: Model;
  readonly byShard: ModelShards | undefined;
  /** Number of users in all shards. */
  readonly users: number;
}

export async function openModel(path: string): Promise<OpenedModel> {
  if (!(await isModelFolder(path))) {
    const head = await loadModel(path);
    return { head, byShard: undefined, users: head.users.count };
  }
  const byShard = await openModelShards(path);
  return { head: byShard.itemsModel, byShard, users: byShard.users };
}

/** The model with the users of each shard in turn; a model in one file is yielded once. */
export async function* modelsInTurn(
  { head, byShard }: OpenedModel,
  signal?: AbortSignal,
): AsyncGenerator<Model> {
  if (!byShard) yield head;
  for (let s = 0; s < (byShard?.shards.length ?? 0); s++) {
    throwIfAborted(signal);
    yield await readModelShard(byShard!, s);
  }
}

/** Groups things by the shard that holds their user, and reads each shard once. Things without a user go to the model without users. */
export async function* byModel<T extends { readonly query: UserQuery }>(
  { head, byShard }: OpenedModel,
  all: readonly T[],
): AsyncGenerator<{ readonly model: Model; readonly queries: readonly T[] }> {
  if (!byShard) {
    yield { model: head, queries: all };
    return;
  }
  const groups = new Map<number, T[]>();
  for (const one of all) {
    const s = 'user' in one.query ? shardOfUser(byShard, one.query.user) : -1;
    groups.set(s, [...(groups.get(s) ?? []), one]);
  }
  for (const [s, queries] of [...groups].sort(([a], [b]) => a - b)) {
    yield { model: s < 0 ? head : await readModelShard(byShard, s), queries };
  }
}

/** Those of the given names that are users of the model, or of its table about the users. */
export async function knownUsers(opened: OpenedModel, names: readonly string[]): Promise<Set<string>> {
  const known = new Set<string>();
  const asked = [...new Set(names)].map((user) => ({ query: { user } }));
  for await (const { model, queries } of byModel(opened, asked)) {
    for (const { query } of queries) {
      if (model.users.ids.find(query.user) >= 0 || attributesOfUser(model, query.user)) known.add(query.user);
    }
  }
  return known;
}

/** The error for a user who is in no shard. A model in one file throws its own, with the nearest id. */
export async function requireUser(opened: OpenedModel, user: string | undefined): Promise<void> {
  if (!opened.byShard || user === undefined || (await knownUsers(opened, [user])).size > 0) return;
  const { users, items } = opened.head.names ?? USERS_AND_ITEMS;
  throw new InputError(
    `${users.one} ${shown(user)} is not in the model (${many(opened.users, users)}); for a new ${users.one}, name liked ${items.many} instead`,
  );
}

/** The posterior of --model for these data. One of other data, such as a split's training part, gets a warning. */
export async function posteriorFor(
  path: string,
  use: string,
  ofData: string,
  warn: (message: string) => void,
): Promise<PosteriorModel> {
  const model = await loadModel(path);
  needPosterior(model, `--model ${path}: ${use}`);
  if (model.provenance.fingerprint !== ofData) {
    warn(`${path} was fitted to other data, or to a part of these data`);
  }
  return model;
}
