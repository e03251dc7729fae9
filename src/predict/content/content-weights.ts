// Arranges the results of single items: neighbours by added item, and weights by the item that they come from.

import type { ContentScores } from '../../attributes/content-scores.js';
import type { SparseWeights } from '../../topn/query.js';
import type { FoundRows } from './content-rows.js';

/** Items that were scored, in ascending order. Those from `known` on have no edges. */
interface ScoredItems {
  readonly known: number;
  readonly items: Uint32Array;
  /** The factor of all scores of each item. */
  readonly factors: Float64Array;
  readonly near: number;
  readonly places: Uint32Array;
  /** The score units of one unit of similarity. */
  readonly scale: number;
  readonly found: FoundRows;
}

/** Rows that are written together. */
const ROWS = 2048;

/** The neighbours and weights of the scored items, after the entries that other items had `before`. */
export function contentWeights(
  scored: ScoredItems,
  added: number,
  before: Pick<ContentScores, 'neighbours' | 'weights'> | undefined,
): Pick<ContentScores, 'neighbours' | 'weights'> {
  const { known, items, factors, near, places, scale, found } = scored;
  const { nearCounts, nearRows, nearValues, directs, sums, counts, rows, values } = found;
  let few = 0;
  while (few < items.length && items[few] < known) few++;
  const parts = new Uint32Array(added);
  const weighed = new Uint32Array(known + added);
  for (let p = few; p < items.length; p++) {
    parts[items[p] - known] = nearCounts[p];
    weighed[items[p]] = nearCounts[p];
  }
  for (let p = 0; p < items.length; p++) {
    for (let e = places[p]; e < places[p] + counts[p]; e++) weighed[rows[e]]++;
  }
  const neighbours = roomFor(parts, before?.neighbours);
  const weights = roomFor(weighed, before?.weights);
  for (let p = few; p < items.length; p++) {
    // Weights from the added item, for users who have it.
    const back = Math.max(directs[p], scale) * sums[p];
    let at = neighbours.next[items[p] - known];
    let to = weights.next[items[p]];
    for (let e = p * near; e < p * near + nearCounts[p]; e++) {
      neighbours.targets[at] = nearRows[e];
      neighbours.weights[at++] = factors[p] * nearValues[e];
      weights.targets[to] = nearRows[e];
      weights.weights[to++] = back * nearValues[e];
    }
  }
  const { next, targets, weights: all } = weights;
  // The entries of each item ascend. Few rows at a time stay in cache while all items add to them.
  const cursor = places.slice();
  for (let bound = ROWS; bound < known + ROWS; bound += ROWS) {
    for (let p = 0; p < items.length; p++) {
      const end = places[p] + counts[p];
      let e = cursor[p];
      for (; e < end && rows[e] < bound; e++) {
        const at = next[rows[e]]++;
        targets[at] = items[p];
        all[at] = values[e];
      }
      cursor[p] = e;
    }
  }
  return { neighbours: withoutNext(neighbours), weights: withoutNext(weights) };
}

const withoutNext = ({ offsets, targets, weights }: SparseWeights): SparseWeights => ({
  offsets,
  targets,
  weights,
});

/** Rows of `counts` entries after those of `before`, and where the next entry of each is written. */
function roomFor(counts: Uint32Array, before: SparseWeights | undefined) {
  const rows = counts.length;
  const had = (row: number) =>
    before && row + 1 < before.offsets.length ? before.offsets[row + 1] - before.offsets[row] : 0;
  const offsets = new Uint32Array(rows + 1);
  for (let row = 0; row < rows; row++) offsets[row + 1] = offsets[row] + had(row) + counts[row];
  const targets = new Uint32Array(offsets[rows]);
  const weights = new Float32Array(offsets[rows]);
  const next = offsets.slice(0, rows);
  for (let row = 0; before && row + 1 < before.offsets.length; row++) {
    const [first, end] = [before.offsets[row], before.offsets[row + 1]];
    targets.set(before.targets.subarray(first, end), offsets[row]);
    weights.set(before.weights.subarray(first, end), offsets[row]);
    next[row] += end - first;
  }
  return { offsets, targets, weights, next };
}
