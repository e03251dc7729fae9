// What a worker of the cpu engine does: take the next unit of work, copy its edges into this worker's window of the
// WebAssembly memory, run the kernel, leave the unit's partial sums in the unit's own place.

import { serveTasks } from '../../parallel/worker.js';
import { JOB, type JobValues, UNIT } from './blocks.js';
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
  finishCounts(unit: number): number;
  rowTerms(job: number, unit: number): number;
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
 * show: activities and masses. rowTerms: what rows contribute to the bound.
 */
export type JobKind = 'update' | 'count' | 'finish' | 'edgeTerm' | 'show' | 'rowTerms';

export interface Job {
  readonly engine: number;
  readonly kind: JobKind;
  readonly units: Uint32Array;
  /** Counted up by the workers: the next unit. */
  readonly next: Int32Array;
  /** Number of the edge index. */
  readonly index: number;
  /** Rows that are walked by tiles, if there are any. */
  readonly tiled: TiledRows | undefined;
  /** Address of the pieces' sums, and of the tiled rows'. */
  readonly slots: number;
  readonly tileSums: number;
  /** Address of the units' results: per unit stride float64 of mass, then the edge term, then the first bad row. */
  readonly results: number;
  readonly parameters: Omit<JobValues, 'scratch'>;
}

/** Values in a unit's result beside the mass: the edge term, the first bad row (−1: none). */
export const RESULT_EXTRAS = 2;

/** A worker's part in an engine. By the engine's number: in the caller's thread, several may be at work. */
interface Place {
  readonly memory: WebAssembly.Memory;
  readonly kernels: Kernels;
  /** Addresses: the kernels' scratch, the two blocks, the window. */
  readonly scratch: number;
  readonly job: number;
  readonly unit: number;
  readonly window: number;
  readonly indexes: Map<number, IndexArrays>;
}

const engines = new Map<number, Place>();

/** Features are at most 512, so the scratch of a worker is laid out once. */
export const MAX_STRIDE = 512;
/** Bytes that the kernels themselves need: two blocks of 16 rows, and little else (kernels/rows.ts). */
const KERNEL_BYTES = 2 * 16 * 4 * MAX_STRIDE + 8 * MAX_STRIDE + 4096;
const JOB_BYTES = align(JOB.bytes, 64);
const UNIT_BYTES = align(UNIT.bytes, 64);

function align(bytes: number, to: number): number {
  return Math.ceil(bytes / to) * to;
}

/** Bytes of scratch that a worker needs: the kernels' own, the blocks, and the window. */
export function scratchBytes(limits: UnitLimits): number {
  return KERNEL_BYTES + JOB_BYTES + UNIT_BYTES + windowBytes(limits);
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
  const job = address + KERNEL_BYTES;
  engines.set(engine, {
    ...{ memory, kernels, scratch: address, job, unit: job + JOB_BYTES },
    window: job + JOB_BYTES + UNIT_BYTES,
    indexes: new Map(),
  });
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
  const { kernels, memory } = place;
  const { units, next, parameters } = job;
  const { stride } = parameters;
  JOB.write(memory, place.job, { ...parameters, scratch: place.scratch });
  kernels.bindJob(place.job);
  const results = new Float64Array(memory.buffer, job.results);
  const unitCount = units.length / UNIT_FIELDS;
  for (;;) {
    const unit = Atomics.add(next, 0, 1);
    if (unit >= unitCount) return;
    const result = unit * (stride + RESULT_EXTRAS);
    results.fill(0, result, result + stride + 1);
    results[result + stride + 1] = -1;
    kernels.resetEdgeTerm();
    const bad = runUnit(place, job, unit * UNIT_FIELDS, job.results + 8 * result, (term) => {
      results[result + stride] = term;
    });
    if (bad >= 0) results[result + stride + 1] = bad;
  }
}

/** Runs the kernel of one unit; returns the first bad row, or −1. */
function runUnit(place: Place, job: Job, at: number, mass: number, term: (value: number) => void): number {
  const { kernels, memory, unit } = place;
  const { units, kind, tiled } = job;
  const { stride, withTerm } = job.parameters;
  const [what, first, last, firstEdge, lastEdge, slot] = units.subarray(at, at + UNIT_FIELDS);
  const range = { first, last, edges: lastEdge - firstEdge, slots: 0, pieces: 0, mass };
  const describe = (more: Partial<typeof range> & Window) => UNIT.write(memory, unit, { ...range, ...more });
  const bad = (row: number) => (row >>> 0 < last ? row >>> 0 : -1);
  switch (kind) {
    case 'show':
      describe(NO_WINDOW);
      kernels.showRows(unit);
      return -1;
    case 'rowTerms':
      describe(NO_WINDOW);
      term(kernels.rowTerms(place.job, unit));
      return -1;
    case 'finish':
      describe(NO_WINDOW);
      return bad(kernels.finishCounts(unit));
  }
  const slots = job.slots + 8 * stride * slot;
  if (what === UNIT_FINISH) {
    if (kind === 'edgeTerm') return -1;
    describe({ ...NO_WINDOW, slots, pieces: lastEdge });
    return bad(kind === 'count' ? kernels.countPieces(unit) : kernels.finishRow(unit));
  }
  const index = place.indexes.get(job.index)!;
  const rows = [first, last] as const;
  let row = last;
  if (what === UNIT_PIECE) {
    describe({ ...openWindow(memory, place.window, index, rows, [firstEdge, lastEdge]), slots });
    kernels.passPiece(unit);
  } else if (what === UNIT_TILE && tiled) {
    const window = openTile(memory, place.window, index, rows, lastEdge, tiled, slot);
    // The first tile sets the sums, the others add to them.
    describe({ ...window, slots: job.tileSums + 4 * stride * first, pieces: slot === 0 ? 0 : 1 });
    kernels.passTile(unit);
  } else {
    const window = tiled
      ? openRest(memory, place.window, index, rows, lastEdge, tiled, slot)
      : openWindow(memory, place.window, index, rows, [firstEdge, lastEdge]);
    describe({ ...window, slots: job.tileSums + 4 * stride * slot, mass: kind === 'update' ? mass : 0 });
    row = kind === 'count' ? kernels.countRows(unit) : kernels.walkRows(unit);
  }
  if (withTerm) term(kernels.takeEdgeTerm());
  return bad(row);
}

serveTasks('half-steps', { start, stop, addIndex, dropIndex, run });
