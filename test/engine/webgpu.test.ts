// The gpu engine against the reference: layouts of kernels, every option of a half-step, every border case.
// cases.test.ts tests all engines; this file adds other numbers of features, and tiny tasks without subgroups. A
// software GPU takes more than a second to compile the kernels of one number of features, so tests share a few of them,
// and one engine.

import { afterAll, describe, expect, test } from 'vitest';
import type { Engine, SideHyper, TableValues } from '../../src/engine/engine.js';
import { createReferenceEngine } from '../../src/engine/reference/reference-engine.js';
import { openDevice } from '../../src/engine/webgpu/device.js';
import { chooseLayout, type Tuning } from '../../src/engine/webgpu/layout.js';
import { createWebgpuEngine } from '../../src/engine/webgpu/webgpu-engine.js';
import { GAMMA_WGSL } from '../../src/engine/webgpu/wgsl/gamma.js';
import { InputError } from '../../src/errors.js';
import { buildGraph } from '../../src/graph/build.js';
import { randomStream } from '../../src/math/random.js';
import { digamma, lgamma } from '../../src/math/special.js';
import { findTestGpu, skipReason } from './swiftshader.js';

const gpu = await findTestGpu();

const hyper = {
  users: { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 30 },
  items: { sigma: -0.1, tau: 0.6, shape: 0.2, rate: 0.4, size: 0 },
};

/** Users of degree 1 and an item that nearly everyone has; one user has nothing at all. */
function skewedGraph(multigraph: boolean) {
  const random = randomStream(3);
  const users: number[] = [];
  const items: number[] = [];
  for (let u = 0; u < 120; u++) {
    for (let i = 0; i < 40; i++) {
      if (u !== 7 && random.uniform() < (i === 3 ? 0.95 : u % 3 === 0 ? 0.02 : 0.5 / (1 + i / 4))) {
        users.push(u);
        items.push(i);
      }
    }
  }
  const counts = users.map(() => 1 + random.below(4));
  return buildGraph({ users, items, counts, userCount: 120, itemCount: 40, multigraph });
}

function start(rows: number, features: number, seed: number): TableValues {
  const random = randomStream(seed);
  const draw = (n: number, least: number, most: number) =>
    Float32Array.from({ length: n }, () => least + (most - least) * random.uniform());
  return {
    weightShape: draw(rows, 0.3, 6),
    weightRate: draw(rows, 1, 3),
    featureShape: draw(rows * features, 0.05, 3),
    featureRate: draw(rows * features, 0.5, 2),
  };
}

function worst(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  expect(actual.length).toBe(expected.length);
  const values = Array.from(expected);
  const scale = values.reduce((sum, x) => sum + Math.abs(x), 0) / values.length;
  return values.reduce((most, x, i) => {
    const difference = Math.abs(actual[i] - x) / Math.max(Math.abs(x), scale, 1e-30);
    return Math.max(most, Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference);
  }, 0);
}

async function setUp(engine: Engine, features: number, multigraph = false) {
  const graph = skewedGraph(multigraph);
  return {
    users: await engine.createTable(features, start(120, features, 1), 'geometric'),
    items: await engine.createTable(features, start(40, features, 2), 'geometric'),
    byUser: await engine.createIndex(graph.users),
    byItem: await engine.createIndex(graph.items),
  };
}

type Scene = Awaited<ReturnType<typeof setUp>>;

/** Runs a scenario on the reference and on the GPU; everything it returns must agree. */
async function compare(
  engine: Engine,
  features: number,
  multigraph: boolean,
  play: (engine: Engine, scene: Scene) => Promise<Record<string, ArrayLike<number>>>,
  tolerance: number,
): Promise<void> {
  const reference = createReferenceEngine();
  const expected = await play(reference, await setUp(reference, features, multigraph));
  const scene = await setUp(engine, features, multigraph);
  const actual = await play(engine, scene);
  for (const [name, values] of Object.entries(expected))
    expect(worst(actual[name], values), name).toBeLessThan(tolerance);
  for (const handle of Object.values(scene)) engine.free(handle);
}

async function everything(
  engine: Engine,
  { users, items, byUser }: Scene,
): Promise<Record<string, ArrayLike<number>>> {
  const terms = {
    edgeTerm: [await engine.edgeTerm(users, byUser, items)],
    userTerms: [await engine.rowTerms(users, hyper.users)],
    itemTerms: [await engine.rowTerms(items, hyper.items)],
    weightSum: [await engine.weightSum(users)],
  };
  const { weightShape, weightRate, featureShape, featureRate } = await engine.read(users);
  const itemValues = await engine.read(items);
  const totals = await engine.totals(users);
  return {
    ...terms,
    weightShape,
    weightRate,
    featureShape,
    featureRate,
    itemShape: itemValues.featureShape,
    itemRate: itemValues.featureRate,
    itemMass: (await engine.totals(items)).mass,
    ...totals,
  };
}

const half = (options: object = {}, of: SideHyper = hyper.users) => ({
  hyper: of,
  activity: 'geometric' as const,
  ...options,
});

describe.skipIf(!gpu.available)('gpu engine', () => {
  // Each layout with the numbers of features that it treats in its own way, and with or without counts.
  const tunings: [string, Partial<Tuning>, [number, boolean][]][] = [
    ['subgroups', {}, [3, 17, 30].map((features) => [features, features !== 17])],
    ['one step', { steps: 1, lanes: 2 }, [[17, false]]],
    ['narrow', { lanes: 1 }, [[30, true]]],
    [
      'no subgroups',
      { subgroups: false },
      [
        [17, false],
        [3, true],
      ],
    ],
    ['tiny tasks, tiles and bindings', { block: 3, tile: 64, chunkEdges: 64 }, [[17, true]]],
  ];
  const plain = createWebgpuEngine();
  afterAll(async () => (await plain).close());

  describe.each(tunings)('%s', (name, tuning, cases) => {
    const made = name === 'subgroups' ? plain : createWebgpuEngine({ tuning });
    afterAll(async () => {
      if (made !== plain) await (await made).close();
    });
    test.each(cases)('%i features, multigraph %s', async (features, multigraph) => {
      const play = async (engine: Engine, scene: Scene) => {
        const { users, items, byUser, byItem } = scene;
        let last: number | undefined;
        for (let t = 0; t < 3; t++) {
          await engine.update(users, byUser, items, half());
          last = await engine.update(items, byItem, users, half({ edgeTerm: true }, hyper.items));
        }
        return { last: [last!], ...(await everything(engine, scene)) };
      };
      await compare(await made, features, multigraph, play, 2e-5);
    });
  });

  describe('one engine', () => {
    const vector = (first: number, step = 0) => Float64Array.from({ length: 17 }, (_, k) => first + step * k);

    test('129 features', async () => {
      const play = async (engine: Engine, scene: Scene) => {
        await engine.update(scene.users, scene.byUser, scene.items, half());
        return everything(engine, scene);
      };
      await compare(await plain, 129, false, play, 2e-5);
    });

    test('a given mass, replaced masses and a scaled table have an effect', async () => {
      const play = async (engine: Engine, scene: Scene) => {
        const { users, items, byUser, byItem } = scene;
        await engine.update(users, byUser, items, half({ otherMass: vector(5, 1) }));
        engine.setUnseenMass(users, vector(1, 1), vector(2));
        await engine.update(items, byItem, users, half({}, hyper.items));
        engine.setMass(items, vector(9, -0.5));
        const { unseenMass: leftover } = await engine.totals(users);
        await engine.update(users, byUser, items, half());
        await engine.scale(users, 1.7, 'geometric');
        return { replaced: leftover, ...(await everything(engine, scene)) };
      };
      await compare(await plain, 17, true, play, 2e-5);
    });

    test('posterior means as activity, from the start, by switch and by update', async () => {
      const play = async (engine: Engine, scene: Scene) => {
        const { users, items, byUser, byItem } = scene;
        await engine.setActivity(users, 'mean');
        await engine.setActivity(items, 'mean');
        await engine.update(users, byUser, items, half({ activity: 'mean' }));
        await engine.update(items, byItem, users, half({}, hyper.items));
        return everything(engine, scene);
      };
      await compare(await plain, 30, false, play, 2e-5);
    });

    test('the same run twice gives the same bits', async () => {
      const engine = await plain;
      const run = async () => {
        const scene = await setUp(engine, 17);
        for (let t = 0; t < 5; t++) {
          await engine.update(scene.users, scene.byUser, scene.items, half());
          await engine.update(scene.items, scene.byItem, scene.users, half({}, hyper.items));
        }
        return everything(engine, scene);
      };
      expect(await run()).toEqual(await run());
    });

    test('too many features are refused with the limit', async () => {
      await expect((await plain).createTable(513, start(1, 513, 1), 'geometric')).rejects.toThrow(InputError);
    });

    test('it names its adapter', async () => {
      expect((await plain).description).toContain(gpu.description);
    });
  });

  test('special functions are right to float32 over their whole range', async () => {
    const at = Float32Array.from({ length: 4096 }, (_, i) => 1e-3 * Math.exp((i / 4095) * Math.log(1e9)));
    const [expDigamma, psi, entropy] = await evaluate(at);
    for (let i = 0; i < at.length; i++) {
      const x = at[i];
      // e^−1/x for small x: the rounding of 1/x alone is 6e-8/x of the result.
      const expected = Math.exp(digamma(x));
      if (expected > 1e-30)
        expect(Math.abs(expDigamma![i] / expected - 1), `exp ψ(${x})`).toBeLessThan(1e-6 + 3e-7 / x);
      else expect(expDigamma![i]).toBeLessThan(1e-29);
      const size = Math.max(1, Math.abs(digamma(x)));
      expect(Math.abs(psi![i] - digamma(x)) / size, `ψ(${x})`).toBeLessThan(1e-6);
      const exact = x + lgamma(x) + (1 - x) * digamma(x);
      // The exact value itself is a difference of numbers of size x log x.
      const room = 1e-6 * Math.max(1, Math.abs(exact)) + 1e-14 * x * Math.log(x + 2);
      expect(Math.abs(entropy![i] - exact), `entropy at ${x}`).toBeLessThan(3 * room);
    }
  });
});

test.runIf(!gpu.available)(skipReason(gpu), () => {});

test('layouts fit every subgroup size and number of features', () => {
  for (const size of [0, 1, 4, 8, 16, 32, 64]) {
    for (let features = 1; features <= 512; features++) {
      const layout = chooseLayout(features, size, {});
      expect(layout.lanes * layout.perLane).toBeGreaterThanOrEqual(layout.quads);
      expect(layout.lanes * (layout.perLane - 1)).toBeLessThan(layout.quads);
      expect(layout.steps).toBeLessThanOrEqual(layout.lanes);
      expect(layout.team % layout.lanes).toBe(0);
      expect(layout.workgroup % layout.team).toBe(0);
      if (layout.subgroups) expect(layout.team).toBeLessThanOrEqual(size);
    }
  }
});

/** exp ψ, ψ and the entropy of Gamma(x, 1), as the kernels compute them. */
async function evaluate(x: Float32Array<ArrayBuffer>): Promise<Float32Array[]> {
  const { device } = await openDevice();
  const code = `${GAMMA_WGSL}
    @group(0) @binding(0) var<storage, read> x: array<f32>;
    @group(0) @binding(1) var<storage, read_write> y: array<f32>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
      let n = arrayLength(&x);
      y[id.x] = expDigamma(x[id.x]);
      y[id.x + n] = digamma(x[id.x]);
      y[id.x + 2u * n] = gammaEntropy(x[id.x]);
    }`;
  const [storage, copySource, copyTarget, mapRead] = [0x80, 0x4, 0x8, 0x1];
  const input = device.createBuffer({ size: x.byteLength, usage: storage | copyTarget });
  const output = device.createBuffer({ size: 3 * x.byteLength, usage: storage | copySource });
  const staging = device.createBuffer({ size: 3 * x.byteLength, usage: copyTarget | mapRead });
  device.queue.writeBuffer(input, 0, x);
  const pipeline = device.createComputePipeline({
    layout: 'auto',
    compute: { module: device.createShaderModule({ code }) },
  });
  const entries = [input, output].map((buffer, binding) => ({ binding, resource: { buffer } }));
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
  pass.dispatchWorkgroups(x.length / 64);
  pass.end();
  encoder.copyBufferToBuffer(output, 0, staging, 0, 3 * x.byteLength);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(mapRead);
  const values = new Float32Array(staging.getMappedRange().slice(0));
  device.destroy();
  return [0, 1, 2].map((i) => values.subarray(i * x.length, (i + 1) * x.length));
}
