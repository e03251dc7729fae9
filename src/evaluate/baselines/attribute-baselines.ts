// Baselines for items without edges, from their attributes alone: the tf-idf profile of a user, and the popularity of attributes.

import type { SideInfo } from '../../attributes/info.js';
import { attributeVectors } from '../../attributes/similarity.js';
import type { RowLists, Scorer } from '../../predict/scoring/scorer.js';

/** The names of the baselines by attributes. */
export const ATTRIBUTE_BASELINES = ['profile', 'attributePopularity'] as const;
/** A baseline by attributes. */
export type AttributeBaseline = (typeof ATTRIBUTE_BASELINES)[number];

const TITLES: Readonly<Record<AttributeBaseline, string>> = {
  profile: 'tf-idf profile',
  attributePopularity: 'popularity by attribute',
};

/** The title of a baseline by attributes; undefined for any other name. */
export function attributeBaselineTitle(name: string): string | undefined {
  return Object.hasOwn(TITLES, name) ? TITLES[name as AttributeBaseline] : undefined;
}

/** `degree`: of the items with edges; `history`: the items of each user. Candidates are rows of the table about the items. */
export function attributeBaseline(
  name: AttributeBaseline,
  info: SideInfo,
  degree: ArrayLike<number>,
  history: RowLists,
): Scorer {
  return name === 'profile' ? profileScorer(info, history) : popularityScorer(info, degree);
}

/** Sums of cosines between an item and the items of the user, over all attributes together. */
function profileScorer(info: SideInfo, history: RowLists): Scorer {
  const count = info.names.length;
  const one = { columns: [{ name: '', kind: 'text', first: 0, count }], rows: info.rows } as const;
  const { offsets, targets, weights } = attributeVectors(one, [1]);
  const profile = new Float64Array(count);
  return {
    kind: 'rows',
    scores(row, candidates, out) {
      profile.fill(0);
      for (let h = history.offsets[row]; h < history.offsets[row + 1]; h++) {
        const item = history.values[h];
        for (let e = offsets[item]; e < offsets[item + 1]; e++) profile[targets[e]] += weights[e];
      }
      for (let c = 0; c < candidates.length; c++) {
        let sum = 0;
        for (let e = offsets[candidates[c]]; e < offsets[candidates[c] + 1]; e++) {
          sum += weights[e] * profile[targets[e]];
        }
        out[c] = sum;
      }
    },
  };
}

/** The mean over an item's attributes of the mean degree of the items that have them. */
function popularityScorer(
  { rows: { offsets, targets }, names }: SideInfo,
  degree: ArrayLike<number>,
): Scorer {
  const sum = new Float64Array(names.length);
  const items = new Float64Array(names.length);
  for (let item = 0; item < degree.length; item++) {
    for (let e = offsets[item]; e < offsets[item + 1]; e++) {
      sum[targets[e]] += degree[item];
      items[targets[e]]++;
    }
  }
  return {
    kind: 'rows',
    scores(_row, candidates, out) {
      for (let c = 0; c < candidates.length; c++) {
        const [first, end] = [offsets[candidates[c]], offsets[candidates[c] + 1]];
        let total = 0;
        for (let e = first; e < end; e++) total += sum[targets[e]] / Math.max(1, items[targets[e]]);
        out[c] = total / Math.max(1, end - first);
      }
    },
  };
}
