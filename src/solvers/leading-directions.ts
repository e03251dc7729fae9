// The leading right singular vectors of the matrix of edges, by randomized subspace iteration in the kernels' float32.

import type { RowLists } from '../math/csr.js';
import { allocate, createCounter } from '../math/memory.js';
import type { Random } from '../math/random.js';
import { threadCount } from '../parallel/pool.js';
import { limitsAddresses } from '../parallel/spawn.js';
import type { TaskOptions } from '../progress.js';
import { Heap } from '../wasm/heap.js';
import { instantiate } from '../wasm/instantiate.js';
import { inLanes, type Lanes } from '../wasm/lanes.js';
import { loadKernels } from '../wasm/load.js';
import {
  type DirectionsJob,
  directionSteps,
  multiplyDirections,
  PARTS,
  writeMatrix,
} from './direction-tasks.js';
import { WIDTH } from './ridge-blocks.js';
import { SOLVERS } from './solver-workers.js';
import { placeOn, storeLists } from './stored-lists.js';

interface Sides<T> {
  readonly users: T;
  readonly items: T;
}

/** A table in the kernels' memory, whose rows have room for whole blocks of WIDTH columns. */
export interface Rows {
  readonly values: Float32Array;
  readonly stride: number;
}

interface DirectionOptions extends Pick<TaskOptions, 'signal'> {
  /** Returns the matrix (directions × directions) by which the orthonormal columns are multiplied in the end. */
  readonly turns?: (rows: Rows) => Float64Array;
  /** Default: the caller's thread. */
  readonly workers?: Lanes | undefined;
}

/** About how much there is to do. */
interface DirectionWork {
  readonly edges: number;
  readonly directions: number;
  readonly multiplications: number;
}

/** Additions that keep a worker busy for about as long as it takes to start one. */
const WORK_PER_WORKER = 1e8;

/** Runs `task` with workers for this much work. They start while the task prepares its data. */
export async function withDirectionWorkers<T>(
  { edges, directions, multiplications }: DirectionWork,
  threads: number | undefined,
  task: (workers: Lanes) => Promise<T>,
): Promise<T> {
  const additions = 2 * edges * strideOf(directions) * multiplications;
  const count = limitsAddresses() ? 1 : threadCount(threads, Math.floor(additions / WORK_PER_WORKER));
  const workers = inLanes(SOLVERS, count > 1 ? count : 0);
  try {
    workers.start();
    return await task(workers);
  } finally {
    await workers.close();
  }
}

/**
 * Items × directions, row-major: columns that span the leading right singular vectors of U R D after some multiplications by its
 * square. They are orthonormal to about 1e-4. R is the matrix of edges; U and D hold the scales of users and items.
 */
export async function leadingDirections(
  edges: Sides<RowLists>,
  scales: Sides<Float64Array>,
  directions: number,
  multiplications: number,
  random: Random,
  { turns, workers = inLanes(SOLVERS, 0), signal }: DirectionOptions = {},
): Promise<Float32Array> {
  const { module } = await loadKernels();
  const heap = new Heap();
  const stride = strideOf(directions);
  const count = scales.items.length;
  const [users, items] = (['users', 'items'] as const).map((side) => {
    const { length } = scales[side];
    const columns = side === 'users' ? WIDTH : stride;
    const [squares, table] = [4, 4 * columns].map((bytes) => heap.allocate(bytes * length));
    heap.f32(squares, length).set(scales[side].map((scale) => scale ** 2));
    return { lists: storeLists(heap, edges[side]), squares, table };
  });
  const scratch = Array.from({ length: workers.count }, () => heap.allocate(4 * stride));
  const job: DirectionsJob = {
    ...placeOn(heap, module, scratch),
    ...{ users, items, directions, stride, multiplications },
    itemScales: heap.allocate(4 * count),
    products: heap.allocate(2 * 4 * PARTS * stride * stride),
    matrix: heap.allocate(4 * stride * stride),
    workers: workers.count,
    meeting: { arrived: createCounter(), over: createCounter(), done: createCounter() },
    taken: allocate(Int32Array, directionSteps(multiplications, stride)),
  };
  heap.f32(job.itemScales, count).set(scales.items);
  const values = heap.f32(items.table, count * stride);
  // A random sign for each number: one draw has 32 of them.
  for (let i = 0, bits = 0; i < count; i++) {
    for (let k = 0; k < directions; k++, bits >>>= 1) {
      if (k % 32 === 0) bits = random.uint32();
      values[i * stride + k] = bits & 1 ? 1 : -1;
    }
  }
  await workers.all('multiplyDirections', multiplyDirections, job, signal, multiplications);
  if (turns) {
    writeMatrix(job, turns({ values, stride }));
    const kernels = instantiate(module, heap.memory);
    kernels.linearTurn(items.table, count, stride, job.matrix, scratch[0]);
  }
  const out = new Float32Array(count * directions);
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < directions; k++) out[i * directions + k] = values[i * stride + k];
  }
  return out;
}

/** Rows have room for whole blocks of columns. */
function strideOf(directions: number): number {
  return WIDTH * Math.ceil(directions / WIDTH);
}
