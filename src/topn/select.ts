// Chooses the backend: the requested one, or the best for this machine and this amount of work.

import { type BackendChoice, type Backends, onBackend, selectBackend } from '../engine/select.js';
import type { EngineName } from '../options/names.js';
import { createCpuTopN } from './cpu.js';
import type { TopN } from './query.js';
import { createReferenceTopN } from './reference.js';

/** The size of a ranking. `auto` chooses by it. */
export interface RankingWork {
  readonly rows: number;
  readonly candidates: number;
  readonly features: number;
}

/**
 * Rows × candidates × features above which a GPU is faster. At this size its first ranking takes 0.19 s, including opening the device;
 * sixteen cores take 0.30 s and two cores 0.90 s.
 */
const GPU_PAYS_FROM = 5e9;

export function gpuRanksFaster({ rows, candidates, features }: RankingWork): boolean {
  return rows * candidates * features >= GPU_PAYS_FROM;
}

const backends = (threads: number | undefined): Backends<TopN> => ({
  reference: createReferenceTopN,
  cpu: () => createCpuTopN(threads),
  gpu: async () => (await import('./webgpu.js')).createWebgpuTopN(),
});

export function selectTopN(
  name: EngineName,
  work: RankingWork,
  threads?: number,
): Promise<BackendChoice<TopN>> {
  return selectBackend(name, gpuRanksFaster(work), backends(threads));
}

/** Runs `task` on the backend for this ranking. If a GPU chosen by `auto` fails, runs it again on the CPU. */
export function onTopN<T>(
  name: EngineName,
  work: RankingWork,
  threads: number | undefined,
  task: (topN: TopN) => Promise<T>,
): Promise<T> {
  return onBackend(name, gpuRanksFaster(work), backends(threads), ({ engine }) => task(engine));
}
