// Hints: the nearest name is what a plain comparison of all gives.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearest } from '../../src/options/check-options.js';

describe('the nearest name', () => {
  const distance = (a: string, b: string): number => {
    if (a === '' || b === '') return Math.max(a.length, b.length);
    const change = a[0] === b[0] ? 0 : 1;
    const swapped = a.length > 1 && b.length > 1 && a[0] === b[1] && a[1] === b[0];
    return Math.min(
      ...(swapped ? [distance(a.slice(2), b.slice(2)) + 1] : []),
      distance(a.slice(1), b) + 1,
      distance(a, b.slice(1)) + 1,
      distance(a.slice(1), b.slice(1)) + change,
    );
  };

  it('is the first with the fewest changes, as in a comparison with all', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 5 });
    fc.assert(
      fc.property(letters, fc.array(letters, { maxLength: 5 }), (name, known) => {
        const most = Math.max(1, Math.ceil(name.length * 0.4));
        const distances = known.map((candidate) => distance(name, candidate));
        const fewest = Math.min(...distances);
        const expected = fewest <= most ? known[distances.indexOf(fewest)] : undefined;
        expect(nearest(name, known)).toBe(expected);
      }),
    );
  });
});
