import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AliasTable } from '../../src/math/alias.js';
import { randomStream } from '../../src/math/random.js';

/** The probability that a table gives to each box, read off its arrays. */
function probabilities({ borders, aliases, size }: AliasTable): Float64Array {
  const result = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    const own = borders[i] - i;
    result[i] += own / size;
    result[aliases[i]] += (1 - own) / size;
  }
  return result;
}

describe('alias table', () => {
  it('holds exactly the given weights, for any weights', () => {
    const weight = fc.oneof(fc.constant(0), fc.double({ min: 1e-12, max: 1e12, noNaN: true }));
    fc.assert(
      fc.property(fc.array(weight, { minLength: 1, maxLength: 200 }), (weights) => {
        const sum = weights.reduce((a, b) => a + b);
        fc.pre(sum > 0);
        const p = probabilities(AliasTable.of(weights));
        weights.forEach((w, i) => {
          expect(Math.abs(p[i] - w / sum)).toBeLessThan(1e-13);
        });
      }),
    );
  });

  it('draws in proportion to the weights, never a box of weight 0', () => {
    const weights = [0, 3, 0.001, 10, 0, 1, 6];
    const table = AliasTable.of(weights);
    const random = randomStream(1);
    const n = 1_000_000;
    const counts = new Float64Array(weights.length);
    for (let i = 0; i < n; i++) counts[table.sample(random)]++;
    weights.forEach((w, i) => {
      const mean = (n * w) / 20.001;
      if (w === 0) expect(counts[i]).toBe(0);
      else expect(Math.abs(counts[i] - mean) / Math.sqrt(mean)).toBeLessThan(4.5);
    });
  });

  it('draws the same from arrays passed to another thread', () => {
    const table = AliasTable.of([1, 2, 3]);
    const again = new AliasTable(table.borders, table.aliases);
    const a = randomStream(2);
    const b = randomStream(2);
    for (let i = 0; i < 100; i++) expect(again.sample(b)).toBe(table.sample(a));
  });

  it('refuses weights without a positive finite sum', () => {
    expect(() => AliasTable.of([0, 0])).toThrow(/2 weights sum to 0/);
    expect(() => AliasTable.of([])).toThrow(/0 weights/);
    expect(() => AliasTable.of([Number.NaN])).toThrow(/NaN/);
  });
});
