// The cpu engine: WebAssembly SIMD kernels on shared memory, run by a pool of workers. Factor tables live in
// WebAssembly memory; the edge index stays where the graph has it and passes through small windows, so the number of
// edges is not bounded by WebAssembly's 4 GiB.

import { FitError } from '../../errors.js';
import { allocate, createCounter, inSharedMemory } from '../../math/memory.js';
import { leftoverMass } from '../../math/quadrature.js';
import { lgamma } from '../../math/special.js';
import { createPool, type TaskModule, threadCount } from '../../parallel/pool.js';
import type {
  Activity,
  EdgeIndex,
  EdgeRows,
  Engine,
  SideHyper,
  Table,
  TableValues,
  UpdateOptions,
} from '../engine.js';
import { Heap } from './heap.js';
import {
  type IndexArrays,
  type Job,
  MAX_STRIDE,
  RESULT_EXTRAS,
  type Setup,
  scratchBytes,
  type TableAddresses,
} from './tasks.js';
import { cutUnits, DEFAULT_LIMITS, UNIT_FIELDS, type UnitLimits, type Units } from './units.js';
import { loadKernels } from './wasm.js';

interface CpuTable extends Table, TableAddresses {
  readonly stride: number;
  /** stride float32: all ones in the lanes of real features. */
  readonly laneMask: number;
  mass: Float64Array;
  leftover: Float64Array;
  leftoverAt: Float64Array;
  /** Rows cut by number alone, for passes that do not walk edges. */
  readonly evenUnits: Uint32Array;
}

interface CpuIndex extends EdgeIndex, IndexArrays {
  /** Units by row range 'first-last'. */
  readonly units: Map<string, Units>;
}

export interface CpuOptions {
  readonly threads?: number | undefined;
  /** Most edges and rows of a unit of work; smaller only to test the windows. */
  readonly limits?: UnitLimits;
}

const TASKS: TaskModule = {
  name: 'tasks',
  base: import.meta.url,
  worker: () => new Worker(new URL('./tasks.js', import.meta.url), { type: 'module', name: 'graphex:tasks' }),
  here: () => import('./tasks.js'),
};

let nextEngine = 0;

const NO_HYPER = { sigma: 0, tau: 0, shape: 0, rate: 0 };

export async function createCpuEngine(options: CpuOptions = {}): Promise<Engine> {
  const threads = threadCount(options.threads);
  const limits = options.limits ?? DEFAULT_LIMITS;
  const { module, relaxed } = await loadKernels();
  const id = nextEngine++;
  const heap = new Heap();
  const scratch = Array.from({ length: threads }, () => heap.allocate(scratchBytes(limits)));
  const places = createCounter();
  const pool = await createPool(TASKS, threads);
  try {
    await pool.everywhere('start', {
      ...{ engine: id, module, memory: heap.memory, places, scratch, limits },
    } satisfies Setup);
  } catch (error) {
    await pool.close();
    throw error;
  }

  const results = growing(heap);
  const slots = growing(heap);
  const otherMassAt = heap.allocate(4 * MAX_STRIDE);
  let nextIndex = 0;
  let edgeTermOfLastUpdate = 0;
  let tail: Promise<unknown> = Promise.resolve();

  /** Operations run one after another in the order of the calls, so callers may queue several without waiting. */
  function inOrder<Result>(operation: () => Promise<Result>): Promise<Result> {
    const result = tail.then(operation);
    tail = result.catch(() => {}); // an operation's failure is its caller's to handle
    return result;
  }

  /** Runs one job on all workers and returns its units' results, in unit order. */
  async function run(
    units: Uint32Array,
    job: Omit<Job, 'units' | 'next' | 'results'>,
  ): Promise<Float64Array> {
    const size = (units.length / UNIT_FIELDS) * (job.stride + RESULT_EXTRAS);
    const at = results(8 * size);
    const next = createCounter();
    await pool.everywhere('run', { ...job, units, next, results: at } satisfies Job);
    return heap.f64(at, size);
  }

  function describe(own: CpuTable, kind: Job['kind']) {
    return {
      engine: id,
      kind,
      index: -1,
      features: own.features,
      stride: own.stride,
      own: addresses(own),
      other: 0,
      otherMass: otherMassAt,
      laneMask: own.laneMask,
      slots: 0,
      hyper: NO_HYPER,
      exact: true,
      relaxation: 0,
      withTerm: false,
    } as const;
  }

  async function show(table: CpuTable, activity: Activity): Promise<void> {
    const out = await run(table.evenUnits, { ...describe(table, 'show'), exact: activity === 'exact' });
    table.mass = sumMass(out, table);
  }

  function unitsOf(index: CpuIndex, first: number, last: number): Units {
    const key = `${first}-${last}`;
    let units = index.units.get(key);
    if (!units) {
      units = cutUnits(index.offsets, first, last, limits);
      index.units.set(key, units);
    }
    return units;
  }

  async function update(
    own: CpuTable,
    index: CpuIndex,
    other: CpuTable,
    update: UpdateOptions,
  ): Promise<void> {
    const { hyper } = update;
    const M = update.otherMass ?? other.mass.map((m, k) => m + other.leftover[k]);
    heap.f32(otherMassAt, own.stride).fill(0).set(M);
    const { first, last } = update.rows ?? { first: 0, last: own.rows };
    const units = unitsOf(index, first, last);
    const job = {
      ...describe(own, 'update'),
      index: index.id,
      other: other.activity,
      slots: slots(8 * own.stride * units.slots),
      hyper,
      exact: update.activity === 'exact',
      relaxation: update.relaxation ?? 0,
      withTerm: update.edgeTerm ?? false,
    } as const;
    let term = 0;
    if (units.pieces.length > 0) term += sumTerm(await run(units.pieces, job), own.stride);
    const out = await run(units.rows, job);
    const bad = firstBad(out, own.stride);
    if (bad >= 0) {
      const [shape, rate] = [
        heap.f32(own.weightShape, own.rows)[bad],
        heap.f32(own.weightRate, own.rows)[bad],
      ];
      throw new FitError(`row ${bad}: the weight became Gamma(${shape}, ${rate}), which is not finite`);
    }
    edgeTermOfLastUpdate = term + sumTerm(out, own.stride);
    own.mass = sumMass(out, own);
    own.leftoverAt = M.slice();
    own.leftover = hyper.size > 0 ? leftoverMass(hyper, M) : new Float64Array(own.features);
  }

  return {
    name: 'cpu',
    description: `cpu (WebAssembly SIMD${relaxed ? ' with fused multiply-add' : ''}, float32, ${threads} thread${threads === 1 ? '' : 's'})`,
    tolerance: 2e-5,
    threads,

    async createTable(features: number, values: TableValues, activity: Activity): Promise<Table> {
      const rows = values.weightShape.length;
      const stride = Math.ceil(features / 4) * 4;
      const table: CpuTable = {
        rows,
        features,
        stride,
        weightShape: heap.allocate(4 * rows),
        weightRate: heap.allocate(4 * rows),
        featureShape: heap.allocate(4 * rows * stride),
        featureRate: heap.allocate(4 * rows * stride),
        activity: heap.allocate(4 * rows * stride),
        laneMask: heap.allocate(4 * stride),
        mass: new Float64Array(features),
        leftover: new Float64Array(features),
        leftoverAt: new Float64Array(features),
        evenUnits: evenUnits(rows),
      };
      heap.u32(table.laneMask, features).fill(0xffffffff);
      heap.f32(table.weightShape, rows).set(values.weightShape);
      heap.f32(table.weightRate, rows).set(values.weightRate);
      const shapes = heap.f32(table.featureShape, rows * stride);
      const rates = heap.f32(table.featureRate, rows * stride);
      rates.fill(1); // padding lanes: shape 0 over rate 1
      for (let i = 0; i < rows; i++) {
        shapes.set(values.featureShape.subarray(i * features, (i + 1) * features), i * stride);
        rates.set(values.featureRate.subarray(i * features, (i + 1) * features), i * stride);
      }
      await inOrder(() => show(table, activity));
      return table;
    },

    async createIndex(rows: EdgeRows): Promise<EdgeIndex> {
      const arrays: IndexArrays = {
        id: nextIndex++,
        offsets: inSharedMemory(rows.offsets),
        neighbors: inSharedMemory(rows.neighbors),
        counts: rows.counts && inSharedMemory(rows.counts),
      };
      await pool.everywhere('addIndex', { engine: id, index: arrays });
      const index: CpuIndex = {
        ...arrays,
        rows: rows.offsets.length - 1,
        edges: rows.neighbors.length,
        units: new Map(),
      };
      return index;
    },

    update: (own, index, other, options) =>
      inOrder(() => update(own as CpuTable, index as CpuIndex, other as CpuTable, options)),

    lastEdgeTerm: () => inOrder(async () => edgeTermOfLastUpdate),

    edgeTerm: (own, index, other) =>
      inOrder(async () => {
        const units = unitsOf(index as CpuIndex, 0, own.rows);
        const job = {
          ...describe(own as CpuTable, 'edgeTerm'),
          index: (index as CpuIndex).id,
          other: (other as CpuTable).activity,
          slots: slots(8 * (own as CpuTable).stride * units.slots),
          withTerm: true,
        } as const;
        let term = 0;
        if (units.pieces.length > 0) term += sumTerm(await run(units.pieces, job), job.stride);
        return term + sumTerm(await run(units.rows, job), job.stride);
      }),

    rowTerms: (table, hyper: SideHyper) =>
      inOrder(async () => {
        const cpu = table as CpuTable;
        const out = await run(cpu.evenUnits, { ...describe(cpu, 'rowTerms'), hyper });
        const constant = hyper.shape * Math.log(hyper.rate) - lgamma(hyper.shape);
        return sumTerm(out, cpu.stride) + table.rows * table.features * constant;
      }),

    totals: (table) =>
      inOrder(async () => {
        const { mass, leftover, leftoverAt } = table as CpuTable;
        return { mass: mass.slice(), leftover: leftover.slice(), leftoverAt: leftoverAt.slice() };
      }),

    weightSum: (table) =>
      inOrder(async () => {
        const shapes = heap.f32((table as CpuTable).weightShape, table.rows);
        const rates = heap.f32((table as CpuTable).weightRate, table.rows);
        let sum = 0;
        for (let i = 0; i < table.rows; i++) sum += shapes[i] / rates[i];
        return sum;
      }),

    setMass(table, mass) {
      (table as CpuTable).mass = mass.slice();
    },

    setLeftover(table, leftover, at) {
      (table as CpuTable).leftover = leftover.slice();
      (table as CpuTable).leftoverAt = at.slice();
    },

    scale: (table, factor, activity) =>
      inOrder(async () => {
        const rates = heap.f32((table as CpuTable).weightRate, table.rows);
        for (let i = 0; i < rates.length; i++) rates[i] /= factor;
        await show(table as CpuTable, activity);
      }),

    setActivity: (table, activity) => inOrder(() => show(table as CpuTable, activity)),

    read: (table) =>
      inOrder(async () => {
        const { rows, features, stride, ...at } = table as CpuTable;
        const featureShape = new Float32Array(rows * features);
        const featureRate = new Float32Array(rows * features);
        const shapes = heap.f32(at.featureShape, rows * stride);
        const rates = heap.f32(at.featureRate, rows * stride);
        for (let i = 0; i < rows; i++) {
          featureShape.set(shapes.subarray(i * stride, i * stride + features), i * features);
          featureRate.set(rates.subarray(i * stride, i * stride + features), i * features);
        }
        return {
          weightShape: heap.f32(at.weightShape, rows).slice(),
          weightRate: heap.f32(at.weightRate, rows).slice(),
          featureShape,
          featureRate,
        };
      }),

    free(handle) {
      if ('evenUnits' in handle) {
        for (const address of Object.values(addresses(handle as CpuTable))) heap.release(address);
        heap.release((handle as CpuTable).laneMask);
      } else {
        // A worker that has died meanwhile has told so to whoever waited for it.
        pool.everywhere('dropIndex', { engine: id, id: (handle as CpuIndex).id }).catch(() => {});
      }
    },

    async close() {
      // What is under way is not waited for; a worker that has died needs no telling.
      void pool.everywhere('stop', id).catch(() => {});
      await pool.close();
    },
  };
}

const EVEN_ROWS = 2048;

function addresses(table: CpuTable): TableAddresses {
  const { weightShape, weightRate, featureShape, featureRate, activity } = table;
  return { weightShape, weightRate, featureShape, featureRate, activity };
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

function evenUnits(rows: number): Uint32Array {
  const count = Math.ceil(rows / EVEN_ROWS);
  const units = allocate(Uint32Array, UNIT_FIELDS * count);
  for (let u = 0; u < count; u++) {
    units.set([0, u * EVEN_ROWS, Math.min(rows, (u + 1) * EVEN_ROWS), 0, 0, 0], u * UNIT_FIELDS);
  }
  return units;
}

function sumMass(results: Float64Array, table: CpuTable): Float64Array {
  const mass = new Float64Array(table.features);
  const size = table.stride + RESULT_EXTRAS;
  for (let at = 0; at < results.length; at += size) {
    for (let k = 0; k < table.features; k++) mass[k] += results[at + k];
  }
  return mass;
}

function sumTerm(results: Float64Array, stride: number): number {
  let sum = 0;
  for (let at = stride; at < results.length; at += stride + RESULT_EXTRAS) sum += results[at];
  return sum;
}

function firstBad(results: Float64Array, stride: number): number {
  for (let at = stride + 1; at < results.length; at += stride + RESULT_EXTRAS) {
    if (results[at] >= 0) return results[at];
  }
  return -1;
}
