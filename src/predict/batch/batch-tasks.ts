// What workers do for a recommender that is asked for many at once: give each asker a place, which folds new ones in, and
// list the best items.

import type { Model } from '../../fit/model.js';
import { serveTasks } from '../../parallel/worker.js';
import type { TopLists } from '../../topn/lists.js';
import { createModelScorer, type ModelScorer, ownItems, type UserScorer } from '../scoring/model-scorer.js';
import { leftOut, rowLists } from '../scoring/scorer.js';

interface Adopted {
  readonly model: Model;
  readonly judge: ModelScorer;
  /** Places whose lists another engine makes: groups, and in these by the number of their first asker. */
  readonly seated: Map<number, Map<number, readonly UserScorer[]>>;
}

/** By the number of their crew: without shared memory several live in one thread. */
const adopted = new Map<number, Adopted>();

/** Takes a model as `shareTables` gives it. */
export function adopt({ crew, tables }: { readonly crew: number; readonly tables: unknown }): void {
  const model = tables as Model;
  adopted.set(crew, { model, judge: createModelScorer(model), seated: new Map() });
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

function adoptedBy(crew: number): Adopted {
  const found = adopted.get(crew);
  if (!found) throw new Error('no model was adopted');
  return found;
}

/** Who asks, by number and with what they have. */
function askersOf({ rows, likes: { offsets, items, counts } }: AskedPiece, model: Model) {
  let fresh = 0;
  return Array.from(rows, (row) => {
    if (row >= 0) return { row, own: ownItems(model, row) };
    const [first, last] = [offsets[fresh], offsets[++fresh]];
    return {
      row: undefined,
      own: { items: items.subarray(first, last), counts: counts?.subarray(first, last) },
    };
  });
}

/** Rows whose products are the scores, for an engine elsewhere that makes the lists. */
export function foldPiece({ piece, group, at, rows }: FoldedPiece): void {
  const { model, judge, seated } = adoptedBy(piece.crew);
  const places = askersOf(piece, model).map(({ row, own }) => judge.userScorer(row, own));
  const features = judge.factors?.features ?? 0;
  judge.factors?.rows(places, rows.subarray(at * features, (at + places.length) * features));
  const others = seated.get(group) ?? new Map<number, readonly UserScorer[]>();
  seated.set(group, others.set(at, places));
}

export interface FoldedPiece {
  readonly piece: AskedPiece;
  readonly group: number;
  /** The number of the first asker in the group. */
  readonly at: number;
  /** Of all askers of the group; each worker writes its own. */
  readonly rows: Float32Array;
}

/** The scores of listed items, of the askers of a group whom this worker has seated. */
export function scoreFolded({
  crew,
  group,
  lists,
  scores,
}: {
  readonly crew: number;
  readonly group: number;
  readonly lists: TopLists;
  readonly scores: Float64Array;
}): void {
  const { seated } = adoptedBy(crew);
  const { listed, positions, counts } = lists;
  for (const [at, places] of seated.get(group) ?? []) {
    for (const [p, place] of places.entries()) {
      const first = (at + p) * listed;
      for (let i = first; i < first + counts[at + p]; i++) scores[i] = place.score(positions[i]);
    }
  }
  seated.delete(group);
}

export async function ask(piece: AskedPiece): Promise<ListedPiece> {
  const { model, judge } = adoptedBy(piece.crew);
  const askers = askersOf(piece, model);
  const places = askers.map(({ row, own }) => judge.userScorer(row, own));
  const without = askers.map(({ own }, a) => leftOut(piece.without[a], own, piece.includeSeen));
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

serveTasks('batch-tasks', { adopt, ask, seat: foldPiece, scoreSeated: scoreFolded });
