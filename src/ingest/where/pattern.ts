// Patterns of conditions, as in title like 'The %'.

/**
 * Whether the text matches the pattern, in which % stands for any characters and _ for one. It backtracks only to the last %, so the time
 * is at most the product of the two lengths.
 */
export function isLike(text: string, pattern: string): boolean {
  let [t, p] = [0, 0];
  let [afterAny, resume] = [-1, 0];
  while (t < text.length) {
    if (pattern[p] === '%') {
      afterAny = ++p;
      resume = t;
    } else if (p < pattern.length && (pattern[p] === '_' || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (afterAny >= 0) {
      p = afterAny;
      t = ++resume;
    } else return false;
  }
  while (pattern[p] === '%') p++;
  return p === pattern.length;
}
