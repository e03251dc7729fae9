// The attributes that an item shares with some of a user's items, for explanations.

import type { VertexIds } from '../graph/ids.js';
import { columnOf, type SideInfo, settingOf } from './info.js';
import { attributeVectors } from './similarity.js';

/** An attribute of an item that some of the user's items have too; or of a user without items, if `times` is given. */
export interface SharedAttribute {
  readonly column: string;
  readonly value: string;
  /** Of the similarity between the item and the user's items that contribute most: 0 to 1. Of a user: of all that attributes add to the score. */
  readonly fraction: number;
  /** Those of the user's items that have it. */
  readonly items?: readonly string[] | undefined;
  /** How often users with this attribute have the item, as a multiple of what its popularity says. */
  readonly times?: number | undefined;
}

const NAMED = 5;

/** A function that names the attributes that an item shares with items of the user, by their ids; it weighs them once. */
export function createSharedAttributes(
  info: SideInfo,
  ids: VertexIds,
): (own: readonly string[], item: number) => SharedAttribute[] {
  const parts = info.content?.settings.columns ?? {};
  const vectors = attributeVectors(
    info,
    info.columns.map((column) => settingOf(parts, column)),
  );
  return (own, item) => {
    const wanted = new Map<number, number>();
    for (let e = vectors.offsets[item]; e < vectors.offsets[item + 1]; e++) {
      wanted.set(vectors.targets[e], vectors.weights[e]);
    }
    const shared = new Map<number, { product: number; items: string[] }>();
    let total = 0;
    for (const id of own) {
      const one = ids.find(id);
      for (let e = vectors.offsets[one]; e < vectors.offsets[one + 1]; e++) {
        const product = (wanted.get(vectors.targets[e]) ?? 0) * vectors.weights[e];
        if (!(product > 0)) continue;
        const known = shared.get(vectors.targets[e]);
        shared.set(vectors.targets[e], {
          product: (known?.product ?? 0) + product,
          items: [...(known?.items ?? []), id],
        });
        total += product;
      }
    }
    return [...shared]
      .sort(([a, one], [b, other]) => other.product - one.product || a - b)
      .slice(0, NAMED)
      .map(([attribute, { product, items }]) => ({
        column: columnOf(info, attribute).name,
        value: info.names[attribute],
        fraction: product / total,
        items,
      }));
  };
}
