// A fit from a previous model on a GPU: the result of the reference, within the tolerance of the engine.

import { describe, expect, test } from 'vitest';
import { createWebgpuEngine } from '../../src/engine/webgpu/webgpu-engine.js';
import { fit } from '../../src/fit/fit.js';
import { unfinishedFit } from '../../src/fit/unfinished.js';
import { randomStream } from '../../src/math/random.js';
import { simulate } from '../../src/process/poisson-model.js';
import { pqSample } from '../../src/sample/pq.js';
import { findTestGpu, skipReason } from './swiftshader.js';

const gpu = await findTestGpu();
if (!gpu.available) console.warn(skipReason(gpu));

const prior = { sigma: 0.2, tau: 1, shape: 0.5, rate: 0.5, size: 50 };
const { graph: now } = await simulate({ users: prior, items: prior, features: 4, seed: 5 });
const before = pqSample(now, { users: 0.97, items: 0.97 }, randomStream(3));
const { model } = await fit(before, { features: 4, engine: 'cpu', seed: 1, iterations: 100 });
const refit = { from: model, iterations: 40 } as const;

describe.skipIf(!gpu.available)('a fit from a previous model on a GPU', () => {
  test('ends after as many iterations as on the reference, with its bound', async () => {
    const engine = await createWebgpuEngine();
    const { tolerance } = engine;
    await engine.close();
    const [onGpu, reference] = [
      await fit(now, { ...refit, engine: 'gpu' }),
      await fit(now, { ...refit, engine: 'reference' }),
    ];
    expect(onGpu.from).toEqual(reference.from);
    expect(onGpu.model.provenance.iterations).toBe(reference.model.provenance.iterations);
    expect(Math.abs(onGpu.model.bound! / reference.model.bound! - 1)).toBeLessThan(tolerance);
  });

  test('stopped and resumed there, ends with the same bits', async () => {
    const options = { ...refit, engine: 'gpu', tolerance: 1e-6 } as const;
    const whole = await fit(now, options);
    const stop = new AbortController();
    const left = await fit(now, {
      ...options,
      signal: stop.signal,
      onProgress: ({ done }) => {
        if ((done ?? 0) >= 8) stop.abort();
      },
    }).catch(unfinishedFit);
    const { checkpoint: resume } = left as NonNullable<ReturnType<typeof unfinishedFit>>;
    const { model: resumed } = await fit(now, { resume, engine: 'gpu' });
    expect(resumed).toMatchObject({ bound: whole.model.bound });
  });
});
