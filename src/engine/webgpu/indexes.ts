// The edge index on the GPU: neighbours in as many bindings as the device requires, and the tasks cut from it.

import type { EdgeCounts, EdgeRows } from '../../math/csr.js';
import { allocate, type GpuDevice } from './device.js';
import { cutRows } from './edge-tasks.js';
import { chooseLayout, type Layout, type Tuning } from './layout.js';
import { storageBuffer, upload } from './tables.js';
import { rowLayout } from './wgsl/rows.js';

type Plan = Awaited<ReturnType<typeof makePlan>>;
export type GpuIndex = Awaited<ReturnType<typeof createGpuIndex>>;

export async function createGpuIndex(gpu: GpuDevice, source: EdgeRows<EdgeCounts>, tuning: Partial<Tuning>) {
  const edges = source.neighbors.length;
  const chunkEdges = tuning.chunkEdges ?? Math.floor(gpu.maxBinding / 256) * 64;
  const bytes = 4 * edges * (source.counts ? 2 : 1);
  const chunks = await allocate(gpu, `an index of ${edges} edges`, bytes, () => {
    const made: { neighbors: GPUBuffer; counts: GPUBuffer | undefined }[] = [];
    for (let first = 0; first < edges; first += chunkEdges) {
      const size = 4 * (Math.min(edges, first + chunkEdges) - first);
      const counts = source.counts && storageBuffer(gpu, 'counts of edges', size);
      made.push({ neighbors: storageBuffer(gpu, 'edges', size), counts });
    }
    return made;
  });
  for (const [c, { neighbors, counts }] of chunks.entries()) {
    const [first, last] = [c * chunkEdges, (c + 1) * chunkEdges];
    await upload(gpu, neighbors, source.neighbors.subarray(first, last));
    if (counts) await upload(gpu, counts, Float32Array.from(source.counts!.subarray(first, last)));
  }
  const rows = source.offsets.length - 1;
  const multigraph = source.counts !== undefined;
  const plans = new Map<string, Promise<Plan>>();
  return { rows, edges, source, multigraph, chunks, chunkEdges, plans };
}

/** The tasks for tables of `features` features that read a table of `otherRows` rows. Created once. */
export function planOf(
  gpu: GpuDevice,
  index: GpuIndex,
  features: number,
  otherRows: number,
  tuning: Partial<Tuning>,
): Promise<Plan> {
  const key = `${features} ${otherRows}`;
  let plan = index.plans.get(key);
  if (!plan) {
    plan = makePlan(
      gpu,
      index.source,
      chooseLayout(features, gpu.subgroupSize, tuning),
      index.chunkEdges,
      otherRows,
    );
    index.plans.set(key, plan);
  }
  return plan;
}

async function makePlan(
  gpu: GpuDevice,
  source: EdgeRows<EdgeCounts>,
  layout: Layout,
  chunkEdges: number,
  otherRows: number,
) {
  const otherBytes = otherRows * layout.quads * 16;
  const tiles = layout.tile > 0 ? Math.max(1, Math.ceil(otherBytes / layout.tile)) : 1;
  const cut = cutRows(source, { block: layout.block, short: layout.short, chunkEdges, tiles, otherRows });
  const bytes = 16 * cut.slots + 4 * cut.firstSlot.length;
  const { firstSlot, groups } = await allocate(gpu, `the list of ${cut.slots} tasks`, bytes, () => ({
    firstSlot: storageBuffer(gpu, 'slots of rows', 4 * cut.firstSlot.length),
    groups: cut.groups.map(({ chunk, short, records }) => {
      const tasks = storageBuffer(gpu, 'tasks', 4 * records.length);
      return { tasks, count: records.length / 4, chunk, short };
    }),
  }));
  await upload(gpu, firstSlot, cut.firstSlot);
  for (const [g, { tasks }] of groups.entries()) await upload(gpu, tasks, cut.groups[g].records);
  return {
    layout,
    rowLayout: rowLayout(layout.features, cut.mostSlots),
    groups,
    firstSlot,
    slots: cut.slots,
  };
}

export function destroyIndex({ chunks, plans }: GpuIndex): void {
  for (const { neighbors, counts } of chunks) {
    neighbors.destroy();
    counts?.destroy();
  }
  for (const plan of plans.values()) {
    void plan.then(
      ({ groups, firstSlot }) => {
        for (const { tasks } of groups) tasks.destroy();
        firstSlot.destroy();
      },
      () => {},
    );
  }
}
