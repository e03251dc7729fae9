// What a split by time measures.

import type { SplitTimes } from '../../sample/split-types.js';

/** `ratio`: degrees of the vertices that are held out, in words. */
export function timeSplitWords({ cut }: Pick<SplitTimes, 'cut'>, ratio: string): string {
  if (cut === undefined) return lastSplitWords(ratio);
  const date = new Date(cut);
  const when = Number.isFinite(date.getTime()) ? date.toISOString().replace('.000Z', 'Z') : String(cut);
  return (
    `Edges from ${when} on are the test part, earlier edges are for training. This measures forecasts for known users. ` +
    'Users who first appear after the cut are not evaluated. Random users and items (method pq) measure recommendations for new users, ' +
    'without bias by degree, and allow predictive checks. ' +
    `Vertices with a test edge have ${ratio} times the average degree.`
  );
}

function lastSplitWords(ratio: string): string {
  return (
    'The last edges of each user are the test part, earlier edges are for training. This measures what known users take next. ' +
    'Training also holds edges that are later than the test edges of other users. ' +
    `Vertices with a test edge have ${ratio} times the average degree.`
  );
}
