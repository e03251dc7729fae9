// Makes scores of items without edges comparable with those of the other items. Nobody has an added item, so the data cannot say
// how often it would be taken. But items with one edge say how much of what comes next goes to items that were not seen before
// (Good and Turing): added items get this part of the places of a list.

import type { SideInfo } from '../../attributes/info.js';
import type { Model } from '../../fit/model.js';
import { emptyBits, setBit } from '../../math/bits.js';
import { randomStream } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import type { TaskOptions } from '../../progress.js';
import { createModelScorer } from '../scoring/model-scorer.js';
import { ownItems } from '../user-query.js';

/** The least part of the places, unless the added items are a smaller part of the catalogue. */
const LEAST_PART = 0.1;
/** Places that are shared. */
const PLACES = 20;
const MOST_USERS = 200;

/** The part of a list that added items should get: never more than their part of the catalogue. */
export function partOfAdded(degree: ArrayLike<number>, added: number): number {
  let [edges, single] = [0, 0];
  for (let j = 0; j < degree.length; j++) {
    edges += degree[j];
    if (degree[j] === 1) single++;
  }
  const unseen = edges > 0 ? single / edges : 0;
  return Math.min(added / (degree.length + added), Math.max(unseen, LEAST_PART));
}

/** The factor of added items' scores with which half of the users have this part, or more, of added items in their lists. */
export async function levelOfAdded(
  model: Model,
  items: SideInfo,
  { seed, signal, threads }: TaskOptions & { readonly seed: number },
): Promise<number> {
  const { count: known, degree } = model.items;
  const added = items.added.length;
  if (added === 0 || model.users.count === 0 || !model.seen) return 1;
  const part = partOfAdded(degree, added);
  // With few added items, a longer list has a place for one of them.
  const places = Math.min(known, Math.max(PLACES, Math.ceil(1 / part)));
  const ofAdded = Math.max(1, Math.round(part * places));
  const random = randomStream(seed, STREAMS.content, 1);
  const share = MOST_USERS / model.users.count;
  const scorer = createModelScorer({ ...model, info: { items } });
  try {
    const rows = Array.from({ length: model.users.count }, (_, u) => u).filter(
      () => random.uniform() < share,
    );
    const own = rows.map((row) => ownItems(model, row));
    const users = rows.map((row, u) => scorer.userScorer(row, own[u]));
    const excluded = own.map(({ items: had }) => had);
    const bits = (isOut: (item: number) => boolean) => {
      const out = emptyBits(known + added);
      for (let item = 0; item < known + added; item++) if (isOut(item)) setBit(out, item);
      return out;
    };
    const list = (n: number, without: Uint32Array) =>
      scorer.best(users, { n, excluded, without }, { signal, threads });
    const lists = [
      await list(
        places - ofAdded + 1,
        bits((item) => item >= known),
      ),
      await list(
        ofAdded,
        bits((item) => item < known),
      ),
    ];
    const ratios: number[] = [];
    for (const [u, user] of users.entries()) {
      const [score, ofNew] = lists.map((one) =>
        one[u].length > 0 ? user.score(one[u][one[u].length - 1]) : 0,
      );
      if (score > 0 && ofNew > 0) ratios.push(score / ofNew);
    }
    ratios.sort((a, b) => a - b);
    return ratios[ratios.length >> 1] ?? 1;
  } finally {
    await scorer.close();
  }
}
