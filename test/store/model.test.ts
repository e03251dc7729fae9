import { readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { AscentCheckpoint, RankingCheckpoint } from '../../src/fit/ascent/loop.js';
import { fit } from '../../src/fit/fit.js';
import type { FactorScores, Model, ModelSide, PosteriorModel, Ranker } from '../../src/fit/model.js';
import type { FitOptions } from '../../src/fit/options.js';
import { statesUnderWay, unfinishedFit } from '../../src/fit/unfinished.js';
import { VertexIds } from '../../src/graph/ids.js';
import { randomStream } from '../../src/math/random.js';
import { simulate } from '../../src/process/poisson-model.js';
import { loadCheckpoint, loadModel, loadModelFile, saveModel } from '../../src/store/model-file.js';
import { scratchFolder } from '../ingest/scratch.js';

const scratch = scratchFolder();
const FEATURES = 3;
const SIDE = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 30 };

function exampleModel(seed: number): PosteriorModel {
  const random = randomStream(seed);
  const floats = (n: number) => Float32Array.from({ length: n }, () => random.uniform());
  const side = (ids: VertexIds, degree: number[]): ModelSide => ({
    count: ids.length,
    ids,
    weightShape: floats(ids.length),
    weightRate: floats(ids.length),
    featureShape: floats(FEATURES * ids.length),
    featureRate: floats(FEATURES * ids.length),
    unseenMass: Float64Array.of(0.1, 1 / 3, 1e-9),
    hyper: { sigma: 0.2, tau: 1, shape: 0.1, rate: 0.1, size: 1 / 7 },
    degree: Uint32Array.from(degree),
  });
  return {
    type: 'posterior',
    kind: 'sparse',
    features: FEATURES,
    multigraph: false,
    names: {
      users: { one: 'customer', many: 'customers' },
      items: { one: 'film', many: 'films' },
    },
    users: side(VertexIds.integers(Float64Array.of(-4, 2, 2 ** 50)), [1, 2, 3]),
    items: side(VertexIds.texts(['0054890', 'naïve', '映画', 'a "b"']), [1, 3, 0, 2]),
    bound: -1234.5678901234567,
    provenance: {
      version: '0.1.0',
      seed,
      fingerprint: '0123456789abcdef',
      options: { method: 'ascent', features: FEATURES, learn: ['items.size'] },
      bounds: [
        [5, -2000.25],
        [10, -1234.5678901234567],
      ],
      iterations: 10,
      converged: true,
    },
  };
}

/** A second reader of the format, independent of src: header length, JSON header, tensors as lists of numbers. */
function readSafetensors(path: string) {
  const bytes = readFileSync(path);
  const length = Number(bytes.readBigUInt64LE(0));
  const { __metadata__, ...entries } = JSON.parse(bytes.toString('utf8', 8, 8 + length));
  const readers: Record<string, [number, (at: number) => number]> = {
    F32: [4, (at) => bytes.readFloatLE(at)],
    F64: [8, (at) => bytes.readDoubleLE(at)],
    I32: [4, (at) => bytes.readInt32LE(at)],
    I64: [8, (at) => Number(bytes.readBigInt64LE(at))],
    U8: [1, (at) => bytes.readUInt8(at)],
  };
  const tensors: Record<string, { shape: number[]; values: number[] }> = {};
  let end = 0;
  for (const [name, entry] of Object.entries(entries)) {
    const { dtype, shape, data_offsets } = entry as {
      dtype: string;
      shape: number[];
      data_offsets: [number, number];
    };
    const [width, read] = readers[dtype];
    expect(data_offsets[0]).toBe(end); // no gaps
    expect((8 + length + end) % width).toBe(0); // aligned
    end = data_offsets[1];
    const count = shape.reduce((product, n) => product * n, 1);
    expect(end - data_offsets[0]).toBe(width * count);
    const values = Array.from({ length: count }, (_, i) => read(8 + length + data_offsets[0] + i * width));
    tensors[name] = { shape, values };
  }
  expect(bytes.length).toBe(8 + length + end);
  return { metadata: __metadata__ as Record<string, string>, tensors };
}

describe('the model file', () => {
  const model = exampleModel(1);
  let path: string;
  beforeAll(async () => {
    path = scratch.path('model.safetensors');
    await saveModel(path, model);
  });

  it('gives back the model, bit for bit', async () => {
    const { users, items, ...rest } = (await loadModel(path)) as PosteriorModel;
    const { users: expectedUsers, items: expectedItems, ...expected } = model;
    expect(rest).toEqual(expected);
    for (const [side, wanted] of [
      [users, expectedUsers],
      [items, expectedItems],
    ] as const) {
      const { ids, ...arrays } = side;
      const { ids: wantedIds, ...wantedArrays } = wanted;
      expect(ids.values).toEqual(wantedIds.values);
      expect(arrays).toEqual(wantedArrays);
    }
    expect(Object.isFrozen(users)).toBe(true);
  });

  it('is plain safetensors for any other reader', () => {
    const { metadata, tensors } = readSafetensors(path);
    expect(tensors['users.feature_rate']).toEqual({
      shape: [3, FEATURES],
      values: [...model.users.featureRate],
    });
    expect(tensors['items.weight_shape']).toEqual({ shape: [4], values: [...model.items.weightShape] });
    expect(tensors['items.unseen_mass'].values).toEqual([...model.items.unseenMass]);
    expect(tensors['users.ids'].values).toEqual([-4, 2, 2 ** 50]);
    expect(tensors['users.degree'].values).toEqual([1, 2, 3]);
    const text = Buffer.from(tensors['items.id_text'].values);
    const ends = tensors['items.id_ends'].values;
    expect(ends.map((end, v) => text.toString('utf8', v === 0 ? 0 : ends[v - 1], end))).toEqual(
      model.items.ids.values,
    );
    expect(metadata).toMatchObject({
      format: 'graphex-model',
      format_version: '4',
      seed: '1',
      kind: 'sparse',
    });
    expect(JSON.parse(metadata.options!)).toEqual(model.provenance.options);
    expect(JSON.parse(metadata.hyper!).users.size).toBe(1 / 7);
    for (const value of Object.values(metadata)) expect(typeof value).toBe('string');
  });

  it.each(['float32', 'float64'])('holds a checkpoint, exactly: %s tables', async (type) => {
    const wide = (values: Float32Array) =>
      type === 'float64' ? Float64Array.from(values, (x) => x / 3) : values;
    const totals = {
      mass: Float64Array.of(1, 2, 1 / 3),
      unseenMass: Float64Array.of(4, 5, 6),
      unseenMassAt: Float64Array.of(7, 8, 9),
    };
    const tables = (side: ModelSide) => ({
      weightShape: wide(side.weightShape),
      weightRate: wide(side.weightRate),
      featureShape: wide(side.featureShape),
      featureRate: wide(side.featureRate),
    });
    const checkpoint: AscentCheckpoint = {
      method: 'ascent',
      origin: { options: model.provenance.options, fingerprint: model.provenance.fingerprint },
      state: {
        iteration: 10,
        schedule: [
          { features: 3, users: 'mean', items: 'geometric', sweeps: 20, until: { change: 0.001, least: 4 } },
          { features: 3, users: 'geometric', items: 'geometric', until: { tolerances: 1 } },
        ],
        phase: 0,
        swept: 10,
        last: [5, -0.1],
        relaxation: 0.9,
        bounds: [],
        hyper: { users: model.users.hyper, items: model.items.hyper },
      },
      tables: { users: tables(model.users), items: tables(model.items) },
      totals: { users: totals, items: totals },
    };
    const file = scratch.path('checkpoint.safetensors');
    await saveModel(file, model, { checkpoint });
    const loaded = (await loadCheckpoint(file)) as AscentCheckpoint;
    expect(loaded.origin).toEqual(checkpoint.origin);
    expect(loaded.state).toEqual(checkpoint.state);
    expect(loaded.totals).toEqual(checkpoint.totals);
    for (const side of ['users', 'items'] as const) {
      expect(loaded.tables[side]).toMatchObject(checkpoint.tables[side]);
    }
    expect((await loadModelFile(path)).checkpoint).toBeUndefined();
    await expect(loadCheckpoint(path)).rejects.toThrow(/a finished model/);
  });

  it('holds the state of a ranking fit, with its finished members: it resumes to the same numbers', async () => {
    const { graph } = await simulate({ users: SIDE, items: SIDE, features: 3, seed: 3 });
    for (const engine of ['cpu', 'reference'] as const) {
      const options = { method: 'ranking', features: 4, iterations: 6, average: 3, engine } as const;
      const whole = await fit(graph, options);
      for (const stop of [2, 10]) {
        const controller = new AbortController();
        let seen = 0;
        const part = await stopped(
          fit(graph, {
            ...options,
            signal: controller.signal,
            onProgress: ({ stage }) => stage.startsWith('fitting') && ++seen === stop && controller.abort(),
          }),
        );
        const file = scratch.path('ranking.safetensors');
        await saveModel(file, part.model, { checkpoint: part.checkpoint });
        const loaded = await loadModelFile(file);
        const { done } = loaded.checkpoint as RankingCheckpoint;
        const underWay = statesUnderWay(loaded.checkpoint as RankingCheckpoint);
        expect(membersOf(loaded.model)).toHaveLength(done.length + underWay.length);
        // On the cpu two are fitted concurrently.
        if (engine === 'reference') expect([done.length, underWay.length]).toEqual([stop < 6 ? 0 : 1, 1]);
        const rest = await fit(graph, { ...options, resume: loaded.checkpoint! });
        expect((rest.model as Ranker).scores).toEqual(whole.model.scores);
      }
    }
  });
});

/** The checkpoint and model of a stopped fit. */
async function stopped(fitting: Promise<unknown>) {
  const left = await fitting.then(
    () => undefined,
    (error) => unfinishedFit(error),
  );
  if (!left) throw new Error('the fit was not stopped');
  return left;
}

const membersOf = (model: Model) =>
  (model.type === 'ranker' ? (model.scores as FactorScores) : { members: [] }).members;

describe('a model file is refused', () => {
  let bytes: Buffer;
  beforeAll(async () => {
    const path = scratch.path('whole.safetensors');
    await saveModel(path, exampleModel(1));
    bytes = readFileSync(path);
  });
  const refusal = async (data: Uint8Array | string): Promise<string> => {
    const path = scratch.path('refused.safetensors');
    writeFileSync(path, data);
    const error = await loadModel(path).then(
      () => undefined,
      (cause) => cause,
    );
    expect(error?.name).toBe('InputError');
    expect(error.message).toContain(path);
    return error.message;
  };
  const header = () => JSON.parse(bytes.toString('utf8', 8, 8 + Number(bytes.readBigUInt64LE(0))));
  const withHeader = (json: unknown) => {
    const text = Buffer.from(JSON.stringify(json));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(text.length));
    return Buffer.concat([length, text, bytes.subarray(8 + Number(bytes.readBigUInt64LE(0)))]);
  };

  it('when it is cut short, at any length', async () => {
    for (const length of [40, 600, bytes.length >> 1, bytes.length - 1]) {
      expect(await refusal(bytes.subarray(0, length))).toMatch(/cut short; copy it again/);
    }
    expect(await refusal(bytes.subarray(0, 5))).toMatch(/not a model file/);
  });

  it('when it is foreign', async () => {
    expect(await refusal('user,item\n1,2\n3,4\n')).toMatch(/not a model file of graphex/);
    expect(await refusal('')).toMatch(/not a model file/);
    expect(await refusal(withHeader({ __metadata__: { format: 'pt' }, x: 1 }))).toMatch(/not a model file/);
    await expect(loadModel(scratch.path('none.safetensors'))).rejects.toThrow(/no such file/);
    await expect(loadModel(scratch.path(''))).rejects.toThrow(/folder/);
  });

  it('when it is from the future', async () => {
    const json = header();
    json.__metadata__.format_version = '5';
    expect(await refusal(withHeader(json))).toMatch(
      /format version 5, and this graphex reads versions 3 to 4; update graphex/,
    );
  });

  it('when any byte was changed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        const changed = Buffer.from(bytes);
        changed[at] ^= flip;
        // The header is padded with spaces. Another white space in their place does no harm.
        fc.pre(!(bytes[at] === 32 && /\s/.test(String.fromCharCode(changed[at]))));
        await refusal(changed);
      }),
      { numRuns: 150 },
    );
    const json = header();
    json.__metadata__.seed = '2';
    expect(await refusal(withHeader(json))).toMatch(/do not match its checksum/);
    expect(await refusal(Buffer.concat([bytes, Buffer.from('more')]))).toMatch(/damaged/);
  });
});

describe('a model file is reproducible', () => {
  it.each(['ascent', 'ranking'] as const)(
    'the same fit gives the same bytes on any number of threads: %s',
    async (method) => {
      const { graph } = await simulate({ users: SIDE, items: SIDE, features: 3, seed: 4 });
      const bytes = async (threads: number) => {
        const { model } = await fit(graph, {
          method,
          features: 3,
          engine: 'cpu',
          iterations: 20,
          threads,
        } as FitOptions);
        const path = scratch.path(`${method}-${threads}.safetensors`);
        await saveModel(path, model);
        return readFileSync(path);
      };
      expect((await bytes(1)).equals(await bytes(2))).toBe(true);
    },
  );

  it('says whether tau was matched; in a file without that field, a tau other than 1 was matched', async () => {
    const path = scratch.path('tau.safetensors');
    const [users, items] = [true, undefined].map((tauMatched) => ({
      tauMatched: tauMatched as true | undefined,
    }));
    const model = exampleModel(1);
    await saveModel(path, {
      ...model,
      users: { ...model.users, ...users },
      items: { ...model.items, ...items },
    });
    const loaded = (await loadModel(path)) as PosteriorModel;
    expect([loaded.users.tauMatched, loaded.items.tauMatched]).toEqual([true, undefined]);
    const earlier = JSON.parse(readSafetensors(path).metadata.hyper!);
    expect(earlier.users.tau).toBe(1);
    expect(readSafetensors(path).metadata).not.toHaveProperty('seconds');
    expect(readSafetensors(path).metadata).not.toHaveProperty('engine');
  });
});
