// Scores of held-back items: by the attributes of each column, and through the items that are most similar to them.

import type { SideInfo } from '../../attributes/info.js';
import { attributeVectors } from '../../attributes/similarity.js';
import { concat } from '../../math/memory.js';
import type { TaskOptions } from '../../progress.js';
import { addWeights, type SparseWeights } from '../../topn/query.js';
import type { MemberScorer } from '../scoring/member-scorer.js';
import type { ModelScorer } from '../scoring/model-scorer.js';
import { joinedRows, rowLists } from '../scoring/scorer.js';
import type { FoundRows } from './content-rows.js';
import type { HeldBackItems } from './held-back-items.js';
import { createRowProducts, type ScoreTable, type ScoreTables } from './score-tables.js';

/** One column after the other: the sums of cosines between a user's items and the held-back ones. */
export function* columnScores(
  info: SideInfo,
  { items, histories }: HeldBackItems,
  tables: ScoreTables,
): Generator<ScoreTable, void, void> {
  const { offsets, targets, weights } = attributeVectors(
    info,
    info.columns.map(() => 1),
  );
  // Attributes of a row ascend, so those of a column follow one another and begin where the column before ends.
  const starts = offsets.slice(0, -1);
  const ends = starts.slice();
  for (const { first, count } of info.columns) {
    for (let row = 0; row < starts.length; row++) {
      let e = ends[row];
      starts[row] = e;
      while (e < offsets[row + 1] && targets[e] < first + count) e++;
      ends[row] = e;
    }
    const own = new Uint32Array(items.length + 1);
    for (const [p, item] of items.entries()) own[p + 1] = own[p] + ends[item] - starts[item];
    const column = {
      offsets: own,
      targets: new Uint32Array(own[items.length]),
      weights: new Float32Array(own[items.length]),
    };
    for (const [p, item] of items.entries()) {
      for (let e = starts[item], to = own[p]; e < ends[item]; e++, to++) {
        column.targets[to] = targets[e] - first;
        column.weights[to] = weights[e];
      }
    }
    yield tables.products(column, count, (user, profile) => {
      for (const item of histories[user]) {
        for (let e = starts[item]; e < ends[item]; e++) profile[targets[e] - first] += weights[e];
      }
    });
  }
}

/** Scores of the held-back items through their neighbours among the others: users × items. */
export async function throughScores(
  scorer: ModelScorer,
  counted: boolean,
  neighbours: Neighbours,
  { items, histories }: Pick<HeldBackItems, 'items' | 'histories'>,
  options: TaskOptions,
): Promise<Float32Array> {
  const scores = new Float32Array(histories.length * items.length);
  const weights = scorer.factors?.itemWeights();
  const products = await createRowProducts(neighbourRows(neighbours), scorer.items);
  const take = (u: number, row: Float32Array) => {
    if (weights) for (const item of histories[u]) addWeights(weights, item, row);
    products.add(row, (found) => scores.set(found, u * items.length));
  };
  const { factors, members } = scorer;
  if (factors && members?.every(({ foldMany }) => foldMany)) {
    await factors.eachRow(await foldedRows(members, counted, histories, options), take, options);
  } else {
    const users = histories.map((own) =>
      scorer.userScorer(undefined, { items: own, ...(counted && { counts: own.map(() => 1) }) }),
    );
    await scorer.eachRow(users, take, options);
  }
  products.end();
  return scores;
}

/** The rows of new users: users × features. */
async function foldedRows(
  members: readonly MemberScorer[],
  counted: boolean,
  histories: readonly Uint32Array[],
  { threads, signal }: TaskOptions,
): Promise<Float32Array> {
  const { offsets, values: neighbors } = rowLists(histories);
  const history = { offsets, neighbors, ...(counted && { counts: neighbors.map(() => 1) }) };
  const parts = [];
  for (const { foldMany, features, share } of members) {
    parts.push({ table: await foldMany!(history, { engine: 'cpu', threads, signal }), features, share });
  }
  return joinedRows(parts);
}

/** The items of the data that are most similar to each item: at `near` times its position. */
type Neighbours = Pick<FoundRows, 'nearCounts' | 'nearRows' | 'nearValues'> & { readonly near: number };

function neighbourRows({ near, nearCounts, nearRows, nearValues }: Neighbours): SparseWeights {
  const rowsOf = <T extends Uint32Array | Float32Array>(values: T) =>
    Array.from(nearCounts, (count, p) => values.subarray(p * near, p * near + count));
  const { offsets, values: targets } = rowLists(rowsOf(nearRows));
  return { offsets, targets, weights: concat(Float32Array, rowsOf(nearValues)) };
}

export function spreadOf(scores: Float32Array): number {
  let [sum, squares] = [0, 0];
  for (const score of scores) {
    sum += score;
    squares += score * score;
  }
  const mean = sum / scores.length;
  return Math.sqrt(Math.max(0, squares / scores.length - mean * mean));
}
