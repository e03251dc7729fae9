// Patterns in which one character stands for any characters.

/**
 * Whether a text matches a pattern in which `any` stands for any characters. `step` says how many characters of the pattern at a place
 * match a character; 0 if they do not. It backtracks only to the last `any`, so the time is at most the product of the two lengths.
 */
export function matchesPattern(
  text: string,
  pattern: string,
  any: string,
  step: (character: string, at: number) => number,
): boolean {
  let [t, p] = [0, 0];
  let [afterAny, resume] = [-1, 0];
  while (t < text.length) {
    const matched = p < pattern.length && pattern[p] !== any ? step(text[t], p) : 0;
    if (pattern[p] === any) {
      afterAny = ++p;
      resume = t;
    } else if (matched > 0) {
      p += matched;
      t++;
    } else if (afterAny >= 0) {
      p = afterAny;
      t = ++resume;
    } else return false;
  }
  while (pattern[p] === any) p++;
  return p === pattern.length;
}
