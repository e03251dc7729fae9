// The results of a study with its predictive checks removed.

import type { StudyResults } from '../../src/study/results.js';

export function withoutDraws(results: StudyResults): StudyResults {
  return {
    ...results,
    receipt: { ...results.receipt, settings: { ...results.receipt.settings, draws: 0 } },
    runs: results.runs.map((run) => ({
      ...run,
      fits: run.fits.map((fit) => ({ ...fit, predictive: null })),
    })),
    summary: { ...results.summary, prediction: {} },
  };
}
