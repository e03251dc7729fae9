// Lists for many on a GPU, where there is one and enough to do: it is opened by the first question that is worth it, the items
// stay there, and only rows go over and lists come back.

import type { Engine } from '../../engine/engine.js';
import { type EngineName, gpuPays, selectEngine } from '../../engine/select.js';
import { DeviceError } from '../../errors.js';
import type { TaskOptions } from '../../progress.js';
import type { TopLists } from '../../topn/lists.js';
import type { ScorerFactors } from '../scoring/model-scorer.js';
import type { RowLists } from '../scoring/scorer.js';

export interface GpuLists {
  /** The GPU for so many askers; undefined where the threads of the CPU are to make the lists. */
  open(askers: number, name: EngineName): Promise<OpenGpu | undefined>;
  close(): Promise<void>;
}

export interface OpenGpu {
  lists(
    rows: Float32Array,
    n: number,
    lists: { readonly excluded: RowLists; readonly history: () => RowLists },
    options: TaskOptions,
  ): Promise<TopLists>;
}

export function createGpuLists({ features, items, itemWeights }: ScorerFactors, count: number): GpuLists {
  const everything = Uint32Array.from({ length: count }, (_, item) => item);
  /** Undefined: not looked for yet; none: not here, or it has failed. */
  let found: Promise<Engine | 'none'> | undefined;

  async function look(name: EngineName, work: Parameters<typeof gpuPays>[0]): Promise<Engine | 'none'> {
    const { engine } = await selectEngine(name, work, 1);
    if (engine.name === 'gpu') return engine;
    await engine.close();
    return 'none';
  }

  return {
    async open(askers, name) {
      const work = { rows: askers, candidates: count, features };
      if (name === 'cpu' || name === 'reference' || (name === 'auto' && !gpuPays(work))) return undefined;
      found ??= look(name, work);
      const engine = await found.catch((error) => {
        found = undefined;
        throw error;
      });
      if (engine === 'none') return undefined;
      return {
        async lists(rows, n, { excluded, history }, { signal }) {
          const asked = Uint32Array.from({ length: rows.length / features }, (_, row) => row);
          try {
            const weights = itemWeights();
            const added = weights && { itemWeights: { ...weights, history: history() } };
            const tables = { users: rows, items: items(), features, ...added };
            return await engine.top(tables, everything, asked, n, excluded, { signal });
          } catch (error) {
            if (error instanceof DeviceError) {
              found = Promise.resolve('none');
              await engine.close().catch(() => {});
            }
            throw error;
          }
        },
      };
    },
    async close() {
      const engine = await found?.catch(() => 'none' as const);
      if (engine && engine !== 'none') await engine.close();
    },
  };
}
