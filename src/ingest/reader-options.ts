// The options of readers, from those of callers. Before anything is opened, the condition on rows is parsed and options
// that contradict each other are refused.

import { option, optionError } from '../options/error.js';
import { sideNames } from '../text/sides.js';
import type { ReaderOptions, ReadOptions } from './options.js';
import { rowFilter } from './where/row-filter.js';

/** `options` have the types that are declared. */
export function readerOptions(options: ReadOptions): ReaderOptions {
  const { where, count, weight, multigraph, names } = options;
  if (weight !== undefined && count !== undefined) {
    throw optionError`${option('weight')} and ${option('count')} both say how often a pair is met; give one of them`;
  }
  if (weight !== undefined && multigraph !== true) {
    throw optionError`${option('weight')}: weights become counts, which only ${option('multigraph')} keeps; add it, or choose rows with ${option('where')}, as in rating >= 4, for an edge or none`;
  }
  if (names) sideNames(names);
  return { ...options, filter: where === undefined ? undefined : rowFilter(where) };
}
