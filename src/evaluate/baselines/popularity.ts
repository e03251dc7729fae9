import type { BaselineData, FittedBaseline } from './baseline.js';
import { lengths } from './baseline.js';

/** The same list for everyone: items by training degree. */
export function fitPopularity({ items }: BaselineData): FittedBaseline {
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
}
