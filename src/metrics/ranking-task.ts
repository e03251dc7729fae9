// A ranking task, which is the same for every method: the candidates, the relevant items of each user, and what is left out.

import { InputError } from '../errors.js';
import { pickLists, placesOf, type RowLists, renameLists } from '../math/csr.js';
import { quantile } from '../math/quantile.js';
import type { RankQuery, RankView } from '../topn/query.js';

/** A ranking problem. Rows are users, in the order of the scorer's rows; items are training items. */
export interface RankingTask {
  readonly rows: number;
  /** Items that are ranked, ascending. */
  readonly candidates: Uint32Array;
  /** Per row, positions in `candidates` of the relevant ones; a row without any is not evaluated. */
  readonly relevant: RowLists;
  /** Per row, positions in `candidates` that are not ranked. */
  readonly excluded: RowLists | undefined;
  /** Positions in `candidates` of the popular items: training degree above its 95th percentile. */
  readonly popular: Uint32Array;
  /** Per row, the number of relevant items that are no candidates and count as misses. Absent: none. */
  readonly unseen?: Uint32Array | undefined;
}

interface RankingTaskInput {
  readonly rows: number;
  readonly items: number;
  /** Per row, the relevant items. */
  readonly relevant: RowLists;
  /** Per row, items that are not ranked; none of them relevant. */
  readonly excluded?: RowLists | undefined;
  /** Default: every item that is relevant to some row. */
  readonly candidates?: Uint32Array | undefined;
  /** Training degree of each item; absent: no item counts as popular. */
  readonly degree?: Uint32Array | undefined;
  /** Per row, the number of relevant items that are no candidates and count as misses. */
  readonly unseen?: Uint32Array | undefined;
}

/** Checks the parts and turns items into positions among the candidates. */
export function rankingTask(parts: RankingTaskInput): RankingTask {
  const { rows, items, relevant } = parts;
  for (const [name, lists] of [
    ['relevant', relevant],
    ['excluded', parts.excluded],
  ] as const) {
    if (lists && lists.offsets.length !== rows + 1) {
      throw new InputError(
        `${name}: ${lists.offsets.length - 1} lists for ${rows} rows; give one list for each`,
      );
    }
    const wrong = lists?.values.find((item) => item >= items);
    if (wrong !== undefined)
      throw new InputError(`${name}: item ${wrong} of only ${items}; give indexes below that`);
  }
  const candidates = parts.candidates
    ? Uint32Array.from(new Set(parts.candidates)).sort()
    : itemsIn(relevant, items);
  const position = placesOf(candidates, items);
  const strange = relevant.values.find((item) => position[item] < 0);
  if (strange !== undefined) {
    throw new InputError(
      `relevant: item ${strange} is not among the ${candidates.length} candidates; add it to them`,
    );
  }
  const excluded = parts.excluded && renameLists(parts.excluded, position);
  const task = {
    rows,
    candidates,
    relevant: renameLists(relevant, position),
    excluded: excluded && excluded.values.length > 0 ? excluded : undefined,
    popular: parts.degree ? popularPositions(candidates, parts.degree) : new Uint32Array(0),
    ...(parts.unseen && { unseen: parts.unseen }),
  };
  if (task.excluded) checkDisjoint(task.relevant, task.excluded, candidates);
  return Object.freeze(task);
}

/** The query of a task: all candidates, then the unpopular ones. */
export function queryOf(task: RankingTask, n: number, depth: number): RankQuery {
  const { candidates, relevant, excluded, popular, rows } = task;
  const views: RankView[] = [{ without: new Uint32Array(0), relevant }];
  if (popular.length > 0) {
    const isPopular = new Set(popular);
    const everyRow = Uint32Array.from({ length: rows }, (_, row) => row);
    const kept = pickLists(relevant, everyRow, (position) => !isPopular.has(position));
    if (kept.values.length > 0) views.push({ without: popular, relevant: kept });
  }
  return { candidates: candidates.length, views, excluded, depth, top: Math.min(n, depth) };
}

/** Every item that is in some list, ascending. */
export function itemsIn(lists: RowLists, items: number): Uint32Array {
  const seen = new Uint8Array(items);
  for (const item of lists.values) seen[item] = 1;
  return Uint32Array.from(seen.keys()).filter((item) => seen[item] === 1);
}

/** Positions of the candidates whose degree is above the 95th percentile of the degrees of items that have any. */
function popularPositions(candidates: Uint32Array, degree: Uint32Array): Uint32Array {
  const known = degree.filter((d) => d > 0).sort();
  if (known.length === 0) return new Uint32Array(0);
  const cut = quantile(known, 0.95);
  const positions: number[] = [];
  for (let c = 0; c < candidates.length; c++) if (degree[candidates[c]] > cut) positions.push(c);
  return Uint32Array.from(positions);
}

function checkDisjoint(relevant: RowLists, excluded: RowLists, candidates: Uint32Array): void {
  for (let row = 0; row + 1 < relevant.offsets.length; row++) {
    const out = new Set(excluded.values.subarray(excluded.offsets[row], excluded.offsets[row + 1]));
    for (let e = relevant.offsets[row]; out.size > 0 && e < relevant.offsets[row + 1]; e++) {
      if (out.has(relevant.values[e])) {
        const item = candidates[relevant.values[e]];
        throw new InputError(
          `row ${row}: item ${item} is both relevant and excluded; take it out of one of the lists`,
        );
      }
    }
  }
}
