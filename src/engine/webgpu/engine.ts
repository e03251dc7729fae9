// The gpu engine: WGSL kernels through WebGPU. Tables, edge index, sums and masses stay on the GPU; a half-step is a
// handful of kernels recorded in a queue, and only `read`, `totals` and the terms of the bound bring numbers back.

import { FitError } from '../../errors.js';
import { lgamma } from '../../math/special.js';
import type { EdgeIndex, Engine, Table, UpdateOptions } from '../engine.js';
import { createCommands, type Kernel, type Part } from './commands.js';
import { allocate, type GpuDevice, openDevice } from './device.js';
import { createGpuIndex, destroyIndex, type GpuIndex, type Plan, planOf } from './indexes.js';
import type { Layout, Tuning } from './layout.js';
import { createGpuTable, destroyTable, type GpuTable, readGpuTable, storageBuffer } from './tables.js';
import { edgeShader } from './wgsl/edges.js';
import { MAX_FEATURES, type Params } from './wgsl/params.js';
import { refreshShader, rowLayout, termsShader, updateShader } from './wgsl/rows.js';
import {
  finishShader,
  MOST_TERM_SUMS,
  massShader,
  REDUCE_WORKGROUP,
  termSumShader,
  termSums,
} from './wgsl/totals.js';
import {
  MOST_WEIGHT_SUMS,
  SCALE_WORKGROUP,
  scaleShader,
  weightSumShader,
  weightSums,
} from './wgsl/weights.js';

export { webgpuAvailability } from './device.js';

export interface WebgpuOptions {
  /** How kernels use the GPU; results change only in their last digits. Default: by device and features. */
  readonly tuning?: Partial<Tuning>;
  /** Called with the GPU time of every kernel run; kernels then do not overlap. Needs time stamps on the device. */
  readonly onKernelTime?: (kernel: string, milliseconds: number) => void;
  /** Dawn's switches, in Node only, such as 'enable-dawn-features=disable_robustness'. */
  readonly flags?: readonly string[];
}

const TOLERANCE = 1e-4;
const MASS_CHUNK = 32;

export async function createWebgpuEngine(options: WebgpuOptions = {}): Promise<Engine> {
  const gpu = await openDevice(options.flags);
  const { device } = gpu;
  const tuning = options.tuning ?? {};
  const commands = createCommands(gpu, options.onKernelTime);
  const scratch = createScratch(gpu, () => commands.forget());
  const noTotals = storageBuffer(gpu, 'no totals', 12 * MAX_FEATURES);
  let termCount = 0;
  const termBuffer = storageBuffer(gpu, 'sums of the edge term', 4 * MOST_TERM_SUMS);
  const edgeKernels = new Map<string, Promise<Kernel>>();

  /** Masses of the rows in `partials` groups → totals; and the leftover where the parameters say so. */
  async function finish(table: GpuTable, other: GPUBuffer, partials: number, params: Params): Promise<void> {
    const { quads } = table;
    const mass = await commands.kernel('mass', massShader(quads), ['params', 'read', 'write']);
    const last = await commands.kernel('totals', finishShader(table.features), [
      'params',
      'read',
      'read',
      'write',
    ]);
    const chunk = Math.max(MASS_CHUNK, Math.ceil(partials / 512));
    const sums = Math.ceil(partials / chunk);
    const masses = scratch.get('masses', partials * quads * 16);
    const sumsBuffer = scratch.get('mass sums', sums * quads * 16);
    const at = commands.params({ ...params, partials, chunk });
    commands.run(
      mass,
      at,
      [{ buffer: masses }, { buffer: sumsBuffer }],
      Math.ceil((sums * quads) / REDUCE_WORKGROUP),
    );
    const parts = [{ buffer: sumsBuffer }, { buffer: other }, { buffer: table.totals }];
    commands.run(last, commands.params({ ...params, partials: sums }), parts, 1);
  }

  /** Shows the activity of all rows; leaves partial masses, whose number it returns. */
  async function refresh(table: GpuTable, params: Params): Promise<number> {
    const rows = rowLayout(table.features, 1);
    const access = ['params', 'read', 'read', 'read', 'write', 'write'] as const;
    const kernel = await commands.kernel('refresh', refreshShader(rows), access);
    const partials = Math.ceil(table.rows / rows.rows);
    const masses = await scratch.grow('masses', partials * table.quads * 16);
    await scratch.grow('mass sums', partials * table.quads * 16);
    commands.reserve(3);
    const buffers = [table.weights, table.shapes, table.rates, table.activity, masses];
    commands.run(kernel, commands.params(params), buffers.map(whole), partials);
    return partials;
  }

  function edgeKernel(
    layout: Layout,
    short: boolean,
    multigraph: boolean,
    withTerm: boolean,
  ): Promise<Kernel> {
    const label = `edges${short ? ', short rows' : ''}`;
    const key = `${layout.features} ${short} ${multigraph} ${withTerm}`;
    let kernel = edgeKernels.get(key);
    if (!kernel) {
      kernel = commands.kernel(label, edgeShader({ layout, short, multigraph, withTerm }), [
        'params',
        'read',
        'read',
        'read',
        'read',
        'write',
        withTerm ? 'write' : undefined,
        multigraph ? 'read' : undefined,
      ]);
      edgeKernels.set(key, kernel);
    }
    return kernel;
  }

  /** Partial sums of every task into scratch; the edge term, where asked, into `termBuffer`. */
  async function edgePass(
    own: GpuTable,
    index: GpuIndex,
    other: GpuTable,
    plan: Plan,
    params: Params,
    withTerm: boolean,
  ): Promise<void> {
    const { layout, groups, slots } = plan;
    const partials = await scratch.grow('partial sums', slots * own.quads * 16);
    const terms = withTerm ? await scratch.grow('edge terms', 4 * slots) : undefined;
    const kernels = await Promise.all(
      groups.map(({ short }) => edgeKernel(layout, short, index.multigraph, withTerm)),
    );
    const termSum = await commands.kernel('edge term', termSumShader, ['read', 'write']);
    commands.reserve(3);
    const at = commands.params(params);
    for (const [g, { tasks, count, chunk, short }] of groups.entries()) {
      const { neighbors, counts } = index.chunks[chunk]!;
      const parts: Part[] = [
        { buffer: tasks, size: 16 * count },
        ...[neighbors, own.activity, other.activity, partials].map(whole),
      ];
      if (terms) parts.push({ buffer: terms });
      if (counts) parts.push({ buffer: counts });
      const perGroup = layout.subgroups ? layout.workgroup / (short ? layout.lanes : layout.team) : 1;
      commands.run(kernels[g]!, at, parts, Math.ceil(count / perGroup));
    }
    if (terms) {
      termCount = termSums(slots);
      commands.run(termSum, 0, [{ buffer: terms, size: 4 * slots }, { buffer: termBuffer }], termCount);
    }
  }

  const sumOf = (values: Float32Array) => values.reduce((sum, value) => sum + value, 0);

  async function lastEdgeTerm(): Promise<number> {
    if (termCount === 0) return 0;
    const sum = sumOf(new Float32Array(await commands.read(termBuffer, 0, 4 * termCount)));
    if (!Number.isFinite(sum)) throw new FitError(`the edge term of the bound became ${sum}`);
    return sum;
  }

  return {
    name: 'gpu',
    description: `WebGPU on ${gpu.description} (float32, ${gpu.subgroupSize > 0 ? `subgroups of ${gpu.subgroupSize}` : 'no subgroups'}${gpu.software ? ', software' : ''})`,
    tolerance: TOLERANCE,
    threads: 1,

    async createTable(features, values, activity) {
      const table = await createGpuTable(gpu, features, values);
      const params = { first: 0, last: table.rows, activity };
      await finish(table, noTotals, await refresh(table, params), params);
      commands.flush();
      return table;
    },

    createIndex: (source) => createGpuIndex(gpu, source, tuning),

    async update(ownTable, edgeIndex, otherTable, options: UpdateOptions) {
      gpu.check();
      const own = ownTable as GpuTable;
      const index = edgeIndex as GpuIndex;
      const other = otherTable as GpuTable;
      const { hyper, activity, otherMass } = options;
      const { first, last } = options.rows ?? { first: 0, last: own.rows };
      const params: Params = {
        first,
        last,
        hyper,
        activity,
        mass: otherMass,
        logNorm: lgamma(1 - hyper.sigma),
      };
      const plan = await planOf(gpu, index, own.features, other.rows, tuning);
      const rows = plan.rowLayout;
      const partials = Math.ceil((last - first) / rows.rows);
      const masses = await scratch.grow('masses', partials * own.quads * 16);
      await scratch.grow('mass sums', partials * own.quads * 16);
      const access = ['params', 'read', 'read', 'write', 'write', 'write', 'write', 'read', 'write'] as const;
      const kernel = await commands.kernel('rows', updateShader(rows), access);
      await edgePass(own, index, other, plan, params, options.edgeTerm ?? false);
      commands.reserve(3);
      const buffers = [
        plan.firstSlot,
        scratch.get('partial sums', 0),
        own.weights,
        own.shapes,
        own.rates,
        own.activity,
        other.totals,
        masses,
      ];
      commands.run(kernel, commands.params(params), buffers.map(whole), partials);
      await finish(own, other.totals, partials, params);
      await commands.pace(index.edges);
    },

    lastEdgeTerm,

    async edgeTerm(ownTable, edgeIndex, otherTable) {
      gpu.check();
      const own = ownTable as GpuTable;
      const index = edgeIndex as GpuIndex;
      const other = otherTable as GpuTable;
      const plan = await planOf(gpu, index, own.features, other.rows, tuning);
      await edgePass(own, index, other, plan, { first: 0, last: own.rows }, true);
      return lastEdgeTerm();
    },

    async rowTerms(gpuTable, hyper) {
      const table = gpuTable as GpuTable;
      const rows = rowLayout(table.features, 1);
      const access = ['params', 'read', 'read', 'read', 'write'] as const;
      const kernel = await commands.kernel('row terms', termsShader(rows), access);
      const groups = Math.ceil(table.rows / rows.rows);
      if (groups === 0) return 0;
      const sums = await scratch.grow('row terms', 4 * groups);
      commands.reserve(1);
      const constant = hyper.shape * Math.log(hyper.rate) - lgamma(hyper.shape);
      const at = commands.params({ first: 0, last: table.rows, hyper, constant });
      commands.run(kernel, at, [table.weights, table.shapes, table.rates, sums].map(whole), groups);
      return sumOf(new Float32Array(await commands.read(sums, 0, 4 * groups)));
    },

    async totals(gpuTable) {
      const { totals, quads, features } = gpuTable as GpuTable;
      const values = new Float32Array(await commands.read(totals, 0, 3 * quads * 16));
      const vector = (i: number) =>
        Float64Array.from(values.subarray(4 * quads * i, 4 * quads * i + features));
      const mass = vector(0);
      const bad = mass.findIndex((m) => !Number.isFinite(m));
      if (bad >= 0) throw new FitError(`the mass of feature ${bad} became ${mass[bad]}`);
      return { mass, leftover: vector(1), leftoverAt: vector(2) };
    },

    async weightSum(gpuTable) {
      const { weights, rows } = gpuTable as GpuTable;
      const groups = weightSums(rows);
      if (groups === 0) return 0;
      const kernel = await commands.kernel('weight sum', weightSumShader, ['read', 'write']);
      const sums = await scratch.grow('weight sums', 4 * MOST_WEIGHT_SUMS);
      commands.run(kernel, 0, [{ buffer: weights, size: 8 * rows }, { buffer: sums }], groups);
      return sumOf(new Float32Array(await commands.read(sums, 0, 4 * groups)));
    },

    async scale(gpuTable, factor, activity) {
      const table = gpuTable as GpuTable;
      const { rows, quads, weights, totals } = table;
      const kernel = await commands.kernel('scale', scaleShader(quads), ['params', 'write', 'write']);
      commands.reserve(1);
      const at = commands.params({ first: 0, last: rows, constant: factor });
      const groups = Math.ceil(Math.max(rows, quads) / SCALE_WORKGROUP);
      commands.run(kernel, at, [weights, totals].map(whole), groups);
      await refresh(table, { first: 0, last: rows, activity });
    },

    setMass(gpuTable, mass) {
      const { totals, quads } = gpuTable as GpuTable;
      commands.flush();
      const values = new Float32Array(4 * quads);
      values.set(mass);
      device.queue.writeBuffer(totals, 0, values);
    },

    setLeftover(gpuTable, leftover, at) {
      const { totals, quads } = gpuTable as GpuTable;
      commands.flush();
      const values = new Float32Array(8 * quads);
      values.set(leftover, 0);
      values.set(at, 4 * quads);
      device.queue.writeBuffer(totals, 16 * quads, values);
    },

    async setActivity(gpuTable, activity) {
      const table = gpuTable as GpuTable;
      await refresh(table, { first: 0, last: table.rows, activity });
    },

    read: (table) => readGpuTable(commands, table as GpuTable),

    free(handle: Table | EdgeIndex) {
      commands.forget();
      if ('weights' in handle) return destroyTable(handle as GpuTable);
      destroyIndex(handle as GpuIndex);
    },

    async close() {
      commands.flush();
      await device.queue.onSubmittedWorkDone().catch(() => {});
      device.destroy();
    },
  };
}

const whole = (buffer: GPUBuffer): Part => ({ buffer });

/** Buffers that kernels hand to each other within a half-step, grown to the largest that was asked for. */
function createScratch(gpu: GpuDevice, beforeGrowth: () => void) {
  const buffers = new Map<string, GPUBuffer>();
  return {
    async grow(what: string, bytes: number): Promise<GPUBuffer> {
      const old = buffers.get(what);
      if (old && old.size >= bytes) return old;
      beforeGrowth();
      old?.destroy();
      const made = await allocate(gpu, what, bytes, () => storageBuffer(gpu, what, bytes));
      buffers.set(what, made);
      return made;
    },
    /** One that has been grown before. */
    get(what: string, bytes: number): GPUBuffer {
      const buffer = buffers.get(what);
      if (!buffer || buffer.size < bytes) throw new FitError(`scratch "${what}" was not made`);
      return buffer;
    },
  };
}
