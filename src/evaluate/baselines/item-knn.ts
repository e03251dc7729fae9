// Item-kNN: the score of an item is the sum of its similarities to the items of a user's history. The similarity of history item
// i and candidate j, with training degrees d_i and d_j and c_ij common users, is
//   c_ij / (d_i^history · d_j^candidates + h),
// the cosine if both exponents are ½ and h = 0. h shrinks similarities that few users support; the exponents shift weight between
// popular and rare items. Users of high degree may count less (solvers/user-weights.ts).
// Each candidate keeps its `neighbours` most similar items, among those that can appear in a history.

import type { ItemScores } from '../../fit/model.js';
import { lengths, renameLists, transposeLists } from '../../math/csr.js';
import { allocate, inSharedMemory } from '../../math/memory.js';
import { alongValues } from '../../metrics/setting-search.js';
import { createPool, taskModule, threadCount } from '../../parallel/pool.js';
import type { RowLists, Scorer } from '../../predict/scoring/scorer.js';
import type { TaskOptions } from '../../progress.js';
import { scratchRoom, storeColumns, TILE, tileScratchBytes } from '../../solvers/pair-counts.js';
import { weighUsers } from '../../solvers/user-weights.js';
import { Heap } from '../../wasm/heap.js';
import { loadKernels } from '../../wasm/load.js';
import type { Baseline, BaselineData, Setting } from './baseline.js';
import {
  createCounts,
  findSimilar,
  type Neighbourhood,
  type NeighbourSetting,
  type SimilarColumns,
  type SimilarityJob,
} from './item-knn-tasks.js';

const TASKS = taskModule('./item-knn-tasks.js', import.meta.url);

/** With fewer pairs to count, workers cost more than they save. */
const SMALL = 5e8;
/** The most counts that are kept between the trials of a search, of 2 or 4 bytes each. */
const KEPT_COUNTS = 1.2e8;

const EXPONENTS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

export const itemKnn: Baseline<'knn'> = {
  name: 'knn',
  title: 'item-kNN',
  meaning: 'items that the same users have, by a shrunken cosine',
  axes: ({ shown, candidates }) => [
    {
      // All neighbours of all candidates may not fit in memory.
      neighbours: alongValues(100, halvesAndDoubles(100, Math.min(shown.length, 2e7 / candidates.length))),
      shrinkage: alongValues(10, [0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10_000]),
      history: alongValues(0.5, EXPONENTS),
      candidates: alongValues(0.5, EXPONENTS),
      users: alongValues(0.25, [0, 0.25, 0.5]),
    },
  ],
  // The cost of neighbours grows with the squares of the degrees. On @simulated, a quarter of the edges preferred another setting
  // than all edges.
  tuningEdges: 8e6,
  limit: () => undefined,
  async fit(data, setting, options = {}) {
    const { users } = setting as NeighbourSetting & Setting;
    const known = options.tuning ? kept(data, users) : neighbourhood(data, users, false);
    const found = await similarities(data, known, setting as NeighbourSetting & Setting, options);
    return { setting, scorer: async (history) => itemScorer(found, history) };
  },
  async scores(data, setting, options = {}) {
    const known = neighbourhood(data, (setting as NeighbourSetting & Setting).users, false);
    const found = await similarities(data, known, setting as NeighbourSetting & Setting, options);
    return Object.freeze({ kind: 'items', ...found });
  },
};

/** The number, its halves (rounded up) down to 1, and its doubles up to `most`. */
function halvesAndDoubles(start: number, most: number): number[] {
  const values = [start];
  for (let half = start; half > 1; values.unshift(half)) half = Math.ceil(half / 2);
  for (let double = 2 * start; double <= most; double *= 2) values.push(double);
  return values;
}

/** Scores are sums of weights over the items of a row's history. `targets` are positions among the candidates. */
export function itemScorer({ offsets, targets, weights }: Similarities, history: RowLists): Scorer {
  return {
    kind: 'rows',
    scores: (row, _candidates, out) => {
      out.fill(0);
      for (let h = history.offsets[row]; h < history.offsets[row + 1]; h++) {
        const source = history.values[h];
        for (let e = offsets[source]; e < offsets[source + 1]; e++) out[targets[e]] += weights[e];
      }
    },
  };
}

type Similarities = Pick<ItemScores, 'weights'> & {
  readonly offsets: Uint32Array;
  /** Positions among the candidates. */
  readonly targets: Uint32Array;
};

/** Numbers the items that can appear in a history from 0. `keep`: counts are kept for other settings if they fit in memory. */
function neighbourhood(data: BaselineData, exponent: number, keep: boolean): Numbered {
  const { shown, candidates } = data;
  const { users, weights, mean } = weighUsers(data.users, exponent);
  const items = users === data.users ? data.items : transposeLists(users, shown.length);
  const degree = lengths(items);
  const inputs = Array.from(shown.keys()).filter((item) => shown[item] && degree[item] > 0);
  const column = new Int32Array(shown.length).fill(-1);
  for (const [c, item] of inputs.entries()) column[item] = c;
  const rows = renameLists(users, column);
  const offsets = allocate(Uint32Array, candidates.length + 1);
  for (const [c, item] of candidates.entries()) offsets[c + 1] = offsets[c] + degree[item];
  const values = allocate(Uint32Array, offsets[candidates.length]);
  for (const [c, item] of candidates.entries()) {
    values.set(items.values.subarray(items.offsets[item], items.offsets[item + 1]), offsets[c]);
  }
  const degrees = {
    columns: allocate(Uint32Array, inputs.length),
    targets: allocate(Uint32Array, candidates.length),
  };
  degrees.columns.set(inputs.map((item) => degree[item]));
  degrees.targets.set(candidates.map((item) => degree[item]));
  const size = candidates.length * inputs.length;
  const heap = new Heap();
  const counted = storeColumns(heap, transposeLists(rows, inputs.length), weights);
  return {
    inputs: Uint32Array.from(inputs),
    heap,
    data: {
      counted,
      rows: { offsets: inSharedMemory(rows.offsets), values: inSharedMemory(rows.values) },
      ...{ weights: inSharedMemory(weights), meanWeight: mean },
      targets: { offsets, values },
      ownColumn: inSharedMemory(Int32Array.from(candidates, (item) => column[item])),
      degree: degrees,
      kept:
        keep && size <= KEPT_COUNTS
          ? {
              counts: createCounts(counted.wide, size),
              counted: allocate(Uint8Array, candidates.length),
            }
          : undefined,
    },
  };
}

interface Numbered {
  /** The item of each column. */
  readonly inputs: Uint32Array;
  readonly data: Neighbourhood;
  /** The kernels' memory, which holds the columns. */
  readonly heap: Heap;
}

const KEPT = new WeakMap<BaselineData, { readonly exponent: number; readonly numbered: Numbered }>();

/** The same, numbered and counted once for all settings of a search with this exponent of users. */
function kept(data: BaselineData, exponent: number): Numbered {
  const known = KEPT.get(data);
  if (known?.exponent === exponent) return known.numbered;
  const numbered = neighbourhood(data, exponent, true);
  KEPT.set(data, { exponent, numbered });
  return numbered;
}

/** For each history item, the candidates that keep it as a neighbour. */
async function similarities(
  { candidates, shown }: BaselineData,
  { inputs, data, heap }: Numbered,
  setting: NeighbourSetting,
  { threads, signal }: TaskOptions,
): Promise<Similarities> {
  const jobs: SimilarityJob[] = [];
  const blocks = Math.ceil(candidates.length / TILE);
  const pairs = toCount(data);
  const small = pairs < SMALL;
  const { workers, tile } = scratchRoom(blocks, pairs > 0 ? tileScratchBytes(data.counted) : 0);
  const lanes = small ? 1 : threadCount(threads, workers);
  const { module } = await loadKernels();
  const scratch = tile > 0 ? Array.from({ length: lanes }, () => heap.allocate(tile)) : [];
  const taken = allocate(Int32Array, lanes);
  for (let first = 0; first < candidates.length; first += TILE) {
    const last = Math.min(candidates.length, first + TILE);
    jobs.push({ data, setting, module, scratch, taken, first, last });
  }
  const pool = small ? undefined : await createPool(TASKS, lanes);
  try {
    const found = pool
      ? await pool.map<SimilarityJob, SimilarColumns>('findSimilar', jobs, { signal })
      : jobs.map(findSimilar);
    return groupBySource(found, inputs, shown.length);
  } finally {
    await pool?.close();
    for (const at of scratch) heap.release(at);
  }
}

/** The number of pairs of a user's items that are not counted yet. */
function toCount({ rows, targets, kept }: Neighbourhood): number {
  let pairs = 0;
  for (let c = 0; c + 1 < targets.offsets.length; c++) {
    if (kept?.counted[c]) continue;
    for (let e = targets.offsets[c]; e < targets.offsets[c + 1]; e++) {
      const user = targets.values[e];
      pairs += rows.offsets[user + 1] - rows.offsets[user];
    }
  }
  return pairs;
}

/** Transposes lists of columns by candidate into lists of candidates by item. */
function groupBySource(blocks: readonly SimilarColumns[], inputs: Uint32Array, count: number): Similarities {
  const offsets = new Uint32Array(count + 1);
  for (const { columns } of blocks) for (const column of columns) offsets[inputs[column] + 1]++;
  for (let s = 0; s < count; s++) offsets[s + 1] += offsets[s];
  const cursor = offsets.slice(0, count);
  const targets = new Uint32Array(offsets[count]);
  const weights = new Float32Array(offsets[count]);
  let candidate = 0;
  for (const block of blocks) {
    let e = 0;
    for (const found of block.found) {
      for (const end = e + found; e < end; e++) {
        const at = cursor[inputs[block.columns[e]]]++;
        targets[at] = candidate;
        weights[at] = block.weights[e];
      }
      candidate++;
    }
  }
  return { offsets, targets, weights };
}
