import { expect, test } from 'vitest';
import { studentQuantile, studentTwoSided } from '../../src/math/student.js';

// One and two degrees of freedom have closed forms; the others are from the printed tables of the distribution.
test.each([0.01, 0.3, 1, 2, 7.5, 40])('closed forms at t = %s', (t) => {
  expect(studentTwoSided(t, 1)).toBeCloseTo(1 - (2 / Math.PI) * Math.atan(t), 12);
  expect(studentTwoSided(-t, 2)).toBeCloseTo(1 - t / Math.sqrt(2 + t * t), 12);
});

test.each([
  [0.1, 4, 2.1318],
  [0.1, 9, 1.8331],
  [0.1, 19, 1.7291],
  [0.05, 30, 2.0423],
  [0.01, 120, 2.6174],
])('level %s with %s degrees of freedom', (level, freedom, t) => {
  expect(studentQuantile(level, freedom)).toBeCloseTo(t, 4);
  expect(studentTwoSided(t, freedom)).toBeCloseTo(level, 4);
});

test('at t = 0 the probability is 1, and many degrees of freedom give the normal distribution', () => {
  expect(studentTwoSided(0, 5)).toBe(1);
  expect(studentQuantile(0.1, 1e7)).toBeCloseTo(1.644854, 5);
});
