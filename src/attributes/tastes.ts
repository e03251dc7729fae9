// Scores of items for a user without items, by the user's attributes. An item's score is its popularity, multiplied for each attribute
// by how much more often than expected the users with this attribute have the item.

import type { EdgeRows } from '../math/csr.js';
import type { SparseWeights } from '../topn/query.js';
import { columnOf, type SideInfo, settingOf, type Tastes } from './info.js';
import type { SharedAttribute } from './shared-attributes.js';

/** Attributes times items: the most numbers that are kept. Attributes of the most users come first. */
const MOST_CELLS = 2 ** 24;
/** Users that must have an attribute; others say too little. */
export const FEWEST_USERS = 5;
const NAMED = 5;

/** Numbers of users by attribute and item. */
interface TasteCounts {
  /** Users who have each item. */
  readonly degree: Float64Array;
  readonly edges: number;
  /** Per attribute the users who have each item; undefined for attributes of few users. */
  readonly byAttribute: ReadonlyMap<number, { readonly counts: Float32Array; readonly edges: number }>;
}

/** Counts users by attribute and item; `isOut` marks users who are not counted. */
export function tasteCounts(
  rows: SparseWeights,
  { offsets, neighbors }: Pick<EdgeRows, 'offsets' | 'neighbors'>,
  items: number,
  isOut?: Uint8Array,
): TasteCounts {
  const users = offsets.length - 1;
  const spread = new Map<number, number>();
  for (let u = 0; u < users; u++) {
    if (isOut?.[u]) continue;
    for (let e = rows.offsets[u]; e < rows.offsets[u + 1]; e++) {
      spread.set(rows.targets[e], (spread.get(rows.targets[e]) ?? 0) + 1);
    }
  }
  const kept = [...spread]
    .filter(([, having]) => having >= FEWEST_USERS)
    .sort(([a, one], [b, other]) => other - one || a - b)
    .slice(0, Math.floor(MOST_CELLS / Math.max(1, items)));
  const byAttribute = new Map(kept.map(([a]) => [a, { counts: new Float32Array(items), edges: 0 }]));
  const degree = new Float64Array(items);
  let edges = 0;
  for (let u = 0; u < users; u++) {
    if (isOut?.[u]) continue;
    const [first, end] = [offsets[u], offsets[u + 1]];
    edges += end - first;
    for (let e = first; e < end; e++) degree[neighbors[e]]++;
    for (let r = rows.offsets[u]; r < rows.offsets[u + 1]; r++) {
      const own = byAttribute.get(rows.targets[r]);
      if (!own) continue;
      own.edges += end - first;
      for (let e = first; e < end; e++) own.counts[neighbors[e]]++;
    }
  }
  return { degree, edges, byAttribute };
}

interface AttributeUser {
  /** The score of each item: the number of users who would have it, if all users had these attributes. */
  readonly scores: Float32Array;
  /** The attributes that change the score of an item most. */
  attributes(item: number): SharedAttribute[];
}

/** How much more often than expected users with an attribute have an item. */
function timesOf(
  { degree, edges, byAttribute }: TasteCounts,
  added: number,
  attribute: number,
  item: number,
) {
  const own = byAttribute.get(attribute);
  if (!own) return 1;
  return (own.counts[item] + added) / ((own.edges * degree[item]) / Math.max(1, edges) + added);
}

export function createTasteScores(
  info: Pick<SideInfo, 'columns' | 'names'>,
  counts: TasteCounts,
  { columns, added }: Pick<Tastes, 'columns' | 'added'>,
): (attributes: readonly number[]) => AttributeUser {
  return (attributes) => {
    const known = attributes
      .filter((attribute) => counts.byAttribute.has(attribute))
      .map((attribute) => ({ attribute, name: columnOf(info, attribute).name }));
    const values = new Map<string, number>();
    for (const { name } of known) values.set(name, (values.get(name) ?? 0) + 1);
    // Several values of a column count as one, on average.
    const used = known
      .map((one) => ({ ...one, exponent: settingOf(columns, one) / values.get(one.name)! }))
      .filter(({ exponent }) => exponent > 0);
    const scores = Float32Array.from(counts.degree);
    for (const { attribute, exponent } of used) {
      for (let item = 0; item < scores.length; item++) {
        if (scores[item] > 0) scores[item] *= timesOf(counts, added, attribute, item) ** exponent;
      }
    }
    return {
      scores,
      attributes(item) {
        const times = used.map(({ attribute }) => timesOf(counts, added, attribute, item));
        const sizes = used.map(({ exponent }, i) => exponent * Math.abs(Math.log(times[i])));
        const total = sizes.reduce((sum, size) => sum + size, 0);
        return used
          .map(({ attribute, name }, i) => ({
            column: name,
            value: info.names[attribute],
            fraction: total > 0 ? sizes[i] / total : 0,
            times: times[i],
          }))
          .sort((a, b) => b.fraction - a.fraction)
          .slice(0, NAMED);
      },
    };
  };
}
