// What a worker of the cpu engine does: take the next unit of work, copy its edges into this worker's window of the
// WebAssembly memory, run the kernel, leave the unit's partial sums in the unit's own place.

import { serveTasks } from '../../parallel/worker.js';
import { ACTIVITY_FLOOR, RELAXATION_FLOOR, WEIGHT_SHAPE_FLOOR } from '../engine.js';
import { UNIT_FIELDS, UNIT_FINISH, UNIT_PIECE } from './units.js';

/** The kernels' exports, as far as this engine uses them. */
interface Kernels {
  resetEdgeTerm(): void;
  takeEdgeTerm(): number;
  bindTable(ws: number, wr: number, fs: number, fr: number, activity: number): void;
  bindHyper(...values: number[]): void;
  passPiece(...values: number[]): void;
  finishRow(...values: number[]): number;
  scratchBytes(stride: number): number;
  showRows(first: number, last: number, stride: number, scratch: number, mass: number): void;
  walkRows(...values: number[]): number;
  rowTerms(...values: number[]): number;
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
  readonly limits: { readonly edges: number; readonly rows: number };
}

/** Addresses of a table's arrays. */
export interface TableAddresses {
  readonly weightShape: number;
  readonly weightRate: number;
  readonly featureShape: number;
  readonly featureRate: number;
  readonly activity: number;
}

export interface IndexArrays {
  readonly id: number;
  readonly offsets: Uint32Array;
  readonly neighbors: Uint32Array;
  readonly counts: Uint32Array | undefined;
}

export interface Job {
  readonly engine: number;
  readonly kind: 'update' | 'edgeTerm' | 'show' | 'rowTerms';
  readonly units: Uint32Array;
  /** Counted up by the workers: the next unit. */
  readonly next: Int32Array;
  readonly index: number;
  readonly features: number;
  readonly stride: number;
  readonly own: TableAddresses;
  /** Address of the other table's activities. */
  readonly other: number;
  readonly otherMass: number;
  readonly laneMask: number;
  /** Address of the pieces' sums. */
  readonly slots: number;
  /** Address of the units' results: per unit stride float64 of mass, then the edge term, then the first bad row. */
  readonly results: number;
  readonly hyper: {
    readonly sigma: number;
    readonly tau: number;
    readonly shape: number;
    readonly rate: number;
  };
  readonly exact: boolean;
  readonly relaxation: number;
  readonly withTerm: boolean;
}

/** Values in a unit's result beside the mass: the edge term, the first bad row (−1: none). */
export const RESULT_EXTRAS = 2;

/** A worker's part in an engine. By the engine's number: in the caller's thread, several may be at work. */
interface Place {
  readonly memory: WebAssembly.Memory;
  readonly kernels: Kernels;
  readonly scratch: number;
  readonly indexes: Map<number, IndexArrays>;
}

const engines = new Map<number, Place>();

/** Features are at most 512, so the scratch of a worker is laid out once. */
export const MAX_STRIDE = 512;
/** Bytes that the kernels themselves need: a block of 16 rows, and little else (kernels/rows.ts). */
const KERNEL_BYTES = 16 * 4 * MAX_STRIDE + 8 * MAX_STRIDE + 4096;

/** Kernels read counts four at a time: so many bytes after the last. */
const SLACK = 16;

/** Bytes of scratch that a worker needs: the kernels' own, and the window's offsets, neighbours and counts. */
export function scratchBytes(limits: Setup['limits']): number {
  return KERNEL_BYTES + 4 * (limits.rows + 1) + 8 * limits.edges + 3 * (SLACK + 24);
}

export function start({ engine, module, memory, places, scratch }: Setup): void {
  const instance = new WebAssembly.Instance(module, { env: { memory, abort: () => {} } });
  const kernels = instance.exports as unknown as Kernels;
  const need = kernels.scratchBytes(MAX_STRIDE);
  if (need > KERNEL_BYTES) throw new RangeError(`kernels need ${need} bytes of scratch, not ${KERNEL_BYTES}`);
  const place = scratch[Atomics.add(places, 0, 1)];
  engines.set(engine, { memory, kernels, scratch: place, indexes: new Map() });
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
  const { kernels, scratch, memory } = place;
  const { units, next, stride } = job;
  const { own, hyper } = job;
  kernels.bindTable(own.weightShape, own.weightRate, own.featureShape, own.featureRate, own.activity);
  kernels.bindHyper(
    hyper.sigma,
    hyper.tau,
    hyper.shape,
    hyper.rate,
    job.exact ? 1 : 0,
    job.otherMass,
    job.laneMask,
    WEIGHT_SHAPE_FLOOR,
    ACTIVITY_FLOOR,
    job.relaxation,
    RELAXATION_FLOOR,
  );
  const results = new Float64Array(memory.buffer, job.results);
  const unitCount = units.length / UNIT_FIELDS;
  for (;;) {
    const unit = Atomics.add(next, 0, 1);
    if (unit >= unitCount) return;
    const at = unit * UNIT_FIELDS;
    const first = units[at + 1];
    const last = units[at + 2];
    const result = unit * (stride + RESULT_EXTRAS);
    const mass = job.results + 8 * result;
    results.fill(0, result, result + stride + 1);
    results[result + stride + 1] = -1;
    if (job.kind === 'show') {
      kernels.showRows(first, last, stride, scratch, mass);
      continue;
    }
    if (job.kind === 'rowTerms') {
      results[result + stride] = kernels.rowTerms(
        ...[
          first,
          last,
          job.features,
          stride,
          own.weightShape,
          own.weightRate,
          own.featureShape,
          own.featureRate,
        ],
        ...[hyper.sigma, hyper.tau, hyper.shape, hyper.rate],
      );
      continue;
    }
    kernels.resetEdgeTerm();
    const what = units[at];
    const firstEdge = units[at + 3];
    const lastEdge = units[at + 4];
    const slot = job.slots + 8 * stride * units[at + 5];
    if (what === UNIT_FINISH) {
      if (job.kind === 'update' && !kernels.finishRow(first, stride, slot, lastEdge, scratch, mass))
        results[result + stride + 1] = first;
      continue;
    }
    const window = openWindow(place, job.index, first, last, firstEdge, lastEdge);
    if (what === UNIT_PIECE) {
      kernels.passPiece(
        ...[first, job.other, window.neighbors, window.counts, lastEdge - firstEdge, stride, scratch, slot],
        job.withTerm ? 1 : 0,
      );
    } else {
      const bad = kernels.walkRows(
        ...[first, last, window.offsets, window.neighbors, window.counts, job.other, stride, scratch],
        job.kind === 'update' ? mass : 0,
        job.withTerm ? 1 : 0,
      );
      if (bad >>> 0 < last) results[result + stride + 1] = bad >>> 0;
    }
    if (job.withTerm) results[result + stride] = kernels.takeEdgeTerm();
  }
}

/** Copies offsets, neighbours and counts of a unit into this worker's window: 4 to 8 bytes an edge, read once. */
function openWindow(
  { memory, scratch, indexes }: Place,
  id: number,
  first: number,
  last: number,
  firstEdge: number,
  lastEdge: number,
) {
  const index = indexes.get(id)!;
  const view = new Uint32Array(memory.buffer);
  let free = scratch + KERNEL_BYTES;
  const copy = (from: Uint32Array, start: number, end: number): number => {
    // Between shared buffers V8 copies words of 8 bytes where both sides are aligned alike, else byte by byte.
    const at = free + ((from.byteOffset + 4 * start) % 8);
    view.set(from.subarray(start, end), at / 4);
    free = Math.ceil((at + 4 * (end - start) + SLACK) / 16) * 16;
    return at;
  };
  const offsets = copy(index.offsets, first, last + 1);
  const neighbors = copy(index.neighbors, firstEdge, lastEdge);
  const counts = index.counts ? copy(index.counts, firstEdge, lastEdge) : 0;
  return { offsets, neighbors, counts };
}

serveTasks('tasks', { start, stop, addIndex, dropIndex, run });
