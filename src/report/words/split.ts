// What a split asks.

import type { SplitTimes } from '../../sample/split-types.js';

/** Where a split by time cuts, and what it asks that coins do not. `ratio`: degrees of what is held out, in words. */
export function timeSplitWords({ cut }: Pick<SplitTimes, 'cut'>, ratio: string): string {
  const date = new Date(cut);
  const when = Number.isFinite(date.getTime()) ? date.toISOString().replace('.000Z', 'Z') : String(cut);
  return (
    `Edges from ${when} on are the test part, all before are for training. This asks how well tomorrow is foreseen for those who are here ` +
    'today, with all that changes meanwhile; who first comes later cannot be judged. The coins of --method pq ask how well new users are served at one time, ' +
    'without a bias by degree, and only they allow predictive checks. ' +
    `Vertices with a test edge have ${ratio} times the average degree.`
  );
}
