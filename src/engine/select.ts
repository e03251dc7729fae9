// Which engine runs: the one asked for, or the best for this machine and this much work.

import { InputError } from '../errors.js';
import { createCpuEngine } from './cpu/engine.js';
import type { Engine } from './engine.js';
import { createReferenceEngine } from './reference.js';

export const ENGINE_NAMES = ['auto', 'cpu', 'gpu', 'reference'] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];

/** Edges × features above which a real GPU beats two cores, setup included; docs/performance.md has the measurement. */
export const GPU_PAYS_FROM = 3e6;

export interface EngineChoice {
  readonly engine: Engine;
  /** Why this one, in a sentence. */
  readonly reason: string;
}

export async function selectEngine(
  name: EngineName,
  work: { readonly edges: number; readonly features: number },
  threads?: number,
): Promise<EngineChoice> {
  switch (name) {
    case 'reference':
      return { engine: createReferenceEngine(), reason: 'asked for' };
    case 'cpu':
      return { engine: await createCpuEngine({ threads }), reason: 'asked for' };
    case 'gpu': {
      const { createWebgpuEngine } = await import('./webgpu/engine.js');
      return { engine: await createWebgpuEngine(), reason: 'asked for' };
    }
    case 'auto':
      return automatic(work, threads);
    default:
      throw new InputError(`engine: ${name} is not one of ${ENGINE_NAMES.join(', ')}`);
  }
}

async function automatic(
  work: { readonly edges: number; readonly features: number },
  threads: number | undefined,
): Promise<EngineChoice> {
  const onCpu = async (reason: string) => ({ engine: await createCpuEngine({ threads }), reason });
  if (work.edges * work.features < GPU_PAYS_FROM) return onCpu('too little work for a GPU to pay');
  const { createWebgpuEngine, webgpuAvailability } = await import('./webgpu/engine.js');
  const gpu = await webgpuAvailability();
  if (!gpu.available) return onCpu(`no GPU: ${gpu.reason}`);
  if (gpu.software) return onCpu(`the only GPU is a software one (${gpu.description})`);
  try {
    return { engine: await createWebgpuEngine(), reason: `a GPU is there (${gpu.description})` };
  } catch (error) {
    return onCpu(`the GPU failed: ${error instanceof Error ? error.message : error}`);
  }
}
