// The workers of ridge regression and least squares.

import { taskModule } from '../parallel/pool.js';

/** Below this many additions a pool of workers costs more than it saves. */
export const SMALL = 1e8;

export const SOLVERS = taskModule('./linear-tasks.js', import.meta.url);
