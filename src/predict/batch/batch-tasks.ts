// What a batch worker does: it scores users, folding new ones in, lists their best items, and explains lists.

import type { Model } from '../../fit/model.js';
import { fromShared, type Transfer } from '../../graph/transfer.js';
import { once } from '../../math/once.js';
import { serveTasks } from '../../parallel/worker.js';
import type { TopLists } from '../../topn/lists.js';
import { type ExplainedList, type ExplainListOptions, explainLists } from '../explain/explain-lists.js';
import type { UserQuery } from '../recommend.js';
import { createRecommender } from '../recommender.js';
import { createModelScorer, type UserScorer } from '../scoring/model-scorer.js';
import { excludedItems, type RowLists } from '../scoring/scorer.js';
import { ownItems, type ResolvedUser } from '../user-query.js';

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

function batchOf(batch: number): ReturnType<typeof adopted> {
  const found = batches.get(batch);
  if (!found) throw new Error('no model was adopted');
  return found;
}

/** Users to list. */
export interface ListPiece {
  readonly batch: number;
  /** A user of the model, or −1 for a new user. */
  readonly rows: Int32Array;
  /** The items of the new users, one after the other. */
  readonly likes: RowLists & { readonly counts: Uint32Array | undefined };
  /** Items that are not listed, for each user. */
  readonly exclude: readonly (readonly number[])[];
  readonly includeSeen: boolean;
  /** Bits of items that no user gets. */
  readonly without?: Uint32Array | undefined;
  readonly n: number;
}

/** Lists one after the other. */
export interface ListedPiece {
  readonly offsets: Uint32Array;
  readonly items: Uint32Array;
  readonly scores: Float64Array;
}

function usersOf({ rows, likes }: ListPiece, model: Model): ResolvedUser[] {
  const { offsets, values, counts, weights } = likes;
  let next = 0;
  return Array.from(rows, (row) => {
    if (row >= 0) return { row, own: ownItems(model, row) };
    const [first, last] = [offsets[next], offsets[++next]];
    return {
      row: undefined,
      own: {
        items: values.subarray(first, last),
        counts: counts?.subarray(first, last),
        weights: weights?.subarray(first, last),
      },
    };
  });
}

export async function list(piece: ListPiece): Promise<ListedPiece> {
  const { model, scorer } = batchOf(piece.batch);
  const users = usersOf(piece, model);
  const scorers = users.map(({ row, own }) => scorer().userScorer(row, own));
  const excluded = users.map(({ own }, u) => excludedItems(piece.exclude[u], own, piece.includeSeen));
  const best = await scorer().best(scorers, { n: piece.n, excluded, without: piece.without }, { threads: 1 });
  const offsets = new Uint32Array(users.length + 1);
  for (const [u, items] of best.entries()) offsets[u + 1] = offsets[u] + items.length;
  const items = new Uint32Array(offsets[users.length]);
  const scores = new Float64Array(items.length);
  for (const [u, user] of scorers.entries()) {
    items.set(best[u], offsets[u]);
    for (const [i, item] of best[u].entries()) scores[offsets[u] + i] = user.score(item);
  }
  return { offsets, items, scores };
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
  return explainLists(batchOf(batch).recommender(), queries, { ...options, threads: 1, onUnknown });
}

serveTasks('batch-tasks', { adopt, list, fold, scoreFolded, explain });
