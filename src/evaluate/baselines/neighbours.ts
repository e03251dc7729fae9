// Item-kNN: an item scores the sum of its similarities to the items of a user's history. The similarity of history item
// i to candidate j, of training degrees d_i and d_j with c_ij users in common, is
//   c_ij / (d_i^a · d_j^(1−a) + h):
// the cosine at a = ½ and h = 0; h shrinks what few users support, a shifts weight between popular and rare items.
// Each candidate keeps its `neighbours` most similar items, of those that can appear in a history.

import type { ItemScores } from '../../fit/model.js';
import { nthLargest } from '../../math/select.js';
import type { RowLists, Scorer } from '../../predict/rank.js';
import { lengths } from '../../ranking/lists.js';
import { geometric, ladder } from '../../ranking/tune.js';
import type { Baseline, BaselineData, Setting } from './baseline.js';

interface NeighbourSetting extends Setting {
  readonly neighbours: number;
  readonly shrinkage: number;
  readonly asymmetry: number;
}

export const neighbours: Baseline<'knn'> = {
  name: 'knn',
  title: 'item-kNN',
  meaning: 'items that the same users have, by a shrunken cosine',
  dials: ({ shown, candidates }) => [
    {
      // All neighbours of all candidates may be more than memory holds.
      neighbours: geometric(100, 2, 1, Math.min(shown.length, 2e7 / candidates.length)),
      shrinkage: ladder(10, [0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10_000]),
      asymmetry: ladder(0.5, [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]),
    },
  ],
  // Neighbours cost the squares of the degrees.
  tuningEdges: 2e6,
  limit: () => undefined,
  async fit(data, setting, { tuning = false } = {}) {
    const common = tuning ? keptCommon(data) : commonUsers(data);
    const found = similarities(data, setting as NeighbourSetting, common);
    return { setting, scorer: async (history) => itemScorer(found, history) };
  },
  scores: async (data, setting) =>
    Object.freeze({ kind: 'items', ...similarities(data, setting as NeighbourSetting, commonUsers(data)) }),
};

/** The sum of the weights from the items of a row's history; `targets` are positions among the candidates. */
export function itemScorer({ offsets, targets, weights }: Similarities, history: RowLists): Scorer {
  return {
    kind: 'rows',
    scores: (row, _candidates, out) => {
      out.fill(0);
      for (let h = history.offsets[row]; h < history.offsets[row + 1]; h++) {
        const source = history.values[h];
        for (let e = offsets[source]; e < offsets[source + 1]; e++) out[targets[e]] += weights[e];
      }
    },
  };
}

type Similarities = Pick<ItemScores, 'weights'> & {
  readonly offsets: Uint32Array;
  /** Positions among the candidates. */
  readonly targets: Uint32Array;
};

/** From each item of a history to the candidates that keep it as a neighbour. */
function similarities(data: BaselineData, setting: NeighbourSetting, commonOf: CommonUsers): Similarities {
  const { candidates, items } = data;
  const { neighbours, shrinkage, asymmetry } = setting;
  const degree = lengths(items);
  const historyScale = Float64Array.from(degree, (d) => d ** asymmetry);
  // Per candidate its neighbours; regrouped by neighbour below, which is how histories are scored.
  let sources = new Uint32Array(1024);
  let targets = new Uint32Array(1024);
  let weights = new Float32Array(1024);
  let entries = 0;
  const similarity = new Float32Array(degree.length);
  const order = new Float32Array(degree.length);
  for (let c = 0; c < candidates.length; c++) {
    const { items: touched, counts } = commonOf(c);
    const count = touched.length;
    const ownScale = degree[candidates[c]] ** (1 - asymmetry);
    for (let t = 0; t < count; t++) {
      similarity[t] = counts[t] / (historyScale[touched[t]] * ownScale + shrinkage);
    }
    while (entries + count > sources.length) {
      [sources, targets] = [doubled(sources), doubled(targets)];
      weights = doubled(weights);
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
      weights[entries++] = similarity[t];
    }
  }
  return groupBySource({ entries, sources, targets, weights }, degree.length);
}

/** Items that can be shown and have users in common with a candidate, ascending, and how many. */
type CommonUsers = (candidate: number) => { readonly items: Uint32Array; readonly counts: Uint32Array };

/** Counts anew for each candidate, in place: what was returned before is overwritten. */
function commonUsers(data: BaselineData): CommonUsers {
  const common = new Uint32Array(data.shown.length);
  const touched = new Uint32Array(data.shown.length);
  const counts = new Uint32Array(data.shown.length);
  return (candidate) => {
    const count = countCommon(data.candidates[candidate], data, common, touched);
    for (let t = 0; t < count; t++) {
      counts[t] = common[touched[t]];
      common[touched[t]] = 0;
    }
    return { items: touched.subarray(0, count), counts: counts.subarray(0, count) };
  };
}

/** Pairs whose counts are kept between the trials of a search, 8 bytes each. */
const KEPT_PAIRS = 3e7;
const KEPT = new WeakMap<BaselineData, CommonUsers>();

/** The same, counted once for all settings that are tried on the same data, as far as memory allows. */
function keptCommon(data: BaselineData): CommonUsers {
  const known = KEPT.get(data);
  if (known) return known;
  const count = commonUsers(data);
  const kept: ReturnType<CommonUsers>[] = [];
  let pairs = 0;
  const remembering: CommonUsers = (candidate) => {
    const before = kept[candidate];
    if (before) return before;
    const { items, counts } = count(candidate);
    pairs += items.length;
    if (pairs <= KEPT_PAIRS) kept[candidate] = { items: items.slice(), counts: counts.slice() };
    return { items, counts };
  };
  KEPT.set(data, remembering);
  return remembering;
}

/** Users in common of `item` and every other item that can be shown; lists those that have any, ascending. */
function countCommon(
  item: number,
  { users, items, shown }: BaselineData,
  common: Uint32Array,
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
  {
    entries,
    sources,
    targets,
    weights,
  }: {
    readonly entries: number;
    readonly sources: Uint32Array;
    readonly targets: Uint32Array;
    readonly weights: Float32Array;
  },
  count: number,
): Similarities {
  const offsets = new Uint32Array(count + 1);
  for (let e = 0; e < entries; e++) offsets[sources[e] + 1]++;
  for (let s = 0; s < count; s++) offsets[s + 1] += offsets[s];
  const cursor = offsets.slice(0, count);
  const result = { offsets, targets: new Uint32Array(entries), weights: new Float32Array(entries) };
  for (let e = 0; e < entries; e++) {
    const at = cursor[sources[e]]++;
    result.targets[at] = targets[e];
    result.weights[at] = weights[e];
  }
  return result;
}
