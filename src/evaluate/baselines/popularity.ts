import { lengths } from '../../math/csr.js';
import type { Baseline } from './baseline.js';

/** The same list for everyone: items by training degree. */
export const popularity: Baseline<'popularity'> = {
  name: 'popularity',
  title: 'popularity',
  meaning: 'the same list for everyone: what most users have',
  axes: () => [],
  limit: () => undefined,
  async fit({ items }) {
    const degree = lengths(items);
    return {
      setting: {},
      scorer: async () => ({
        kind: 'rows',
        scores: (_row, candidates, out) => {
          for (let c = 0; c < candidates.length; c++) out[c] = degree[candidates[c]];
        },
      }),
    };
  },
  scores: async () => Object.freeze({ kind: 'popularity' }),
};
