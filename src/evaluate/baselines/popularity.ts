import { lengths } from '../../math/csr.js';
import { popularityScorer } from '../../predict/scoring/scorer.js';
import type { Baseline } from './baseline.js';

/** The same list for everyone: items by training degree. */
export const popularity: Baseline<'popularity'> = {
  name: 'popularity',
  title: 'popularity',
  meaning: 'the same list for everyone: what most users have',
  axes: () => [],
  fit: async ({ items }) => ({
    setting: {},
    scorer: async () => popularityScorer(lengths(items)),
  }),
  scores: async () => Object.freeze({ kind: 'popularity' }),
};
