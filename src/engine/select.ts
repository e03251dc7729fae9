// Which backend runs: the one that was asked for, or the best for this machine and this amount of work.

import { DeviceError, InputError } from '../errors.js';
import { ENGINE_NAMES, type EngineName } from '../options/names.js';
import { createCpuEngine } from './cpu/cpu-engine.js';
import type { CountingEngine, Engine } from './engine.js';
import { createReferenceEngine } from './reference/reference-engine.js';

/** Edges × features of a fit above which a GPU beats two cores, setup included (docs/appendix/performance.md). */
const GPU_PAYS_FROM = 3e6;

/** Why a backend runs; `detail` is the GPU's name or its error. */
export interface EngineReason {
  readonly code: 'asked' | 'only-one' | 'little-work' | 'gpu' | 'no-gpu' | 'software-gpu' | 'gpu-failed';
  readonly detail?: string | undefined;
  /** The iteration from which a fit continued on the CPU after its GPU had failed. */
  readonly iteration?: number | undefined;
}

/** The amount of work of a fit, by which `auto` chooses. */
interface EngineWork {
  readonly edges: number;
  readonly features: number;
}

/** What computes: an engine, or a backend of rankings. */
interface Backend {
  close(): Promise<void>;
}

/** How to make each backend; only the chosen one is made. */
export interface Backends<B extends Backend> {
  readonly reference: () => B;
  readonly cpu: () => B | Promise<B>;
  readonly gpu: () => Promise<B>;
}

export interface BackendChoice<B extends Backend> {
  readonly engine: B;
  readonly reason: EngineReason;
}

/** Makes the named backend, or with `auto` a GPU one if `gpuPays` and the machine has a real GPU. */
export async function selectBackend<B extends Backend>(
  name: EngineName,
  gpuPays: boolean,
  make: Backends<B>,
): Promise<BackendChoice<B>> {
  const onCpu = async (code: EngineReason['code'], detail?: string) => ({
    engine: await make.cpu(),
    reason: { code, ...(detail !== undefined && { detail }) },
  });
  if (name !== 'auto') {
    if (!ENGINE_NAMES.includes(name)) {
      throw new InputError(`engine: ${name} is not one of ${ENGINE_NAMES.join(', ')}`);
    }
    return { engine: await make[name](), reason: { code: 'asked' } };
  }
  if (!gpuPays) return onCpu('little-work');
  const { webgpuAvailability } = await import('./webgpu/device.js');
  const gpu = await webgpuAvailability();
  if (!gpu.available) return onCpu('no-gpu', gpu.reason);
  if (gpu.software) return onCpu('software-gpu', gpu.description);
  try {
    return { engine: await make.gpu(), reason: { code: 'gpu', detail: gpu.description } };
  } catch (error) {
    return onCpu('gpu-failed', error instanceof Error ? error.message : String(error));
  }
}

/**
 * Runs `task` on the backend that `selectBackend` picks, and closes it. If `auto` picked a GPU that is lost, full or too
 * small, `task` runs once more on the CPU; it may continue from what it has kept outside itself.
 */
export async function onBackend<B extends Backend, T>(
  name: EngineName,
  gpuPays: boolean,
  make: Backends<B>,
  task: (choice: BackendChoice<B>) => Promise<T>,
): Promise<T> {
  const first = await selectBackend(name, gpuPays, make);
  let failed: DeviceError;
  try {
    return await task(first);
  } catch (error) {
    if (name !== 'auto' || !(error instanceof DeviceError)) throw error;
    failed = error;
  } finally {
    await first.engine.close();
  }
  const engine = await make.cpu();
  try {
    return await task({ engine, reason: { code: 'gpu-failed', detail: failed.message } });
  } finally {
    await engine.close();
  }
}

const enginesFor = (work: EngineWork, threads: number | undefined): Backends<CountingEngine> => ({
  reference: createReferenceEngine,
  cpu: () => createCpuEngine({ threads, work }),
  gpu: async () => (await import('./webgpu/webgpu-engine.js')).createWebgpuEngine(),
});

const gpuPays = ({ edges, features }: EngineWork): boolean => edges * features >= GPU_PAYS_FROM;

/** Runs `task` on the engine for this much work; see `onBackend`. */
export function onEngine<T>(
  name: EngineName,
  work: EngineWork,
  threads: number | undefined,
  task: (choice: BackendChoice<CountingEngine>) => Promise<T>,
): Promise<T> {
  return onBackend(name, gpuPays(work), enginesFor(work, threads), task);
}

/** The engine that ran, why, and the seconds since `began` (performance.now()). */
export function ranOn({ description, threads }: Engine, engineReason: EngineReason, began: number) {
  return {
    engine: description,
    engineReason,
    threads,
    seconds: (performance.now() - began) / 1000,
  };
}

/** Whether work on that engine may run on a real GPU. */
export async function mayUseGpu(name: EngineName): Promise<boolean> {
  if (name !== 'auto') return name === 'gpu';
  const { webgpuAvailability } = await import('./webgpu/device.js');
  const gpu = await webgpuAvailability();
  return gpu.available && !gpu.software;
}
