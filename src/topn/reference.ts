// Rankings by definition: score every candidate in float64, sort, and look up the ranks. Tests compare the other backends with it.

import { throwIfAborted } from '../errors.js';
import {
  addItemWeights,
  emptyAnswer,
  emptyLists,
  type FactorTables,
  listBest,
  listOf,
  rowsToRank,
  type TopN,
  towardsCandidates,
} from './query.js';

function scoresOf(
  { users, items, features, itemWeights }: FactorTables,
  candidates: Uint32Array,
  row: number,
  without: Iterable<number>,
): Float64Array {
  const scores = Float64Array.from(candidates, (item) => {
    let sum = 0;
    for (let k = 0; k < features; k++) sum += users[row * features + k] * items[item * features + k];
    return sum;
  });
  if (itemWeights) addItemWeights(itemWeights, row, scores);
  for (const position of without) scores[position] = Number.NEGATIVE_INFINITY;
  return scores;
}

function towards(tables: FactorTables, candidates: Uint32Array): FactorTables {
  const { itemWeights, items, features } = tables;
  return itemWeights
    ? { ...tables, itemWeights: towardsCandidates(itemWeights, candidates, items.length / features) }
    : tables;
}

export function createReferenceTopN(): Required<TopN> {
  return { name: 'reference', rank, top, async close() {} };
}

const rank: TopN['rank'] = async (all, candidates, query, { signal, onProgress } = {}) => {
  const tables = towards(all, candidates);
  const answer = emptyAnswer(query);
  const rows = rowsToRank(query);
  for (const [done, row] of rows.entries()) {
    throwIfAborted(signal);
    onProgress?.({ stage: 'ranking', done, total: rows.length, unit: 'users' });
    const excluded = query.excluded ? listOf(query.excluded, row) : [];
    for (const [v, { without, relevant }] of query.views.entries()) {
      const wanted = listOf(relevant, row);
      if (wanted.length === 0) continue;
      const scores = scoresOf(tables, candidates, row, [...excluded, ...without]);
      const lists = emptyLists(1, query.depth);
      listBest(scores, 0, lists);
      const best = lists.positions.subarray(0, lists.counts[0]);
      for (const [i, position] of wanted.entries()) {
        answer.ranks[v][relevant.offsets[row] + i] = best.indexOf(position) + 1;
      }
      for (const position of best.subarray(0, query.top)) answer.shown[v][position] = 1;
    }
  }
  return answer;
};

const top: Required<TopN>['top'] = async (all, candidates, rows, n, excluded, { signal } = {}) => {
  const tables = towards(all, candidates);
  const lists = emptyLists(rows.length, Math.min(n, candidates.length));
  for (const [r, row] of rows.entries()) {
    throwIfAborted(signal);
    listBest(scoresOf(tables, candidates, row, excluded ? listOf(excluded, row) : []), r, lists);
  }
  return lists;
};
