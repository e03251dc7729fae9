// The cpu engine: WebAssembly SIMD kernels run by a pool of workers. Why it is fast:
// - Factor tables live in WebAssembly memory, which all workers share; nothing is copied between threads.
// - The edge index stays where the graph has it and passes through small windows, so the number of edges is not bounded
//   by WebAssembly's 4 GiB, and the kernels read neighbours from cache.
// - Rows are updated block by block as soon as their edges have been walked, while they are in cache (kernels/rows.ts).
// - Tables beyond the cache are gathered from tile by tile (tiles.ts).
// - Work is cut into units by the index alone (units.ts) and workers take the next one when they are done, so threads are
//   never idle for long; partial sums are added in unit order, so any number of threads gives the same bits.

import { FitError } from '../../errors.js';
import { createCounter, inSharedMemory } from '../../math/memory.js';
import { leftoverMass } from '../../math/quadrature.js';
import { lgamma } from '../../math/special.js';
import { threadCount } from '../../parallel/pool.js';
import {
  ACTIVITY_FLOOR,
  type Activity,
  countScale,
  type EdgeIndex,
  type EdgeTerm,
  type Engine,
  type FinishOptions,
  RELAXATION_FLOOR,
  type RowRange,
  type SideHyper,
  tooLarge,
  type UpdateOptions,
  WEIGHT_SHAPE_FLOOR,
} from '../engine.js';
import { createQueue } from '../queue.js';
import { createCrew } from './crew.js';
import { type Job, type JobKind, MAX_STRIDE, RESULT_EXTRAS } from './half-steps.js';
import { rankByFactors, topByFactors } from './ranking.js';
import { firstBad, sumMass, sumTerm } from './results.js';
import {
  allocateTable,
  type CpuCounts,
  type CpuTable,
  evenUnits,
  freeTable,
  loadCounts,
  loadTable,
  noTotals,
  storeCounts,
  storeTable,
} from './tables.js';
import { cutTiles, DEFAULT_TILES, type TiledRows, type TileLimits, tilingOf } from './tiles.js';
import { cutUnits, DEFAULT_LIMITS, type RowCut, UNIT_FIELDS, type UnitLimits } from './units.js';
import { loadKernels } from './wasm.js';
import { Heap } from './wasm-heap.js';
import type { IndexArrays } from './windows.js';

interface CpuIndex extends EdgeIndex, IndexArrays {
  readonly kind: 'index';
  /** How rows are cut into units, by the range of rows and the other table's tiles. */
  readonly cuts: Map<string, Cut>;
}

interface Cut extends RowCut {
  readonly tiled?: TiledRows;
}

export interface CpuOptions {
  readonly threads?: number | undefined;
  /** Most edges and rows of a unit of work; smaller only to test the windows. */
  readonly limits?: UnitLimits;
  /** From which size on tables are gathered from by tiles; smaller only to test them. */
  readonly tiles?: TileLimits;
}

/** What a job may set beside its table. */
interface JobOptions {
  readonly units?: Uint32Array;
  readonly index?: CpuIndex;
  readonly other?: CpuTable;
  readonly counts?: CpuCounts;
  readonly slots?: number;
  readonly tiled?: TiledRows | undefined;
  readonly tileSums?: number;
  readonly hyper?: SideHyper;
  readonly activity?: Activity;
  readonly relaxation?: number | undefined;
  readonly edgeTerm?: boolean | undefined;
}

const NO_HYPER: SideHyper = { sigma: 0, tau: 0, shape: 0, rate: 0, size: 0 };

export async function createCpuEngine(options: CpuOptions = {}): Promise<Engine> {
  const threads = threadCount(options.threads);
  const limits = options.limits ?? DEFAULT_LIMITS;
  const tileLimits = options.tiles ?? DEFAULT_TILES;
  const { module, relaxed } = await loadKernels();
  const heap = new Heap();
  /** A ranking has workers of its own. */
  const crew = createCrew(module, heap, limits, threads);
  const { inOrder, inPassing } = createQueue();
  const results = growing(heap);
  const slots = growing(heap);
  const tileSums = growing(heap);
  const otherMassAt = heap.allocate(4 * MAX_STRIDE);
  let nextIndex = 0;

  /** Runs one job on all workers and returns its units' results, in unit order. */
  async function run(kind: JobKind, own: CpuTable, options: JobOptions): Promise<Float64Array> {
    const units = options.units ?? own.evenUnits;
    const size = (units.length / UNIT_FIELDS) * (own.stride + RESULT_EXTRAS);
    const at = results(8 * size);
    const { sigma, tau, shape, rate } = options.hyper ?? NO_HYPER;
    const job: Omit<Job, 'engine'> = {
      ...{ kind, units, next: createCounter(), results: at },
      index: options.index?.id ?? -1,
      slots: options.slots ?? 0,
      tiled: options.tiled,
      tileSums: options.tileSums ?? 0,
      parameters: {
        ...own.at,
        ...{ features: own.features, stride: own.stride, sigma, tau, shape, rate },
        other: options.other?.at.activity ?? 0,
        otherMass: otherMassAt,
        counts: options.counts?.at ?? 0,
        scale: options.counts?.scale ?? 1,
        exact: options.activity === 'mean' ? 0 : 1,
        withTerm: options.edgeTerm ? 1 : 0,
        far: options.other && tilingOf(options.other, tileLimits) ? 1 : 0,
        relaxation: options.relaxation ?? 0,
        relaxationFloor: RELAXATION_FLOOR,
        shapeFloor: WEIGHT_SHAPE_FLOOR,
        activityFloor: ACTIVITY_FLOOR,
      },
    };
    await crew.run(job);
    return heap.f64(at, size);
  }

  async function show(table: CpuTable, activity: Activity): Promise<void> {
    const mass = sumMass(await run('show', table, { activity }), table);
    table.totals = { ...table.totals, mass };
  }

  function cutOf(index: CpuIndex, rows: RowRange, other: CpuTable): Cut {
    const tiling = tilingOf(other, tileLimits);
    const key = `${rows.first}-${rows.last}${tiling ? ` ${tiling.inTile}-${tiling.least}` : ''}`;
    let cut = index.cuts.get(key);
    if (!cut) {
      cut =
        (tiling && cutTiles(index, rows, tiling, limits)) ??
        cutUnits(index.offsets, rows.first, rows.last, limits);
      index.cuts.set(key, cut);
    }
    return cut;
  }

  /**
   * A job that walks edges: pieces of long rows and tiles first. Resolves to the results of the rows, and the edge term of
   * all.
   */
  async function walk(
    kind: JobKind,
    own: CpuTable,
    index: CpuIndex,
    rows: RowRange | undefined,
    options: JobOptions & { readonly other: CpuTable },
  ): Promise<{ out: Float64Array; term: EdgeTerm }> {
    const cut = cutOf(index, rows ?? { first: 0, last: own.rows }, options.other);
    const more = {
      ...{ ...options, index, tiled: cut.tiled },
      slots: slots(8 * own.stride * cut.pieces),
      tileSums: tileSums(4 * own.stride * (cut.tiled?.rows.length ?? 0)),
    };
    let term = 0;
    for (const units of cut.stages) term += sumTerm(await run(kind, own, { ...more, units }), own.stride);
    const out = await run(kind, own, { ...more, units: cut.rows });
    return { out, term: term + sumTerm(out, own.stride) };
  }

  function bindMass(own: CpuTable, M: Float64Array): void {
    heap.f32(otherMassAt, own.stride).fill(0).set(M);
  }

  /** After the rows of a half-step: what is bad, else the table's mass and leftover. */
  function conclude(own: CpuTable, out: Float64Array, M: Float64Array, { size, ...hyper }: SideHyper): void {
    const bad = firstBad(out, own.stride);
    if (bad >= 0) {
      const of = (at: number) => heap.f32(at, own.rows)[bad];
      const [shape, rate] = [of(own.at.weightShape), of(own.at.weightRate)];
      throw new FitError(`row ${bad}: the weight became Gamma(${shape}, ${rate}), which is not finite`);
    }
    own.totals = {
      mass: sumMass(out, own),
      leftover: size > 0 ? leftoverMass({ size, ...hyper }, M) : new Float64Array(own.features),
      leftoverAt: M.slice(),
    };
  }

  async function update(
    own: CpuTable,
    index: CpuIndex,
    other: CpuTable,
    update: UpdateOptions,
  ): Promise<EdgeTerm | undefined> {
    const { mass, leftover } = other.totals;
    const M = update.otherMass ?? mass.map((m, k) => m + leftover[k]);
    bindMass(own, M);
    const { out, term } = await walk('update', own, index, update.rows, { ...update, other });
    conclude(own, out, M, update.hyper);
    return update.edgeTerm ? term : undefined;
  }

  async function finish(own: CpuTable, counts: CpuCounts, options: FinishOptions): Promise<void> {
    bindMass(own, options.otherMass);
    const units = options.rows ? evenUnits(options.rows) : own.evenUnits;
    const out = await run('finish', own, { ...options, counts, units });
    conclude(own, out, options.otherMass, options.hyper);
  }

  const copied = <O extends { readonly otherMass?: Float64Array | undefined }>(given: O): O =>
    given.otherMass ? { ...given, otherMass: given.otherMass.slice() } : given;

  return {
    name: 'cpu',
    description: `cpu (WebAssembly SIMD${relaxed ? ' with fused multiply-add' : ''}, float32, ${threads} thread${threads === 1 ? '' : 's'})`,
    tolerance: 2e-5,
    threads,

    createTable: (features, values, activity) =>
      inOrder(async () => {
        const table = allocateTable(heap, values.weightShape.length, features);
        storeTable(heap, table, values);
        await show(table, activity);
        return table;
      }),

    write: (table, values, activity) =>
      inOrder(async () => {
        const cpu = table as CpuTable;
        storeTable(heap, cpu, values);
        cpu.totals = noTotals(cpu.features);
        await show(cpu, activity);
      }),

    read: (table) => inOrder(() => loadTable(heap, table as CpuTable)),

    createIndex: (rows) =>
      inOrder(async () => {
        const arrays: IndexArrays = {
          id: nextIndex++,
          offsets: inSharedMemory(rows.offsets),
          neighbors: inSharedMemory(rows.neighbors),
          counts: rows.counts && inSharedMemory(rows.counts),
        };
        await crew.addIndex(arrays);
        const index: CpuIndex = {
          ...{ kind: 'index', ...arrays, cuts: new Map() },
          ...{ rows: rows.offsets.length - 1, edges: rows.neighbors.length },
        };
        return index;
      }),

    update(own, index, other, given) {
      const options = copied(given);
      return inOrder(() => update(own as CpuTable, index as CpuIndex, other as CpuTable, options));
    },

    createCounts: (own, largest) =>
      inOrder((): CpuCounts => {
        const { rows, features, stride } = own as CpuTable;
        const at = heap.allocate(8 * rows * stride);
        return { kind: 'counts', rows, features, stride, scale: countScale(largest), at };
      }),

    count: (own, index, other, into, options = {}) =>
      inOrder(async () => {
        const cpu = own as CpuTable;
        const counts = into as CpuCounts;
        const more = { other: other as CpuTable, counts, edgeTerm: options.edgeTerm };
        const { out, term } = await walk('count', cpu, index as CpuIndex, options.rows, more);
        const bad = firstBad(out, cpu.stride);
        if (bad >= 0) throw new FitError(tooLarge(bad, counts));
        return options.edgeTerm ? term : undefined;
      }),

    finish(own, counts, given) {
      const options = copied(given);
      return inOrder(() => finish(own as CpuTable, counts as CpuCounts, options));
    },

    readCounts: (counts, rows = { first: 0, last: counts.rows }) =>
      inOrder(() => loadCounts(heap, counts as CpuCounts, rows)),
    writeCounts: (counts, values, first = 0) =>
      inOrder(() => storeCounts(heap, counts as CpuCounts, values, first)),
    clearCounts: (counts) =>
      inOrder(() => {
        const { at, rows, stride } = counts as CpuCounts;
        heap.i64(at, rows * stride).fill(0n);
      }),

    edgeTerm: (own, index, other) =>
      inOrder(async () => {
        const options = { other: other as CpuTable, edgeTerm: true };
        return (await walk('edgeTerm', own as CpuTable, index as CpuIndex, undefined, options)).term;
      }),

    rowTerms: (table, hyper: SideHyper) =>
      inOrder(async () => {
        const cpu = table as CpuTable;
        const constant = hyper.shape * Math.log(hyper.rate) - lgamma(hyper.shape);
        const sum = sumTerm(await run('rowTerms', cpu, { hyper }), cpu.stride);
        return sum + table.rows * table.features * constant;
      }),

    totals: (table) =>
      inOrder(() => {
        const { mass, leftover, leftoverAt } = (table as CpuTable).totals;
        return { mass: mass.slice(), leftover: leftover.slice(), leftoverAt: leftoverAt.slice() };
      }),

    weightSum: (table) =>
      inOrder(() => {
        const { at, rows } = table as CpuTable;
        const shapes = heap.f32(at.weightShape, rows);
        const rates = heap.f32(at.weightRate, rows);
        let sum = 0;
        for (let i = 0; i < rows; i++) sum += shapes[i] / rates[i];
        return sum;
      }),

    setMass(table, given) {
      const mass = given.slice();
      return inPassing(() => {
        (table as CpuTable).totals = { ...(table as CpuTable).totals, mass };
      });
    },

    setLeftover(table, given, at) {
      const [leftover, leftoverAt] = [given.slice(), at.slice()];
      return inPassing(() => {
        (table as CpuTable).totals = { ...(table as CpuTable).totals, leftover, leftoverAt };
      });
    },

    scale: (table, factor, activity) =>
      inOrder(async () => {
        const rates = heap.f32((table as CpuTable).at.weightRate, table.rows);
        for (let i = 0; i < rates.length; i++) rates[i] /= factor;
        await show(table as CpuTable, activity);
      }),

    setActivity: (table, activity) => inOrder(() => show(table as CpuTable, activity)),

    rank: (tables, candidates, query, task) =>
      rankByFactors(tables, candidates, query, { ...task, threads: task?.threads ?? threads }),
    top: (tables, candidates, rows, n, excluded, task) =>
      topByFactors(tables, candidates, rows, n, excluded, { ...task, threads: task?.threads ?? threads }),

    free: (handle) =>
      inPassing(async () => {
        const owned = handle as CpuTable | CpuIndex | CpuCounts;
        if (owned.kind === 'table') freeTable(heap, owned);
        else if (owned.kind === 'counts') heap.release(owned.at);
        else await crew.dropIndex(owned.id);
      }),

    close: () => crew.close(),
  };
}

/** A block that grows as needed and is reused. */
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
