// Lists for many users on a GPU, if there is one and the work is worth it. The first large enough request opens the GPU. The items
// stay on it; only rows of users are sent, and lists come back.

import { DeviceError } from '../../errors.js';
import { hasBit } from '../../math/bits.js';
import { placesOf, renameLists } from '../../math/csr.js';
import type { EngineName } from '../../options/names.js';
import type { TopN } from '../../topn/query.js';
import { gpuRanksFaster, type RankingWork, selectTopN } from '../../topn/select.js';
import type { ScorerFactors } from '../scoring/model-scorer.js';
import type { RowLists } from '../scoring/scorer.js';
import type { ListFactors, ListSettings } from './batch-workers.js';

type ListingTopN = Required<TopN>;

export function createGpuLists({ features, items, itemWeights }: ScorerFactors, count: number) {
  const everything = Uint32Array.from({ length: count }, (_, item) => item);
  /** The candidates of the last filter: the GPU keeps their rows while they stay the same. */
  let filtered: ReturnType<typeof candidatesWithout> | undefined;
  /** Undefined before the first look; of undefined if there is no GPU or it has failed. */
  let found: Promise<ListingTopN | undefined> | undefined;

  async function look(name: EngineName, work: RankingWork): Promise<ListingTopN | undefined> {
    const { engine } = await selectTopN(name, work, 1);
    return engine.name === 'gpu' ? (engine as ListingTopN) : undefined;
  }

  /** `auto` looks once. A GPU that was asked for by name is opened again, or the caller gets the error. */
  async function gpuFor(name: EngineName, work: RankingWork): Promise<ListingTopN | undefined> {
    const before = found;
    const open = await before?.catch(() => undefined);
    if (!open && name === 'gpu' && found === before) found = undefined;
    found ??= look(name, work);
    return found.catch((error) => {
      found = undefined;
      throw error;
    });
  }

  return {
    /** How the GPU makes lists for this number of users; undefined if CPU threads should make them. */
    async open(
      users: number,
      name: EngineName,
      { n, without }: ListSettings,
      signal: AbortSignal | undefined,
    ): Promise<ListFactors | undefined> {
      const work = { rows: users, candidates: count, features };
      if (name === 'cpu' || name === 'reference' || (name === 'auto' && !gpuRanksFaster(work)))
        return undefined;
      const gpu = await gpuFor(name, work);
      if (!gpu) return undefined;
      return async (rows, excluded, history) => {
        const asked = Uint32Array.from({ length: rows.length / features }, (_, row) => row);
        try {
          const weights = itemWeights();
          const added = weights && { itemWeights: { ...weights, history: history() } };
          const tables = { users: rows, items: items(), features, ...added };
          if (!without) return await gpu.top(tables, everything, asked, n, excluded, { signal });
          if (filtered?.without !== without) filtered = candidatesWithout(everything, without);
          const { candidates, among } = filtered;
          const lists = await gpu.top(tables, candidates, asked, n, among(excluded), { signal });
          return { ...lists, positions: lists.positions.map((at) => candidates[at]) };
        } catch (error) {
          if (error instanceof DeviceError) {
            found = Promise.resolve(undefined);
            await gpu.close().catch(() => {});
          }
          throw error;
        }
      };
    },
    async close(): Promise<void> {
      const gpu = await found?.catch(() => undefined);
      await gpu?.close();
    },
  };
}

/** The candidates that a filter keeps, and a function that finds items among them. */
function candidatesWithout(everything: Uint32Array, without: Uint32Array) {
  const candidates = everything.filter((item) => !hasBit(without, item));
  const place = placesOf(candidates, everything.length);
  const among = (lists: RowLists): RowLists => renameLists(lists, place);
  return { without, candidates, among };
}
