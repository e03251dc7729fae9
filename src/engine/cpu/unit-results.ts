// Adds up the results of a job's units in unit order, so that any number of threads gives the same bits.

import type { Table } from '../engine.js';
import { RESULT_EXTRAS } from './half-steps.js';

export function sumMass(results: Float64Array, table: Table & { readonly stride: number }): Float64Array {
  const mass = new Float64Array(table.features);
  const size = table.stride + RESULT_EXTRAS;
  for (let at = 0; at < results.length; at += size) {
    for (let k = 0; k < table.features; k++) mass[k] += results[at + k];
  }
  return mass;
}

/** The edge term, or the row terms. */
export function sumTerm(results: Float64Array, stride: number): number {
  let sum = 0;
  for (let at = stride; at < results.length; at += stride + RESULT_EXTRAS) sum += results[at];
  return sum;
}

/** The first bad row; −1: none. */
export function firstBad(results: Float64Array, stride: number): number {
  for (let at = stride + 1; at < results.length; at += stride + RESULT_EXTRAS) {
    if (results[at] >= 0) return results[at];
  }
  return -1;
}
