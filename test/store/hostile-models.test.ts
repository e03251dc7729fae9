import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { createSha256 } from '../../src/files/sha256.js';
import type { Checkpoint, RankingCheckpoint } from '../../src/fit/ascent/loop.js';
import { fit } from '../../src/fit/fit.js';
import type { PosteriorModel, Ranker } from '../../src/fit/model.js';
import { fitRanking } from '../../src/fit/ranking/fit-ranking.js';
import { type UnfinishedFit, unfinishedFit } from '../../src/fit/unfinished.js';
import { simulate } from '../../src/process/poisson-model.js';
import { modelFileFromBytes, modelTensors } from '../../src/store/model-bytes.js';
import { loadModel } from '../../src/store/model-file.js';
import { getSparse } from '../../src/store/ranker-tensors.js';
import { TensorReader } from '../../src/store/tensor-reader.js';
import { encodeTensors, type Tensor, type TensorData } from '../../src/store/tensors.js';
import { scratchFolder } from '../ingest/scratch.js';

const scratch = scratchFolder();
const SIDE = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 12 };
let posterior: PosteriorModel;
let checkpoint: Checkpoint;
let ranker: Ranker;
/** Four members of a ranker: two finished, two under way. */
let several: UnfinishedFit;
beforeAll(async () => {
  const { graph } = await simulate({ users: SIDE, items: SIDE, features: 2, seed: 3 });
  const fitted = await fit(graph, { features: 2, iterations: 5, engine: 'reference' });
  posterior = fitted.model;
  checkpoint = fitted.checkpoint!;
  const options = { features: 2, iterations: 3, engine: 'reference', method: 'ranking' } as const;
  ranker = (await fit(graph, options)).model;
  const four = { features: 2, iterations: 3, engine: 'reference', average: 4, blend: false } as const;
  const controller = new AbortController();
  let reports = 0;
  const onProgress = () => ++reports === 7 && controller.abort();
  const error = await fitRanking(graph, { ...four, onProgress, signal: controller.signal }, 2).catch(
    (thrown) => thrown,
  );
  several = unfinishedFit(error)!;
  expect((several.checkpoint as RankingCheckpoint).others).toHaveLength(1);
  expect((several.checkpoint as RankingCheckpoint).done.length).toBeGreaterThan(0);
});

interface Parts {
  readonly tensors: Map<string, Tensor>;
  readonly metadata: Record<string, string>;
}
type Change = (parts: Parts) => void;

/** The bytes of a damaged file with the checksum that belongs to them. */
type Kind = 'posterior' | 'ranker' | 'stopped' | 'several';
function forged(kind: Kind, change: Change): Uint8Array {
  const file =
    kind === 'several'
      ? modelTensors(several.model, { checkpoint: several.checkpoint })
      : kind === 'ranker'
        ? modelTensors(ranker)
        : modelTensors(posterior, kind === 'stopped' ? { checkpoint } : {});
  const parts = { tensors: new Map(file.tensors), metadata: { ...file.metadata } };
  change(parts);
  return joined(encodeTensors(parts));
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
}

const put =
  (name: string, at: number, value: number | bigint): Change =>
  ({ tensors }) => {
    const { shape, data } = tensors.get(name)!;
    const copy = data.slice() as TensorData;
    (copy as unknown as (number | bigint)[])[at < 0 ? copy.length + at : at] = value;
    tensors.set(name, { shape, data: copy });
  };
const say =
  (key: string, value: unknown): Change =>
  ({ metadata }) => {
    metadata[key] = typeof value === 'string' ? value : JSON.stringify(value);
  };
const inJson =
  (key: string, change: (value: never) => unknown): Change =>
  ({ metadata }) => {
    const value = JSON.parse(metadata[key]);
    change(value as never);
    metadata[key] = JSON.stringify(value);
  };
type SavedFit = Record<string, unknown>;
const fits = (change: (all: SavedFit[]) => SavedFit[]): Change =>
  inJson('checkpoint', (saved: { fits: SavedFit[] }) => {
    saved.fits = change(saved.fits);
  });
const hyper = (name: string, value: number) =>
  inJson('hyper', (h: { users: Record<string, number> }) => {
    h.users[name] = value;
  });
const replace =
  (name: string, data: TensorData): Change =>
  ({ tensors }) => {
    tensors.set(name, { shape: [data.length], data });
  };

describe('a crafted model file with a right checksum is refused with a sentence', () => {
  const cases: [string, Kind, Change, RegExp][] = [
    ['NaN unseen mass', 'posterior', put('items.unseen_mass', 0, Number.NaN), /items\.unseen_mass holds NaN/],
    ['negative unseen mass', 'posterior', put('users.unseen_mass', 1, -1), /users\.unseen_mass holds -1/],
    ['infinite rate', 'posterior', put('users.weight_rate', 0, Infinity), /weight_rate holds Infinity/],
    ['rate 0', 'posterior', put('items.feature_rate', 3, 0), /feature_rate holds 0.*above 0/],
    ['negative shape', 'posterior', put('items.feature_shape', 0, -2), /feature_shape holds -2/],
    ['sigma 9', 'posterior', hyper('sigma', 9), /hyper\.users\.sigma/],
    ['sigma −1e9', 'posterior', hyper('sigma', -1e9), /hyper\.users\.sigma/],
    ['tau 0', 'posterior', hyper('tau', 0), /hyper\.users\.tau/],
    ['negative size', 'posterior', hyper('size', -1), /hyper\.users\.size/],
    ['rate 1e999', 'posterior', say('bound', '1e999'), /bound/],
    ['a degree that wraps', 'posterior', put('users.degree', 0, -1), /users\.degree holds -1/],
    [
      'a degree above the other side',
      'posterior',
      put('users.degree', 0, 100_000),
      /degree holds 100000, and the other side has \d+ vertices/,
    ],
    ['degrees that do not add up', 'posterior', put('users.degree', 0, 40), /add up to/],
    [
      'neighbours out of range',
      'posterior',
      put('users.neighbors', -1, 5000),
      /users\.neighbors holds item 5000, and the last item is/,
    ],
    ['neighbours out of order', 'posterior', put('users.neighbors', 0, 46), /does not ascend|its degree is/],
    ['duplicate ids', 'posterior', put('users.ids', 1, 0n), /two users have the id 0/],
    ['an id that is not exact', 'posterior', put('users.ids', 1, 2n ** 60n), /not exact/],
    [
      'no users',
      'posterior',
      ({ tensors }) => {
        for (const [name, { data }] of tensors) {
          if (!name.startsWith('users.') || name === 'users.unseen_mass') continue;
          tensors.set(name, { shape: [0], data: data.slice(0, 0) as TensorData });
        }
      },
      /there are no users/,
    ],
    ['features 0', 'posterior', say('features', '0'), /features/],
    ['features of another number', 'posterior', say('features', '3'), /values instead of/],
    ['a kind that is none', 'posterior', say('kind', 'thick'), /kind/],
    ['metadata that is no JSON', 'posterior', say('hyper', '{'), /JSON/],
    [
      'weights for no item',
      'ranker',
      put('blend.targets', -1, 5000),
      /blend\.targets holds item \d+, and the last item is/,
    ],
    ['weights out of order', 'ranker', put('blend.targets', 0, 11), /blend\.targets/],
    ['a weight that is none', 'ranker', put('blend.values', 0, Number.NaN), /blend\.values holds NaN/],
    ['weights without end', 'ranker', put('blend.lengths', 0, 100_000), /has 100000 weights for \d+ items/],
    ['fewer weights than said', 'ranker', put('blend.lengths', 0, 0), /blend\.targets/],
    ['a share of 0', 'ranker', inJson('members', (m: { share?: number }[]) => (m[1].share = 0)), /share/],
    [
      'a tensor of another type',
      'posterior',
      replace('users.weight_shape', new Int32Array(47)),
      /another type/,
    ],
    ['a missing tensor', 'posterior', ({ tensors }) => void tensors.delete('items.degree'), /items\.degree/],
    [
      'unseen_mass_at = Inf',
      'stopped',
      put('checkpoint.users.unseen_mass_at', 0, Infinity),
      /unseen_mass_at holds Inf/,
    ],
    ['negative mass', 'stopped', put('checkpoint.items.mass', 0, -1), /mass holds -1/],
    ...['former', 'carried', 'sampled'].map((flag): (typeof cases)[number] => [
      `the flag ${flag} of an older version`,
      'stopped',
      inJson('checkpoint', (state: Record<string, unknown>) => {
        state[flag] = true;
      }),
      new RegExp(`checkpoint has unknown fields: ${flag}\\); fit again`),
    ]),
    [
      'an unknown flag of a member',
      'several',
      fits(([one, two]) => [one, { ...two, former: true }]),
      /fits\.1 has unknown fields: former/,
    ],
    ['no fit under way', 'several', fits(() => []), /fits/],
    ['fits without end', 'several', fits((all) => Array.from({ length: 1001 }, () => all[0])), /1,000/],
    ['a fit of no member', 'several', fits(([one, two]) => [one, { ...two, member: 9 }]), /member 9 of/],
    ['a fit of member -1', 'several', fits(([one, two]) => [one, { ...two, member: -1 }]), /member/],
    ['a fit twice', 'several', fits(([one]) => [one, one]), /follow the finished ones/],
    ['fits in another order', 'several', fits(([one, two]) => [two, one]), /follow the finished ones/],
    [
      'more fits than tensors',
      'several',
      fits((all) => [...all, { ...all[0], member: 0 }]),
      /checkpoint\.2\./,
    ],
    ['an iteration of -1', 'several', fits(([one]) => [{ ...one, iteration: -1 }]), /iteration/],
    ['NaN items', 'several', put('checkpoint.1.items.feature_rate', 1, Number.NaN), /feature_rate holds NaN/],
    ['a rate of 0', 'several', put('checkpoint.0.items.weight_rate', 0, 0), /weight_rate holds 0/],
    ['negative fold mass', 'several', put('checkpoint.1.fold_mass', 0, -1), /fold_mass holds -1/],
    ['half a fold', 'several', replace('checkpoint.0.fold_mass', Float64Array.of(1, 2, 3)), /has 3 values/],
    [
      'items of another number',
      'several',
      replace('checkpoint.1.items.weight_shape', Float64Array.of(1)),
      /weight_shape has 1 values/,
    ],
    [
      'several fits for ranking beside a posterior',
      'stopped',
      say('checkpoint', { seed: 1, fits: [] }),
      /iteration should be a number/,
    ],
    ['NaN means', 'ranker', put('members.0.items', 5, Number.NaN), /members\.0\.items holds NaN/],
    ['negative means', 'ranker', put('members.0.users', 5, -1), /members\.0\.users holds -1/],
    ['no member', 'ranker', say('members', '[]'), /has no member/],
    ['precision of another kind', 'ranker', say('precision', 'float8'), /precision/],
    [
      'half precision that is not there',
      'ranker',
      say('precision', 'float16'),
      /members\.0\.items is missing or of another type/,
    ],
    [
      'folded users without items',
      'ranker',
      ({ tensors, metadata }) => {
        tensors.delete('users.neighbors');
        metadata.users = 'folded';
      },
      /users\.neighbors/,
    ],
    [
      'steps without end',
      'ranker',
      inJson('members', (members: { fold: { steps: number } }[]) => {
        members[0].fold.steps = 1e12;
      }),
      /steps/,
    ],
    ['scores of another kind', 'ranker', say('scores', 'items'), /weights\.values/],
  ];
  it.each(cases)('%s (%s)', async (_, kind, change, says) => {
    const error = await modelFileFromBytes(forged(kind, change)).then(
      () => undefined,
      (cause) => cause,
    );
    expect(error?.name).toBe('InputError');
    expect(error.message).toMatch(says);
    expect(error.message).not.toMatch(/\n\s+at /);
  });

  it('and is loaded if nothing was changed', async () => {
    for (const kind of ['posterior', 'ranker', 'stopped', 'several'] as const) {
      const { model } = await modelFileFromBytes(forged(kind, () => {}));
      expect(model.type).toBe(kind === 'ranker' || kind === 'several' ? 'ranker' : 'posterior');
    }
    const { checkpoint: loaded } = await modelFileFromBytes(forged('several', () => {}));
    expect(loaded).toEqual(several.checkpoint);
  });
});

describe('finite tables whose means or products are beyond float32', () => {
  const fill =
    (name: string, value: number): Change =>
    ({ tensors }) => {
      const { shape, data } = tensors.get(name)!;
      tensors.set(name, { shape, data: (data as Float32Array).slice().fill(value) });
    };
  const all =
    (...changes: Change[]): Change =>
    (parts) => {
      for (const change of changes) change(parts);
    };
  const members = (change: (member: Record<string, unknown>) => void): Change =>
    inJson('members', (own: Record<string, unknown>[]) => own.forEach(change));
  const cases: [string, Kind, Change, RegExp][] = [
    [
      'shape 3e38 over rate 1e-45',
      'posterior',
      all(put('items.weight_shape', 0, 3e38), put('items.weight_rate', 0, 1e-45)),
      /the mean of feature 0 of row 0 of the items is beyond float32/,
    ],
    [
      'a product of two sides',
      'posterior',
      all(fill('users.weight_shape', 1e30), fill('items.weight_shape', 1e30)),
      /products of users and items, are beyond float32/,
    ],
    ['an unseen mass of 1e308', 'posterior', put('users.unseen_mass', 0, 1e308), /beyond float32/],
    ['tau 1e308', 'posterior', hyper('tau', 1e308), /hyper\.users\.tau should be at most/],
    ['rate 1e-300', 'posterior', hyper('rate', 1e-300), /hyper\.users\.rate should be at least/],
    ['size 1e300', 'posterior', hyper('size', 1e300), /hyper\.users\.size should be at most/],
    ['a thousand features', 'posterior', say('features', 1000), /features should be at most 512/],
    [
      'large means of a ranker',
      'ranker',
      all(fill('members.0.users', 1e25), fill('members.0.items', 1e25)),
      /products of users and items, are beyond float32/,
    ],
    [
      'a sum of means',
      'ranker',
      fill('members.0.items', 3e38),
      /sum of tensor members\.0\.items is beyond float32/,
    ],
    ['a share of 1e300', 'ranker', members((member) => (member.share = 1e300)), /share should be at most/],
  ];
  it.each(cases)('%s (%s)', async (_, kind, change, says) => {
    await expect(modelFileFromBytes(forged(kind, change))).rejects.toThrow(says);
  });
});

describe('wrong offsets and lengths', () => {
  const sealed = (header: (json: Record<string, { data_offsets: [number, number] }>) => void): Uint8Array => {
    const bytes = Buffer.from(forged('posterior', () => {}));
    const length = Number(bytes.readBigUInt64LE());
    const json = JSON.parse(bytes.toString('utf8', 8, 8 + length));
    header(json);
    json.__metadata__.checksum = '';
    const data = bytes.subarray(8 + length);
    const hash = createHash('sha256').update(JSON.stringify(json)).update(data);
    json.__metadata__.checksum = hash.digest('hex');
    const text = Buffer.from(JSON.stringify(json));
    const size = Buffer.alloc(8);
    size.writeBigUInt64LE(BigInt(text.length));
    return Buffer.concat([size, text, data]);
  };
  it.each([
    [
      'tensors that overlap',
      (h: Record<string, { data_offsets: [number, number] }>) => {
        h['users.weight_rate'].data_offsets = h['users.weight_shape'].data_offsets;
      },
    ],
    [
      'a tensor beyond the file',
      (h: Record<string, { data_offsets: [number, number] }>) => {
        const [a, b] = h['users.weight_rate'].data_offsets;
        h['users.weight_rate'].data_offsets = [a + 2 ** 40, b + 2 ** 40];
      },
    ],
    [
      'a tensor of negative length',
      (h: Record<string, { data_offsets: [number, number] }>) => {
        h['users.weight_rate'].data_offsets.reverse();
      },
    ],
    [
      'a type of another width',
      (h: Record<string, { data_offsets: [number, number]; dtype?: string }>) => {
        h['users.weight_rate'].dtype = 'F64';
      },
    ],
  ])('%s', async (_, change) => {
    await expect(modelFileFromBytes(sealed(change))).rejects.toThrow(/damaged|cut short/);
  });

  it('a header of 96 MB is not parsed', async () => {
    const bytes = Buffer.alloc(96e6 + 8, ' ');
    bytes.writeBigUInt64LE(96_000_000n);
    bytes.write('{"__metadata__":{"format":"graphex-model"', 8);
    await expect(modelFileFromBytes(bytes)).rejects.toThrow(/header has 96000000 bytes.*at most 8388608/);
  });

  it('a special file is refused without waiting', async () => {
    if (process.platform === 'win32') return;
    const pipe = scratch.path('pipe');
    execFileSync('mkfifo', [pipe]);
    await expect(loadModel(pipe)).rejects.toThrow(/not a regular file/);
    await expect(loadModel('/dev/zero')).rejects.toThrow(/not a regular file/);
    const socket = scratch.path('socket');
    const server = createServer();
    await new Promise<void>((done) => server.listen(socket, done));
    await expect(loadModel(socket)).rejects.toThrow(/not a regular file/);
    server.close();
    writeFileSync(scratch.path('empty'), '');
    await expect(loadModel(scratch.path('empty'))).rejects.toThrow(/not a model file/);
  });
});

it('lengths of lists that add up to more than 32 bits hold are refused', () => {
  const rows = 70_000;
  const each = 61_357; // their sum is 2^32 + 22,704
  const data = Int32Array.from({ length: rows }, () => each);
  const targets = Int32Array.from({ length: 22_704 }, (_, at) => at);
  const tensors = new Map<string, Tensor>([
    ['lengths', { shape: [rows], data }],
    ['targets', { shape: [targets.length], data: targets }],
    ['values', { shape: [targets.length], data: new Float32Array(targets.length) }],
  ]);
  expect(() => getSparse(new TensorReader(tensors), '', rows, 'float32')).toThrow(/lengths adds up to more/);
});

it('bytes, a Blob and a file give the same model', async () => {
  const bytes = forged('ranker', () => {});
  const path = scratch.path('same.safetensors');
  writeFileSync(path, bytes);
  const want = await loadModel(path);
  expect(await loadModel(bytes)).toEqual(want);
  expect(await loadModel(new Blob([Buffer.from(bytes)]))).toEqual(want);
  await expect(loadModel(7 as never)).rejects.toThrow(/Uint8Array or a Blob/);
});

it('SHA-256 in pieces is that of Node', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), (pieces) => {
      const [own, native] = [createSha256(), createHash('sha256')];
      for (const piece of pieces) {
        own.update(piece);
        native.update(piece);
      }
      expect(own.digest()).toBe(native.digest('hex'));
    }),
  );
});
