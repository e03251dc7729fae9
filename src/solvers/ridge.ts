// Ridge regression of many targets on the same sparse 0/1 inputs. Typed arrays in, typed arrays out.

import type { RowLists } from '../math/csr.js';
import { transposeLists } from '../math/csr.js';
import { allocate, createCounter } from '../math/memory.js';
import { threadCount } from '../parallel/pool.js';
import type { TaskOptions } from '../progress.js';
import { Heap } from '../wasm/heap.js';
import { inLanes } from '../wasm/lanes.js';
import { loadKernels } from '../wasm/load.js';
import { storeLists } from './linear-kernels.js';
import { scratchRoom, storeColumns, TILE, tileScratchBytes } from './pair-counts.js';
import {
  type RidgeAim,
  type RidgeJob,
  ridgeScratchBytes,
  ridgeSystems,
  solveRidge,
  WIDTH,
} from './ridge-blocks.js';
import { SMALL, SOLVERS } from './solver-workers.js';

export interface RidgeProblem {
  /** Per row, its columns: a 0/1 matrix X. */
  readonly inputs: RowLists;
  readonly columns: number;
  /** Per target, its rows: the columns of a 0/1 matrix Y. */
  readonly targets: RowLists;
  readonly lambda: number;
  /** Relative residual at which a target counts as solved. Default 1e-4. */
  readonly tolerance?: number | undefined;
}

/** Weights W (columns × targets, row-major) that minimize ‖Y − X·W‖² + λ‖W‖². */
export function ridge(problem: RidgeProblem, options: TaskOptions = {}): Promise<Float32Array> {
  const out = allocate(Float32Array, problem.columns * (problem.targets.offsets.length - 1));
  return solveSystems(problem, out, undefined, options);
}

/**
 * The predictions of those weights for other rows H, whose columns `asked` lists: H·W, asked rows × targets, row-major. It keeps
 * no weights: it solves one system for each target or for each asked row, whichever are fewer.
 */
export function ridgeScores(
  problem: RidgeProblem,
  asked: RowLists,
  options: TaskOptions = {},
): Promise<Float32Array> {
  const [rows, width] = [asked, problem.targets].map(({ offsets }) => offsets.length - 1);
  return solveSystems(problem, allocate(Float32Array, rows * width), asked, options);
}

async function solveSystems(
  problem: RidgeProblem,
  out: Float32Array,
  asked: RowLists | undefined,
  options: TaskOptions,
): Promise<Float32Array> {
  const { inputs, columns, lambda, tolerance = 1e-4 } = problem;
  const { module } = await loadKernels();
  const heap = new Heap();
  const stored = (lists: RowLists) => storeLists(heap, lists);
  const targets = stored(problem.targets);
  const aim: RidgeAim = asked
    ? {
        kind: asked.offsets.length - 1 < targets.rows ? 'scores-by-row' : 'scores-by-target',
        ...{ targets, asked: stored(asked), out },
      }
    : { kind: 'weights', targets, out };
  const systems = ridgeSystems(aim);
  const small = inputs.values.length * systems < SMALL;
  const rows = stored(inputs);
  const scaleAt = heap.allocate(4 * columns);
  const bytes = ridgeScratchBytes(columns, rows.rows, aim.kind);
  const byTarget = aim.kind !== 'scores-by-row';
  const columnLists = byTarget
    ? storeColumns(heap, transposeLists(inputs, columns), new Uint8Array(rows.rows).fill(1))
    : undefined;
  const tileBytes = columnLists ? tileScratchBytes(columnLists) : 0;
  const { workers, tile } = scratchRoom(Math.ceil(systems / WIDTH), tileBytes, bytes);
  const lanes = small ? 1 : threadCount(options.threads, workers);
  const scratch = Array.from({ length: lanes }, () => heap.allocate(bytes));
  const scale = heap.f32(scaleAt, columns).fill(lambda);
  for (const column of inputs.values) scale[column] += 1;
  for (let c = 0; c < columns; c++) scale[c] = 1 / scale[c];
  const next = createCounter();
  const system = { module, memory: heap.memory, scratch, inputs: rows, scale: scaleAt, columns, lambda };
  const counted =
    columnLists && tile > 0 ? { ...columnLists, scratch: scratch.map(() => heap.allocate(tile)) } : undefined;
  // A worker takes as many blocks as fill a tile of counts, unless other workers would then idle.
  const blocksPerTurn = systems >= 4 * TILE * lanes ? TILE / WIDTH : 1;
  const job: RidgeJob = {
    ...{ ...system, places: createCounter(), next, counted, blocksPerTurn },
    ...{ aim, tolerance, maxIterations: 200 },
  };
  const run = inLanes(SOLVERS, small ? 0 : lanes);
  try {
    await run.all('solveRidge', solveRidge, job, options.signal, systems, () =>
      options.onProgress?.({
        stage: 'solving',
        done: Math.min(systems, WIDTH * blocksPerTurn * Atomics.load(next, 0)),
        total: systems,
        unit: aim.kind === 'scores-by-row' ? 'rows' : 'targets',
      }),
    );
  } finally {
    await run.close();
  }
  return aim.out;
}
