import { expect, test } from 'vitest';
import { factorize, solveFactorized } from '../../src/math/cholesky.js';
import { randomStream } from '../../src/math/random.js';

test('many right-hand sides of a positive system are solved in one call', () => {
  const [size, width] = [23, 4];
  const random = randomStream(5);
  const half = Float64Array.from({ length: size * size }, () => random.uniform() - 0.5);
  const matrix = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < size; j++) {
      for (let k = 0; k < size; k++) matrix[i * size + j] += half[i * size + k] * half[j * size + k];
    }
    matrix[i * size + i] += 0.1;
  }
  const wanted = Float64Array.from({ length: size * width }, () => random.uniform());
  const right = new Float64Array(size * width);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < size; j++) {
      for (let t = 0; t < width; t++) right[i * width + t] += matrix[i * size + j] * wanted[j * width + t];
    }
  }
  factorize(matrix, size);
  solveFactorized(matrix, size, right, width);
  for (const [at, value] of wanted.entries()) expect(right[at]).toBeCloseTo(value, 9);
});

test('a system that is not positive is refused by its row', () => {
  expect(() => factorize(Float64Array.of(1, 0, 2, 1), 2)).toThrow(/row 1 .* no positive pivot/);
});

test('a pivot below the least is raised, and later columns do not see what rounding left of it', () => {
  // The second row is the first one but for rounding error.
  const matrix = Float64Array.of(...[1, 0, 0], ...[1, 1, 0], ...[0.5, 0.5 + 1e-7, 1]);
  factorize(matrix, 3, 1e-6);
  expect([...matrix]).toEqual([...[1, 0, 0], ...[1, 1e-3, 0], ...[0.5, 0, Math.sqrt(0.75)]]);
});
