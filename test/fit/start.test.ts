// Starting values of a vertex depend on the seed and its id, not on other vertices.

import { expect, test } from 'vitest';
import { differencesOf, startValues } from '../../src/fit/ascent/start.js';
import { buildGraph } from '../../src/graph/build.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { VertexIds } from '../../src/graph/ids.js';
import { randomStream, textHash } from '../../src/math/random.js';
import { randomGraph } from '../engine/random-problem.js';

const K = 4;
const side = { sigma: 0.2, tau: 1, shape: 0.1, rate: 0.1, size: 5 };
const hyper = { users: side, items: side };
const SHAPE = { users: 40, items: 30, edges: 300, features: K, multigraph: false };
const graph = randomGraph(SHAPE, randomStream(3));

/** The noise of one row's features: the shapes without the degree. */
function noise(of: BipartiteGraph, row: number, seed = 1): number[] {
  const { featureShape, featureRate } = startValues(of, hyper, K, seed, differencesOf(undefined)).users;
  return Array.from({ length: K }, (_, k) => {
    const at = row * K + k;
    return (featureShape[at] - side.shape) / (featureRate[at] - side.shape);
  });
}

function withUsers(rows: readonly number[], ids: VertexIds): BipartiteGraph {
  const { offsets, neighbors } = graph.users;
  const [users, items]: [number[], number[]] = [[], []];
  rows.forEach((row, place) => {
    for (let e = offsets[row]; e < offsets[row + 1]; e++) {
      users.push(place);
      items.push(neighbors[e]);
    }
  });
  return buildGraph({ users, items, userCount: rows.length, itemCount: graph.items.count, userIds: ids });
}

test('a vertex starts alike alone, among others and in any order', () => {
  const all = graph.users.ids;
  const some = [7, 3, 31];
  const part = withUsers(some, all.pick(some));
  for (const [place, row] of some.entries()) {
    const [here, there] = [noise(part, place), noise(graph, row)];
    for (let k = 0; k < K; k++) expect(here[k]).toBeCloseTo(there[k], 12);
  }
  expect(noise(graph, 7)).not.toEqual(noise(graph, 3));
  expect(noise(graph, 7, 2)).not.toEqual(noise(graph, 7));
  // The sides have streams of their own, though ids are the same on both.
  const { users, items } = startValues(graph, hyper, K, 1, differencesOf(undefined));
  expect(users.featureShape[0] / users.featureRate[0]).not.toBe(items.featureShape[0] / items.featureRate[0]);
});

test('with profiles, users are even and items lean towards their profiles', () => {
  const profiles = new Float32Array(graph.items.count * K).fill(0);
  for (let i = 0; i < graph.items.count; i++) profiles[i * K + (i % K)] = K;
  const { users, items } = startValues(graph, hyper, K, 1, differencesOf(profiles));
  for (let k = 1; k < K; k++) expect(users.featureShape[k]).toBe(users.featureShape[0]);
  for (let i = 0; i < graph.items.count; i++) {
    const row = items.featureShape.subarray(i * K, (i + 1) * K);
    expect(row.indexOf(Math.max(...row))).toBe(i % K);
  }
});

test('numbers and the same numbers as text start alike', () => {
  const rows = [2, 5, 9];
  const asNumbers = withUsers(rows, VertexIds.integers(Float64Array.of(17, 2 ** 40, 9007199254740991)));
  const asText = withUsers(rows, VertexIds.texts(['17', '1099511627776', '9007199254740991']));
  for (const row of [0, 1, 2]) expect(noise(asText, row)).toEqual(noise(asNumbers, row));
});

test('similar texts have different hashes', () => {
  const seen = new Set<string>();
  const texts = ['', 'a', 'aa', 'ab', 'ba', '\u0000', '\u0000\u0000', 'é', 'e\u0301', '漢', '💡'];
  for (let i = 0; i < 200_000; i++) texts.push(String(i));
  for (const text of texts) seen.add(textHash(text).join());
  expect(seen.size).toBe(texts.length);
  // Each bit is set about half of the time.
  const bits = new Float64Array(32);
  for (let i = 0; i < 20_000; i++) {
    const [a, b] = textHash(`user ${i}`);
    for (let bit = 0; bit < 32; bit++) bits[bit] += ((a ^ b) >>> bit) & 1;
  }
  for (const count of bits) expect(Math.abs(count / 20_000 - 0.5)).toBeLessThan(0.02);
});
