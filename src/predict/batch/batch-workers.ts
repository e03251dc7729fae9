// Workers that compute lists for many users. They share the tables of one model, and each takes the next piece of the users.

import { abortReason, throwIfAborted } from '../../errors.js';
import type { Model, Vertices } from '../../fit/model.js';
import { toShared } from '../../graph/transfer.js';
import { allocate } from '../../math/memory.js';
import { createPool, taskModule, threadCount, type WorkerPool } from '../../parallel/pool.js';
import type { TaskOptions } from '../../progress.js';
import type { TopLists } from '../../topn/query.js';
import type { ExplainedList } from '../explain/explain-lists.js';
import type { UserQuery } from '../recommend.js';
import { excludedItems, historyLists, type RowLists, rowLists } from '../scoring/scorer.js';
import type { ResolvedUser } from '../user-query.js';
import type { ExplainPiece, FoldPiece, ListPiece } from './batch-tasks.js';

const TASKS = taskModule('./batch-tasks.js', import.meta.url);

export interface ListedUser extends ResolvedUser {
  /** Items that the user's list leaves out. */
  readonly exclude: readonly number[];
}

/** The items of a list, best first, and their scores. */
export interface Listed {
  readonly items: Uint32Array;
  readonly scores: Float64Array;
}

export interface ListSettings {
  readonly n: number;
  readonly includeSeen: boolean;
  /** Bits of items that no user gets. */
  readonly without?: Uint32Array | undefined;
}

/** Lists for rows of user factors, with the items that each row does not list and the items that each user has. */
export type ListFactors = (
  rows: Float32Array,
  excluded: RowLists,
  history: () => RowLists,
) => Promise<TopLists>;

/** Lists that are computed outside the workers, by a GPU or by all threads. */
interface ListRows {
  readonly features: number;
  /** Users that are listed together. While one group is listed, workers fold the next and score the previous one. */
  readonly group: number;
  readonly list: ListFactors;
}

/** Fewer users than `few` are served sooner than workers start; a worker takes `piece` users at a time. */
export const LISTS = { few: 256, piece: 256 };
/** Explained lists take tens of milliseconds each. */
export const EXPLAINED = { few: 64, piece: 16 };
/** Groups of rows that wait to be listed. With two, the next rows are always ready. */
const WAITING_GROUPS = 2;

/** Number of workers for this many users; 1: none. */
export function batchWorkerCount(
  users: number,
  threads: number | undefined,
  { few, piece }: typeof LISTS,
): number {
  return users < few ? 1 : threadCount(threads, Math.ceil(users / piece));
}

let batches = 0;

export function createBatchWorkers(model: Model) {
  const batch = batches++;
  let pool: WorkerPool | undefined;
  let hasIds = false;
  const open = async (size: number, withIds: boolean) => {
    if (pool && pool.size < size) {
      await pool.close();
      pool = undefined;
    }
    if (pool && (hasIds || !withIds)) return pool;
    pool ??= await createPool(TASKS, size);
    // Lists need no ids, which can be many texts; explanations do.
    const side = (vertices: Vertices) => (withIds ? vertices : { ...vertices, ids: undefined });
    const shared = toShared({
      ...model,
      users: side(model.users),
      items: side(model.items),
      info: scoringInfo(model, withIds),
    });
    await pool.everywhere('adopt', { batch, model: shared });
    hasIds = withIds;
    return pool;
  };
  const buffers: Float32Array[] = [];
  /** Calls follow one another, since a larger one may need more workers. */
  let turn: Promise<unknown> = Promise.resolve();
  function inTurn<T>(signal: AbortSignal | undefined, task: () => Promise<T>): Promise<T> {
    const result = turn.then(() => {
      throwIfAborted(signal);
      return task();
    });
    turn = result.catch(async () => {
      // Nothing that a failed or interrupted worker left is used again.
      const broken = pool;
      pool = undefined;
      await broken?.close();
    });
    return result.catch((error) => {
      throw signal?.aborted ? abortReason(signal) : error;
    });
  }
  return {
    /** Lists in the order of the users. `rows` computes the lists if given; otherwise the workers do. */
    lists: (
      users: readonly ListedUser[],
      settings: ListSettings,
      { threads, signal, onProgress }: TaskOptions,
      rows?: ListRows,
    ): Promise<Listed[]> =>
      inTurn(signal, async () => {
        const size = batchWorkerCount(users.length, threads, LISTS);
        const workers = await open(size, false);
        const report = progressOf(users.length, onProgress);
        const run = { workers, batch, users, settings, buffers };
        if (rows) return listRows(run, rows, signal, report);
        const pieces = cut(users, Math.min(LISTS.piece, Math.ceil(users.length / size)));
        const lists = await workers.map<ListPiece, Listed[]>(
          'list',
          pieces.map((some) => pieceOf(run, some)),
          { signal, onResult: ({ length }) => report(length) },
        );
        return lists.flat();
      }),
    /** Explained lists in the order of the queries. */
    explain: (
      queries: readonly UserQuery[],
      settings: Pick<ExplainPiece, 'options' | 'ignoreUnknown'>,
      { threads, signal, onProgress }: TaskOptions,
    ): Promise<ExplainedList[]> =>
      inTurn(signal, async () => {
        const workers = await open(batchWorkerCount(queries.length, threads, EXPLAINED), true);
        const report = progressOf(queries.length, onProgress);
        const lists = await workers.map<ExplainPiece, ExplainedList[]>(
          'explain',
          cut(queries, EXPLAINED.piece).map((some) => ({ batch, queries: some, ...settings })),
          { signal, onResult: ({ length }) => report(length) },
        );
        return lists.flat();
      }),
    async close(): Promise<void> {
      await turn;
      await pool?.everywhere('forget', batch).catch(() => {});
      await pool?.close();
    },
  };
}

function progressOf(total: number, onProgress: TaskOptions['onProgress']) {
  let done = 0;
  return (more: number) => {
    done += more;
    onProgress?.({ stage: 'ranking', done, total, unit: 'users' });
  };
}

interface BatchRun {
  readonly workers: WorkerPool;
  readonly batch: number;
  readonly users: readonly ListedUser[];
  readonly settings: ListSettings;
  /** Tables of rows, used in turn and reused by the next call. */
  readonly buffers: Float32Array[];
}

/** Workers fold a group of users while the group before is listed and the one before that is scored. */
async function listRows(
  run: BatchRun,
  { features, group: size, list }: ListRows,
  signal: AbortSignal | undefined,
  report: (more: number) => void,
): Promise<Listed[]> {
  const { workers, batch, users, settings, buffers } = run;
  const groups = cut(users, size);
  const fold = async (g: number): Promise<Float32Array> => {
    const group = groups[g];
    const length = group.length * features;
    // One group is folded while others are listed.
    const turn = g % (WAITING_GROUPS + 1);
    if (!(buffers[turn]?.length >= length)) buffers[turn] = allocate(Float32Array, length);
    const rows = buffers[turn].subarray(0, length);
    // Every worker folds some users of every group.
    const step = Math.ceil(group.length / workers.size);
    const folds = cut(group, step).map(
      (some, p): FoldPiece => ({ piece: pieceOf(run, some), group: g, at: p * step, rows }),
    );
    await workers.map('fold', folds, { signal });
    return rows;
  };
  const found: Listed[] = [];
  const listing: Promise<TopLists>[] = [];
  let scored: Promise<void> = Promise.resolve();
  let folded = fold(0);
  for (const [g, group] of groups.entries()) {
    const rows = await folded;
    // The next group reuses a table, so the group that used it last must be listed.
    if (g >= WAITING_GROUPS) await finish(g - WAITING_GROUPS);
    if (g + 1 < groups.length) {
      folded = fold(g + 1);
      folded.catch(() => {});
    }
    const excluded = rowLists(group.map((user) => excludedItems(user, settings.includeSeen)));
    listing[g] = list(rows, excluded, () => historyLists(group.map(({ own }) => own)));
    listing[g].catch(() => {});
  }
  for (let g = Math.max(0, groups.length - WAITING_GROUPS); g < groups.length; g++) await finish(g);
  await scored;
  return found;

  async function finish(g: number): Promise<void> {
    const [lists] = await Promise.all([listing[g], scored]);
    scored = score(g, lists);
    scored.catch(() => {});
    report(groups[g].length);
  }

  async function score(group: number, lists: TopLists): Promise<void> {
    const scores = allocate(Float64Array, lists.positions.length);
    await workers.everywhere('scoreFolded', { batch, group, lists, scores });
    for (let u = 0; u < lists.counts.length; u++) {
      const [first, last] = [u * lists.listed, u * lists.listed + lists.counts[u]];
      found.push({ items: lists.positions.subarray(first, last), scores: scores.subarray(first, last) });
    }
  }
}

/** What a worker needs of some users. The items of users of the model are in its tables, which threads share. */
function pieceOf({ batch, settings }: BatchRun, users: readonly ListedUser[]): ListPiece {
  return { batch, users: users.map(({ row, own, exclude }) => ({ user: row ?? own, exclude })), ...settings };
}

/** Pieces of `size`, the last of which may be shorter. */
function cut<T>(all: readonly T[], size: number): (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, p) => all.slice(p * size, (p + 1) * size));
}

/** What scores need of the tables about the sides: no titles, which can be many texts. */
function scoringInfo({ info }: Model, withIds: boolean): Model['info'] {
  if (withIds || !info?.items) return info;
  return { items: { ...info.items, titles: [], names: [] } };
}
