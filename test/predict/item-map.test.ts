import { describe, expect, it } from 'vitest';
import { BipartiteGraph, fit } from '../../src/browser.js';
import { randomStream } from '../../src/math/random.js';
import { modelFeatures } from '../../src/predict/features.js';
import { mapItems } from '../../src/predict/map/item-map.js';
import { nearestNeighbours } from '../../src/predict/map/nearest-points.js';
import { principalComponents } from '../../src/predict/map/principal.js';

const turn = () => undefined;

/** Three tastes that share nothing. */
async function threeTastes() {
  const random = randomStream(5);
  const pairs: [string, string][] = [];
  for (let u = 0; u < 240; u++) {
    for (let e = 0; e < 14; e++) pairs.push([`u${u}`, `t${u % 3}-${Math.floor(30 * random.uniform() ** 2)}`]);
  }
  const { model } = await fit(BipartiteGraph.fromPairs(pairs), { features: 6, seed: 1, iterations: 80 });
  return model;
}

describe('a map of items', () => {
  it('places items of the same users close together, and is the same each time', async () => {
    const model = await threeTastes();
    const { x, y, feature } = await mapItems(model, { seed: 1 });
    const taste = (j: number) => model.items.ids.at(j).slice(0, 2);
    let alike = 0;
    for (let j = 0; j < x.length; j++) {
      expect(Math.max(Math.abs(x[j]), Math.abs(y[j]))).toBeLessThanOrEqual(1);
      let nearest = -1;
      for (let i = 0; i < x.length; i++) {
        const d = (k: number) => Math.hypot(x[k] - x[j], y[k] - y[j]);
        if (i !== j && (nearest < 0 || d(i) < d(nearest))) nearest = i;
      }
      if (taste(nearest) === taste(j)) alike++;
    }
    expect(alike / x.length).toBeGreaterThan(0.95);
    expect(Math.max(...feature)).toBeLessThan(6);
    const again = await mapItems(model, { seed: 1 });
    expect(again.x).toEqual(x);
    expect((await mapItems(model, { seed: 2 })).x).not.toEqual(x);
  });

  it('gives an item the feature that explains most of its expected edges, whatever the scale of the features', async () => {
    const model = await threeTastes();
    const { features: K, users, items } = model;
    const { feature } = await mapItems(model, { seed: 1 });
    const described = modelFeatures(model);
    const mean = (side: typeof items, v: number, k: number) =>
      ((side.weightShape[v] / side.weightRate[v]) * side.featureShape[v * K + k]) /
      side.featureRate[v * K + k];
    for (let j = 0; j < items.count; j++) {
      const edges = Array.from({ length: K }, (_, k) => {
        let mass = 0;
        for (let u = 0; u < users.count; u++) mass += mean(users, u, k);
        return mass * mean(items, j, k);
      });
      const most = Math.max(...edges);
      expect(feature[j]).toBe(edges.indexOf(most));
      const main = described.main('items', j);
      expect(main.feature).toBe(feature[j]);
      expect(main.share).toBeCloseTo(most / edges.reduce((a, b) => a + b), 5);
    }
    // The same model with feature 0 a thousand times larger on one side and smaller on the other.
    const scaled = (side: typeof items, factor: number) => ({
      ...side,
      featureRate: side.featureRate.map((rate, at) => (at % K === 0 ? rate / factor : rate)),
    });
    const other = { ...model, users: scaled(users, 1e-3), items: scaled(items, 1e3) };
    expect((await mapItems(other, { seed: 1 })).feature).toEqual(feature);
  });

  it('ends when its signal fires', async () => {
    const model = await threeTastes();
    const controller = new AbortController();
    const mapped = mapItems(model, {
      seed: 1,
      signal: controller.signal,
      onProgress: ({ stage }) => {
        if (stage === 'drawing the map') controller.abort();
      },
    });
    await expect(mapped).rejects.toThrow();
  });

  it('of one or two items is a map, too', async () => {
    const { model } = await fit(BipartiteGraph.fromPairs([['a', 'x']]), { features: 1, iterations: 5 });
    const { x } = await mapItems(model, { seed: 1 });
    expect(Number.isFinite(x[0])).toBe(true);
  });
});

describe('neighbours', () => {
  it('by trees are mostly those by all pairs', async () => {
    const [count, width, neighbours] = [4000, 4, 10];
    const random = randomStream(3);
    const points = Float32Array.from({ length: count * width }, () => random.uniform());
    const { index } = await nearestNeighbours(points, count, width, { neighbours, random, turn });
    const distance = (a: number, b: number) => {
      let sum = 0;
      for (let d = 0; d < width; d++) sum += (points[a * width + d] - points[b * width + d]) ** 2;
      return sum;
    };
    let found = 0;
    for (let a = 0; a < 100; a++) {
      const exact = Array.from({ length: count }, (_, b) => b)
        .filter((b) => b !== a)
        .sort((b, c) => distance(a, b) - distance(a, c))
        .slice(0, neighbours);
      const near = new Set(index.subarray(a * neighbours, (a + 1) * neighbours));
      found += exact.filter((b) => near.has(b)).length;
    }
    expect(found / (100 * neighbours)).toBeGreaterThan(0.85);
  });

  it('of equal points terminate', async () => {
    const points = new Float32Array(2 * 3500);
    const { weight } = await nearestNeighbours(points, 3500, 2, {
      ...{ neighbours: 5, random: randomStream(1), turn },
    });
    expect(weight.every(Number.isFinite)).toBe(true);
  });
});

describe('principal components', () => {
  it('find the long axis of a cloud', () => {
    const random = randomStream(9);
    const rows = new Float32Array(2 * 500);
    for (let j = 0; j < 500; j++) {
      const along = 10 * (random.uniform() - 0.5);
      rows.set([along + 0.1 * random.uniform(), 2 * along + 0.1 * random.uniform()], 2 * j);
    }
    const first = principalComponents(rows, 500, 2, 1);
    const spread = first.reduce((sum, value) => sum + value * value, 0) / 500;
    const total = rows.reduce((sum, value) => sum + value * value, 0) / 500;
    expect(spread / total).toBeGreaterThan(0.99);
  });
});
