// Starts a large table on several threads, with the same bits as on one: every row has its own random stream.

import type { TableValues } from '../../engine/engine.js';
import { allocate } from '../../math/memory.js';
import { textHash } from '../../math/random.js';
import { createPool, taskModule, threadCount } from '../../parallel/pool.js';
import { emptyTable, meanWeights, startOf, writeWeight } from './start.js';
import type { StartTask } from './start-tasks.js';

const STARTING = taskModule('./start-tasks.js', import.meta.url);

/** A table with fewer than LARGE values takes less time than starting workers. Each worker gets at least PER_WORKER values. */
const LARGE = 2 ** 22;
const PER_WORKER = 2 ** 21;
/** Pieces per worker, because workers differ in speed. */
const PIECES = 4;

/** The result of `startOf`, computed on several threads. */
export async function startWithThreads(
  threads: number | undefined,
  ...asked: Parameters<typeof startOf>
): Promise<TableValues> {
  const [side, vertices, total, hyper, features, seed, noisy] = asked;
  const rows = vertices.ids.length;
  const size = threadCount(threads, Math.ceil((rows * features) / PER_WORKER));
  if (size === 1 || rows * features < LARGE) {
    return startOf(...asked);
  }
  const values = emptyTable(rows, features, (length) => allocate(Float64Array, length));
  const names = allocate(Uint32Array, 2 * rows);
  const strengths = allocate(Float64Array, rows);
  const weight = meanWeights(side, total, hyper, features);
  const { sigma, shape } = hyper[side];
  for (let i = 0; i < rows; i++) {
    names.set(textHash(vertices.ids.at(i)), 2 * i);
    strengths[i] = vertices.strength(i);
    writeWeight(values, i, strengths[i], sigma, weight);
  }
  const { featureShape, featureRate } = values;
  const task = {
    side,
    seed,
    features,
    shape,
    noisy,
    names,
    strengths,
    values: { featureShape, featureRate },
  };
  const step = Math.ceil(rows / (PIECES * size));
  const tasks = Array.from({ length: Math.ceil(rows / step) }, (_, t): StartTask => {
    return { ...task, first: t * step, last: Math.min(rows, (t + 1) * step) };
  });
  const pool = await createPool(STARTING, size);
  try {
    await pool.map('begin', tasks);
    return values;
  } finally {
    await pool.close();
  }
}
