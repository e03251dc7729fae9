// A graph filter (GF-CF): the score of history x is x R̃ᵀR̃ + share · x D^(−½) V Vᵀ D^(½), where R̃ = U^(−½) R D^(−½) is the matrix of
// edges normalized by the degrees of both sides. The first term is a linear filter; the second passes the lowest frequencies: V spans
// the leading right singular vectors of R̃ (solvers/leading-directions.ts).

import { throwIfAborted } from '../../errors.js';
import { lengths, type RowLists, transposeLists } from '../../math/csr.js';
import { randomStream } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import type { RankingData } from '../../metrics/held-back.js';
import { alongValues, type Setting } from '../../metrics/setting-search.js';
import { leadingDirections, withDirectionWorkers } from '../../solvers/leading-directions.js';
import { type Baseline, type SkipReason, sharedByTrials } from './baseline.js';

interface FilterSetting extends Setting {
  /** Share of the low-pass part. */
  readonly share: number;
}

/** Number of directions of the low-pass part, as its authors have. */
const DIRECTIONS = 256;
/** Multiplications by R̃ᵀR̃. After five, further ones change the projected share by less than 1 %. */
const ITERATIONS = 5;
/** Limits of edges × directions, and of the weights of a served ranker. */
const LIMITS = { edges: 5e9, inputs: 2.5e8 };

export const filter: Baseline<'filter'> = {
  name: 'filter',
  title: 'graph filter',
  meaning: 'a linear and a low-pass filter of the normalized graph (GF-CF)',
  axes: () => [{ share: alongValues(0.3, [0, 0.1, 0.2, 0.3, 0.5, 1, 2]) }],
  tuningEdges: 1e6,
  standIn: 'knn',
  limit(data, asked) {
    const beyond = (what: keyof typeof LIMITS, count: number, times: number): SkipReason | undefined =>
      count * times > LIMITS[what]
        ? { code: 'too-large', what, count, candidates: times, limit: LIMITS[what] }
        : undefined;
    const ofEdges = beyond('edges', data.users.values.length, directionsOf(data));
    return (
      ofEdges ??
      (asked === undefined ? beyond('inputs', data.shown.length, data.candidates.length) : undefined)
    );
  },
  async fit(data, setting, options = {}) {
    const parts = await filterOf(data, 0, options);
    const { share } = setting as FilterSetting;
    return {
      setting,
      scorer: async (history) => ({
        kind: 'rows',
        scores: (row, candidates, out) => {
          const own = history.values.subarray(history.offsets[row], history.offsets[row + 1]);
          writeScores(parts, own, share, candidates, out);
        },
      }),
    };
  },
  async scores(data, setting, options = {}) {
    const parts = await filterOf(data, 0, options);
    const count = data.shown.length;
    const weights = new Float32Array(count * count);
    const { share } = setting as FilterSetting;
    const every = Uint32Array.from({ length: count }, (_, item) => item);
    for (let i = 0; i < count; i++) {
      if (i % 256 === 0) throwIfAborted(options.signal);
      writeScores(parts, [i], share, every, weights.subarray(i * count, (i + 1) * count));
      weights[i * count + i] = 0;
    }
    return Object.freeze({ kind: 'items', offsets: undefined, targets: undefined, weights });
  },
};

type FilterParts = Awaited<ReturnType<typeof filterOf>>;

/** Fewer directions than vertices of the smaller side. */
function directionsOf({ users, shown }: Pick<RankingData, 'users' | 'shown'>): number {
  return Math.max(1, Math.min(DIRECTIONS, Math.floor(Math.min(users.offsets.length - 1, shown.length) / 2)));
}

/** The filter of the data, made once for all shares of a search. */
const filterOf = sharedByTrials(async (data, _, { seed = 1, threads, signal }) => {
  const { users } = data;
  const count = data.shown.length;
  const items = transposeLists(users, count);
  const root = (lists: RowLists) => Float64Array.from(lengths(lists), (d) => (d > 0 ? d ** -0.5 : 0));
  /** degree^(−½) of each side; 0 for vertices without edges. */
  const roots = { users: root(users), items: root(items) };
  const directions = directionsOf(data);
  const random = randomStream(seed, STREAMS.filter);
  /** Items × directions; columns are orthonormal to about 1e-4. */
  const work = { edges: users.values.length, directions, multiplications: ITERATIONS };
  const basis = await withDirectionWorkers(work, threads, (workers) =>
    leadingDirections({ users, items }, roots, directions, ITERATIONS, random, { workers, signal }),
  );
  return { users, items, roots, basis, directions };
});

function writeScores(
  { users, items, roots, basis, directions }: FilterParts,
  history: ArrayLike<number>,
  share: number,
  candidates: Uint32Array,
  out: Float32Array,
): void {
  const linear = new Float64Array(roots.items.length);
  const met = new Map<number, number>();
  const low = new Float64Array(directions);
  for (let h = 0; h < history.length; h++) {
    const item = history[h];
    const root = roots.items[item];
    for (let e = items.offsets[item]; e < items.offsets[item + 1]; e++) {
      const user = items.values[e];
      met.set(user, (met.get(user) ?? 0) + root);
    }
    for (let k = 0; k < directions; k++) low[k] += root * basis[item * directions + k];
  }
  for (const [user, weight] of met) {
    const own = weight * roots.users[user] ** 2;
    for (let e = users.offsets[user]; e < users.offsets[user + 1]; e++) linear[users.values[e]] += own;
  }
  for (let c = 0; c < candidates.length; c++) {
    const root = roots.items[candidates[c]];
    let product = 0;
    const first = candidates[c] * directions;
    for (let k = 0; share > 0 && k < directions; k++) product += low[k] * basis[first + k];
    out[c] = root === 0 ? 0 : linear[candidates[c]] * root + (share * product) / root;
  }
}
