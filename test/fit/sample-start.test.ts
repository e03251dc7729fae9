// Fits in two levels: starts tried on a sample of the users, the best of which goes on with all.

import { describe, expect, test } from 'vitest';
import { sampleUsers } from '../../src/fit/ascent/sample-start.js';
import { noisyShare, startValues } from '../../src/fit/ascent/start.js';
import { fit } from '../../src/fit/fit.js';
import { unfinishedFit } from '../../src/fit/unfinished.js';
import { selectVertices } from '../../src/graph/subgraph.js';
import { simulate } from '../../src/process/poisson-model.js';
import type { Progress } from '../../src/progress.js';
import { modelFileFromBytes, modelToBytes } from '../../src/store/model-bytes.js';

const side = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 45 };
const { graph } = await simulate({ users: side, items: side, features: 4, seed: 3 });
const options = { features: 4, engine: 'cpu', levels: 2, iterations: 60, threads: 1, seed: 2 } as const;
const whole = await fit(graph, options);

describe('a fit in two levels', () => {
  test('has the same bits on any number of threads', async () => {
    const { model } = await fit(graph, { ...options, threads: 3 });
    expect(model.bound).toBe(whole.model.bound);
    expect(model.items.featureShape).toEqual(whole.model.items.featureShape);
  });

  test('says that it tries starts on a sample, then that it warms up and fits', async () => {
    const stages: string[] = [];
    await fit(graph, { ...options, onProgress: ({ stage }: Progress) => stages.push(stage) });
    expect([...new Set(stages)]).toEqual([
      'trying starts on a sample: 1 of 2',
      'trying starts on a sample: 2 of 2',
      'warming up',
      'fitting',
    ]);
  });

  test.each(['trying starts on a sample: 2 of 2', 'warming up', 'fitting'])(
    'stopped at "%s" and saved, goes on to the same bits',
    async (where) => {
      const controller = new AbortController();
      const error = await fit(graph, {
        ...options,
        signal: controller.signal,
        onProgress: ({ stage }: Progress) => {
          if (stage === where) controller.abort();
        },
      }).catch((reason) => reason);
      const left = unfinishedFit(error);
      expect(left?.checkpoint.state.onSample ?? false).toBe(where.startsWith('trying'));
      const bytes = modelToBytes(left!.model, { checkpoint: left!.checkpoint });
      const resume = (await modelFileFromBytes(bytes)).checkpoint;
      const { model } = (await fit(graph, { resume, threads: 1 })) as typeof whole;
      expect(model.bound).toBe(whole.model.bound);
      expect(model.users.featureRate).toEqual(whole.model.users.featureRate);
    },
  );

  test('is another fit than one that begins with all, also on the reference engine', async () => {
    const engine = { ...options, engine: 'reference', iterations: 40 } as const;
    const [one, two] = [await fit(graph, { ...engine, levels: 1 }), await fit(graph, engine)];
    expect(two.model.bound).not.toBe(one.model.bound);
    expect(Math.abs(two.model.bound! / one.model.bound! - 1)).toBeLessThan(0.1);
  });

  test('climbs: from the end of the warm phase on the bound does not fall on the reference engine', async () => {
    const { model } = await fit(graph, { ...options, engine: 'reference', model: 'sparse', tolerance: 0 });
    const bounds = model.provenance.bounds.map(([, bound]) => bound);
    // The first fall ends over-relaxation; plain ascent never falls.
    const falls = bounds.filter((bound, at) => at > 0 && bound < bounds[at - 1]);
    expect(bounds.length).toBeGreaterThan(3);
    expect(falls.length).toBeLessThanOrEqual(1);
  });

  test('is refused where something else says where to begin', async () => {
    await expect(fit(graph, { ...options, start: 'cold' })).rejects.toThrow(
      /levels 2 does not go with start cold/,
    );
    await expect(fit(graph, { ...options, from: whole.model })).rejects.toThrow(
      /levels 2 does not go with from/,
    );
    await expect(fit(graph, { method: 'ranking', levels: 2 } as never)).rejects.toThrow(
      /levels does not go with method ranking/,
    );
  });
});

test('a user is in the sample by seed and id, whoever else is there', () => {
  const sample = sampleUsers(graph, 0.3, 5);
  const ids = new Set(Array.from({ length: sample.users.count }, (_, i) => sample.users.ids.at(i)));
  const half = Uint8Array.from({ length: graph.users.count }, (_, i) => i % 2);
  const part = selectVertices(graph, half, new Uint8Array(graph.items.count).fill(1));
  const again = sampleUsers(part, 0.3, 5);
  expect(again.users.count).toBeGreaterThan(10);
  for (let i = 0; i < again.users.count; i++) expect(ids.has(again.users.ids.at(i))).toBe(true);
  expect(sampleUsers(graph, 0.3, 6).users.count).not.toBe(sample.users.count);
});

test('few vertices of a large side begin with noise; all of a small one, of a cold start and of a short fit', () => {
  const settings = { features: 30, start: 'warm', iterations: 400 } as const;
  expect(noisyShare(150, settings)).toBe(1);
  expect(noisyShare(1000, settings)).toBe(0.2);
  expect(noisyShare(1000, { ...settings, features: 100 })).toBe(0.4);
  expect(noisyShare(100_000, settings)).toBe(0.05);
  expect(noisyShare(100_000, { ...settings, start: 'cold' })).toBe(1);
  expect(noisyShare(100_000, { ...settings, iterations: 30 })).toBe(1);
  const hyper = { users: side, items: side };
  const { featureShape, featureRate } = startValues(graph, hyper, { ...settings, features: 4 }, 1).users;
  let noisy = 0;
  for (let i = 0; i < graph.users.count; i++) if (featureShape[4 * i] !== featureRate[4 * i]) noisy++;
  const share = noisyShare(graph.users.count, { ...settings, features: 4 });
  expect(share).toBeLessThan(0.8);
  const spread = Math.sqrt(graph.users.count * share * (1 - share));
  expect(Math.abs(noisy - share * graph.users.count)).toBeLessThan(4 * spread);
});
