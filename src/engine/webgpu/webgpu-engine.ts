// The gpu engine: WGSL kernels through WebGPU. Tables, edge index, sums and masses stay on the GPU. A half-step records a few kernels
// in a queue. Only `read`, `totals` and the terms of the bound copy numbers back.

import { FitError } from '../../errors.js';
import { createQueue } from '../../math/queue.js';
import { lgamma } from '../../math/special.js';
import {
  COUNT_LIMIT,
  type CountingEngine,
  countScale,
  isUniform,
  tooLarge,
  type UpdateOptions,
} from '../engine.js';
import { withFoldFresh } from '../fold-fresh.js';
import { type GpuDevice, openDevice } from './device.js';
import { createGpuIndex, destroyIndex, type GpuIndex } from './indexes.js';
import { createCommands } from './kernel-queue.js';
import type { Tuning } from './layout.js';
import { createPasses } from './passes.js';
import {
  allocateGpuTable,
  createGpuCounts,
  destroyTable,
  type GpuCounts,
  type GpuTable,
  readGpuCounts,
  readGpuMeans,
  readGpuTable,
  writeGpuCounts,
  writeGpuTable,
} from './tables.js';
import type { Params } from './wgsl/params.js';
import { rowLayout, termsShader } from './wgsl/rows.js';
import {
  MOST_WEIGHT_SUMS,
  SCALE_WORKGROUP,
  scaleShader,
  weightSumShader,
  weightSums,
} from './wgsl/totals.js';

interface WebgpuOptions {
  /** How kernels use the GPU; affects only the last digits of results. Default: chosen by device and number of features. */
  readonly tuning?: Partial<Tuning>;
  /** Called with the GPU time of every kernel run. Kernels then do not overlap. Needs timestamp queries. */
  readonly onKernelTime?: (kernel: string, milliseconds: number) => void;
  /** Flags for Dawn, in Node only; for example 'enable-dawn-features=disable_robustness'. */
  readonly flags?: readonly string[];
}

const TOLERANCE = 1e-4;

export async function createWebgpuEngine(options: WebgpuOptions = {}): Promise<CountingEngine> {
  const gpu = await openDevice(options.flags);
  return engineOn(gpu, options, () => gpu.close());
}

/** An engine with its own commands and scratch, on a device that it may share with siblings. */
function engineOn(gpu: GpuDevice, options: WebgpuOptions, closeDevice: () => void): CountingEngine {
  const { device } = gpu;
  const { tuning = {} } = options;
  const commands = createCommands(gpu, options.onKernelTime);
  const passes = createPasses(gpu, commands, tuning);
  const { scratch, terms } = passes;

  const { inOrder, inPassing, idle } = createQueue(() => gpu.check());
  /** For results that are read back: `work` is recorded in order, but later operations do not wait for the answer. */
  async function askInOrder<T>(work: () => Promise<{ readonly answer: Promise<T> }>): Promise<T> {
    return (await inOrder(work)).answer;
  }

  const sums = async (buffer: GPUBuffer, count: number, what: string) => {
    if (count === 0) return 0;
    const values = new Float32Array(await commands.read(buffer, 0, 4 * count));
    const sum = values.reduce((total, value) => total + value, 0);
    if (!Number.isFinite(sum)) throw new FitError(`the ${what} became ${sum}`);
    return sum;
  };
  const readEdgeTerm = () => sums(terms.buffer, terms.count, 'edge term of the bound');

  /** Paces the queue after an edge pass and requests the edge term if `wanted`. */
  async function termAfter(index: GpuIndex, wanted: boolean | undefined) {
    const answer = wanted ? readEdgeTerm() : Promise.resolve(undefined);
    answer.catch(() => {}); // the caller that awaits it gets the error
    await commands.pace(index.edges);
    return { answer };
  }

  async function totalsOf({ totals, quads, features }: GpuTable) {
    const values = new Float32Array(await commands.read(totals, 0, 3 * quads * 16));
    const vector = (i: number) => Float64Array.from(values.subarray(4 * quads * i, 4 * quads * i + features));
    const mass = vector(0);
    const bad = mass.findIndex((m) => !Number.isFinite(m));
    if (bad >= 0) throw new FitError(`the mass of feature ${bad} became ${mass[bad]}`);
    return { mass, unseenMass: vector(1), unseenMassAt: vector(2) };
  }

  /** Replaces vectors of the totals, starting with number `first`. */
  function setTotals({ totals, quads }: GpuTable, first: number, vectors: readonly Float64Array[]) {
    const values = new Float32Array(4 * quads * vectors.length);
    for (const [i, vector] of vectors.entries()) values.set(vector, 4 * quads * i);
    return inPassing(() => {
      commands.flush();
      device.queue.writeBuffer(totals, 16 * quads * first, values);
    });
  }

  const subgroups = gpu.subgroupSize > 0 ? `subgroups of ${gpu.subgroupSize}` : 'no subgroups';

  const engine: Omit<CountingEngine, 'foldFresh'> = {
    name: 'gpu',
    description: `WebGPU on ${gpu.description} (float32, ${subgroups}${gpu.software ? ', software' : ''})`,
    tolerance: TOLERANCE,
    threads: 1,

    createTable: (features, values, activity) =>
      inOrder(async () => {
        const table = await allocateGpuTable(gpu, values.weightShape.length, features);
        await writeGpuTable(gpu, table, values);
        await passes.show(table, activity);
        commands.flush();
        return table;
      }),

    write: (gpuTable, values, activity) =>
      inOrder(async () => {
        const table = gpuTable as GpuTable;
        if (isUniform(values)) await passes.fill(table, values);
        if (typeof values.weightShape !== 'number') {
          commands.flush();
          await writeGpuTable(gpu, table, values);
        }
        await passes.show(table, activity);
      }),

    read: (table) => inOrder(() => readGpuTable(commands, table as GpuTable)),

    createIndex: (source) => inOrder(() => createGpuIndex(gpu, source, tuning)),

    update(ownTable, edgeIndex, otherTable, options: UpdateOptions) {
      const own = ownTable as GpuTable;
      const index = edgeIndex as GpuIndex;
      const other = otherTable as GpuTable;
      const { hyper, activity, relaxation } = options;
      const { first, last } = options.rows ?? { first: 0, last: own.rows };
      const mass = options.otherMass?.slice();
      const params: Params = {
        ...{ first, last, hyper, activity, mass, relaxation },
        logNorm: lgamma(1 - hyper.sigma),
      };
      return askInOrder(async () => {
        const sums = await passes.edgePass(own, index, other, params, options.edgeTerm ?? false);
        await passes.rowPass(own, other, sums, params);
        return termAfter(index, options.edgeTerm);
      });
    },

    createCounts: (own, largest) => inOrder(() => createGpuCounts(gpu, own as GpuTable, countScale(largest))),

    count: (ownTable, edgeIndex, otherTable, into, options = {}) =>
      askInOrder(async () => {
        const own = ownTable as GpuTable;
        const index = edgeIndex as GpuIndex;
        const other = otherTable as GpuTable;
        const params = options.rows ?? { first: 0, last: own.rows };
        const sums = await passes.edgePass(own, index, other, params, options.edgeTerm ?? false);
        await passes.countPass(own, sums, into as GpuCounts, params);
        return termAfter(index, options.edgeTerm);
      }),

    finish(own, counts, { hyper, activity, relaxation, otherMass, rows }) {
      const params: Params = {
        ...(rows ?? { first: 0, last: own.rows }),
        ...{ hyper, activity, relaxation, mass: otherMass.slice(), logNorm: lgamma(1 - hyper.sigma) },
      };
      return inOrder(async () => {
        await passes.countedRowPass(own as GpuTable, counts as GpuCounts, params);
        await commands.pace(0);
      });
    },

    readCounts: (counts, rows = { first: 0, last: counts.rows }) =>
      inOrder(async () => {
        const values = await readGpuCounts(commands, counts as GpuCounts, rows);
        const bad = values.findIndex((value) => value < 0n || value >= COUNT_LIMIT);
        if (bad >= 0) throw new FitError(tooLarge(rows.first + Math.floor(bad / counts.features), counts));
        return values;
      }),
    writeCounts: (counts, values, first = 0) =>
      inOrder(async () => {
        commands.flush();
        await writeGpuCounts(gpu, counts as GpuCounts, values, first);
      }),
    clearCounts: (counts) =>
      inOrder(() => {
        commands.clear((counts as GpuCounts).values);
      }),

    edgeTerm: (own, index, other) =>
      askInOrder(async () => {
        const params = { first: 0, last: own.rows };
        await passes.edgePass(own as GpuTable, index as GpuIndex, other as GpuTable, params, true);
        return { answer: readEdgeTerm() };
      }),

    rowTerms: (gpuTable, hyper) =>
      askInOrder(async () => {
        const table = gpuTable as GpuTable;
        const rows = rowLayout(table.features, 1);
        const kernel = await commands.kernel('row terms', termsShader(rows));
        const groups = Math.ceil(table.rows / rows.rows);
        const into = await scratch('row terms', 4 * groups);
        const constant = hyper.shape * Math.log(hyper.rate) - lgamma(hyper.shape);
        const at = commands.params({ first: 0, last: table.rows, hyper, constant });
        commands.run(kernel, at, [table.weights, table.shapes, table.rates, into], groups);
        return { answer: sums(into, groups, 'bound over rows') };
      }),

    totals: (table) => askInOrder(async () => ({ answer: totalsOf(table as GpuTable) })),

    weightSum: (table) =>
      askInOrder(async () => {
        const { weights, rows } = table as GpuTable;
        const groups = weightSums(rows);
        const kernel = await commands.kernel('weight sum', weightSumShader);
        const into = await scratch('weight sums', 4 * MOST_WEIGHT_SUMS);
        commands.run(kernel, 0, [{ buffer: weights, size: 8 * rows }, into], groups);
        return { answer: sums(into, groups, 'sum of the weights') };
      }),

    scale: (gpuTable, factor, activity) =>
      inOrder(async () => {
        const table = gpuTable as GpuTable;
        const { rows, quads, weights, totals } = table;
        const kernel = await commands.kernel('scale', scaleShader(quads));
        const at = commands.params({ first: 0, last: rows, constant: factor });
        const groups = Math.ceil(Math.max(rows, quads) / SCALE_WORKGROUP);
        commands.run(kernel, at, [weights, totals], groups);
        await passes.refresh(table, { first: 0, last: rows, activity });
      }),

    setMass: (table, mass) => setTotals(table as GpuTable, 0, [mass]),
    setUnseenMass: (table, unseenMass, at) => setTotals(table as GpuTable, 1, [unseenMass, at]),

    setActivity: (table, activity) =>
      inOrder(async () => {
        await passes.refresh(table as GpuTable, { first: 0, last: table.rows, activity });
      }),

    free: (handle) =>
      inPassing(() => {
        commands.forget();
        if ('weights' in handle) destroyTable(handle as GpuTable);
        else if ('values' in handle) (handle as GpuCounts).values.destroy();
        else destroyIndex(handle as GpuIndex);
      }),

    sibling: async () => engineOn(gpu, options, () => {}),

    async close() {
      await idle();
      commands.flush();
      await device.queue.onSubmittedWorkDone().catch(() => {});
      closeDevice();
    },
  };
  return withFoldFresh(engine, {
    createTable: (rows, features) => inOrder(() => allocateGpuTable(gpu, rows, features)),
    means: (table) => inOrder(() => readGpuMeans(commands, table as GpuTable)),
  });
}
