// The workers that ridge regression and least squares have in common.

import type { TaskModule } from '../parallel/pool.js';

/** Below this many additions a pool of workers costs more than it saves. */
export const SMALL = 1e8;

export const SOLVERS: TaskModule = {
  name: 'linear-tasks',
  base: import.meta.url,
  worker: () =>
    new Worker(new URL('./linear-tasks.js', import.meta.url), {
      type: 'module',
      name: 'graphex:linear-tasks',
    }),
  here: () => import('./linear-tasks.js'),
};
