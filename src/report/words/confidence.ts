// How sure a list is, in words.

/** `overlap`: share of the list that another history of the same taste would bring again. */
export function confidenceWords(overlap: number, listed: number): string {
  const kept = Math.round(overlap * listed);
  const share = `other choices of the same taste would keep about ${kept} of these ${listed}`;
  if (overlap < 0.35) return `Unsure: ${share}.`;
  return overlap < 0.65 ? `Fairly sure: ${share}.` : `Sure: ${share}.`;
}
