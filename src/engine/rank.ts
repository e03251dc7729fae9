// Which engine makes a full ranking: the one asked for, or the best for this machine and this much work.

import { DeviceError } from '../errors.js';
import type { TaskOptions } from '../progress.js';
import { type FactorTables, rankByFactors } from './cpu/rank-factors.js';
import type { RankAnswer, RankQuery } from './cpu/rank-rows.js';
import type { EngineName } from './select.js';

/**
 * Rows × candidates × features from which `auto` takes a real GPU: with as many, its first ranking took 0.19 s, opening
 * included, sixteen cores 0.30 and two 0.90 (docs/performance.md).
 */
const GPU_RANKS_FROM = 5e9;

export interface RankOptions extends TaskOptions {
  /** What ranks where scores are products of two tables: gpu, or auto and much work; the cpu engine otherwise. Default auto. */
  readonly engine?: EngineName | undefined;
}

export async function rankFactors(
  tables: FactorTables,
  candidates: Uint32Array,
  query: RankQuery,
  options: RankOptions = {},
): Promise<RankAnswer> {
  const { engine = 'auto' } = options;
  const products = tables.users.length * candidates.length;
  if (engine === 'gpu') {
    const { rankOnGpu } = await import('./webgpu/rank.js');
    return rankOnGpu(tables, candidates, query, options);
  }
  if (engine === 'auto' && products >= GPU_RANKS_FROM) {
    const { webgpuAvailability } = await import('./webgpu/device.js');
    const { available, software } = await webgpuAvailability();
    if (available && !software) {
      const { rankOnGpu } = await import('./webgpu/rank.js');
      try {
        return await rankOnGpu(tables, candidates, query, options);
      } catch (error) {
        if (!(error instanceof DeviceError)) throw error;
      }
    }
  }
  return rankByFactors(tables, candidates, query, options);
}
