// The cpu engine: WebAssembly SIMD kernels on a pool of workers. Why it is fast:
// - All workers share the WebAssembly memory that holds the factor tables. Nothing is copied between threads.
// - The edge index stays outside that memory and passes through small windows. So WebAssembly's 4 GiB do not bound the number of
//   edges, and the kernels read neighbours from cache.
// - A block of rows is updated as soon as its edges have been walked, while it is in cache (kernels/rows.ts).
// - Rows that are re-initialised every sweep run all their half-steps before the next rows start, so that they stay in cache. Only
//   their means are stored (kernels/fold-fresh.ts).
// - Kernels prefetch rows of tables that exceed a core's own cache. Tables that exceed every cache are read tile by tile (tiles.ts).
// - The index alone decides how work is cut into units (units.ts). Each worker takes the next unit when it is done, so no thread
//   is idle for long. Partial sums are added in unit order, so any number of threads gives the same bits.

import { FitError, located } from '../../errors.js';
import { inSharedMemory } from '../../math/memory.js';
import { createQueue } from '../../math/queue.js';
import { lgamma } from '../../math/special.js';
import { threadCount } from '../../parallel/pool.js';
import { Heap } from '../../wasm/heap.js';
import { type KernelModule, loadKernels } from '../../wasm/load.js';
import {
  type Activity,
  type BatchCountOptions,
  type Batched,
  type CountingEngine,
  captured,
  countScale,
  type EdgeTerm,
  type FinishOptions,
  type OtherEdges,
  type OwnEdges,
  type SideHyper,
  type Table,
  tooLarge,
  type UpdateOptions,
} from '../engine.js';
import { copyTotals, noTotals, totalsAfter } from '../totals.js';
import { createEngineWorkers, createWorkers, type Workers } from './engine-workers.js';
import { type CpuIndex, createJobs, type Walked } from './jobs.js';
import {
  allocateMeans,
  allocateTable,
  type CpuCounts,
  type CpuTable,
  freeTable,
  type Gathered,
  loadCounts,
  loadMeans,
  loadTable,
  type MeansTable,
  storeCounts,
  storeTable,
  strideOf,
} from './tables.js';
import { DEFAULT_TILES, type TileLimits } from './tiles.js';
import { firstBad, sumMass, sumTerm } from './unit-results.js';
import { cutGroups, DEFAULT_LIMITS, type UnitLimits, unitsWithin } from './units.js';
import type { IndexArrays } from './windows.js';

export interface CpuOptions {
  readonly threads?: number | undefined;
  /** The expected amount of work, if known: its workers start immediately. */
  readonly work?: { readonly edges: number; readonly features: number } | undefined;
  /** Most edges and rows of a unit of work. Tests lower it to exercise the windows. */
  readonly limits?: UnitLimits;
  /** The table size from which edges are walked by tiles. Tests lower it to exercise them. */
  readonly tiles?: TileLimits;
}

/** Refuses a table that holds only means. */
function whole(table: Table): CpuTable {
  if ((table as Gathered).kind === 'means')
    throw new TypeError('a table for foldFresh holds only means; use a table of createTable here');
  return table as CpuTable;
}

export async function createCpuEngine(options: CpuOptions = {}): Promise<CountingEngine> {
  const workers = createWorkers(threadCount(options.threads));
  return engineOn(workers, await loadKernels(), options, () => workers.close());
}

/** An engine with a memory of its own, on workers that it may share with siblings. */
function engineOn(
  workers: Workers,
  kernels: KernelModule,
  options: CpuOptions,
  closeAll: () => Promise<void>,
): CountingEngine {
  const { threads } = workers;
  const { module, relaxed } = kernels;
  const limits = options.limits ?? DEFAULT_LIMITS;
  const heap = new Heap();
  const engineWorkers = createEngineWorkers(module, heap, limits, workers);
  if (options.work) {
    const { edges, features } = options.work;
    engineWorkers.expect(Math.ceil(edges / limits.edges), strideOf(features));
  }
  const { inOrder, inPassing } = createQueue();
  const jobs = createJobs(heap, engineWorkers, limits, options.tiles ?? DEFAULT_TILES);
  let nextIndex = 0;

  async function show(table: CpuTable, activity: Activity): Promise<void> {
    const mass = sumMass(await jobs.run('show', table, { activity }), table);
    table.totals = { ...table.totals, mass };
  }

  /** Completes a half-step: throws for the first bad row, else sets the table's mass and unseen mass. */
  function conclude(own: CpuTable, out: Float64Array, M: Float64Array, hyper: SideHyper): void {
    const bad = firstBad(out, own.stride);
    if (bad >= 0) {
      const of = (at: number) => heap.f32(at, own.rows)[bad];
      const [shape, rate] = [of(own.at.weightShape), of(own.at.weightRate)];
      throw new FitError(`row ${bad}: the weight became Gamma(${shape}, ${rate}), which is not finite`);
    }
    own.totals = totalsAfter(hyper, sumMass(out, own), M);
  }

  /** Half-steps of several tables from one other table. An error names the table's place. */
  async function updateAll(
    all: readonly OwnEdges[],
    other: CpuTable,
    options: UpdateOptions,
  ): Promise<(EdgeTerm | undefined)[]> {
    const { mass, unseenMass } = other.totals;
    const M = options.otherMass ?? mass.map((m, k) => m + unseenMass[k]);
    jobs.bindMass(other, M);
    const walks = all.map(({ own, index, rows }) => ({ own: whole(own), index, rows, other }) as Walked);
    const terms: (EdgeTerm | undefined)[] = [];
    await jobs.walk('update', walks, options, (out, term, p) => {
      try {
        conclude(walks[p].own, out, M, options.hyper);
      } catch (error) {
        throw all[p].place === undefined ? error : located(error, all[p].place);
      }
      terms.push(options.edgeTerm ? term : undefined);
    });
    return terms;
  }

  async function finish(own: CpuTable, counts: CpuCounts, options: FinishOptions): Promise<void> {
    jobs.bindMass(own, options.otherMass);
    const units = options.rows ? unitsWithin(counts.groups, options.rows) : counts.groups;
    const out = await jobs.run('finish', own, { ...options, counts }, units);
    conclude(own, out, options.otherMass, options.hyper);
  }

  /** Adds the edges to several other tables to the counts of one table. */
  async function countAll(
    own: CpuTable,
    from: readonly OtherEdges[],
    counts: CpuCounts,
    options: BatchCountOptions,
  ): Promise<(EdgeTerm | undefined)[]> {
    const { rows, edgeTerm, clear = false } = options;
    const walks = from.map(({ index, other }) => ({ own, rows, index, other }) as Walked);
    if (options.finish) jobs.bindMass(own, options.finish.otherMass);
    const { terms, bad, out } = await jobs.count(
      walks,
      { ...options.finish, edgeTerm, counts },
      { rows, clears: clear, finishes: options.finish !== undefined },
    );
    if (bad >= 0) throw new FitError(tooLarge(bad, counts));
    if (options.finish) conclude(own, out, options.finish.otherMass, options.finish.hyper);
    return terms.map((term) => (edgeTerm ? term : undefined));
  }

  const batched: Batched = {
    update(all, other, given) {
      const options = captured(given);
      return inOrder(() => updateAll(all, other as CpuTable, options));
    },
    count(own, from, into, given) {
      const options = given.finish ? { ...given, finish: captured(given.finish) } : given;
      return inOrder(() => countAll(own as CpuTable, from, into as CpuCounts, options));
    },
  };

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
        const cpu = whole(table);
        storeTable(heap, cpu, values);
        cpu.totals = noTotals(cpu.features);
        await show(cpu, activity);
      }),

    read: (table) => inOrder(() => loadTable(heap, whole(table))),

    createIndex: (rows) =>
      inOrder(async () => {
        const arrays: IndexArrays = {
          id: nextIndex++,
          offsets: inSharedMemory(rows.offsets),
          neighbors: inSharedMemory(rows.neighbors),
          counts: rows.counts && inSharedMemory(rows.counts),
        };
        await engineWorkers.addIndex(arrays);
        const index: CpuIndex = {
          ...{ kind: 'index', ...arrays, cuts: new Map(), grouped: new WeakMap() },
          ...{ rows: rows.offsets.length - 1, edges: rows.neighbors.length },
        };
        return index;
      }),

    async update(own, index, other, options) {
      const [term] = await batched.update([{ own, index, rows: options.rows }], other, options);
      return term;
    },

    foldFresh: {
      createTable: (rows, features) => inOrder(() => allocateMeans(heap, rows, features)),
      means: (own) => inOrder(() => loadMeans(heap, own as MeansTable)),
      fold(table, index, other, given) {
        const { weight } = given.start;
        const start = { ...given.start, weight: typeof weight === 'number' ? weight : weight.slice() };
        const options = { ...captured(given), start };
        return inOrder(async () => {
          const own = table as MeansTable;
          jobs.bindMass(own, options.otherMass);
          const out = await jobs.foldFresh(own, { index, other } as Walked, options);
          const bad = firstBad(out, own.stride);
          if (bad >= 0) throw new FitError(`row ${bad}: the mean of the weight is not a positive number`);
          own.totals = { ...own.totals, mass: sumMass(out, own), unseenMassAt: options.otherMass };
        });
      },
    },

    createCounts: (own, largest, work) =>
      inOrder((): CpuCounts => {
        const { rows, features, stride } = own as CpuTable;
        const at = heap.allocate(8 * rows * stride);
        const groups = work ? cutGroups(work, limits, 8 * stride) : (own as CpuTable).evenUnits;
        return { kind: 'counts', rows, features, stride, scale: countScale(largest), at, groups };
      }),

    async count(own, index, other, into, options = {}) {
      const [term] = await batched.count(own, [{ index, other }], into, options);
      return term;
    },

    batched,

    finish(own, counts, given) {
      const options = captured(given);
      return inOrder(() => finish(own as CpuTable, counts as CpuCounts, options));
    },

    readCounts: (counts, rows = { first: 0, last: counts.rows }) =>
      inOrder(() => loadCounts(heap, counts as CpuCounts, rows)),
    writeCounts: (counts, values, first = 0) =>
      inOrder(() => storeCounts(heap, counts as CpuCounts, values, first)),
    editCounts: (counts, { first, last }, work) =>
      inOrder(() => {
        const { at, stride } = counts as CpuCounts;
        return work(heap.i64(at + 8 * first * stride, (last - first) * stride));
      }),
    clearCounts: (counts) =>
      inOrder(() => {
        const { at, rows, stride } = counts as CpuCounts;
        heap.i64(at, rows * stride).fill(0n);
      }),

    edgeTerm: (own, index, other) =>
      inOrder(async () => {
        let sum = 0;
        const walked = { own, index, other } as Walked;
        await jobs.walk('edgeTerm', [walked], { edgeTerm: true }, (_, term) => {
          sum = term;
        });
        return sum;
      }),

    rowTerms: (table, hyper: SideHyper) =>
      inOrder(async () => {
        const cpu = table as CpuTable;
        const constant = hyper.shape * Math.log(hyper.rate) - lgamma(hyper.shape);
        const sum = sumTerm(await jobs.run('rowTerms', cpu, { hyper }), cpu.stride);
        return sum + table.rows * table.features * constant;
      }),

    totals: (table) => inOrder(() => copyTotals((table as CpuTable).totals)),

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

    setUnseenMass(table, given, at) {
      const [unseenMass, unseenMassAt] = [given.slice(), at.slice()];
      return inPassing(() => {
        (table as CpuTable).totals = { ...(table as CpuTable).totals, unseenMass, unseenMassAt };
      });
    },

    scale: (table, factor, activity) =>
      inOrder(async () => {
        const rates = heap.f32((table as CpuTable).at.weightRate, table.rows);
        for (let i = 0; i < rates.length; i++) rates[i] /= factor;
        await show(table as CpuTable, activity);
      }),

    setActivity: (table, activity) => inOrder(() => show(table as CpuTable, activity)),

    free: (handle) =>
      inPassing(async () => {
        const owned = handle as Gathered | CpuIndex | CpuCounts;
        if (owned.kind === 'table' || owned.kind === 'means') freeTable(heap, owned);
        else if (owned.kind === 'counts') heap.release(owned.at);
        else await engineWorkers.dropIndex(owned.id);
      }),

    sibling: async () => engineOn(workers, kernels, options, async () => {}),

    async close() {
      await engineWorkers.leave();
      await closeAll();
    },
  };
}
