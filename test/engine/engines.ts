// The engines under test: each case suite runs on all of them, to the tolerance that each declares.

import { createCpuEngine } from '../../src/engine/cpu/cpu-engine.js';
import type { CountingEngine, Engine } from '../../src/engine/engine.js';
import { createReferenceEngine } from '../../src/engine/reference/reference-engine.js';
import { createWebgpuEngine } from '../../src/engine/webgpu/webgpu-engine.js';
import { createAlone, createRanks } from './ranks.js';
import { findTestGpu } from './swiftshader.js';

export interface EngineCase<E extends Engine = Engine> {
  readonly name: string;
  create(): Promise<E>;
}

const gpu = await findTestGpu();
// Tasks and bindings are so small that rows are cut everywhere; sums use workgroup memory.
const tiny = { subgroups: false, block: 4, tile: 64, chunkEdges: 64 };

export const COUNTING_ENGINES: readonly EngineCase<CountingEngine>[] = [
  { name: 'reference', create: async () => createReferenceEngine() },
  { name: 'cpu', create: () => createCpuEngine({ threads: 2 }) },
  // Small windows cut rows into pieces and give units few rows, so small graphs run the code of huge ones.
  { name: 'cpu, tiny windows', create: () => createCpuEngine({ threads: 2, limits: { edges: 4, rows: 2 } }) },
  // The same with tiles for all tables, also small ones.
  {
    name: 'cpu, tiny tiles',
    create: () =>
      createCpuEngine({
        threads: 2,
        limits: { edges: 24, rows: 5 },
        tiles: { near: 0, few: 0, cache: 0, tile: 4096, least: 1, sums: 20_000 },
      }),
  },
  // Absent if there is no adapter; webgpu.test.ts then says why.
  ...(gpu.available
    ? [
        { name: 'gpu', create: () => createWebgpuEngine() },
        { name: 'gpu, tiny tasks', create: () => createWebgpuEngine({ tuning: tiny }) },
      ]
    : []),
];

export const ENGINES: readonly EngineCase[] = [
  ...COUNTING_ENGINES,
  // Users in shards, some of them empty: in one process, and divided among ranks.
  { name: 'sharded reference', create: () => createAlone(createReferenceEngine()) },
  { name: 'sharded cpu', create: async () => createAlone(await createCpuEngine({ threads: 2 })) },
  { name: 'sharded cpu, 3 ranks', create: () => createRanks(3, () => createCpuEngine({ threads: 1 })) },
];
