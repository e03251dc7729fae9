// Tables and counts of the cpu engine: where their arrays lie in WebAssembly memory, and how values are copied in and out.

import { allocate, allocateFrom } from '../../math/memory.js';
import type { Heap } from '../../wasm/heap.js';
import {
  ACTIVITY_FLOOR,
  byField,
  type ExpectedCounts,
  type RowMeans,
  type RowRange,
  type TableValues,
  type UniformValues,
} from '../engine.js';
import { noTotals } from '../totals.js';
import { UNIT_ROWS } from './units.js';

export type CpuTable = ReturnType<typeof allocateTable>;
/** A table that holds only means: the activities that edge passes read, and the mean of each row's weight. */
export type MeansTable = ReturnType<typeof allocateMeans>;
/** Tables that edges may lead to. */
export type Gathered = CpuTable | MeansTable;

export interface CpuCounts extends ExpectedCounts {
  readonly kind: 'counts';
  readonly stride: number;
  /** rows × stride int64. */
  readonly at: number;
  /** Groups of rows: one worker counts and finishes a whole group. */
  readonly groups: Uint32Array;
}

/** Features rounded up to whole vectors of four. */
export const strideOf = (features: number): number => Math.ceil(features / 4) * 4;

export function allocateTable(heap: Heap, rows: number, features: number) {
  const stride = strideOf(features);
  return {
    ...{ kind: 'table' as const, rows, features, stride },
    /** Addresses of the arrays. */
    at: {
      ...byField(stride, (_, width) => heap.allocate(4 * rows * width)),
      ...allocateActivity(heap, rows, features),
    },
    /** Never changed in place: an update replaces the object. */
    totals: noTotals(features),
    /** Units of equal numbers of rows, for passes that walk no edges. */
    evenUnits: evenUnits(rows),
  };
}

export function allocateMeans(heap: Heap, rows: number, features: number) {
  const stride = strideOf(features);
  const at = { freshWeights: heap.allocate(4 * rows), ...allocateActivity(heap, rows, features) };
  return { kind: 'means' as const, rows, features, stride, at, totals: noTotals(features) };
}

function allocateActivity(heap: Heap, rows: number, features: number) {
  const stride = strideOf(features);
  /** stride float32: all bits set in the lanes of real features, 0 in padding. */
  const laneMask = heap.allocate(4 * stride);
  heap.u32(laneMask, features).fill(0xffffffff);
  return { activity: heap.allocate(4 * rows * stride), laneMask };
}

/** Sets the first means of re-initialised rows. Kernels start short rows themselves; rows in `long` get their activities here. */
export function beginMeans(
  heap: Heap,
  { rows, features, stride, at }: MeansTable,
  { weight, feature }: RowMeans,
  long: readonly number[],
): void {
  const weights = heap.f32(at.freshWeights, rows);
  if (typeof weight === 'number') weights.fill(weight);
  else weights.set(weight);
  for (const row of long) {
    const shown = Math.max(weights[row] * Math.fround(feature), ACTIVITY_FLOOR);
    heap.f32(at.activity + 4 * row * stride, features).fill(shown);
  }
}

export function freeTable(heap: Heap, { at }: Gathered): void {
  for (const address of Object.values(at)) heap.release(address);
}

export function storeTable(
  heap: Heap,
  { rows, features, stride, at }: CpuTable,
  values: TableValues | UniformValues,
): void {
  for (const field of ['weightShape', 'weightRate'] as const) {
    const given = values[field];
    if (typeof given === 'number') heap.f32(at[field], rows).fill(given);
    else heap.f32(at[field], rows).set(given);
  }
  // Padding lanes: shape 0 over rate 1.
  for (const [field, padding] of [
    ['featureShape', 0],
    ['featureRate', 1],
  ] as const) {
    const given = values[field];
    const into = heap.f32(at[field], rows * stride);
    if (typeof given === 'number') {
      into.fill(given);
      for (let k = features; k < stride; k++) for (let i = k; i < into.length; i += stride) into[i] = padding;
    } else {
      // Value by value: for rows this short, creating a view takes longer than copying.
      for (let i = 0, from = 0, to = 0; i < rows; i++) {
        for (const end = from + features; from < end; ) into[to++] = given[from++];
        for (const end = (i + 1) * stride; to < end; ) into[to++] = padding;
      }
    }
  }
}

/** A table's values without padding lanes. */
function unpadded(heap: Heap, { rows, features, stride }: Gathered, address: number): Float32Array {
  const padded = heap.f32(address, rows * stride);
  const result = allocate(Float32Array, rows * features);
  if (stride === features) result.set(padded);
  else {
    for (let i = 0, to = 0; i < rows; i++) {
      for (let from = i * stride, end = from + features; from < end; ) result[to++] = padded[from++];
    }
  }
  return result;
}

export const loadMeans = (heap: Heap, table: MeansTable): Float32Array =>
  unpadded(heap, table, table.at.activity);

export function loadTable(heap: Heap, table: CpuTable): TableValues {
  const { rows } = table;
  return {
    weightShape: heap.f32(table.at.weightShape, rows).slice(),
    weightRate: heap.f32(table.at.weightRate, rows).slice(),
    featureShape: unpadded(heap, table, table.at.featureShape),
    featureRate: unpadded(heap, table, table.at.featureRate),
  };
}

export function loadCounts(
  heap: Heap,
  { features, stride, at }: CpuCounts,
  { first, last }: RowRange,
): BigInt64Array {
  const padded = heap.i64(at + 8 * first * stride, (last - first) * stride);
  if (stride === features) return padded.slice();
  const result = new BigInt64Array((last - first) * features);
  for (let i = 0; i < last - first; i++) {
    result.set(padded.subarray(i * stride, i * stride + features), i * features);
  }
  return result;
}

export function storeCounts(
  heap: Heap,
  { features, stride, at }: CpuCounts,
  values: BigInt64Array,
  first: number,
): void {
  const rows = values.length / features;
  const padded = heap.i64(at + 8 * first * stride, rows * stride);
  if (stride === features) padded.set(values);
  else {
    for (let i = 0; i < rows; i++) {
      padded.set(values.subarray(i * features, (i + 1) * features), i * stride);
    }
  }
}

const EVEN_ROWS = 2048;

function evenUnits(rows: number): Uint32Array {
  const units: number[] = [];
  for (let row = 0; row < rows; row += EVEN_ROWS) {
    units.push(UNIT_ROWS, row, Math.min(rows, row + EVEN_ROWS), 0, 0, 0);
  }
  return allocateFrom(units);
}
