// Alternating least squares with implicit zeros on the cpu engine. Typed arrays in, typed arrays out.

import { throwIfAborted } from '../errors.js';
import type { RowLists } from '../math/csr.js';
import { allocate } from '../math/memory.js';
import { randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { threadCount } from '../parallel/pool.js';
import type { TaskOptions } from '../progress.js';
import { Heap } from '../wasm/heap.js';
import { instantiate } from '../wasm/instantiate.js';
import { inLanes, type Lanes } from '../wasm/lanes.js';
import { loadKernels } from '../wasm/load.js';
import {
  type LeastSquaresJob,
  leastSquaresScratchBytes,
  MOST_ROWS,
  rowsPerBlock,
  solveLeastSquares,
} from './linear-tasks.js';
import { SMALL, SOLVERS } from './solver-workers.js';
import { placeOn, storeLists } from './stored-lists.js';

interface LeastSquaresOptions extends TaskOptions {
  readonly features: number;
  /** Regularization; a row's share is λ·(degree + α·size of the other side). */
  readonly lambda: number;
  /** Weight of the squared score of every pair, seen or not. Seen pairs have an additional weight of 1. */
  readonly alpha: number;
  readonly iterations: number;
  readonly seed: number;
  /**
   * The starting table of the items, items × features or with fewer features. Other features start with small random numbers, as
   * all do by default.
   */
  readonly start?: Float32Array | undefined;
  /** The starting table of the users, with as many features as `start`. */
  readonly startUsers?: Float32Array | undefined;
  /** After each iteration the items move further by this fraction of their change, since alternation converges slowly. Default 0. */
  readonly momentum?: number | undefined;
  /** Workers that are shared with other calls. Default: own workers if there is enough work. */
  readonly workers?: Lanes | undefined;
}

/** Opens workers for several consecutive calls with tables of at most `rows` rows; the caller closes them. */
export function openSolvers(threads: number | undefined, rows: number): Lanes {
  return inLanes(SOLVERS, threadCount(threads, Math.ceil(rows / MOST_ROWS)));
}

/** Two tables whose products approximate 1 on the edges and 0 elsewhere. */
export interface LeastSquaresTables {
  readonly users: Float32Array;
  readonly items: Float32Array;
}

/** Conjugate-gradient steps of a row in one half-step, from its present value. */
const STEPS = 3;
/** Relative residual at which a new row counts as solved. float32 has hardly more digits. */
const FOLD_TOLERANCE = 1e-5;

/**
 * Alternating least squares: Σ_edges w (1 − x·y)² + α Σ_pairs (x·y)² + regularization, over both tables. Weights w of the edges may
 * differ between the two orders; a row's degree is their sum.
 */
export async function alternatingLeastSquares(
  edges: { readonly users: RowLists; readonly items: RowLists },
  options: LeastSquaresOptions,
): Promise<LeastSquaresTables> {
  const { features, alpha, iterations, signal } = options;
  const rows = { users: edges.users.offsets.length - 1, items: edges.items.offsets.length - 1 };
  // An edge takes the work of two vectors, a row that of half a matrix.
  const each = edges.users.values.length + ((rows.users + rows.items) * features) / 2;
  const solver = await createSolver(each * features * iterations, Math.max(rows.users, rows.items), options);
  try {
    const sides = (['users', 'items'] as const).map((name, s) => {
      const table = solver.table(rows[name]);
      const view = solver.view(table, rows[name]);
      const start = name === 'items' ? options.start : options.startUsers;
      const given = start ? start.length / rows[name] : 0;
      if (given < features) randomize(view, features, solver.stride, options.seed, s);
      if (start) copyRows(start, given, view, solver.stride);
      return { rows: rows[name], table, lists: storeLists(solver.heap, edges[name]) };
    });
    const [users, items] = sides as [(typeof sides)[0], (typeof sides)[0]];
    const further = createMomentum(options.momentum ?? 0);
    for (let iteration = 0; iteration < iterations; iteration++) {
      for (const [own, other] of [
        [users, items],
        [items, users],
      ] as const) {
        throwIfAborted(signal);
        solver.gram(other.table, other.rows, alpha);
        await solver.solve(own, other.table, alpha * other.rows, { steps: STEPS, tolerance: 0 });
      }
      if (iteration + 1 < iterations) further(solver.view(items.table, items.rows));
      options.onProgress?.({
        stage: 'least squares',
        done: iteration + 1,
        total: iterations,
        unit: 'iterations',
      });
    }
    return { users: solver.read(users.table, users.rows), items: solver.read(items.table, items.rows) };
  } finally {
    await solver.close();
  }
}

/**
 * The rows of new users given the items' table, solved to convergence. Weights of the history count. Only items marked in `shown` (default:
 * all) count as unseen pairs, since nothing is known of the others.
 */
export async function foldInLeastSquares(
  items: Float32Array,
  history: RowLists,
  shown: Uint8Array | undefined,
  options: Pick<LeastSquaresOptions, 'features' | 'lambda' | 'alpha' | 'workers' | 'startUsers'> &
    TaskOptions,
): Promise<Float32Array> {
  const { features, alpha } = options;
  const rows = history.offsets.length - 1;
  const count = items.length / features;
  const solver = await createSolver(history.values.length * features * features, rows, options);
  try {
    const other = solver.table(count);
    const view = solver.view(other, count);
    copyRows(items, features, view, solver.stride);
    const own = { rows, table: solver.table(rows), lists: storeLists(solver.heap, history) };
    if (options.startUsers)
      copyRows(options.startUsers, features, solver.view(own.table, rows), solver.stride);
    const visible = shown ? shown.reduce((sum, s) => sum + s, 0) : count;
    const seen = shown ? solver.table(visible) : other;
    for (let j = 0, at = 0; shown && j < count; j++) {
      if (!shown[j]) continue;
      const row = items.subarray(j * features, (j + 1) * features);
      solver.view(seen, visible).set(row, at++ * solver.stride);
    }
    solver.gram(seen, visible, alpha);
    await solver.solve(own, other, alpha * visible, {
      steps: Math.min(64, 2 * features),
      tolerance: FOLD_TOLERANCE,
    });
    return solver.read(own.table, rows);
  } finally {
    await solver.close();
  }
}

/** Moves a table further in the direction of its change since the last call. The first call only records the table. */
function createMomentum(momentum: number): (table: Float32Array) => void {
  let before: Float32Array | undefined;
  return (table) => {
    if (momentum === 0) return;
    const now = table.slice();
    if (before) for (let i = 0; i < table.length; i++) table[i] += momentum * (now[i] - before[i]);
    before = now;
  };
}

interface SolverSide {
  readonly rows: number;
  readonly table: number;
  readonly lists: { readonly offsets: number; readonly neighbors: number; readonly weights: number };
}

/** `rows` is the number of rows of the larger table. */
async function createSolver(
  work: number,
  rows: number,
  options: Pick<LeastSquaresOptions, 'features' | 'lambda' | 'workers'> & TaskOptions,
) {
  const { features, lambda, signal, workers } = options;
  const stride = Math.ceil(features / 8) * 8;
  const isSmall = work < (workers ? SMALL / 10 : SMALL);
  const run = isSmall ? inLanes(SOLVERS, 0) : (workers ?? openSolvers(options.threads, rows));
  const { module } = await loadKernels();
  const heap = new Heap();
  const gram = heap.allocate(4 * stride * stride);
  const packed = heap.allocate(4 * stride * stride);
  const scratch = Array.from({ length: run.count }, () => heap.allocate(leastSquaresScratchBytes(stride)));
  const kernels = instantiate(module, heap.memory);
  return {
    heap,
    stride,
    // Rows are solved four at a time.
    table: (rows: number) => heap.allocate(4 * (rows + 3) * stride),
    view: (table: number, rows: number) => heap.f32(table, rows * stride),
    read(table: number, rows: number): Float32Array {
      const result = allocate(Float32Array, rows * features);
      const view = heap.f32(table, rows * stride);
      for (let r = 0; r < rows; r++) {
        result.set(view.subarray(r * stride, r * stride + features), r * features);
      }
      return result;
    },
    /** Computes factor · Σ y yᵀ of a table, which `solve` reads. */
    gram: (table: number, rows: number, factor: number) =>
      kernels.alsGram(table, rows, stride, factor, gram, packed),
    async solve(
      own: SolverSide,
      other: number,
      base: number,
      end: Pick<LeastSquaresJob, 'steps' | 'tolerance'>,
    ): Promise<void> {
      const job: LeastSquaresJob = {
        ...placeOn(heap, module, scratch),
        ...own.lists,
        ...{ own: own.table, other, packed, rows: own.rows, block: rowsPerBlock(own.rows, run.count) },
        ...{ stride, lambda, base, ...end },
      };
      await run.all('solveLeastSquares', solveLeastSquares, job, signal, own.rows);
    },
    close: async () => {
      if (run !== workers) await run.close();
    },
  };
}

function copyRows(rows: Float32Array, features: number, view: Float32Array, stride: number): void {
  for (let r = 0; r * features < rows.length; r++) {
    view.set(rows.subarray(r * features, (r + 1) * features), r * stride);
  }
}

/** The default starting tables, for several runs of least squares. */
export function leastSquaresStart(
  rows: { readonly users: number; readonly items: number },
  features: number,
  seed: number,
): LeastSquaresTables {
  const table = (count: number, side: number) => {
    const values = new Float32Array(count * features);
    randomize(values, features, features, seed, side);
    return values;
  };
  return { users: table(rows.users, 0), items: table(rows.items, 1) };
}

/** Small normal numbers: products start near zero, and no two features are alike. */
function randomize(view: Float32Array, features: number, stride: number, seed: number, side: number): void {
  const random = randomStream(seed, STREAMS.leastSquares, side);
  for (let r = 0; r * stride < view.length; r++) {
    for (let k = 0; k < features; k++) {
      const normal = Math.sqrt(-2 * Math.log(random.uniform())) * Math.cos(2 * Math.PI * random.uniform());
      view[r * stride + k] = (0.1 / Math.sqrt(features)) * normal;
    }
  }
}
