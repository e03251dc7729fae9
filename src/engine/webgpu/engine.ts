// The gpu engine: WGSL kernels through WebGPU. Tables, edge index, sums and masses stay on the GPU; a half-step is a
// handful of kernels recorded in a queue, and only `read`, `totals` and the terms of the bound bring numbers back.

import { FitError } from '../../errors.js';
import { lgamma } from '../../math/special.js';
import type { EdgeIndex, EdgeRows, Engine, Table, UpdateOptions } from '../engine.js';
import { createCommands, type Kernel, type Part } from './commands.js';
import { allocate, type GpuDevice, openDevice } from './device.js';
import { chooseLayout, type Layout, type Tuning } from './layout.js';
import {
  createGpuTable,
  destroyTable,
  type GpuTable,
  readGpuTable,
  storageBuffer,
  upload,
} from './tables.js';
import { cutRows } from './tasks.js';
import { edgeShader } from './wgsl/edges.js';
import { MAX_FEATURES, type Params } from './wgsl/params.js';
import { type RowLayout, refreshShader, rowLayout, termsShader, updateShader } from './wgsl/rows.js';
import { finishShader, massShader, REDUCE_WORKGROUP, TERM_SUMS, termSumShader } from './wgsl/totals.js';

export interface WebgpuOptions {
  /** How kernels use the GPU; results change only in their last digits. Default: by device and features. */
  readonly tuning?: Partial<Tuning>;
  /** Called with the GPU time of every kernel run; kernels then do not overlap. Needs time stamps on the device. */
  readonly onKernelTime?: (kernel: string, milliseconds: number) => void;
  /** Dawn's switches, in Node only, such as 'enable-dawn-features=disable_robustness'. */
  readonly flags?: readonly string[];
}

/** Tasks of an index for tables of one number of features, on the GPU. */
interface Plan {
  readonly layout: Layout;
  readonly rowLayout: RowLayout;
  readonly groups: readonly {
    readonly tasks: GPUBuffer;
    readonly count: number;
    readonly chunk: number;
    readonly short: boolean;
  }[];
  readonly firstSlot: GPUBuffer;
  readonly slots: number;
}

interface GpuIndex extends EdgeIndex {
  readonly source: EdgeRows;
  readonly multigraph: boolean;
  readonly chunks: readonly { readonly neighbors: GPUBuffer; readonly counts: GPUBuffer | undefined }[];
  readonly chunkEdges: number;
  readonly plans: Map<string, Promise<Plan>>;
}

const TOLERANCE = 1e-3;
const MASS_CHUNK = 32;

export async function createWebgpuEngine(options: WebgpuOptions = {}): Promise<Engine> {
  const gpu = await openDevice(options.flags);
  const { device } = gpu;
  const tuning = options.tuning ?? {};
  const commands = createCommands(gpu, options.onKernelTime);
  const scratch = createScratch(gpu, () => commands.forget());
  const noTotals = storageBuffer(gpu, 'no totals', 12 * MAX_FEATURES);
  const termSums = storageBuffer(gpu, 'sums of the edge term', 4 * TERM_SUMS);
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

  function planOf(index: GpuIndex, own: GpuTable, other: GpuTable): Promise<Plan> {
    const key = `${own.features} ${other.rows}`;
    let plan = index.plans.get(key);
    if (!plan) index.plans.set(key, (plan = makePlan(index, own.features, other.rows)));
    return plan;
  }

  async function makePlan(index: GpuIndex, features: number, otherRows: number): Promise<Plan> {
    const layout = chooseLayout(features, gpu.subgroupSize, tuning);
    const otherBytes = otherRows * layout.quads * 16;
    const tiles = layout.tile > 0 ? Math.max(1, Math.ceil(otherBytes / layout.tile)) : 1;
    const { block, short } = layout;
    const cut = cutRows(index.source, { block, short, chunkEdges: index.chunkEdges, tiles, otherRows });
    const bytes = 16 * cut.slots + 4 * cut.firstSlot.length;
    return allocate(gpu, `the list of ${cut.slots} tasks`, bytes, () => {
      const firstSlot = storageBuffer(gpu, 'slots of rows', 4 * cut.firstSlot.length);
      upload(device, firstSlot, cut.firstSlot);
      const groups = cut.groups.map(({ chunk, short, records }) => {
        const tasks = storageBuffer(gpu, 'tasks', 4 * records.length);
        upload(device, tasks, records);
        return { tasks, count: records.length / 4, chunk, short };
      });
      return { layout, rowLayout: rowLayout(features, cut.mostSlots), groups, firstSlot, slots: cut.slots };
    });
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

  /** Partial sums of every task into scratch; the edge term, where asked, into `termSums`. */
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
    if (terms && slots > 0) {
      commands.run(termSum, 0, [{ buffer: terms, size: 4 * slots }, { buffer: termSums }], TERM_SUMS);
    } else if (terms) {
      commands.flush();
      device.queue.writeBuffer(termSums, 0, new Float32Array(TERM_SUMS));
    }
  }

  const sumOf = (values: Float32Array) => values.reduce((sum, value) => sum + value, 0);

  async function lastEdgeTerm(): Promise<number> {
    const sum = sumOf(new Float32Array(await commands.read(termSums, 0, 4 * TERM_SUMS)));
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

    async createIndex(source) {
      const edges = source.neighbors.length;
      const chunkEdges = tuning.chunkEdges ?? Math.floor(gpu.maxBinding / 256) * 64;
      const bytes = 4 * edges * (source.counts ? 2 : 1);
      const chunks = await allocate(gpu, `an index of ${edges} edges`, bytes, () => {
        const made: { neighbors: GPUBuffer; counts: GPUBuffer | undefined }[] = [];
        for (let first = 0; first < Math.max(1, edges); first += chunkEdges) {
          const last = Math.min(edges, first + chunkEdges);
          const fill = (values: Uint32Array) => {
            const buffer = storageBuffer(gpu, 'edges', 4 * (last - first));
            upload(device, buffer, values.subarray(first, last));
            return buffer;
          };
          made.push({ neighbors: fill(source.neighbors), counts: source.counts && fill(source.counts) });
        }
        return made;
      });
      const rows = source.offsets.length - 1;
      return {
        rows,
        edges,
        source,
        multigraph: source.counts !== undefined,
        chunks,
        chunkEdges,
        plans: new Map(),
      } as GpuIndex;
    },

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
      const plan = await planOf(index, own, other);
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
      const plan = await planOf(index, own, other);
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
      const { chunks, plans } = handle as GpuIndex;
      for (const { neighbors, counts } of chunks) {
        neighbors.destroy();
        counts?.destroy();
      }
      for (const plan of plans.values()) {
        void plan.then(({ groups, firstSlot }) => {
          for (const { tasks } of groups) tasks.destroy();
          firstSlot.destroy();
        });
      }
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
