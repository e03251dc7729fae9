// What workers do for a recommender that is asked for many at once: give each asker a place, which folds new ones in, and
// list the best items.

import type { Model } from '../fit/model.js';
import { serveTasks } from '../parallel/worker.js';
import { createJudge, type Judge, ownItems } from './judges.js';
import { rowLists } from './rank.js';

interface Adopted {
  readonly model: Model;
  readonly judge: Judge;
}

/** By the number of their crew: without shared memory several live in one thread. */
const adopted = new Map<number, Adopted>();

/** Takes a model as `shareTables` gives it. */
export function adopt({ crew, tables }: { readonly crew: number; readonly tables: unknown }): void {
  const model = tables as Model;
  adopted.set(crew, { model, judge: createJudge(model) });
}

/** Askers by number: a user of the model, or −1 and the items that a new one has. */
export interface AskedPiece {
  readonly crew: number;
  readonly rows: Int32Array;
  /** Of new askers, one after the other. */
  readonly likes: {
    readonly offsets: Uint32Array;
    readonly items: Uint32Array;
    readonly counts: Uint32Array | undefined;
  };
  /** Not to be listed, for each asker. */
  readonly without: readonly (readonly number[])[];
  readonly includeSeen: boolean;
  readonly n: number;
}

/** The lists one after the other. */
export interface ListedPiece {
  readonly offsets: Uint32Array;
  readonly items: Uint32Array;
  readonly scores: Float64Array;
}

export async function ask(piece: AskedPiece): Promise<ListedPiece> {
  const found = adopted.get(piece.crew);
  if (!found) throw new Error('no model was adopted');
  const { model, judge } = found;
  const { offsets, items, counts } = piece.likes;
  let fresh = 0;
  const askers = Array.from(piece.rows, (row) => {
    if (row >= 0) return { row, own: ownItems(model, row) };
    const [first, last] = [offsets[fresh], offsets[++fresh]];
    return {
      row: undefined,
      own: { items: items.subarray(first, last), counts: counts?.subarray(first, last) },
    };
  });
  const places = askers.map(({ row, own }) => judge.place(row, own));
  const without = askers.map(({ own }, a) => [...piece.without[a], ...(piece.includeSeen ? [] : own.items)]);
  const excluded = without.some((list) => list.length > 0) ? rowLists(without) : undefined;
  const lists = await judge.lists(places, { rows: places.length, n: piece.n, excluded }, { threads: 1 });
  const ends = new Uint32Array(places.length + 1);
  for (let a = 0; a < places.length; a++) ends[a + 1] = ends[a] + lists.counts[a];
  const listed = new Uint32Array(ends[places.length]);
  const scores = new Float64Array(listed.length);
  for (const [a, place] of places.entries()) {
    const best = lists.positions.subarray(a * lists.listed, a * lists.listed + lists.counts[a]);
    listed.set(best, ends[a]);
    for (const [i, item] of best.entries()) scores[ends[a] + i] = place.score(item);
  }
  return { offsets: ends, items: listed, scores };
}

serveTasks('asking-tasks', { adopt, ask });
