// A scorer gives every pair of a row (a user) and an item a score; a ranking needs nothing else of a model.

import { hasBit } from '../../math/bits.js';
import type { RowLists } from '../../math/csr.js';
import { allocate } from '../../math/memory.js';
import { largest } from '../../math/nth-largest.js';
import type { EngineName } from '../../options/names.js';
import type { TaskOptions } from '../../progress.js';
import { rankByRows } from '../../topn/cpu.js';
import type { FactorTables, RankAnswer, RankQuery, RowScores } from '../../topn/query.js';
import { onTopN } from '../../topn/select.js';

export type { FactorTables, RankQuery, RowLists, RowScores };

/** Options of ranking items. */
export interface RankOptions extends TaskOptions {
  /** The engine that ranks if scores are products of two tables. `auto` takes a GPU for much work. Default auto. */
  readonly engine?: EngineName | undefined;
}

/** Scores are products of two tables, or rows that a function writes. */
export type Scorer =
  | ({ readonly kind: 'factors' } & FactorTables)
  | { readonly kind: 'rows'; readonly scores: RowScores };

/** Lists of items, one for each row. */
export function rowLists(lists: readonly ArrayLike<number>[]): RowLists {
  const offsets = new Uint32Array(lists.length + 1);
  for (const [row, list] of lists.entries()) offsets[row + 1] = offsets[row] + list.length;
  const values = new Uint32Array(offsets[lists.length]);
  for (const [row, list] of lists.entries()) values.set(list, offsets[row]);
  return { offsets, values };
}

/** The items of users, one list for each, with their weights if a user has some. */
export function historyLists(
  users: readonly { readonly items: ArrayLike<number>; readonly weights?: ArrayLike<number> | undefined }[],
): RowLists {
  const lists = rowLists(users.map(({ items }) => items));
  if (!users.some(({ weights }) => weights)) return lists;
  const all = new Float32Array(lists.values.length).fill(1);
  for (const [row, { weights }] of users.entries()) if (weights) all.set(weights, lists.offsets[row]);
  return { ...lists, weights: all };
}

/** Items that are not listed for a user: those of `exclude`, and the user's own. */
export function excludedItems(
  { exclude, own }: { readonly exclude: readonly number[]; readonly own: { readonly items: Uint32Array } },
  includeSeen: boolean,
): ArrayLike<number> {
  if (includeSeen) return exclude;
  return exclude.length === 0 ? own.items : [...exclude, ...own.items];
}

/**
 * The best `n` of `count` items that may be listed, best first, ties to the smaller index. `without`: bits of items that are not listed;
 * `include`: the only items that may be listed.
 */
export function bestItems(
  count: number,
  score: (item: number) => number,
  n: number,
  excluded: ArrayLike<number>,
  without: Uint32Array | undefined,
  include: readonly number[] | undefined,
): Uint32Array {
  const out = new Set(Array.from(excluded));
  const only =
    include &&
    Uint32Array.from(new Set(include))
      .filter((item) => item < count)
      .sort();
  const itemAt = (at: number) => (only ? only[at] : at);
  const best = largest(only?.length ?? count, n, (at) => {
    const item = itemAt(at);
    return out.has(item) || (without && hasBit(without, item)) ? Number.NEGATIVE_INFINITY : score(item);
  });
  return Uint32Array.from(best, itemAt);
}

/** The same list for every user: items by degree. */
export function popularityScorer(degree: ArrayLike<number>): Scorer & { kind: 'rows' } {
  return {
    kind: 'rows',
    scores: (_row, candidates, out) => {
      for (let c = 0; c < candidates.length; c++) out[c] = degree[candidates[c]];
    },
  };
}

export function factorScorer(
  users: Float32Array,
  items: Float32Array,
  features: number,
): Scorer & { kind: 'factors' } {
  return { kind: 'factors', users, items, features };
}

/** Tables of the same rows as one, side by side; each is multiplied by its share. */
export function joinedRows(
  parts: readonly {
    readonly table: Float32Array;
    readonly features: number;
    readonly share?: number | undefined;
  }[],
): Float32Array {
  const features = parts.reduce((sum, part) => sum + part.features, 0);
  const rows = parts.length === 0 ? 0 : parts[0].table.length / parts[0].features;
  const joined = allocate(Float32Array, rows * features);
  let first = 0;
  for (const { table, features: K, share = 1 } of parts) {
    for (let r = 0, from = 0, to = first; r < rows; r++, to += features - K) {
      for (let k = 0; k < K; k++) joined[to++] = share * table[from++];
    }
    first += K;
  }
  return joined;
}

/** Ranks of the relevant candidates under a scorer; see RankQuery. Ties go to the smaller index. */
export function rank(
  scorer: Scorer,
  candidates: Uint32Array,
  query: RankQuery,
  options: RankOptions = {},
): Promise<RankAnswer> {
  if (scorer.kind === 'rows') return rankByRows(scorer.scores, candidates, query, options);
  const { features } = scorer;
  const work = { rows: scorer.users.length / features, candidates: candidates.length, features };
  return onTopN(options.engine ?? 'auto', work, options.threads, (topN) =>
    topN.rank(scorer, candidates, query, options),
  );
}
