// Arranges the results of single items: neighbours by added item, and weights by the item that they come from.

import type { ContentScores } from '../../attributes/content-scores.js';
import type { SparseWeights } from '../../topn/query.js';
import type { AskedRows, FoundRows } from './content-rows.js';

/**
 * The neighbours and weights of the scored items, which ascend, after the entries that other items had `before`. `scale`: the score units
 * of one unit of similarity.
 */
export function contentWeights(
  { known, items, factors, near, places }: AskedRows,
  found: FoundRows,
  scale: number,
  added: number,
  before: Pick<ContentScores, 'neighbours' | 'weights'> | undefined,
): Pick<ContentScores, 'neighbours' | 'weights'> {
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
  const ofAdded = roomFor(parts, before?.neighbours);
  const toItems = roomFor(weighed, before?.weights);
  const [neighbours, weights] = [ofAdded.room, toItems.room];
  for (let p = few; p < items.length; p++) {
    // Weights from the added item, for users who have it.
    const back = Math.max(directs[p], scale) * sums[p];
    let at = ofAdded.next[items[p] - known];
    let to = toItems.next[items[p]];
    for (let e = p * near; e < p * near + nearCounts[p]; e++) {
      neighbours.targets[at] = nearRows[e];
      neighbours.weights[at++] = factors[p] * nearValues[e];
      weights.targets[to] = nearRows[e];
      weights.weights[to++] = back * nearValues[e];
    }
  }
  // The entries of each item ascend, since the scored items do.
  for (let p = 0; p < items.length; p++) {
    for (let e = places[p]; e < places[p] + counts[p]; e++) {
      const at = toItems.next[rows[e]]++;
      weights.targets[at] = items[p];
      weights.weights[at] = values[e];
    }
  }
  return { neighbours, weights };
}

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
  return { room: { offsets, targets, weights }, next };
}
