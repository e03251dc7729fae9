// Item-kNN: an item scores the sum of its similarities to the items of a user's history. The similarity of history item
// i to candidate j, of training degrees d_i and d_j with c_ij users in common, is
//   c_ij / (d_i^a · d_j^(1−a) + h):
// the cosine at a = ½ and h = 0; h shrinks what few users support, a shifts weight between popular and rare items.
// Each candidate keeps its `neighbours` most similar items, of those that can appear in a history.

import type { RowLists } from '../../predict/rank.js';
import type { BaselineData, FittedBaseline, Setting } from './baseline.js';
import { lengths } from './baseline.js';

export interface NeighbourSetting extends Setting {
  readonly neighbours: number;
  readonly shrinkage: number;
  readonly asymmetry: number;
}

export function fitNeighbours(data: BaselineData, setting: NeighbourSetting): FittedBaseline {
  const { candidates, shown, users, items } = data;
  const { neighbours, shrinkage, asymmetry } = setting;
  const degree = lengths(items);
  const historyScale = Float64Array.from(degree, (d) => d ** asymmetry);
  // Per candidate its neighbours; regrouped by neighbour below, which is how histories are scored.
  let sources = new Uint32Array(1024);
  let targets = new Uint32Array(1024);
  let similarities = new Float32Array(1024);
  let entries = 0;
  const common = new Float64Array(degree.length);
  const touched = new Uint32Array(degree.length);
  const similarity = new Float32Array(degree.length);
  const order = new Float32Array(degree.length);
  for (let c = 0; c < candidates.length; c++) {
    const item = candidates[c];
    const count = countCommon(item, users, items, shown, common, touched);
    const ownScale = degree[item] ** (1 - asymmetry);
    for (let t = 0; t < count; t++) {
      const i = touched[t];
      similarity[t] = common[i] / (historyScale[i] * ownScale + shrinkage);
      common[i] = 0;
    }
    while (entries + count > sources.length) {
      [sources, targets] = [doubled(sources), doubled(targets)];
      similarities = doubled(similarities);
    }
    let least = 0;
    let ties = count;
    if (count > neighbours) {
      order.set(similarity.subarray(0, count));
      least = nthLargest(order, count, neighbours);
      ties = neighbours;
      for (let t = 0; t < count; t++) if (similarity[t] > least) ties--;
    }
    for (let t = 0; t < count; t++) {
      if (similarity[t] < least || (similarity[t] === least && ties-- <= 0)) continue;
      sources[entries] = touched[t];
      targets[entries] = c;
      similarities[entries++] = similarity[t];
    }
  }
  const index = groupBySource(entries, sources, targets, similarities, degree.length);
  return {
    setting,
    scorer: async (history) => ({
      kind: 'rows',
      scores: (row, _candidates, out) => {
        out.fill(0);
        for (let h = history.offsets[row]; h < history.offsets[row + 1]; h++) {
          const source = history.values[h];
          for (let e = index.offsets[source]; e < index.offsets[source + 1]; e++) {
            out[index.targets[e]] += index.similarities[e];
          }
        }
      },
    }),
  };
}

/** Users in common of `item` and every other item that can be shown; lists those that have any, ascending. */
function countCommon(
  item: number,
  users: RowLists,
  items: RowLists,
  shown: Uint8Array,
  common: Float64Array,
  touched: Uint32Array,
): number {
  let count = 0;
  for (let e = items.offsets[item]; e < items.offsets[item + 1]; e++) {
    const user = items.values[e];
    for (let n = users.offsets[user]; n < users.offsets[user + 1]; n++) {
      const other = users.values[n];
      if (!shown[other] || other === item) continue;
      if (common[other]++ === 0) touched[count++] = other;
    }
  }
  touched.subarray(0, count).sort();
  return count;
}

function doubled<T extends Uint32Array | Float32Array>(values: T): T {
  const larger = new (values.constructor as new (length: number) => T)(2 * values.length);
  larger.set(values);
  return larger;
}

function groupBySource(
  entries: number,
  sources: Uint32Array,
  targets: Uint32Array,
  similarities: Float32Array,
  count: number,
) {
  const offsets = new Uint32Array(count + 1);
  for (let e = 0; e < entries; e++) offsets[sources[e] + 1]++;
  for (let s = 0; s < count; s++) offsets[s + 1] += offsets[s];
  const cursor = offsets.slice(0, count);
  const result = { offsets, targets: new Uint32Array(entries), similarities: new Float32Array(entries) };
  for (let e = 0; e < entries; e++) {
    const at = cursor[sources[e]]++;
    result.targets[at] = targets[e];
    result.similarities[at] = similarities[e];
  }
  return result;
}

/** The nth largest of the first `count` values; reorders them. */
function nthLargest(values: Float32Array, count: number, nth: number): number {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const pivot = values[(low + high) >> 1];
    let i = low;
    let j = high;
    while (i <= j) {
      while (values[i] > pivot) i++;
      while (values[j] < pivot) j--;
      if (i <= j) {
        const swap = values[i];
        values[i++] = values[j];
        values[j--] = swap;
      }
    }
    if (nth - 1 <= j) high = j;
    else if (nth - 1 >= i) low = i;
    else break;
  }
  return values[nth - 1];
}
