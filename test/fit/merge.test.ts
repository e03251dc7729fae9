// Merging features: what it keeps, and what it merges first.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { meansOf, type TableValues } from '../../src/engine/engine.js';
import { mixedValues, mixedVector } from '../../src/engine/mix-features.js';
import { chooseMixes, mergedTables } from '../../src/fit/ascent/merge-features.js';
import { columnSums } from '../../src/fit/model.js';
import { randomStream } from '../../src/math/random.js';
import { randomHyper, randomValues } from '../engine/random-problem.js';

/** The table with one more feature: feature `copied` times `factor`. */
function withCopy(values: TableValues, features: number, copied: number, factor: number): TableValues {
  const wider = (from: ArrayLike<number>, times: number) => {
    const rows = values.weightShape.length;
    return Float64Array.from({ length: rows * (features + 1) }, (_, at) => {
      const [row, k] = [Math.floor(at / (features + 1)), at % (features + 1)];
      return k < features ? from[row * features + k] : times * from[row * features + copied];
    });
  };
  return {
    ...values,
    featureShape: wider(values.featureShape, factor),
    featureRate: wider(values.featureRate, 1),
  };
}

const massOf = (values: TableValues, features: number) => columnSums(meansOf(values, features), features);

/** The expected count of every pair. */
function rates(users: TableValues, items: TableValues, features: number): number[] {
  const [own, other] = [meansOf(users, features), meansOf(items, features)];
  const all: number[] = [];
  for (let u = 0; u < own.length; u += features) {
    for (let i = 0; i < other.length; i += features) {
      let rate = 0;
      for (let k = 0; k < features; k++) rate += own[u + k] * other[i + k];
      all.push(rate);
    }
  }
  return all;
}

const problems = fc.record({
  seed: fc.integer({ min: 0, max: 10_000 }),
  features: fc.integer({ min: 1, max: 6 }),
  copied: fc.nat(),
  ofUsers: fc.double({ min: 0.01, max: 50, noNaN: true }),
  ofItems: fc.double({ min: 0.01, max: 50, noNaN: true }),
});

describe('merging', () => {
  test('a feature and its copy are merged first, and no rate changes', () => {
    fc.assert(
      fc.property(problems, ({ seed, features, copied, ofUsers, ofItems }) => {
        const random = randomStream(seed, 5);
        const k = copied % features;
        const plain = { users: randomValues(7, features, random), items: randomValues(9, features, random) };
        const hyper = { users: randomHyper(random, false), items: randomHyper(random, true) };
        const tables = {
          users: withCopy(plain.users, features, k, ofUsers),
          items: withCopy(plain.items, features, k, ofItems),
        };
        const total = (values: TableValues) => ({
          mass: massOf(values, features + 1),
          unseenMass: Float64Array.from({ length: features + 1 }, () => random.uniform()),
          unseenMassAt: new Float64Array(features + 1),
        });
        const totals = { users: total(tables.users), items: total(tables.items) };
        const { into } = chooseMixes(tables.items, totals, hyper, features).users;
        expect(into[k]).toBe(into[features]);
        const merged = mergedTables(tables, totals, hyper, features);
        const before = rates(tables.users, tables.items, features + 1);
        const after = rates(merged.tables.users, merged.tables.items, features);
        // Tables of means are float32.
        for (const [at, rate] of before.entries()) expect(after[at] / rate).toBeCloseTo(1, 4);
        for (const side of ['users', 'items'] as const) {
          expect(merged.tables[side].weightRate).toBe(tables[side].weightRate);
          expect(merged.unseenMass[side]).toHaveLength(features);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('keeps the expected number of edges, whatever it merges', () => {
    fc.assert(
      fc.property(problems, fc.integer({ min: 1, max: 6 }), ({ seed, features }, asked) => {
        const kept = Math.min(asked, features);
        const random = randomStream(seed, 6);
        const hyper = { users: randomHyper(random, false), items: randomHyper(random, true) };
        const tables = { users: randomValues(7, features, random), items: randomValues(9, features, random) };
        const totals = {
          users: { mass: massOf(tables.users, features) },
          items: { mass: massOf(tables.items, features) },
        };
        const mixes = chooseMixes(tables.items, totals, hyper, kept);
        const expected = (users: Float64Array, items: Float64Array) =>
          users.reduce((sum, mass, k) => sum + mass * items[k], 0);
        const masses = {
          users: mixedVector(mixes.users, totals.users.mass),
          items: mixedVector(mixes.items, totals.items.mass),
        };
        const before = expected(totals.users.mass, totals.items.mass);
        expect(expected(masses.users, masses.items) / before).toBeCloseTo(1, 10);
        const mass = massOf(mixedValues(tables.users, mixes.users), kept);
        for (let k = 0; k < kept; k++) expect(mass[k] / masses.users[k]).toBeCloseTo(1, 4);
        expect(new Set(mixes.users.into).size).toBe(kept);
        expect(Array.from(mixes.items.into)).toEqual(Array.from(mixes.users.into));
      }),
      { numRuns: 100 },
    );
  });

  test('features without any mass are merged, and stay finite', () => {
    const values = randomValues(4, 3, randomStream(1));
    const dead = { ...values, featureShape: values.featureShape.map((x, at) => (at % 3 === 0 ? x : 0)) };
    const hyper = randomHyper(randomStream(2), false);
    const totals = {
      mass: massOf(dead, 3),
      unseenMass: new Float64Array(3),
      unseenMassAt: new Float64Array(3),
    };
    const { tables, unseenMass } = mergedTables(
      { users: dead, items: dead },
      { users: totals, items: totals },
      { users: hyper, items: hyper },
      2,
    );
    expect([...tables.users.featureShape, ...unseenMass.items].every(Number.isFinite)).toBe(true);
    expect(tables.users.featureShape.every((shape) => shape > 0)).toBe(true);
  });
});
