// The passes of a half-step, recorded into the queue: edges, rows, masses. All passes share the scratch buffers. That is safe, because
// the engine records one operation at a time and the GPU keeps their order.

import type { Activity, UniformValues } from '../engine.js';
import { allocate, type GpuDevice } from './device.js';
import { type GpuIndex, planOf } from './indexes.js';
import type { Commands, Kernel, Part } from './kernel-queue.js';
import type { Layout, Tuning } from './layout.js';
import { type GpuCounts, type GpuTable, storageBuffer } from './tables.js';
import { edgeShader } from './wgsl/edges.js';
import { MAX_FEATURES, type Params } from './wgsl/params.js';
import {
  type CountSource,
  countShader,
  fillShader,
  type RowLayout,
  refreshShader,
  rowLayout,
  updateShader,
} from './wgsl/rows.js';
import {
  finishShader,
  MOST_TERM_SUMS,
  massShader,
  REDUCE_WORKGROUP,
  termSumShader,
  termSums,
} from './wgsl/totals.js';

const MASS_CHUNK = 32;

export function createPasses(gpu: GpuDevice, commands: Commands, tuning: Partial<Tuning>) {
  const scratch = createScratch(gpu, () => commands.forget());
  const terms = { buffer: storageBuffer(gpu, 'sums of the edge term', 4 * MOST_TERM_SUMS), count: 0 };
  const noTotals = storageBuffer(gpu, 'no totals', 12 * MAX_FEATURES);
  const edgeKernels = new Map<string, Promise<Kernel>>();

  /** What a row kernel leaves: the mass of each workgroup's rows. */
  type Masses = Awaited<ReturnType<typeof massesOf>>;

  /** Room for the masses of the workgroups that a row kernel needs. */
  async function massesOf(table: GpuTable, workgroups: number) {
    return { masses: await scratch('masses', workgroups * table.quads * 16), partials: workgroups };
  }

  /** Adds the masses to the totals, and computes the unseen mass if the parameters say so. */
  async function finish(
    table: GpuTable,
    other: GPUBuffer,
    { masses, partials }: Masses,
    params: Params,
  ): Promise<void> {
    const { quads } = table;
    const mass = await commands.kernel('mass', massShader(quads));
    const last = await commands.kernel('totals', finishShader(table.features));
    const chunk = Math.max(MASS_CHUNK, Math.ceil(partials / 512));
    const sums = Math.ceil(partials / chunk);
    const sumsBuffer = await scratch('mass sums', sums * quads * 16);
    const at = commands.params({ ...params, partials, chunk });
    commands.run(mass, at, [masses, sumsBuffer], Math.ceil((sums * quads) / REDUCE_WORKGROUP));
    const parts = [sumsBuffer, other, table.totals];
    commands.run(last, commands.params({ ...params, partials: sums }), parts, 1);
  }

  /** Sets the activity of all rows. */
  async function refresh(table: GpuTable, params: Params): Promise<Masses> {
    const rows = rowLayout(table.features, 1);
    const kernel = await commands.kernel('refresh', refreshShader(rows));
    const made = await massesOf(table, Math.ceil(table.rows / rows.rows));
    const buffers = [table.weights, table.shapes, table.rates, table.activity, made.masses];
    commands.run(kernel, commands.params(params), buffers, made.partials);
    return made;
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
      kernel = commands.kernel(label, edgeShader({ layout, short, multigraph, withTerm }));
      edgeKernels.set(key, kernel);
    }
    return kernel;
  }

  /** Writes the partial sums of every task to scratch, and the edge term to `terms` if requested. */
  async function edgePass(
    own: GpuTable,
    index: GpuIndex,
    other: GpuTable,
    params: Params,
    withTerm: boolean,
  ) {
    const plan = await planOf(gpu, index, own.features, other.rows, tuning);
    const { layout, groups, slots } = plan;
    const sums = await scratch('partial sums', slots * own.quads * 16);
    const taskTerms = withTerm ? await scratch('edge terms', 4 * slots) : undefined;
    const kernels = await Promise.all(
      groups.map(({ short }) => edgeKernel(layout, short, index.multigraph, withTerm)),
    );
    const termSum = await commands.kernel('edge term', termSumShader);
    const at = commands.params(params);
    for (const [g, { tasks, count, chunk, short }] of groups.entries()) {
      const { neighbors, counts } = index.chunks[chunk];
      const parts: Part[] = [
        { buffer: tasks, size: 16 * count },
        neighbors,
        own.activity,
        other.activity,
        sums,
      ];
      if (taskTerms) parts.push(taskTerms);
      if (counts) parts.push(counts);
      const perGroup = layout.subgroups ? layout.workgroup / (short ? layout.lanes : layout.team) : 1;
      commands.run(kernels[g], at, parts, Math.ceil(count / perGroup));
    }
    if (taskTerms) {
      terms.count = termSums(slots);
      commands.run(termSum, 0, [{ buffer: taskTerms, size: 4 * slots }, terms.buffer], terms.count);
    }
    return { plan, sums };
  }

  /** What an edge pass leaves for the rows: the partial sums of its tasks. */
  type EdgeSums = Awaited<ReturnType<typeof edgePass>>;

  /** After the edge pass: updates the range's rows, their mass and the unseen mass. */
  async function rowPass(
    own: GpuTable,
    other: GpuTable,
    { plan, sums }: EdgeSums,
    params: Params,
  ): Promise<void> {
    await updateRows(own, other.totals, plan.rowLayout, params, 'partials', [plan.firstSlot, sums]);
  }

  /** rowPass from counts. The parameters hold the other side's mass. */
  async function countedRowPass(own: GpuTable, counts: GpuCounts, params: Params): Promise<void> {
    const rows = rowLayout(own.features, 1);
    await updateRows(own, noTotals, rows, { ...params, scale: counts.scale }, 'counts', [counts.values]);
  }

  async function updateRows(
    own: GpuTable,
    otherTotals: GPUBuffer,
    rows: RowLayout,
    params: Params,
    source: CountSource,
    from: readonly GPUBuffer[],
  ): Promise<void> {
    const made = await massesOf(own, Math.ceil((params.last - params.first) / rows.rows));
    const label = source === 'partials' ? 'rows' : 'counted rows';
    const kernel = await commands.kernel(label, updateShader(rows, source));
    const table = [own.weights, own.shapes, own.rates, own.activity];
    const buffers = [...from, ...table, otherTotals, made.masses];
    commands.run(kernel, commands.params(params), buffers, made.partials);
    await finish(own, otherTotals, made, params);
  }

  /** After the edge pass: adds the expected counts of the range's rows. */
  async function countPass(
    own: GpuTable,
    { plan, sums }: EdgeSums,
    counts: GpuCounts,
    params: Params,
  ): Promise<void> {
    const rows = plan.rowLayout;
    const kernel = await commands.kernel('counts', countShader(rows));
    const buffers = [plan.firstSlot, sums, own.activity, counts.values];
    const at = commands.params({ ...params, scale: counts.scale });
    commands.run(kernel, at, buffers, Math.ceil((params.last - params.first) / rows.rows));
  }

  /** Sets all features to one Gamma, and all weights to another one. Of weights with shapes of their own it sets the rates. */
  async function fill(table: GpuTable, values: UniformValues): Promise<void> {
    const rows = rowLayout(table.features, 1);
    const kernel = await commands.kernel('fill', fillShader(rows));
    const { weightShape, weightRate: tau, featureShape: shape, featureRate: rate } = values;
    const sigma = typeof weightShape === 'number' ? weightShape : 1;
    const at = commands.params({ first: 0, last: table.rows, hyper: { sigma, tau, shape, rate, size: 0 } });
    const buffers = [table.weights, table.shapes, table.rates];
    commands.run(kernel, at, buffers, Math.ceil(table.rows / rows.rows));
  }

  /** Derives activities and mass from the current values; the unseen mass becomes 0. */
  async function show(table: GpuTable, activity: Activity): Promise<void> {
    const params = { first: 0, last: table.rows, activity };
    await finish(table, noTotals, await refresh(table, params), params);
  }

  return { scratch, terms, show, refresh, edgePass, rowPass, countPass, countedRowPass, fill };
}

/** Scratch buffers that pass data between kernels of a half-step: each grows to the largest size requested. */
function createScratch(gpu: GpuDevice, beforeGrowth: () => void) {
  const buffers = new Map<string, GPUBuffer>();
  return async (what: string, bytes: number): Promise<GPUBuffer> => {
    const old = buffers.get(what);
    if (old && old.size >= bytes) return old;
    beforeGrowth();
    old?.destroy();
    const made = await allocate(gpu, what, bytes, () => storageBuffer(gpu, what, bytes));
    buffers.set(what, made);
    return made;
  };
}
