// What a batch worker does: it scores users, folding new ones in, lists their best items, and explains lists.

import type { Model } from '../../fit/model.js';
import { fromShared, type Transfer } from '../../graph/transfer.js';
import { once } from '../../math/once.js';
import { serveTasks } from '../../parallel/worker.js';
import type { TopLists } from '../../topn/query.js';
import type { ExplainedList, ExplainListOptions } from '../explain/explain-lists.js';
import type { UserQuery } from '../recommend.js';
import { createRecommender } from '../recommender.js';
import { createModelScorer, type UserScorer } from '../scoring/model-scorer.js';
import { excludedItems } from '../scoring/scorer.js';
import { ownItems, type ResolvedUser } from '../user-query.js';
import type { Listed, ListedUser, ListSettings } from './batch-workers.js';

function adopted(model: Model) {
  return {
    model,
    scorer: once(() => createModelScorer(model)),
    recommender: once(() => createRecommender(model)),
    /** Users whose lists are computed outside this worker, by group and by the number of their first user in the group. */
    folded: new Map<number, Map<number, readonly UserScorer[]>>(),
  };
}

/** State by batch id: without shared memory several batches live in one thread. */
const batches = new Map<number, ReturnType<typeof adopted>>();

/** Takes a model. Lists need no ids of its vertices; explanations do. */
export function adopt({ batch, model }: { readonly batch: number; readonly model: Transfer<unknown> }): void {
  batches.set(batch, adopted(fromShared(model) as Model));
}

/** Drops the model: if tasks run in the caller's thread, it would stay in memory. */
export function forget(batch: number): void {
  batches.delete(batch);
}

function batchOf(batch: number): ReturnType<typeof adopted> {
  const found = batches.get(batch);
  if (!found) throw new Error('no model was adopted');
  return found;
}

export interface ListPiece extends ListSettings {
  readonly batch: number;
  /** The row of a user of the model, or the items of a new user; and items that are not listed. */
  readonly users: readonly {
    readonly user: number | ResolvedUser['own'];
    readonly exclude: readonly number[];
  }[];
}

function usersOf({ users }: ListPiece, model: Model): ListedUser[] {
  return users.map(({ user, exclude }) =>
    typeof user === 'number'
      ? { row: user, own: ownItems(model, user), exclude }
      : { row: undefined, own: user, exclude },
  );
}

export async function list(piece: ListPiece): Promise<Listed[]> {
  const { n, without, includeSeen } = piece;
  const { model, scorer } = batchOf(piece.batch);
  const users = usersOf(piece, model);
  const scorers = users.map(({ row, own }) => scorer().userScorer(row, own));
  const excluded = users.map((user) => excludedItems(user, includeSeen));
  const best = await scorer().best(scorers, { n, excluded, without }, { threads: 1 });
  return scorers.map((user, u) => ({
    items: best[u],
    scores: Float64Array.from(best[u], (item) => user.score(item)),
  }));
}

export interface FoldPiece {
  readonly piece: ListPiece;
  readonly group: number;
  /** The number of the first user in the group. */
  readonly at: number;
  /** Factors of all users of the group; each worker writes its own rows. */
  readonly rows: Float32Array;
}

/** Writes the factors of users who are listed elsewhere, and keeps the users until they are scored. */
export function fold({ piece, group, at, rows }: FoldPiece): void {
  const { model, scorer, folded } = batchOf(piece.batch);
  const scorers = usersOf(piece, model).map(({ row, own }) => scorer().userScorer(row, own));
  const { factors } = scorer();
  const features = factors?.features ?? 0;
  factors?.rows(scorers, rows.subarray(at * features, (at + scorers.length) * features));
  const others = folded.get(group) ?? new Map<number, readonly UserScorer[]>();
  folded.set(group, others.set(at, scorers));
}

/** Scores the listed items of those users of a group whom this worker folded. */
export function scoreFolded({
  batch,
  group,
  lists: { listed, positions, counts },
  scores,
}: {
  readonly batch: number;
  readonly group: number;
  readonly lists: TopLists;
  readonly scores: Float64Array;
}): void {
  const { folded } = batchOf(batch);
  for (const [at, scorers] of folded.get(group) ?? []) {
    for (const [u, user] of scorers.entries()) {
      const first = (at + u) * listed;
      for (let i = first; i < first + counts[at + u]; i++) scores[i] = user.score(positions[i]);
    }
  }
  folded.delete(group);
}

export interface ExplainPiece {
  readonly batch: number;
  readonly queries: readonly UserQuery[];
  /** Options that cross threads: no functions. */
  readonly options: Omit<ExplainListOptions, 'signal' | 'onProgress' | 'onUnknown' | 'threads' | 'engine'>;
  readonly ignoreUnknown: boolean;
}

export function explain({ batch, queries, options, ignoreUnknown }: ExplainPiece): Promise<ExplainedList[]> {
  const onUnknown = ignoreUnknown ? () => {} : undefined;
  return batchOf(batch)
    .recommender()
    .explainMany(queries, { ...options, threads: 1, onUnknown });
}

serveTasks('batch-tasks', { adopt, list, fold, scoreFolded, explain, forget });
