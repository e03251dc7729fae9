// The differences between the numbers of two studies, except times and machines: a check that a study can be repeated.

import type { StudyResults } from './results.js';

export interface StudyDifference {
  /** Where, as in 'runs.0.fits.1.bound'. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** What may differ between two runs of the same study: when, where and how fast. */
const ASIDE = new Set([
  'engine',
  'engines',
  'seconds',
  'secondsPerIteration',
  'timings',
  'origin',
  'engineReason',
  'graphexVersion',
  // Sentences of the verdict, and codes that follow from the same numbers.
  'text',
  'meanings',
  'advice',
  'reasons',
  'names',
  'title',
  'skipped',
]);

/** Where two studies differ, at most `most` places. Empty: the same numbers to the last digit. */
export function compareStudies(before: StudyResults, after: StudyResults, most = 20): StudyDifference[] {
  const found: StudyDifference[] = [];
  const walk = (a: unknown, b: unknown, path: string): void => {
    if (found.length >= most || Object.is(a, b)) return;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
      found.push({ path, before: a, after: b });
      return;
    }
    const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
    for (const key of keys) {
      // Fields that an earlier version did not have are no difference.
      if (ASIDE.has(key) || !Object.hasOwn(a, key)) continue;
      walk(
        (a as Record<string, unknown>)[key],
        (b as Record<string, unknown>)[key],
        path ? `${path}.${key}` : key,
      );
    }
  };
  for (const part of PARTS) walk(plain(before[part]), plain(after[part]), part);
  return found;
}

/** Words are left out: they carry the source's name, and otherwise follow from the numbers. */
const PARTS = ['receipt', 'check', 'runs', 'chosen', 'evidence', 'topics', 'summary'] as const;

/** As a file holds it. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
