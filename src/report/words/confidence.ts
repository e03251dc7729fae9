// How sure a list is, in words.

import type { ListConfidence } from '../../predict/explain/confidence.js';

/** `overlap`: share of the list that another history of the same taste would bring again. */
export function confidenceWords(
  { overlap, left }: Pick<ListConfidence, 'overlap' | 'left'>,
  listed: number,
): string {
  if (left === 0) return 'There is nothing else to choose from: the list holds everything that is left.';
  const kept = Math.round(overlap * listed);
  const share = `other choices of the same taste would keep about ${kept} of these ${listed}`;
  // Judged by the number that is said, so that one sentence has one verdict.
  if (kept < 0.35 * listed) return `Unsure: ${share}.`;
  return kept < 0.65 * listed ? `Fairly sure: ${share}.` : `Sure: ${share}.`;
}
