// Which engine runs: the one asked for, or the best for this machine and this much work.

import { DeviceError, InputError } from '../errors.js';
import { ENGINE_NAMES, type EngineName } from '../options/names.js';
import { createCpuEngine } from './cpu/engine.js';
import type { Engine } from './engine.js';
import { createReferenceEngine } from './reference/engine.js';

export { ENGINE_NAMES, type EngineName };

/** Work above which a real GPU beats the cpu, setup included; docs/appendix/performance.md has the measurements. */
const GPU_PAYS_FROM = {
  /** Edges × features of a fit, against two cores. */
  fit: 3e6,
  /**
   * Rows × candidates × features of a ranking: with as many, its first took 0.19 s, opening included, sixteen cores 0.30 and
   * two 0.90.
   */
  ranking: 5e9,
};

/** Why an engine runs; `detail` is the GPU's name, or what it said. */
export interface EngineReason {
  readonly code: 'asked' | 'only-one' | 'little-work' | 'gpu' | 'no-gpu' | 'software-gpu' | 'gpu-failed';
  readonly detail?: string | undefined;
  /** Where a fit went on after its GPU had failed. */
  readonly iteration?: number | undefined;
}

export interface EngineChoice {
  readonly engine: Engine;
  readonly reason: EngineReason;
}

/** How much there is to do, by which `auto` chooses. */
export type EngineWork =
  | { readonly edges: number; readonly features: number }
  | { readonly rows: number; readonly candidates: number; readonly features: number };

/** Whether a real GPU would be done sooner. */
export function gpuPays(work: EngineWork): boolean {
  if ('edges' in work) return work.edges * work.features >= GPU_PAYS_FROM.fit;
  return work.rows * work.candidates * work.features >= GPU_PAYS_FROM.ranking;
}

/**
 * Runs `task` on the engine that `selectEngine` picks and closes it. Where a GPU that was picked by `auto` is lost, full
 * or too small, `task` runs once more on the cpu engine: what it has kept outside itself it may go on from.
 */
export async function onEngine<T>(
  name: EngineName,
  work: EngineWork,
  threads: number | undefined,
  task: (choice: EngineChoice) => Promise<T>,
): Promise<T> {
  const first = await selectEngine(name, work, threads);
  let failed: DeviceError;
  try {
    return await task(first);
  } catch (error) {
    if (name !== 'auto' || !(error instanceof DeviceError)) throw error;
    failed = error;
  } finally {
    await first.engine.close();
  }
  const engine = await createCpuEngine({ threads, work: ofFit(work) });
  try {
    return await task({ engine, reason: { code: 'gpu-failed', detail: failed.message } });
  } finally {
    await engine.close();
  }
}

/** Whether work on that engine may come to a real GPU. */
export async function mayUseGpu(name: EngineName): Promise<boolean> {
  if (name !== 'auto') return name === 'gpu';
  const { webgpuAvailability } = await import('./webgpu/engine.js');
  const gpu = await webgpuAvailability();
  return gpu.available && !gpu.software;
}

export async function selectEngine(
  name: EngineName,
  work: EngineWork,
  threads?: number,
): Promise<EngineChoice> {
  switch (name) {
    case 'reference':
      return { engine: createReferenceEngine(), reason: { code: 'asked' } };
    case 'cpu':
      return { engine: await createCpuEngine({ threads, work: ofFit(work) }), reason: { code: 'asked' } };
    case 'gpu': {
      const { createWebgpuEngine } = await import('./webgpu/engine.js');
      return { engine: await createWebgpuEngine(), reason: { code: 'asked' } };
    }
    case 'auto':
      return automatic(work, threads);
    default:
      throw new InputError(`engine: ${name} is not one of ${ENGINE_NAMES.join(', ')}`);
  }
}

/** A ranking has workers of its own. */
function ofFit(work: EngineWork) {
  return 'edges' in work ? work : undefined;
}

async function automatic(work: EngineWork, threads: number | undefined): Promise<EngineChoice> {
  const onCpu = async (code: EngineReason['code'], detail?: string) => ({
    engine: await createCpuEngine({ threads, work: ofFit(work) }),
    reason: { code, ...(detail !== undefined && { detail }) },
  });
  if (!gpuPays(work)) return onCpu('little-work');
  const { createWebgpuEngine, webgpuAvailability } = await import('./webgpu/engine.js');
  const gpu = await webgpuAvailability();
  if (!gpu.available) return onCpu('no-gpu', gpu.reason);
  if (gpu.software) return onCpu('software-gpu', gpu.description);
  try {
    return { engine: await createWebgpuEngine(), reason: { code: 'gpu', detail: gpu.description } };
  } catch (error) {
    return onCpu('gpu-failed', error instanceof Error ? error.message : String(error));
  }
}
