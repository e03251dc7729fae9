// Ridge regression of many targets on the same sparse 0/1 inputs, whose rows may have weights. Typed arrays in, typed arrays out.

import type { RowLists } from '../math/csr.js';
import { transposeLists } from '../math/csr.js';
import { allocate, inSharedMemory } from '../math/memory.js';
import { threadCount } from '../parallel/pool.js';
import type { TaskOptions } from '../progress.js';
import { Heap } from '../wasm/heap.js';
import { inLanes } from '../wasm/lanes.js';
import { loadKernels } from '../wasm/load.js';
import { scratchRoom, storeColumns, TILE, tileScratchBytes } from './pair-counts.js';
import {
  type LargestWeights,
  type RidgeAim,
  type RidgeJob,
  ridgeScratchBytes,
  ridgeSystems,
  solveRidge,
  WIDTH,
} from './ridge-blocks.js';
import { SMALL, SOLVERS } from './solver-workers.js';
import { placeOn, type StoredLists, storeLists } from './stored-lists.js';

export interface RidgeProblem {
  /** Per row, its columns: a 0/1 matrix X. */
  readonly inputs: RowLists;
  readonly columns: number;
  /** Per target, its rows: the columns of a 0/1 matrix Y. */
  readonly targets: RowLists;
  readonly lambda: number;
  /** Weights of the rows, powers of two that never fall (user-weights.ts); default: all are 1. */
  readonly weights?: Uint8Array | undefined;
  /** Relative residual at which a target counts as solved. Default 1e-4. */
  readonly tolerance?: number | undefined;
}

/** Weights W (columns × targets, row-major) that minimize ‖Y − X·W‖² + λ‖W‖², with the squares of a row times its weight. */
export async function ridge(problem: RidgeProblem, options: TaskOptions = {}): Promise<Float32Array> {
  const out = allocate(Float32Array, problem.columns * (problem.targets.offsets.length - 1));
  await solveSystems(problem, (targets) => ({ kind: 'weights', targets, out }), options);
  return out;
}

/**
 * The largest of those weights, at most `neighbours` of each target, without a table of columns × targets. If a target is a column too
 * (`ownColumn`), its weights are those without this input.
 */
export async function ridgeLargest(
  problem: RidgeProblem,
  neighbours: number,
  ownColumn: Int32Array,
  options: TaskOptions = {},
): Promise<LargestWeights> {
  const targets = problem.targets.offsets.length - 1;
  const roots = allocate(Float32Array, problem.columns);
  for (const column of problem.inputs.values) roots[column]++;
  for (let c = 0; c < roots.length; c++) roots[c] = Math.sqrt(roots[c]);
  const result = {
    neighbours,
    found: allocate(Uint32Array, targets),
    sources: allocate(Uint32Array, targets * neighbours),
    targetWeights: allocate(Float32Array, targets * neighbours),
  };
  const more = { roots, ownColumn: inSharedMemory(ownColumn) };
  await solveSystems(
    problem,
    (stored) => ({ kind: 'largest', targets: stored, ...result, ...more }),
    options,
  );
  return result;
}

/**
 * The predictions of those weights for other rows H, whose columns `asked` lists: H·W, asked rows × targets, row-major. It keeps
 * no weights: it solves one system for each target or for each asked row, whichever are fewer.
 */
export async function ridgeScores(
  problem: RidgeProblem,
  asked: RowLists,
  options: TaskOptions = {},
): Promise<Float32Array> {
  const [rows, width] = [asked, problem.targets].map(({ offsets }) => offsets.length - 1);
  const kind = rows < width ? 'scores-by-row' : 'scores-by-target';
  const out = allocate(Float32Array, rows * width);
  await solveSystems(problem, (targets, store) => ({ kind, targets, asked: store(asked), out }), options);
  return out;
}

async function solveSystems(
  problem: RidgeProblem,
  aimAt: (targets: StoredLists, store: (lists: RowLists) => StoredLists) => RidgeAim,
  options: TaskOptions,
): Promise<void> {
  const { inputs, columns, lambda, weights, tolerance = 1e-4 } = problem;
  const { module } = await loadKernels();
  const heap = new Heap();
  const stored = (lists: RowLists) => storeLists(heap, lists);
  const aim = aimAt(stored(problem.targets), stored);
  const systems = ridgeSystems(aim);
  const small = inputs.values.length * systems < SMALL;
  const rows = stored(inputs);
  const scaleAt = heap.allocate(4 * columns);
  const bytes = ridgeScratchBytes(columns, rows.rows, aim.kind);
  const byTarget = aim.kind !== 'scores-by-row';
  const columnLists = byTarget
    ? storeColumns(heap, transposeLists(inputs, columns), weights ?? new Uint8Array(rows.rows).fill(1))
    : undefined;
  const weightsAt = weights ? heap.allocate(4 * weights.length) : 0;
  if (weights) heap.f32(weightsAt, weights.length).set(weights);
  const tileBytes = columnLists ? tileScratchBytes(columnLists) : 0;
  const { workers, tile } = scratchRoom(Math.ceil(systems / WIDTH), tileBytes, bytes);
  const lanes = small ? 1 : threadCount(options.threads, workers);
  const scratch = Array.from({ length: lanes }, () => heap.allocate(bytes));
  const scale = heap.f32(scaleAt, columns).fill(lambda);
  for (let row = 0; row < rows.rows; row++) {
    for (let e = inputs.offsets[row]; e < inputs.offsets[row + 1]; e++)
      scale[inputs.values[e]] += weights?.[row] ?? 1;
  }
  for (let c = 0; c < columns; c++) scale[c] = 1 / scale[c];
  const counted =
    columnLists && tile > 0 ? { ...columnLists, scratch: scratch.map(() => heap.allocate(tile)) } : undefined;
  // A worker takes as many blocks as fill a tile of counts, unless other workers would then idle.
  const blocksPerTurn = systems >= 4 * TILE * lanes ? TILE / WIDTH : 1;
  const job: RidgeJob = {
    ...placeOn(heap, module, scratch),
    inputs: rows,
    weights: weights && inSharedMemory(weights),
    weightsAt,
    scale: scaleAt,
    columns,
    lambda,
    counted,
    blocksPerTurn,
    aim,
    tolerance,
    maxIterations: 200,
  };
  const run = inLanes(SOLVERS, small ? 0 : lanes);
  try {
    await run.all('solveRidge', solveRidge, job, options.signal, systems, () =>
      options.onProgress?.({
        stage: 'solving',
        done: Math.min(systems, WIDTH * blocksPerTurn * Atomics.load(job.next, 0)),
        total: systems,
        unit: aim.kind === 'scores-by-row' ? 'rows' : 'targets',
      }),
    );
  } finally {
    await run.close();
  }
}
