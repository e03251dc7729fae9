// Turns half-steps into jobs for the workers: the blocks that units share, the room for intermediate sums, the order of stages.

import { allocateFrom, createCounter } from '../../math/memory.js';
import type { Heap } from '../../wasm/heap.js';
import { JOB } from '../../wasm/parameter-blocks.js';
import {
  ACTIVITY_FLOOR,
  type Activity,
  type EdgeIndex,
  type EdgeTerm,
  type FoldFreshOptions,
  RELAXATION_FLOOR,
  type RowMeans,
  type RowRange,
  type SideHyper,
  WEIGHT_SHAPE_FLOOR,
} from '../engine.js';
import type { EngineWorkers } from './engine-workers.js';
import { type Groups, type JobKind, type JobPart, MAX_STRIDE, RESULT_EXTRAS } from './half-steps.js';
import { beginMeans, type CpuCounts, type CpuTable, type Gathered, type MeansTable } from './tables.js';
import { cutRows, NO_TILES, type RowCut, shouldPrefetch, type TileLimits, tilingOf } from './tiles.js';
import { firstBad, sumTerm } from './unit-results.js';
import { beginsOf, countOf, UNIT_FIELDS, UNIT_FINISH, type UnitLimits, unitsWithin } from './units.js';
import type { IndexArrays } from './windows.js';

export interface CpuIndex extends EdgeIndex, IndexArrays {
  readonly kind: 'index';
  /** How rows are cut into units, keyed by the range of rows and the other table's tiles; `grouped` holds cuts by groups. */
  readonly cuts: Map<string, Cut>;
  readonly grouped: WeakMap<Uint32Array, Map<string, Cut>>;
}

interface Cut extends RowCut {
  readonly begins?: Uint32Array;
}

/** A table, the edges of its rows, and the table that the edges lead to. */
export interface Walked {
  readonly own: CpuTable;
  readonly index: CpuIndex;
  readonly other: Gathered;
  readonly rows?: RowRange | undefined;
}

/** What the cut depends on. */
type WalkedRows = Omit<Walked, 'own'> & { readonly own: Pick<Gathered, 'rows'> };

interface JobOptions {
  readonly hyper?: Omit<SideHyper, 'size'>;
  readonly activity?: Activity;
  readonly relaxation?: number | undefined;
  readonly edgeTerm?: boolean | undefined;
  readonly counts?: CpuCounts;
  /** Only for foldFresh. */
  readonly steps?: number;
  readonly start?: RowMeans;
}

/** What a part has if it walks no edges, or none by tiles. */
const NO_EDGES = { index: -1, tiled: undefined, pieceSums: 0, tileSums: 0, begins: undefined };

export function createJobs(heap: Heap, workers: EngineWorkers, limits: UnitLimits, tileLimits: TileLimits) {
  const results = growing(heap);
  const pieceSums = growing(heap);
  const tileSums = growing(heap);
  const blocks = growing(heap);
  const blockBytes = Math.ceil(JOB.bytes / 64) * 64;
  const otherMassAt = heap.allocate(4 * MAX_STRIDE);

  function bindMass(own: { readonly stride: number }, M: Float64Array): void {
    heap.f32(otherMassAt, own.stride).fill(0).set(M);
  }

  function writeBlock(
    address: number,
    { features, stride, at }: Gathered,
    other: Gathered | undefined,
    options: JobOptions,
  ): void {
    JOB.write(heap.memory, address, {
      ...at,
      ...options.hyper,
      features,
      stride,
      other: other?.at.activity,
      otherMass: otherMassAt,
      counts: options.counts?.at,
      scale: options.counts?.scale ?? 1,
      geometric: options.activity === 'mean' ? 0 : 1,
      withTerm: options.edgeTerm ? 1 : 0,
      prefetch: other && shouldPrefetch(other, tileLimits) ? 1 : 0,
      relaxation: options.relaxation,
      relaxationFloor: RELAXATION_FLOOR,
      shapeFloor: WEIGHT_SHAPE_FLOOR,
      activityFloor: ACTIVITY_FLOOR,
      steps: options.steps,
      firstFeature: options.start?.feature,
    });
  }

  /** Runs one job on all workers and resolves to all its results. */
  async function runParts(
    kind: JobKind,
    stride: number,
    parts: readonly JobPart[],
    withTerm: boolean,
    groups?: Groups,
  ): Promise<Float64Array> {
    const units = parts.reduce((sum, part) => sum + countOf(part.units), 0);
    const taken = groups ? countOf(groups.units) : units;
    const size = taken * (stride + RESULT_EXTRAS) + (groups ? units * RESULT_EXTRAS : 0);
    const at = results(8 * size);
    const job = { kind, parts, groups, next: createCounter(), stride, withTerm, results: at };
    await workers.run(job, taken);
    return heap.f64(at, size);
  }

  /** Runs a job without edges and resolves to its units' results, in unit order. */
  function run(
    kind: JobKind,
    own: CpuTable,
    options: JobOptions,
    units: Uint32Array = own.evenUnits,
  ): Promise<Float64Array> {
    const block = blocks(blockBytes);
    writeBlock(block, own, undefined, options);
    return runParts(kind, own.stride, [{ ...NO_EDGES, units, block }], false);
  }

  function cutOf({ own, index, other, rows }: WalkedRows, groups?: Uint32Array, byTiles = true): Cut {
    const range = rows ?? { first: 0, last: own.rows };
    const tiling = byTiles ? tilingOf(other, tileLimits) : NO_TILES;
    const key = `${range.first}-${range.last} ${tiling.inTile}-${tiling.least}`;
    const known = groups ? (index.grouped.get(groups) ?? new Map<string, Cut>()) : index.cuts;
    if (groups) index.grouped.set(groups, known);
    let cut = known.get(key);
    if (!cut) {
      cut = cutRows(index, range, limits, tiling, groups);
      if (groups) cut = { ...cut, begins: beginsOf(cut.rows, groups) };
      known.set(key, cut);
    }
    return cut;
  }

  /** Batches of parts: the sums of a batch's tiled rows fit in memory. */
  function batches(walks: readonly Walked[], groups: Uint32Array | undefined): WalkedCut[][] {
    const all: WalkedCut[][] = [];
    let bytes = 0;
    for (const walked of walks) {
      const cut = cutOf(walked, groups);
      const more = 4 * walked.own.stride * (cut.tiled?.rows.length ?? 0);
      if (all.length === 0 || bytes + more > tileLimits.sums) {
        all.push([]);
        bytes = 0;
      }
      bytes += more;
      all[all.length - 1].push({ ...walked, cut });
    }
    return all;
  }

  /** Allocates the intermediate sums of a batch and runs the stages before its rows. Resolves to the parts and edge terms. */
  async function begin(
    kind: JobKind,
    batch: readonly WalkedCut[],
    options: JobOptions,
  ): Promise<{ parts: JobPart[]; terms: EdgeTerm[] }> {
    const { stride } = batch[0].own;
    const tiledRows = ({ cut }: WalkedCut) => cut.tiled?.rows.length ?? 0;
    let pieces = pieceSums(8 * stride * batch.reduce((sum, { cut }) => sum + cut.pieces, 0));
    let sums = tileSums(4 * stride * batch.reduce((sum, one) => sum + tiledRows(one), 0));
    let block = blocks(blockBytes * batch.length);
    const parts = batch.map((one): JobPart => {
      const { own, index, other, cut } = one;
      writeBlock(block, own, other, options);
      const part = {
        units: cut.rows,
        block,
        index: index.id,
        tiled: cut.tiled,
        pieceSums: pieces,
        tileSums: sums,
        begins: cut.begins,
      };
      block += blockBytes;
      pieces += 8 * stride * cut.pieces;
      sums += 4 * stride * tiledRows(one);
      return part;
    });
    const terms = batch.map(() => 0);
    const stages = batch.reduce((most, { cut }) => Math.max(most, cut.stages.length), 0);
    for (let s = 0; s < stages; s++) {
      const here = batch.flatMap(({ cut }, p) => (s < cut.stages.length ? [p] : []));
      const staged = here.map((p) => ({ ...parts[p], units: batch[p].cut.stages[s], begins: undefined }));
      const out = await runParts(kind, stride, staged, options.edgeTerm === true);
      for (const [i, own] of split(out, staged, stride + RESULT_EXTRAS, 0).entries()) {
        terms[here[i]] += sumTerm(own, stride);
      }
    }
    return { parts, terms };
  }

  /** Runs a job over the edges of several tables. `onPart` gets the results of a part in unit order, and the edge term of all its stages. */
  async function walk(
    kind: 'update' | 'edgeTerm',
    walks: readonly Walked[],
    options: JobOptions,
    onPart: (out: Float64Array, term: EdgeTerm, part: number) => void,
  ): Promise<void> {
    let done = 0;
    for (const batch of batches(walks, undefined)) {
      const { stride } = batch[0].own;
      const { parts, terms } = await begin(kind, batch, options);
      const out = await runParts(kind, stride, parts, options.edgeTerm === true);
      for (const [p, own] of split(out, parts, stride + RESULT_EXTRAS, 0).entries()) {
        onPart(own, terms[p] + sumTerm(own, stride), done++);
      }
    }
  }

  /**
   * All half-steps of re-initialised rows. A block of rows runs its half-steps while it and the rows it gathers are in cache, so
   * tiles would gain nothing. Resolves to the results of the last half-step.
   */
  async function foldFresh(
    own: MeansTable,
    { index, other }: Pick<Walked, 'index' | 'other'>,
    options: FoldFreshOptions,
  ): Promise<Float64Array> {
    const { stride } = own;
    const cut = cutOf({ own, index, other }, undefined, false);
    const block = blocks(blockBytes);
    writeBlock(block, own, other, { ...options, activity: 'mean' });
    const part = { ...NO_EDGES, block, index: index.id, pieceSums: pieceSums(8 * stride * cut.pieces) };
    const run = (units: Uint32Array) => runParts('foldFresh', stride, [{ ...part, units }], false);
    // A row longer than a window runs each half-step in pieces.
    const long = finishesIn(cut.rows);
    beginMeans(heap, own, options.start, rowsOf(long));
    for (let step = 1; step <= options.steps; step++) {
      for (const stage of cut.stages) await run(stage);
      if (step < options.steps && long.length > 0) await run(long);
    }
    return run(cut.rows);
  }

  /** Adds the edges of several parts to the counts of one table. */
  async function count(
    walks: readonly Walked[],
    options: JobOptions & { readonly counts: CpuCounts },
    { rows, clears, finishes }: Omit<Groups, 'units'> & { readonly rows: RowRange | undefined },
  ) {
    const units = rows ? unitsWithin(options.counts.groups, rows) : options.counts.groups;
    const all = batches(walks, units);
    /** One per part. */
    const allTerms: EdgeTerm[] = [];
    /** The first row with a count too large for fixed point; −1: none. */
    let firstTooLarge = -1;
    /** Results of the groups. They hold masses if the half-step was completed. */
    let results: Float64Array = new Float64Array(0);
    for (const [b, batch] of all.entries()) {
      const { stride } = batch[0].own;
      const { parts, terms } = await begin('count', batch, options);
      const groups = { units, clears: clears && b === 0, finishes: finishes && b === all.length - 1 };
      const out = await runParts('count', stride, parts, options.edgeTerm === true, groups);
      const ofGroups = countOf(units) * (stride + RESULT_EXTRAS);
      for (const [p, own] of split(out, parts, RESULT_EXTRAS, ofGroups).entries()) {
        allTerms.push(terms[p] + sumTerm(own, 0));
        const bad = firstBad(own, 0);
        if (bad >= 0 && !(firstTooLarge >= 0 && firstTooLarge < bad)) firstTooLarge = bad;
      }
      results = out.subarray(0, ofGroups);
    }
    return { terms: allTerms, bad: firstTooLarge, out: results };
  }

  return { bindMass, run, walk, foldFresh, count };
}

type WalkedCut = Walked & { readonly cut: Cut };

/** The units of rows longer than a window. */
function finishesIn(units: Uint32Array): Uint32Array {
  const found: number[] = [];
  for (let at = 0; at < units.length; at += UNIT_FIELDS) {
    if (units[at] === UNIT_FINISH) found.push(...units.subarray(at, at + UNIT_FIELDS));
  }
  return allocateFrom(found);
}

const rowsOf = (units: Uint32Array): number[] =>
  Array.from({ length: countOf(units) }, (_, u) => units[u * UNIT_FIELDS + 1]);

/** Each part's results: `size` values per unit, starting at `from`. */
function split(out: Float64Array, parts: readonly JobPart[], size: number, from: number): Float64Array[] {
  return parts.map(({ units }) => {
    const begin = from;
    from += countOf(units) * size;
    return out.subarray(begin, from);
  });
}

/** A block that is reused and grows when needed. */
function growing(heap: Heap): (bytes: number) => number {
  let at = 0;
  let size = 0;
  return (bytes) => {
    if (bytes > size) {
      if (size > 0) heap.release(at);
      at = heap.allocate(bytes);
      size = bytes;
    }
    return at;
  };
}
