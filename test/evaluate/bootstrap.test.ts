import { describe, expect, it } from 'vitest';
import { pairedBootstrap, pairedBootstraps } from '../../src/evaluate/bootstrap.js';
import { randomStream } from '../../src/math/random.js';

describe('pairedBootstrap', () => {
  it('covers the true difference about as often as it says', () => {
    let covered = 0;
    for (let trial = 0; trial < 200; trial++) {
      const random = randomStream(trial, 4);
      const easy = Float64Array.from({ length: 150 }, () => random.uniform());
      const a = easy.map((e) => e + 0.1 * random.uniform());
      const { low, high } = pairedBootstrap(a, easy, { seed: trial, replicates: 400, level: 0.9 });
      if (low <= 0.05 && 0.05 <= high) covered++;
    }
    // 0.9 of 200 is 180, its standard deviation 4.2.
    expect(covered).toBeGreaterThan(165);
    expect(covered).toBeLessThan(195);
  });

  it('is far narrower than unpaired intervals when users differ more than models', () => {
    const random = randomStream(1);
    const easy = Float64Array.from({ length: 500 }, () => 10 * random.uniform());
    const { low, high, difference } = pairedBootstrap(
      easy.map((e) => e + 0.01 * random.uniform()),
      easy,
    );
    expect(low).toBeGreaterThan(0);
    expect(high - low).toBeLessThan(0.002);
    expect(difference).toBeGreaterThan(low);
    expect(difference).toBeLessThan(high);
  });

  it('is exact for equal models, the same for the same seed, and mirrored for exchanged models', () => {
    const random = randomStream(2);
    const a = Float64Array.from({ length: 40 }, () => random.uniform());
    const b = Float64Array.from({ length: 40 }, () => random.uniform());
    expect(pairedBootstrap(a, a)).toMatchObject({ difference: 0, low: 0, high: 0, users: 40 });
    expect(pairedBootstrap(a, b, { seed: 7 })).toEqual(pairedBootstrap(a, b, { seed: 7 }));
    expect(pairedBootstrap(a, b, { seed: 7 })).not.toEqual(pairedBootstrap(a, b, { seed: 8 }));
    const there = pairedBootstrap(a, b);
    const back = pairedBootstrap(b, a);
    expect(back.low).toBeCloseTo(-there.high, 12);
    expect(pairedBootstrap(a, b, { level: 0.5 }).high).toBeLessThan(there.high);
  });

  it('gives several pairs the intervals that each has alone, however many there are', () => {
    const random = randomStream(9);
    const values = Array.from({ length: 7 }, () => Float64Array.from({ length: 60 }, () => random.uniform()));
    const pairs = values.slice(1).map((a) => ({ a, b: values[0] }));
    const options = { seed: 5, replicates: 200 };
    for (let count = 1; count <= pairs.length; count++) {
      expect(pairedBootstraps(pairs.slice(0, count), options)).toEqual(
        pairs.slice(0, count).map(({ a, b }) => pairedBootstrap(a, b, options)),
      );
    }
    expect(() => pairedBootstraps([...pairs, { a: values[0].slice(1), b: values[1] }])).toThrow(/59 and 60/);
  });

  it('refuses different users', () => {
    expect(() => pairedBootstrap(new Float64Array(3), new Float64Array(4))).toThrow(/same users/);
    expect(() => pairedBootstrap(new Float64Array(0), new Float64Array(0))).toThrow(/same users/);
    expect(() => pairedBootstrap(new Float64Array(1), new Float64Array(1), { level: 1 })).toThrow(
      /level 1: /,
    );
    expect(() => pairedBootstrap(new Float64Array(1), new Float64Array(1), { replicates: 3 })).toThrow(
      /replicates 3: /,
    );
  });
});
