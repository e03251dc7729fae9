// A ranking fit that starts from a previous model: its blend keeps the settings.

import { describe, expect, it } from 'vitest';
import { dataFacts } from '../../src/fit/ascent/hyper.js';
import { walk } from '../../src/fit/ascent/loop.js';
import { firstState } from '../../src/fit/ascent/schedule.js';
import { fit } from '../../src/fit/fit.js';
import type { FactorScores, Ranker } from '../../src/fit/model.js';
import { rankingSchedule } from '../../src/fit/ranking/member.js';
import { rankingSettings } from '../../src/fit/ranking/settings.js';
import { unfinishedFit } from '../../src/fit/unfinished.js';
import { BipartiteGraph } from '../../src/graph/public.js';
import { randomStream } from '../../src/math/random.js';
import { modelFileFromBytes, modelFromBytes, modelToBytes } from '../../src/store/model-bytes.js';
import { modelState } from '../../src/store/model-state.js';

const ITEMS = 60;

/** Users who like one of three groups of items: the first `count` of them. */
function growing(users: number): BipartiteGraph {
  const random = randomStream(6);
  const pairs: [string, string][] = [];
  for (let u = 0; u < users; u++) {
    for (let item = 0; item < ITEMS; item++) {
      if (random.uniform() < (item % 3 === u % 3 ? 0.35 : 0.04)) pairs.push([`u${u}`, `i${item}`]);
    }
  }
  return BipartiteGraph.fromPairs(pairs);
}

const [before, now] = [growing(190), growing(200)];
const options = { method: 'ranking', features: 6, seed: 2, engine: 'cpu', threads: 1 } as const;
const former = await fit(before, options);
const model = former.model as Ranker;
const next = await fit(now, { from: model, engine: 'cpu', threads: 1 });

/** The model as earlier versions stored it: without the settings of its blend. */
function asOlderFile({ provenance, ...rest }: Ranker): Ranker {
  const { blend: _, ...record } = provenance;
  return { ...rest, provenance: record };
}

describe('a refit of a ranker', () => {
  it('keeps the settings of weights and least squares, scales α to the data, and says so', () => {
    const found = former.blend!;
    expect(found).toMatchObject({ edges: before.edges });
    expect(found.heldBack).toBeGreaterThan(20);
    expect(found.kept).toBeUndefined();
    const root = Math.sqrt((before.users.count * before.items.count) / (now.users.count * now.items.count));
    const { lambda, alpha } = found.leastSquares;
    expect(next.blend).toEqual({ ...found, kept: true, leastSquares: { lambda, alpha: root * alpha } });
    const { fold } = (next.model.scores as FactorScores).members.at(-1)!;
    expect(fold).toMatchObject({ kind: 'least-squares', lambda, alpha: root * alpha });
  });

  it('continues the previous least squares: fewer sweeps give nearly the factors of more', async () => {
    const last = ({ scores }: Ranker) => (scores as FactorScores).members.at(-1)!;
    expect(last(next.model as Ranker).iterations).toBeLessThan(last(model).iterations);
    const scores = ({ items, users, features }: ReturnType<typeof last>) =>
      Float64Array.from({ length: 40 * ITEMS }, (_, at) => {
        const [u, i] = [Math.floor(at / ITEMS), at % ITEMS];
        let sum = 0;
        for (let k = 0; k < features; k++) sum += users![u * features + k] * items[i * features + k];
        return sum;
      });
    // New users can come first in the order of ids, so both are fits to the same data.
    const fresh = last((await fit(now, options)).model as Ranker);
    const [a, b] = [scores(fresh), scores(last(next.model as Ranker))];
    let [apart, size] = [0, 0];
    for (let at = 0; at < a.length; at++) {
      apart += (a[at] - b[at]) ** 2;
      size += a[at] ** 2;
    }
    expect(Math.sqrt(apart / size)).toBeLessThan(0.3);
  });

  it('is the same from a file as from the model, and on two threads', async () => {
    const loaded = (await modelFromBytes(modelToBytes(model))) as Ranker;
    expect(loaded.provenance.blend).toEqual(former.blend);
    const again = await fit(now, { from: loaded, engine: 'cpu', threads: 2 });
    expect(modelState(again.model)).toBe(modelState(next.model));
  });

  it('searches settings again from a file without settings', async () => {
    const old = (await modelFromBytes(modelToBytes(asOlderFile(model)))) as Ranker;
    expect(old.provenance.blend).toBeUndefined();
    const { blend } = await fit(now, { from: old, engine: 'cpu', threads: 1 });
    expect(blend).toMatchObject({ edges: now.edges });
    expect(blend!.kept).toBeUndefined();
    expect(blend).toEqual((await fit(now, { ...options, seed: 1 })).blend); // a refit has its own seed
  });

  it('searches settings again if the data have grown by half', async () => {
    const many = growing(300);
    expect(many.edges).toBeGreaterThan(1.5 * before.edges);
    expect((await fit(many, { from: model, engine: 'cpu', threads: 1 })).blend!.kept).toBeUndefined();
    const fewer = growing(205);
    expect((await fit(fewer, { from: model, engine: 'cpu', threads: 1 })).blend!.kept).toBe(true);
  });

  it('refuses another number of features, as every fit from a model does', async () => {
    await expect(fit(now, { from: model, features: 7 } as never)).rejects.toThrow('has 6 features, not 7');
  });

  it('resumes from its file to the same numbers', async () => {
    const controller = new AbortController();
    const stopped = await fit(now, {
      ...{ from: model, engine: 'cpu', threads: 1, signal: controller.signal },
      onProgress: ({ stage }) => stage.startsWith('fitting') && controller.abort(),
    }).then(
      () => undefined,
      (error) => error,
    );
    const left = unfinishedFit(stopped)!;
    const bytes = modelToBytes(left.model, { checkpoint: left.checkpoint });
    const { checkpoint } = await modelFileFromBytes(bytes);
    const whole = await fit(now, { resume: checkpoint, threads: 1 } as never);
    expect(modelState(whole.model)).toBe(modelState(next.model));
    expect(whole.blend).toEqual(next.blend);
  });

  it('refuses a file whose settings would take unbounded memory', async () => {
    const weights = { ...former.blend!.weights, neighbours: 1e9 };
    const blend = { ...former.blend!, weights };
    const crafted = { ...model, provenance: { ...model.provenance, blend } };
    await expect(Promise.resolve().then(() => modelFromBytes(modelToBytes(crafted)))).rejects.toThrow();
  });
});

it('with a blend, ends when a sweep changes the likelihood by less than twenty tolerances', async () => {
  const sweeps = async (blend: boolean) => {
    // Changes of 5, 2.4, 1.9 %, and then of nothing.
    const likelihoods = [-105, -100, -97.6, -95.8];
    let at = 0;
    const settings = rankingSettings(dataFacts(now), { tolerance: 1e-3 });
    const first = firstState(rankingSchedule({ ...settings, blend, fromModel: true }), settings.hyper);
    const { stopped } = await walk(first, settings, {
      block: 1,
      isStopped: async () => false,
      sweep: async ({ swept }) => [[swept + 1, likelihoods[Math.min(at++, likelihoods.length - 1)]]],
      onAdvance: () => {},
      afterBlock: async (state) => state,
    });
    expect(stopped).toBe('converged');
    return at;
  };
  expect([await sweeps(true), await sweeps(false)]).toEqual([4, 5]);
});
