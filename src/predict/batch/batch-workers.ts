// Many askers at once, on all threads: workers share the tables of a model, each takes the next piece of the askers.

import { abortReason, throwIfAborted } from '../../errors.js';
import type { Model } from '../../fit/model.js';
import { allocate } from '../../math/memory.js';
import { createPool, type TaskModule, threadCount, type WorkerPool } from '../../parallel/pool.js';
import type { TaskOptions } from '../../progress.js';
import type { TopLists } from '../../topn/lists.js';
import type { OwnItems } from '../explain/explain.js';
import { leftOut, type RowLists, rowLists } from '../scoring/scorer.js';
import type { AskedPiece, FoldedPiece, ListedPiece } from './batch-tasks.js';
import { shareTables } from './shared-model.js';

const TASKS: TaskModule = {
  name: 'batch-tasks',
  base: import.meta.url,
  worker: () =>
    new Worker(new URL('./batch-tasks.js', import.meta.url), {
      type: 'module',
      name: 'graphex:batch-tasks',
    }),
  here: () => import('./batch-tasks.js'),
};

/** An asker by number: a user of the model, or someone new with these items. */
export interface Identified {
  readonly row: number | undefined;
  readonly own: OwnItems & { readonly items: Uint32Array };
}

export interface Listed {
  readonly items: Uint32Array;
  readonly scores: Float64Array;
}

/** What lists are asked for. */
export interface AskedLists {
  readonly n: number;
  readonly includeSeen: boolean;
}

/** Lists by products of rows with the items, made by others than the workers. */
export interface ListsElsewhere {
  readonly features: number;
  /** Askers whose rows go there together: while their lists are made, the next are seated and those before scored. */
  readonly group: number;
  /** How many groups may be asked for before the first is answered. */
  readonly atOnce: number;
  lists(
    rows: Float32Array,
    /** Of each row, what is not to be listed, and what it has. */
    of: { readonly excluded: RowLists; readonly history: () => RowLists },
  ): Promise<TopLists>;
}

export interface BatchWorkers {
  /** Lists in the order of the askers; the same as one by one. */
  ask(
    askers: readonly Identified[],
    without: readonly (readonly number[])[],
    asked: AskedLists,
    options: TaskOptions,
    /** Who makes the lists; without it, the workers. */
    elsewhere?: ListsElsewhere,
  ): Promise<Listed[]>;
  close(): Promise<void>;
}

/** Fewer askers than this are answered sooner than workers start. */
const FEW = 256;
/** Askers that a worker takes at once, at most. */
const PIECE = 256;

/** How many workers so many askers are worth; 1: none. */
export function batchWorkerCount(askers: number, threads: number | undefined): number {
  return askers < FEW ? 1 : threadCount(threads, Math.ceil(askers / PIECE));
}

let crews = 0;

export function createBatchWorkers(model: Model): BatchWorkers {
  const crew = crews++;
  let pool: WorkerPool | undefined;
  const open = async (size: number) => {
    if (pool && pool.size >= size) return pool;
    await pool?.close();
    pool = await createPool(TASKS, size);
    await pool.everywhere('adopt', { crew, tables: shareTables(model) });
    return pool;
  };
  const buffers: Float32Array[] = [];
  /** Questions wait for one another: a larger one may need more workers. */
  let turn: Promise<unknown> = Promise.resolve();
  return {
    ask(askers, without, asked, { threads, signal, onProgress }, elsewhere) {
      const mine = turn.then(async () => {
        throwIfAborted(signal);
        const size = batchWorkerCount(askers.length, threads);
        const workers = await open(size);
        const step = Math.min(PIECE, Math.ceil(askers.length / size));
        const report = progressOf(askers.length, onProgress);
        if (elsewhere) {
          const groups = { workers, crew, askers, without, asked, buffers };
          return await listElsewhere(groups, elsewhere, signal, report);
        }
        const pieces = piecesOf(crew, askers, without, asked, step);
        const answers = await workers.map<AskedPiece, ListedPiece>('ask', pieces, {
          signal,
          onResult: ({ offsets }) => report(offsets.length - 1),
        });
        return answers.flatMap(unpacked);
      });
      turn = mine.catch(async () => {
        // What a dead or interrupted worker has left is not to be used again.
        const broken = pool;
        pool = undefined;
        await broken?.close();
      });
      return mine.catch((error) => {
        throw signal?.aborted ? abortReason(signal) : error;
      });
    },
    async close() {
      await turn;
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

interface Groups {
  readonly workers: WorkerPool;
  readonly crew: number;
  readonly askers: readonly Identified[];
  readonly without: readonly (readonly number[])[];
  readonly asked: AskedLists;
  /** Tables of rows that take turns, kept from one question to the next. */
  readonly buffers: Float32Array[];
}

async function listElsewhere(
  { workers, crew, askers, without, asked, buffers }: Groups,
  { features, group: size, atOnce, lists }: ListsElsewhere,
  signal: AbortSignal | undefined,
  report: (more: number) => void,
): Promise<Listed[]> {
  const groups = Math.ceil(askers.length / size);
  const within = (g: number) => [g * size, Math.min(askers.length, (g + 1) * size)] as const;
  const rowsOf = (g: number) => {
    const [first, last] = within(g);
    const length = (last - first) * features;
    // One is being seated while others are listed.
    const turn = g % (atOnce + 1);
    if (!(buffers[turn]?.length >= length)) buffers[turn] = allocate(Float32Array, length);
    return buffers[turn].subarray(0, length);
  };
  const seat = async (g: number): Promise<Float32Array> => {
    const [first, last] = within(g);
    const rows = rowsOf(g);
    // Every worker has its part in every group.
    const step = Math.ceil((last - first) / workers.size);
    const pieces = piecesOf(crew, askers.slice(first, last), without.slice(first, last), asked, step);
    const seats = pieces.map((piece, p): FoldedPiece => ({ piece, group: g, at: p * step, rows }));
    await workers.map('seat', seats, { signal });
    return rows;
  };
  const found: Listed[] = [];
  const made: Promise<TopLists>[] = [];
  let scored: Promise<void> = Promise.resolve();
  let seated = seat(0);
  for (let g = 0; g < groups; g++) {
    const rows = await seated;
    // Before the next takes a table, the one that had it is listed.
    if (g >= atOnce) await listed(g - atOnce);
    if (g + 1 < groups) {
      seated = seat(g + 1);
      seated.catch(() => {});
    }
    const [first, last] = within(g);
    const group = askers.slice(first, last);
    const left = group.map(({ own }, a) => leftOut(without[first + a], own, asked.includeSeen));
    const history = () => rowLists(group.map(({ own }) => own.items));
    made[g] = lists(rows, { excluded: rowLists(left), history });
    made[g].catch(() => {});
  }
  for (let g = Math.max(0, groups - atOnce); g < groups; g++) await listed(g);
  await scored;
  return found;

  async function listed(g: number): Promise<void> {
    const [lists] = await Promise.all([made[g], scored]);
    scored = score(g, lists);
    scored.catch(() => {});
    const [first, last] = within(g);
    report(last - first);
  }

  async function score(group: number, made: TopLists): Promise<void> {
    const scores = allocate(Float64Array, made.positions.length);
    await workers.everywhere('scoreSeated', { crew, group, lists: made, scores });
    for (let a = 0; a < made.counts.length; a++) {
      const [first, last] = [a * made.listed, a * made.listed + made.counts[a]];
      found.push({ items: made.positions.subarray(first, last), scores: scores.subarray(first, last) });
    }
  }
}

function piecesOf(
  crew: number,
  askers: readonly Identified[],
  without: readonly (readonly number[])[],
  asked: AskedLists,
  step: number,
): AskedPiece[] {
  const pieces: AskedPiece[] = [];
  for (let at = 0; at < askers.length; at += step) {
    pieces.push(pieceOf(crew, askers.slice(at, at + step), without.slice(at, at + step), asked));
  }
  return pieces;
}

function pieceOf(
  crew: number,
  askers: readonly Identified[],
  without: readonly (readonly number[])[],
  { n, includeSeen }: AskedLists,
): AskedPiece {
  const fresh = askers.filter(({ row }) => row === undefined);
  const offsets = new Uint32Array(fresh.length + 1);
  for (const [a, { own }] of fresh.entries()) offsets[a + 1] = offsets[a] + own.items.length;
  const items = new Uint32Array(offsets[fresh.length]);
  const counts = fresh.some(({ own }) => own.counts) ? new Uint32Array(items.length).fill(1) : undefined;
  for (const [a, { own }] of fresh.entries()) {
    items.set(own.items, offsets[a]);
    if (own.counts) counts?.set(own.counts, offsets[a]);
  }
  const rows = Int32Array.from(askers, ({ row }) => row ?? -1);
  return { crew, rows, likes: { offsets, items, counts }, without, includeSeen, n };
}

function unpacked({ offsets, items, scores }: ListedPiece): Listed[] {
  return Array.from({ length: offsets.length - 1 }, (_, a) => ({
    items: items.subarray(offsets[a], offsets[a + 1]),
    scores: scores.subarray(offsets[a], offsets[a + 1]),
  }));
}
