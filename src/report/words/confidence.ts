// How certain a list is, in words.

import type { ListConfidence } from '../../predict/explain/confidence.js';

/** How the two kinds of confidence differ. */
export const INTERVAL_NOTE =
  'The 90 % interval of a score says how exactly the model knows that score; the confidence of a list says whether another history would give the same list.';

/** `overlap`: the fraction of the list that another history of the same taste would give again. */
export function confidenceWords(
  { overlap, left }: Pick<ListConfidence, 'overlap' | 'left'>,
  listed: number,
): string {
  if (left === 0) return 'The list holds every item that is left, so there was nothing to choose.';
  const kept = Math.round(overlap * listed);
  // The number in the sentence decides, so that one sentence has one verdict.
  const level = kept < 0.35 * listed ? 'Low' : kept < 0.65 * listed ? 'Medium' : 'High';
  return `${level} confidence: with another history of the same taste, about ${kept} of these ${listed} items would be recommended again.`;
}
