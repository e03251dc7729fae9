// What a worker of the cpu engine does. It takes the next unit and copies the unit's edges into its own window of the WebAssembly
// memory. It runs the kernel and stores the unit's partial sums in the unit's own place.

import { serveTasks } from '../../parallel/worker.js';
import { grownBuffer } from '../../wasm/grown-memory.js';
import { instantiate, type Kernels } from '../../wasm/instantiate.js';
import { JOB, UNIT } from '../../wasm/parameter-blocks.js';
import type { TiledRows } from './tiles.js';
import { countOf, UNIT_FIELDS, UNIT_FINISH, UNIT_PIECE, UNIT_TILE, type UnitLimits } from './units.js';
import {
  type IndexArrays,
  NO_WINDOW,
  openRest,
  openTile,
  openWindow,
  type Window,
  windowBytes,
} from './windows.js';

export interface Setup {
  readonly engine: number;
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  /** A counter. Each worker increments it to get its position in `scratch`. */
  readonly places: Int32Array;
  /** Scratch address of each worker. */
  readonly scratch: readonly number[];
}

/**
 * update: both halves of a half-step, fused. count, finish: one half each. edgeTerm: only the edge pass. show: activities and
 * masses. rowTerms: the rows' contribution to the bound. foldFresh: several half-steps of re-initialised rows.
 */
export type JobKind = 'update' | 'count' | 'finish' | 'edgeTerm' | 'show' | 'rowTerms' | 'foldFresh';

/** Units of one table and, if edges are walked, one index and one other table. */
export interface JobPart {
  readonly units: Uint32Array;
  /** Address of the job block that the units share (wasm/parameter-blocks.ts). */
  readonly block: number;
  readonly index: number;
  /** The rows that are walked by tiles, if any. */
  readonly tiled: TiledRows | undefined;
  /** Addresses of the sums of pieces and of the sums of tiled rows. */
  readonly pieceSums: number;
  readonly tileSums: number;
  /** With groups: where the units of each group begin in `units`, and where the last group ends. */
  readonly begins: Uint32Array | undefined;
}

export interface Job {
  readonly engine: number;
  readonly kind: JobKind;
  readonly parts: readonly JobPart[];
  /**
   * Groups of rows. One worker takes all units of a group, part by part, so that the group's counts stay in its cache.
   * Undefined: workers take single units.
   */
  readonly groups: Groups | undefined;
  /** The next unit or group; workers increment it. */
  readonly next: Int32Array;
  readonly stride: number;
  readonly withTerm: boolean;
  /**
   * Address of the results. Each unit (or group) has stride float64 of mass, then the edge term, then the first bad row. After
   * the groups follow the edge term and the first bad row of each unit, part by part.
   */
  readonly results: number;
  /** Least size of the memory that holds all these addresses. */
  readonly bytes: number;
}

export interface Groups {
  /** Units of whole rows. */
  readonly units: Uint32Array;
  /** Whether to set counts to zero first, and whether to complete the half-step from them last. */
  readonly clears: boolean;
  readonly finishes: boolean;
}

/** Values of a unit's result after the mass: the edge term and the first bad row (−1: none). */
export const RESULT_EXTRAS = 2;

/** What a worker keeps for one engine. Keyed by engine id: several engines may run in the caller's thread. */
interface Place {
  readonly memory: WebAssembly.Memory;
  readonly kernels: Kernels;
  /** Addresses of the unit's block and of the window. */
  readonly unit: number;
  readonly window: number;
  readonly indexes: Map<number, IndexArrays>;
}

const engines = new Map<number, Place>();

/** Features are at most 512, so a worker's scratch has a fixed layout. */
export const MAX_STRIDE = 512;
/** Bytes that the kernels need: two blocks of 16 rows, one row in float64, and a little more (kernels/rows.ts). */
const KERNEL_BYTES = 2 * 16 * 4 * MAX_STRIDE + 8 * MAX_STRIDE + 4096;
const UNIT_BYTES = Math.ceil(UNIT.bytes / 64) * 64;

/** Bytes of a worker's scratch: the kernels' own, the unit's block and the window. */
export function scratchBytes(limits: UnitLimits): number {
  return KERNEL_BYTES + UNIT_BYTES + windowBytes(limits);
}

export function start({ engine, module, memory, places, scratch }: Setup): void {
  const kernels = instantiate(module, memory);
  const need = kernels.scratchBytes(MAX_STRIDE);
  if (need > KERNEL_BYTES)
    throw new RangeError(`the kernels need ${need} bytes of scratch, but have ${KERNEL_BYTES}`);
  for (const [ours, theirs] of [
    [JOB.bytes, kernels.jobBytes()],
    [UNIT.bytes, kernels.unitBytes()],
  ]) {
    if (ours !== theirs)
      throw new RangeError(`a parameter block has ${theirs} bytes in the kernels, but ${ours} in the host`);
  }
  const address = scratch[Atomics.add(places, 0, 1)];
  const unit = address + KERNEL_BYTES;
  kernels.bindWorker(address, unit);
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

/** Takes units of the job until none is left. */
export function run(job: Job): void {
  const place = engines.get(job.engine)!;
  if (job.groups) runGroups(place, job, job.groups);
  else runUnits(place, job);
}

function runUnits(place: Place, job: Job): void {
  const { kernels, memory } = place;
  const { parts, next, stride } = job;
  const buffer = grownBuffer(memory, job.bytes);
  const results = new Float64Array(buffer, job.results);
  const words = new Uint32Array(buffer);
  let p = -1;
  /** Number of units in the parts before p, and up to p. */
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
      kernels.clearRows();
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
      bad = badRow(kernels.finishCounts(), last);
    }
    results[result + stride + 1] = bad;
  }
}

/** Converts what a kernel returns (the first bad row, or `last`) to the first bad row, or −1. */
function badRow(row: number, last: number): number {
  return row >>> 0 < last ? row >>> 0 : -1;
}

const WORD = Object.fromEntries(
  Object.entries(UNIT.at).map(([field, at]) => [field, at / 4]),
) as typeof UNIT.at;

/** Writes the fields one by one: a unit may take only a few microseconds. */
function describe(
  { unit }: Place,
  words: Uint32Array,
  first: number,
  last: number,
  edges: number,
  mass: number,
  window: Window,
  pieceSums = 0,
  pieces = 0,
  tileSums = 0,
  addsTile = 0,
): void {
  const at = unit / 4;
  words[at + WORD.first] = first;
  words[at + WORD.last] = last;
  words[at + WORD.offsets] = window.offsets;
  words[at + WORD.neighbors] = window.neighbors;
  words[at + WORD.edgeCounts] = window.edgeCounts;
  words[at + WORD.tiledRows] = window.tiledRows;
  words[at + WORD.edges] = edges;
  words[at + WORD.pieceSums] = pieceSums;
  words[at + WORD.pieces] = pieces;
  words[at + WORD.tileSums] = tileSums;
  words[at + WORD.addsTile] = addsTile;
  words[at + WORD.mass] = mass;
}

/** Runs the kernel of one unit. Writes the edge term and the first bad row to `results` at `to`. */
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

/** Returns the first bad row, or the unit's `last` if no row is bad. */
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
  const { kernels } = place;
  const { units, tiled } = part;
  const what = units[at];
  const first = units[at + 1];
  const last = units[at + 2];
  const firstEdge = units[at + 3];
  const lastEdge = units[at + 4];
  const slot = units[at + 5];
  const edges = lastEdge - firstEdge;
  if (kind === 'show' || kind === 'rowTerms' || kind === 'finish') {
    describe(place, words, first, last, edges, mass, NO_WINDOW);
    if (kind === 'finish') return kernels.finishCounts();
    if (kind === 'show') kernels.showRows();
    else results[to] = kernels.rowTerms();
    return last;
  }
  const pieceSums = part.pieceSums + 8 * stride * slot;
  if (what === UNIT_FINISH) {
    if (kind === 'edgeTerm') return last;
    describe(place, words, first, last, edges, mass, NO_WINDOW, pieceSums, lastEdge);
    if (kind === 'foldFresh') return kernels.foldFreshLong();
    return kind === 'count' ? kernels.countPieces() : kernels.finishRow();
  }
  const index = place.indexes.get(part.index)!;
  const rows = [first, last] as const;
  let row = last;
  if (what === UNIT_PIECE) {
    const window = openWindow(words, place.window, index, rows, [firstEdge, lastEdge]);
    describe(place, words, first, last, edges, mass, window, pieceSums);
    kernels.passPiece();
  } else if (what === UNIT_TILE && tiled) {
    const window = openTile(words, place.window, index, rows, lastEdge, tiled, slot);
    const sums = part.tileSums + 4 * stride * first;
    describe(place, words, first, last, edges, mass, window, 0, 0, sums, slot === 0 ? 0 : 1);
    kernels.passTile();
  } else {
    const window = tiled
      ? openRest(words, place.window, index, rows, lastEdge, tiled, slot)
      : openWindow(words, place.window, index, rows, [index.offsets[first], index.offsets[last]]);
    const sums = part.tileSums + 4 * stride * slot;
    describe(place, words, first, last, edges, kind === 'edgeTerm' ? 0 : mass, window, 0, 0, sums);
    if (kind === 'foldFresh') return kernels.foldFreshRows();
    row = kind === 'count' ? kernels.countRows() : kernels.walkRows();
  }
  if (withTerm) results[to] = kernels.takeEdgeTerm();
  return row;
}

serveTasks('half-steps', { start, stop, addIndex, dropIndex, run });
