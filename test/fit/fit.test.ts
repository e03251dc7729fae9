import { describe, expect, test } from 'vitest';
import { AbortError, InputError } from '../../src/errors.js';
import { sparsityEvidence } from '../../src/fit/choose/sparsity-evidence.js';
import { fit } from '../../src/fit/fit.js';
import type { PosteriorModel } from '../../src/fit/model.js';
import type { AscentOptions } from '../../src/fit/options.js';
import { unfinishedFit } from '../../src/fit/unfinished.js';
import { SIDES } from '../../src/graph/graph.js';
import { randomStream } from '../../src/math/random.js';
import { METHODS } from '../../src/options/commands/fit.js';
import { simulate } from '../../src/process/poisson-model.js';
import { modelFileFromBytes, modelToBytes } from '../../src/store/model-bytes.js';
import { randomGraph } from '../engine/random-problem.js';

const SHAPE = { users: 60, items: 50, edges: 700, features: 4, multigraph: false };
const graph = randomGraph(SHAPE, randomStream(11));
const small: AscentOptions = { features: 4, iterations: 60, threads: 1, engine: 'cpu' };

describe('the loop', () => {
  test('converges, and the bound never falls in the last phase', async () => {
    const { model, stopped, checkpoint } = await fit(graph, { ...small, iterations: 1000 });
    expect(stopped).toBe('converged');
    const { schedule, phase } = checkpoint!.state;
    expect(phase).toBe(schedule.length - 1);
    const bounds = model.provenance.bounds.map(([, bound]) => bound);
    expect(bounds.length).toBeGreaterThan(2);
    for (let i = 1; i < bounds.length; i++) {
      expect(bounds[i]).toBeGreaterThan(bounds[i - 1] - 1e-6 * Math.abs(bounds[i]));
    }
    expect(model.bound).toBe(bounds.at(-1));
  });

  test('the same seed gives the same model; another seed another one', async () => {
    const [one, two, other] = [
      await fit(graph, small),
      await fit(graph, small),
      await fit(graph, { ...small, seed: 2 }),
    ];
    expect(two.model.users.featureShape).toEqual(one.model.users.featureShape);
    expect(other.model.users.featureShape).not.toEqual(one.model.users.featureShape);
  });

  test('the number of threads changes nothing', async () => {
    const one = await fit(graph, small);
    const three = await fit(graph, { ...small, threads: 3 });
    expect(three.model.bound).toBe(one.model.bound);
    expect(three.model.items.featureRate).toEqual(one.model.items.featureRate);
  });

  // A fit of 80 iterations has a short schedule; one of 130 explores for at least 40, merges after 10 more and has rounds.
  test.each([
    [3, 80],
    [25, 80],
    [40, 80],
    [20, 130],
    [46, 130],
    [56, 130],
    [61, 130],
    [120, 130],
  ])(
    'stopped at %i iterations or more of %i and resumed, it ends with the same numbers',
    async (at, iterations) => {
      const whole = await fit(graph, { ...small, iterations, tolerance: 1e-12 });
      const abort = new AbortController();
      const error = await fit(graph, {
        ...small,
        iterations,
        tolerance: 1e-12,
        signal: abort.signal,
        onProgress: ({ done, unit }) => {
          if (unit === 'iterations' && done >= at) abort.abort();
        },
      }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(AbortError);
      const part = unfinishedFit(error)!;
      expect(part.model.provenance.iterations).toBe(part.checkpoint.state.iteration);
      expect(part.checkpoint.state.iteration).toBeLessThan(iterations);
      const bytes = modelToBytes(part.model, { checkpoint: part.checkpoint });
      const { checkpoint: resume } = await modelFileFromBytes(bytes);
      const rest = (await fit(graph, { ...small, iterations, tolerance: 1e-12, resume })) as typeof whole;
      expect(rest.model.bound).toBe(whole.model.bound);
      expect(rest.model.provenance.bounds).toEqual(whole.model.provenance.bounds);
      for (const side of SIDES) expect(rest.model[side].featureShape).toEqual(whole.model[side].featureShape);
    },
  );

  test('aborted, it rejects with the reason of the signal, which carries the checkpoint', async () => {
    const reasons = [new RangeError('enough'), AbortSignal.timeout(0).reason ?? new Error('late'), 'a word'];
    for (const reason of reasons) {
      const attempt = fit(graph, { ...small, signal: AbortSignal.abort(reason) });
      await expect(attempt).rejects.toBe(reason);
      const left = unfinishedFit(reason);
      if (typeof reason === 'string') expect(left).toBeUndefined();
      else expect(left!.checkpoint.state.iteration).toBe(0);
    }
    const several = fit(graph, { ...small, restarts: 2, signal: AbortSignal.abort() });
    const error = await several.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AbortError);
    expect(unfinishedFit(error)).toBeUndefined();
    expect(Object.keys(reasons[0])).toEqual([]);
  });

  test('has no bound if it is stopped before its last phase; a finished fit can continue, and no bound is counted twice', async () => {
    const abort = new AbortController();
    const stopped = { ...small, signal: abort.signal, onProgress: () => abort.abort() };
    const error = await fit(graph, stopped).catch((thrown: unknown) => thrown);
    expect((unfinishedFit(error)!.model as PosteriorModel).bound).toBeUndefined();
    const done = await fit(graph, { ...small, iterations: 60, tolerance: 1e-12 });
    const notes: string[] = [];
    const on = await fit(graph, {
      ...small,
      iterations: 80,
      tolerance: 1e-12,
      resume: done.checkpoint!,
      onProgress: ({ note }) => notes.push(note ?? ''),
    });
    expect(notes.join()).not.toMatch(/NaN/);
    const at = on.model.provenance.bounds.map(([iteration]) => iteration);
    expect(new Set(at).size).toBe(at.length);
  });

  test('restarts keep the best bound', async () => {
    const bounds = [];
    for (const seed of [1, 2, 3]) bounds.push((await fit(graph, { ...small, seed })).model.bound!);
    const best = await fit(graph, { ...small, restarts: 3 });
    expect(best.model.bound).toBe(Math.max(...bounds));
  });

  test('every engine finds the same optimum', async () => {
    const options = { ...small, iterations: 30, start: 'cold' as const };
    const reference = await fit(graph, { ...options, engine: 'reference' });
    const cpu = await fit(graph, { ...options, engine: 'cpu' });
    expect(Math.abs(cpu.model.bound! / reference.model.bound! - 1)).toBeLessThan(1e-4);
  });
});

describe('hyperparameters', () => {
  test('given ones are kept, the dense model has no unseen vertices', async () => {
    const { model } = await fit(graph, {
      ...small,
      model: 'sparse',
      users: { sigma: 0.4, size: 33, tau: 2 },
      items: { shape: 0.3, rate: 0.7 },
    });
    expect(model.users.hyper).toMatchObject({ sigma: 0.4, size: 33, tau: 2, shape: 0.1, rate: 0.1 });
    expect(model.items.hyper).toMatchObject({ shape: 0.3, rate: 0.7, tau: 1 });
    const dense = await fit(graph, { ...small, model: 'dense' });
    for (const side of SIDES) {
      expect(dense.model[side].hyper).toMatchObject({ sigma: -0.1, size: 0 });
      expect(Array.from(dense.model[side].unseenMass)).toEqual([0, 0, 0, 0]);
    }
  });

  test.each(['sigma', 'size', 'tau', 'shape', 'rate'])(
    'learning %s raises the bound, by side if asked',
    async (name) => {
      // Sizes are given, so that `size` too is learned only where asked.
      const given = { users: { size: 20, sigma: 0.3 }, items: { size: 20, sigma: 0.3 } };
      const fixed = await fit(graph, { ...small, ...given, start: 'cold', iterations: 100 });
      const learned = await fit(graph, {
        ...small,
        ...given,
        start: 'cold',
        iterations: 100,
        learn: [`users.${name as 'sigma'}`],
      });
      const key = name as 'sigma';
      expect(learned.model.users.hyper[key]).not.toBe(fixed.model.users.hyper[key]);
      expect(learned.model.items.hyper).toEqual(fixed.model.items.hyper);
      expect(learned.model.bound).toBeGreaterThan(fixed.model.bound!);
    },
  );

  test('a hyperparameter that is named twice is learned once', async () => {
    const given = { users: { size: 20, sigma: 0.3 }, items: { size: 20, sigma: 0.3 } };
    const learn = async (names: AscentOptions['learn']) => {
      const { model } = await fit(graph, { ...small, ...given, iterations: 30, learn: names });
      return [model.bound, model.users.hyper, model.items.hyper];
    };
    expect(await learn(['sigma', 'tau', 'users.sigma'])).toEqual(await learn(['sigma', 'tau']));
  });

  test('sizes by the paper’s simulation differ from those of the bound', async () => {
    const { model } = await fit(graph, { ...small, sizes: 'paper' });
    const byBound = await fit(graph, small);
    for (const side of SIDES) {
      expect(model[side].hyper.size).toBeGreaterThan(0);
      expect(model[side].hyper.size).not.toBe(byBound.model[side].hyper.size);
    }
  });

  test('a sparse graph is evidence for the sparse model, a dense one is not', async () => {
    const side = (sigma: number, size: number) => ({ sigma, tau: 1, shape: 0.5, rate: 0.5, size });
    const options: AscentOptions = { features: 5, engine: 'cpu', model: 'sparse' };
    const evidence = async (sigma: number, size: number) => {
      const { graph } = await simulate({
        users: side(sigma, size),
        items: side(sigma, size),
        features: 5,
        seed: 3,
      });
      return (await sparsityEvidence(graph, await fit(graph, options), options))!.difference;
    };
    expect(await evidence(0.5, 40)).toBeGreaterThan(0);
    expect(await evidence(-0.5, 60)).toBeLessThan(0);
  });
});

describe('every option has an effect', () => {
  const changes: Record<string, AscentOptions> = {
    features: { features: 5 },
    model: { model: 'dense' },
    users: { users: { tau: 3 } },
    items: { items: { tau: 3 } },
    iterations: { iterations: 20 },
    tolerance: { tolerance: 1e-2 },
    engine: { engine: 'reference' },
    start: { start: 'cold' },
    restarts: { restarts: 8 },
    learn: { learn: ['tau'] },
    sizes: { sizes: 'paper' },
    seed: { seed: 5 },
  };
  const base: AscentOptions = { ...small, iterations: 200 };
  const plain = fit(graph, base);
  test('every option is tested', () => {
    // Only multigraphs have counts: count-prior.test.ts tests them.
    expect([...Object.keys(changes), 'counts'].sort()).toEqual(Object.keys(METHODS.ascent).sort());
  });
  test.each(Object.entries(changes))('%s', async (_name, change) => {
    const changed = await fit(graph, { ...base, ...change });
    const summary = (r: Awaited<typeof plain>) => [r.model.bound, r.model.provenance.iterations, r.engine];
    expect(summary(changed)).not.toEqual(summary(await plain));
  });
});

describe('what it refuses', () => {
  const refused: [string, object, RegExp][] = [
    [
      'no features',
      { features: 0 },
      /^features 0: expected auto, or a whole number, at least 1 and at most 512$/,
    ],
    ['too many features', { features: 513 }, /513/],
    [
      'sigma 1',
      { users: { sigma: 1 } },
      /^users\.sigma 1: expected a number, at least -1000 and below 1; at 1 and above/,
    ],
    ['tau 0', { items: { tau: 0 } }, /^items\.tau 0: expected a number, at least 1e-9/],
    ['a NaN', { users: { shape: Number.NaN } }, /^users\.shape NaN: expected a number/],
    [
      'an unknown hyperparameter',
      { users: { tua: 1 } },
      /"users\.tua": there is no such option; did you mean tau/,
    ],
    ['an unknown option', { feature: 3 }, /"feature": there is no such option; did you mean features/],
    ['an unknown thing to learn', { learn: ['sizes'] }, /^learn "sizes": expected one of sigma, /],
    ['learning a size given as 0', { users: { size: 0 }, learn: ['size'] }, /given as 0/],
    ['an unknown engine', { engine: 'tpu' }, /^engine "tpu": expected one of auto/],
    ['an unknown method', { method: 'magic' }, /^method "magic": expected one of ascent, ranking, gibbs/],
    ['folds without ranking', { folds: 3 }, /folds does not go with method ascent: it belongs to ranking/],
    ['a tolerance below 0', { tolerance: -1e-9 }, /tolerance -1e-9/],
    ['a text for a number', { iterations: '400' }, /iterations "400": expected a whole number/],
    ['a seed that is no number', { seed: 'x' }, /seed "x": expected a whole number/],
    ['a seed that is an object', { seed: {} }, /seed an object: expected a whole number/],
    ['a removed name', { objective: 'ranking' }, /objective.*there is no such option/],
  ];
  test.each(refused)('%s', async (_name, options, message) => {
    const attempt = fit(graph, { ...small, ...options } as AscentOptions);
    await expect(attempt).rejects.toThrow(message);
    await expect(attempt).rejects.toBeInstanceOf(InputError);
  });

  test('a tolerance of 0 is no tolerance: all iterations', async () => {
    const { stopped, model } = await fit(graph, { ...small, features: 1, iterations: 700, tolerance: 0 });
    expect([stopped, model.provenance.iterations]).toEqual(['iterations', 700]);
    const settled = await fit(graph, { ...small, features: 1, iterations: 700 });
    expect(settled.stopped).toBe('converged');
  });
});
