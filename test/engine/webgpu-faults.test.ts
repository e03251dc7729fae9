// A GPU that is missing, too small, full, or lost in the middle of a fit.

import { spawn } from 'node:child_process';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { onEngine } from '../../src/engine/select.js';
import { createWebgpuEngine } from '../../src/engine/webgpu/webgpu-engine.js';
import { DeviceError } from '../../src/errors.js';
import { fit } from '../../src/fit/fit.js';
import type { PosteriorModel } from '../../src/fit/model.js';
import type { AscentOptions } from '../../src/fit/options.js';
import { LostFitError, unfinishedFit } from '../../src/fit/unfinished.js';
import { buildGraph } from '../../src/graph/build.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { randomStream } from '../../src/math/random.js';
import { bin, finished, scratch, writeTable } from '../cli/run.js';
import { findTestGpu, skipReason } from './swiftshader.js';

const gpu = await findTestGpu();

/** How the stand-in differs from the GPU that the tests run on. */
interface Faults {
  readonly limits?: Partial<Record<keyof GPUSupportedLimits, number>>;
  readonly outOfMemory?: boolean;
}

let faults: Faults = {};
let device: GPUDevice | undefined;

/** `target` with some properties replaced; the rest, methods included, is its own. */
function instead<T extends object>(target: T, replaced: Partial<Record<keyof T, unknown>>): T {
  return new Proxy(target, {
    get(_, key) {
      const value = key in replaced ? replaced[key as keyof T] : Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
    set: (_, key, value) => Reflect.set(target, key, value, target),
  });
}

/** The same adapter, reported as a hardware GPU. */
async function showAsRealGpu(): Promise<void> {
  const { create } = (await import('webgpu' as string)) as { create(flags: string[]): GPU };
  const inner = create([]);
  const requestAdapter = async () => {
    const adapter = (await inner.requestAdapter())!;
    const { subgroupMinSize, subgroupMaxSize } = adapter.info;
    return instead(adapter, {
      info: {
        ...{ vendor: 'test', architecture: '', device: 'card', description: 'Test Card' },
        ...{ subgroupMinSize, subgroupMaxSize, isFallbackAdapter: false },
      },
      requestDevice: async (wanted: GPUDeviceDescriptor) => {
        device = await adapter.requestDevice(wanted);
        const { limits, outOfMemory } = faults;
        return instead(device, {
          ...(limits && { limits: instead(device.limits, limits) }),
          ...(outOfMemory && { popErrorScope: async () => ({ message: 'out of memory' }) }),
        });
      },
    });
  };
  Object.defineProperty(globalThis, 'navigator', {
    configurable: true,
    value: { gpu: { inner, requestAdapter } },
  });
}

/** Edges × features must be enough for `auto` to take a GPU. */
function graphOf(edges: number): BipartiteGraph {
  const random = randomStream(5);
  const draw = (count: number) =>
    Array.from({ length: edges }, () => Math.floor(count * random.uniform() ** 2));
  const users = draw(500);
  const items = draw(300);
  const used = (list: number[]) => {
    const names = new Map([...new Set(list)].map((v, i) => [v, i]));
    return { list: list.map((v) => names.get(v)!), count: names.size };
  };
  const [u, i] = [used(users), used(items)];
  return buildGraph({
    users: u.list,
    items: i.list,
    userCount: u.count,
    itemCount: i.count,
    multigraph: false,
  });
}

// From a cold start, so that there is a bound from the first block of sweeps on.
const endless = {
  // Sparse, so that the bound never falls: a dense side first matches its τ.
  model: 'sparse',
  ...{ features: 128, iterations: 100_000, tolerance: 1e-300, start: 'cold', threads: 2 },
} as const satisfies AscentOptions;

describe.skipIf(!gpu.available)('a GPU that fails', () => {
  const graph = graphOf(32_000);
  const navigator = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  beforeAll(showAsRealGpu);
  afterAll(() => {
    if (navigator) Object.defineProperty(globalThis, 'navigator', navigator);
    else Reflect.deleteProperty(globalThis, 'navigator');
  });
  afterEach(() => {
    faults = {};
  });

  /** Fits, loses the GPU after some blocks of sweeps or in the middle of the next, and stops the fit soon after it continued. */
  function fitAndLose(
    engine: 'auto' | 'gpu',
    when: { blocks: number; seconds: number; midway: boolean },
    options: AscentOptions = endless,
    data = graph,
  ) {
    const stop = new AbortController();
    let blocks = 0;
    let first = 0;
    let lost = false;
    let after = 0;
    const lose = () => {
      lost = true;
      device!.destroy();
    };
    return fit(data, {
      ...options,
      engine,
      signal: stop.signal,
      onProgress() {
        const now = performance.now();
        if (blocks++ === 0) first = now;
        if (lost && ++after === 4) stop.abort();
        if (lost || blocks < when.blocks || now - first < 1000 * when.seconds) return;
        if (when.midway) setTimeout(lose, 3);
        else lose();
      },
    });
  }
  /** What is left of a fit that was aborted. */
  const stopped = async (fitting: Promise<unknown>) =>
    unfinishedFit(await fitting.catch((error: unknown) => error))!;
  /** Long enough for one copy of the state. */
  const copied = { blocks: 4, seconds: 2.5, midway: false };

  test('auto takes the stand-in at this size', async () => {
    expect(graph.edges * endless.features).toBeGreaterThan(3e6);
    await onEngine('auto', { edges: graph.edges, features: 128 }, undefined, async ({ engine, reason }) => {
      expect(engine.name).toBe('gpu');
      expect(reason).toEqual({ code: 'gpu', detail: 'Test Card' });
    });
  });

  test('auto continues on the cpu engine from the last copy of the state', async () => {
    const result = await stopped(fitAndLose('auto', { ...copied, midway: true }));
    expect(result.engine).not.toContain('WebGPU');
    const { code, detail, iteration: from } = result.engineReason;
    expect(code).toBe('gpu-failed');
    expect(detail).toMatch(/\(Test Card\) was lost /);
    expect(Number(from)).toBeGreaterThan(0);
    const { bounds, iterations } = (result.model as PosteriorModel).provenance;
    expect(iterations).toBeGreaterThan(Number(from));
    const at = bounds.map(([iteration]) => iteration);
    expect(at).toEqual([...at].sort((a, b) => a - b));
    // The cpu engine continued from the state of the GPU, so the bound never falls.
    for (let i = 1; i < bounds.length; i++) {
      if (bounds[i][0] >= Number(from))
        expect(bounds[i][1]).toBeGreaterThan(bounds[i - 1][1] - 1e-4 * Math.abs(bounds[i][1]));
    }
  });

  test('gpu stops with a sentence and the state, from which the cpu engine can continue', async () => {
    // A small graph: a GPU that the caller names computes any size.
    const few = graphOf(3000);
    const options = { ...endless, features: 8 };
    const lost = await fitAndLose('gpu', copied, options, few).catch((error) => error);
    expect(lost).toBeInstanceOf(LostFitError);
    expect(lost.message).toMatch(/the GPU \(Test Card\) was lost \(/);
    const { checkpoint, model } = lost as LostFitError & { model: PosteriorModel };
    expect(model.provenance.iterations).toBe(checkpoint.state.iteration);
    const iterations = checkpoint.state.iteration + 5;
    const resumed = await fit(few, { ...options, engine: 'cpu', resume: checkpoint, iterations });
    expect(resumed.model.provenance.iterations).toBe(iterations);
    // The copy has a bound if it was made in the last phase.
    const { bound = resumed.model.bound! } = model;
    expect(resumed.model.bound).toBeGreaterThan(bound - 1e-4 * Math.abs(bound));
  });

  test('a table larger than one binding: gpu says which limit, auto takes the cpu engine', async () => {
    faults = { limits: { maxStorageBufferBindingSize: 2 ** 17 } };
    const few = { ...endless, iterations: 5 };
    await expect(fit(graph, { ...few, engine: 'gpu' })).rejects.toThrow(
      /a table of \d+ rows × 128 features takes 1 MiB, but this GPU \(Test Card\) binds at most 1 MiB per buffer/,
    );
    const result = await fit(graph, few);
    expect(result.engineReason).toMatchObject({ code: 'gpu-failed', iteration: 0 });
    expect(result.engineReason.detail).toMatch(/^a table /);
    expect(result.model.provenance.iterations).toBe(5);
  });

  test('out of memory: a sentence that names what did not fit', async () => {
    faults = { outOfMemory: true };
    const engine = await createWebgpuEngine();
    const ones = (n: number) => new Float32Array(n).fill(1);
    const values = { weightShape: ones(3), weightRate: ones(3), featureShape: ones(6), featureRate: ones(6) };
    const made = engine.createTable(2, values, 'geometric');
    await expect(made).rejects.toThrow(DeviceError);
    await expect(made).rejects.toThrow(
      'the GPU (Test Card) has no room for a table of 3 rows × 2 features (1 MiB); use the cpu engine or fewer features',
    );
    await engine.close();
  });

  test('a lost device leaves no unhandled rejection, and close returns', async () => {
    const engine = await createWebgpuEngine();
    device!.destroy();
    const ones = (n: number) => new Float32Array(n).fill(1);
    const values = { weightShape: ones(3), weightRate: ones(3), featureShape: ones(6), featureRate: ones(6) };
    await expect(
      engine.createTable(2, values, 'geometric').then((table) => engine.read(table)),
    ).rejects.toThrow(/was lost/);
    await engine.close();
  });
});

test.runIf(!gpu.available)(skipReason(gpu), () => {});

describe('the command line', () => {
  const folder = scratch();
  const table = `${folder}/table.csv`;
  writeTable(table, 60_000, 400, 300);
  const model = `${folder}/model.safetensors`;
  const fitCommand = (env: Record<string, string>, ...args: string[]) =>
    finished(
      spawn(process.execPath, [bin, 'fit', table, '-o', model, '--no-evidence', ...args], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, ...env },
      }),
    );
  const noDriver = { VK_ICD_FILENAMES: `${folder}/none.json`, VK_DRIVER_FILES: `${folder}/none.json` };

  test('no adapter: --engine gpu ends with a sentence and status 2', async () => {
    const { status, stderr, stdout } = await fitCommand(noDriver, '--engine', 'gpu');
    expect(stderr).toMatch(/error: (no GPU adapter was found|the package "webgpu" is not installed)/);
    expect(stderr).toMatch(/cpu engine/);
    expect(stdout).toBe('');
    expect(status).toBe(2);
  });

  test('no adapter: auto takes the cpu engine and says why', async () => {
    const { status, stdout } = await fitCommand(noDriver, '-k', '128', '--iterations', '5');
    expect(stdout.replace(/\s+/g, ' ')).toMatch(
      /engine .*; (no GPU adapter was found|no GPU: the package "webgpu")/,
    );
    expect(status).toBe(0);
  });

  test.skipIf(!gpu.available)(
    'a lost GPU leaves a state on the disk that --resume goes on from',
    async () => {
      const losing = { NODE_OPTIONS: `--import ${new URL('./lose-gpu.mjs', import.meta.url)}` };
      const endless = ['-k', '4', '--engine', 'gpu', '--iterations', '1000000', '--tolerance', '1e-300'];
      const { status, stderr } = await fitCommand(losing, ...endless);
      expect(stderr).toMatch(/error: .*the GPU \(.*\) was lost/);
      const [, done, partial] = /state after (\d+) iterations is kept: add --resume (\S+)/.exec(stderr)!;
      expect(status).toBe(2);
      expect(partial).toBe(`${model}.partial`);
      const iterations = String(Number(done) + 10);
      const again = ['--resume', partial!, '--engine', 'cpu', '--iterations', iterations, '--json'];
      const resumed = await fitCommand({}, ...again);
      expect(resumed.status).toBe(0);
      expect(JSON.parse(resumed.stdout).iterations).toBe(Number(iterations));
    },
  );
});
