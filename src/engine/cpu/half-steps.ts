// What a worker of the cpu engine does: take the next unit of work, copy its edges into this worker's window of the
// WebAssembly memory, run the kernel, leave the unit's partial sums in the unit's own place.

import { serveTasks } from '../../parallel/worker.js';
import { grownBuffer } from '../../wasm/grown-memory.js';
import { JOB, UNIT } from '../../wasm/parameter-blocks.js';
import type { TiledRows } from './tiles.js';
import { UNIT_FIELDS, UNIT_FINISH, UNIT_PIECE, UNIT_TILE, type UnitLimits } from './units.js';
import {
  type IndexArrays,
  NO_WINDOW,
  openRest,
  openTile,
  openWindow,
  type Window,
  windowBytes,
} from './windows.js';

/** The kernels' exports, as far as half-steps use them. Each takes the address of a unit's block, after `bindJob`. */
interface Kernels {
  jobBytes(): number;
  unitBytes(): number;
  scratchBytes(stride: number): number;
  bindScratch(scratch: number): void;
  bindJob(job: number): void;
  resetEdgeTerm(): void;
  takeEdgeTerm(): number;
  showRows(unit: number): void;
  passPiece(unit: number): void;
  passTile(unit: number): void;
  /** These return the first bad row, or the unit's last. */
  walkRows(unit: number): number;
  finishRow(unit: number): number;
  countRows(unit: number): number;
  countPieces(unit: number): number;
  clearRows(unit: number): void;
  finishCounts(unit: number): number;
  rowTerms(job: number, unit: number): number;
  renewRows(job: number, unit: number): number;
  renewLong(job: number, unit: number): number;
}

export interface Setup {
  /** The engine's number. */
  readonly engine: number;
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  /** One number that workers count up to take their place. */
  readonly places: Int32Array;
  /** Address of each place's scratch. */
  readonly scratch: readonly number[];
}

/**
 * update: both halves of a half-step, fused. count, finish: one of them. edgeTerm: the edge pass without what follows.
 * show: activities and masses. rowTerms: what rows contribute to the bound. anew: several half-steps of rows that begin anew.
 */
export type JobKind = 'update' | 'count' | 'finish' | 'edgeTerm' | 'show' | 'rowTerms' | 'foldFresh';

/** Units of one table and, where edges are walked, one index and one other table. */
export interface JobPart {
  readonly units: Uint32Array;
  /** Address of what the units have in common (blocks.ts). */
  readonly block: number;
  /** Number of the edge index. */
  readonly index: number;
  /** Rows that are walked by tiles, if there are any. */
  readonly tiled: TiledRows | undefined;
  /** Address of the pieces' sums, and of the tiled rows'. */
  readonly slots: number;
  readonly tileSums: number;
  /** Where the units of each group begin, and the last ends, in units; where there are groups. */
  readonly begins: Uint32Array | undefined;
}

export interface Job {
  readonly engine: number;
  readonly kind: JobKind;
  readonly parts: readonly JobPart[];
  /**
   * Rows whose units in all parts are one worker's, one part after the other: their counts stay in its cache meanwhile.
   * Undefined: workers take unit by unit.
   */
  readonly groups: Groups | undefined;
  /** Counted up by the workers: the next unit, or group. */
  readonly next: Int32Array;
  readonly stride: number;
  readonly withTerm: boolean;
  /**
   * Address of the results. Per unit, or group, stride float64 of mass, then the edge term, then the first bad row; after those
   * of groups, per unit of each part the edge term and the first bad row.
   */
  readonly results: number;
  /** Size of the memory that all addresses are in. */
  readonly bytes: number;
}

export interface Groups {
  /** Units of whole rows. */
  readonly units: Uint32Array;
  /** Whether counts are set to zero first, and whether the half-step is completed from them last. */
  readonly clears: boolean;
  readonly finishes: boolean;
}

/** Values in a unit's result beside the mass: the edge term, the first bad row (−1: none). */
export const RESULT_EXTRAS = 2;

/** A worker's part in an engine. By the engine's number: in the caller's thread, several may be at work. */
interface Place {
  readonly memory: WebAssembly.Memory;
  readonly kernels: Kernels;
  /** Addresses: the unit's block, the window. */
  readonly unit: number;
  readonly window: number;
  readonly indexes: Map<number, IndexArrays>;
}

const engines = new Map<number, Place>();

/** Features are at most 512, so the scratch of a worker is laid out once. */
export const MAX_STRIDE = 512;
/** Bytes that the kernels themselves need: two blocks of 16 rows, and little else (kernels/rows.ts). */
const KERNEL_BYTES = 2 * 16 * 4 * MAX_STRIDE + 8 * MAX_STRIDE + 4096;
const UNIT_BYTES = Math.ceil(UNIT.bytes / 64) * 64;

/** Bytes of scratch that a worker needs: the kernels' own, the unit's block, and the window. */
export function scratchBytes(limits: UnitLimits): number {
  return KERNEL_BYTES + UNIT_BYTES + windowBytes(limits);
}

export function start({ engine, module, memory, places, scratch }: Setup): void {
  const instance = new WebAssembly.Instance(module, { env: { memory, abort: () => {} } });
  const kernels = instance.exports as unknown as Kernels;
  const need = kernels.scratchBytes(MAX_STRIDE);
  if (need > KERNEL_BYTES) throw new RangeError(`kernels need ${need} bytes of scratch, not ${KERNEL_BYTES}`);
  for (const [ours, theirs] of [
    [JOB.bytes, kernels.jobBytes()],
    [UNIT.bytes, kernels.unitBytes()],
  ]) {
    if (ours !== theirs) throw new RangeError(`blocks of ${theirs} bytes in the kernels, ${ours} here`);
  }
  const address = scratch[Atomics.add(places, 0, 1)];
  kernels.bindScratch(address);
  const unit = address + KERNEL_BYTES;
  engines.set(engine, { memory, kernels, unit, window: unit + UNIT_BYTES, indexes: new Map() });
}

export function stop(engine: number): void {
  engines.delete(engine);
}

export function addIndex({ engine, index }: { engine: number; index: IndexArrays }): void {
  engines.get(engine)!.indexes.set(index.id, index);
}

export function dropIndex({ engine, id }: { engine: number; id: number }): void {
  engines.get(engine)?.indexes.delete(id);
}

/** Works on the job until no unit is left. */
export function run(job: Job): void {
  const place = engines.get(job.engine)!;
  if (job.groups) runGroups(place, job, job.groups);
  else runUnits(place, job);
}

const countOf = (units: Uint32Array): number => units.length / UNIT_FIELDS;

function runUnits(place: Place, job: Job): void {
  const { kernels, memory } = place;
  const { parts, next, stride } = job;
  const buffer = grownBuffer(memory, job.bytes);
  const results = new Float64Array(buffer, job.results);
  const words = new Uint32Array(buffer);
  let p = -1;
  /** Units of the parts before p, and of p too. */
  let before = 0;
  let until = 0;
  for (;;) {
    const unit = Atomics.add(next, 0, 1);
    if (unit >= until) {
      while (unit >= until) {
        if (++p === parts.length) return;
        before = until;
        until += countOf(parts[p].units);
      }
      kernels.bindJob(parts[p].block);
    }
    const result = unit * (stride + RESULT_EXTRAS);
    results.fill(0, result, result + stride);
    runUnit(place, job, parts[p], unit - before, job.results + 8 * result, words, results, result + stride);
  }
}

function runGroups(place: Place, job: Job, { units, clears, finishes }: Groups): void {
  const { kernels, memory } = place;
  const { parts, next, stride } = job;
  const buffer = grownBuffer(memory, job.bytes);
  const results = new Float64Array(buffer, job.results);
  const words = new Uint32Array(buffer);
  const groups = countOf(units);
  for (;;) {
    const group = Atomics.add(next, 0, 1);
    if (group >= groups) return;
    const [, first, last] = units.subarray(group * UNIT_FIELDS, (group + 1) * UNIT_FIELDS);
    const result = group * (stride + RESULT_EXTRAS);
    const whole = () => describe(place, words, first, last, 0, job.results + 8 * result, NO_WINDOW);
    if (clears) {
      if (parts.length > 0) kernels.bindJob(parts[0].block);
      whole();
      kernels.clearRows(place.unit);
    }
    let to = groups * (stride + RESULT_EXTRAS);
    for (const part of parts) {
      const { begins, block } = part;
      const [from, end] = [begins![group], begins![group + 1]];
      if (end > from) kernels.bindJob(block);
      for (let u = from; u < end; u++)
        runUnit(place, job, part, u, 0, words, results, to + RESULT_EXTRAS * u);
      to += RESULT_EXTRAS * countOf(part.units);
    }
    results.fill(0, result, result + stride + 1);
    let bad = -1;
    if (finishes) {
      whole();
      bad = badRow(kernels.finishCounts(place.unit), last);
    }
    results[result + stride + 1] = bad;
  }
}

/** What a kernel returns: the first bad row, or the unit's last. */
function badRow(row: number, last: number): number {
  return row >>> 0 < last ? row >>> 0 : -1;
}

const WORD = Object.fromEntries(
  Object.entries(UNIT.at).map(([field, at]) => [field, at / 4]),
) as typeof UNIT.at;

/** Field by field: a unit may be over in a few microseconds. */
function describe(
  { unit }: Place,
  words: Uint32Array,
  first: number,
  last: number,
  edges: number,
  mass: number,
  window: Window,
  slots = 0,
  pieces = 0,
): void {
  const at = unit / 4;
  words[at + WORD.first] = first;
  words[at + WORD.last] = last;
  words[at + WORD.offsets] = window.offsets;
  words[at + WORD.neighbors] = window.neighbors;
  words[at + WORD.edgeCounts] = window.edgeCounts;
  words[at + WORD.tiledRows] = window.tiledRows;
  words[at + WORD.edges] = edges;
  words[at + WORD.slots] = slots;
  words[at + WORD.pieces] = pieces;
  words[at + WORD.mass] = mass;
}

/** Runs the kernel of one unit; its edge term and the first bad row go to `results`, from `to` on. */
function runUnit(
  place: Place,
  job: Job,
  part: JobPart,
  number: number,
  mass: number,
  words: Uint32Array,
  results: Float64Array,
  to: number,
): void {
  const { kernels } = place;
  results[to] = 0;
  kernels.resetEdgeTerm();
  const row = runKernel(place, job, part, number * UNIT_FIELDS, mass, words, results, to);
  results[to + 1] = badRow(row, part.units[number * UNIT_FIELDS + 2]);
}

/** Returns the first bad row, or the unit's last. */
function runKernel(
  place: Place,
  { kind, stride, withTerm }: Job,
  part: JobPart,
  at: number,
  mass: number,
  words: Uint32Array,
  results: Float64Array,
  to: number,
): number {
  const { kernels, unit } = place;
  const { units, tiled } = part;
  const what = units[at];
  const first = units[at + 1];
  const last = units[at + 2];
  const firstEdge = units[at + 3];
  const lastEdge = units[at + 4];
  const slot = units[at + 5];
  const edges = lastEdge - firstEdge;
  switch (kind) {
    case 'show':
      describe(place, words, first, last, edges, mass, NO_WINDOW);
      kernels.showRows(unit);
      return last;
    case 'rowTerms':
      describe(place, words, first, last, edges, mass, NO_WINDOW);
      results[to] = kernels.rowTerms(part.block, unit);
      return last;
    case 'finish':
      describe(place, words, first, last, edges, mass, NO_WINDOW);
      return kernels.finishCounts(unit);
  }
  const slots = part.slots + 8 * stride * slot;
  if (what === UNIT_FINISH) {
    if (kind === 'edgeTerm') return last;
    describe(place, words, first, last, edges, mass, NO_WINDOW, slots, lastEdge);
    if (kind === 'foldFresh') return kernels.renewLong(part.block, unit);
    return kind === 'count' ? kernels.countPieces(unit) : kernels.finishRow(unit);
  }
  const index = place.indexes.get(part.index)!;
  const rows = [first, last] as const;
  let row = last;
  if (what === UNIT_PIECE) {
    const window = openWindow(words, place.window, index, rows, [firstEdge, lastEdge]);
    describe(place, words, first, last, edges, mass, window, slots);
    kernels.passPiece(unit);
  } else if (what === UNIT_TILE && tiled) {
    const window = openTile(words, place.window, index, rows, lastEdge, tiled, slot);
    // The first tile sets the sums, the others add to them.
    const sums = part.tileSums + 4 * stride * first;
    describe(place, words, first, last, edges, mass, window, sums, slot === 0 ? 0 : 1);
    kernels.passTile(unit);
  } else {
    const window = tiled
      ? openRest(words, place.window, index, rows, lastEdge, tiled, slot)
      : openWindow(words, place.window, index, rows, [firstEdge, lastEdge]);
    const sums = part.tileSums + 4 * stride * slot;
    describe(place, words, first, last, edges, kind === 'edgeTerm' ? 0 : mass, window, sums);
    if (kind === 'foldFresh') return kernels.renewRows(part.block, unit);
    row = kind === 'count' ? kernels.countRows(unit) : kernels.walkRows(unit);
  }
  if (withTerm) results[to] = kernels.takeEdgeTerm();
  return row;
}

serveTasks('half-steps', { start, stop, addIndex, dropIndex, run });
