// The kernels as functions of the host. Their types are those of their sources, where addresses and all other numbers are numbers.

/// <reference path="./kernels/constants.d.ts" />
import type { resetEdgeTerm, takeEdgeTerm } from './kernels/edges.js';
import type * as foldFresh from './kernels/fold-fresh.js';
import type * as linear from './kernels/linear.js';
import type * as pairs from './kernels/pairs.js';
import type { bindJob, bindWorker, jobBytes, unitBytes } from './kernels/params.js';
import type * as regression from './kernels/regression.js';
import type * as ridge from './kernels/ridge.js';
import type * as rows from './kernels/rows.js';
import type * as scores from './kernels/scores.js';
import type * as sums from './kernels/sums.js';
import type * as terms from './kernels/terms.js';
import type * as trials from './kernels/trials.js';

/** What kernels/index.ts exports. */
export type Kernels = typeof foldFresh &
  typeof linear &
  typeof pairs &
  typeof regression &
  typeof ridge &
  typeof rows &
  typeof scores &
  typeof sums &
  typeof terms &
  typeof trials & {
    readonly resetEdgeTerm: typeof resetEdgeTerm;
    readonly takeEdgeTerm: typeof takeEdgeTerm;
    readonly bindJob: typeof bindJob;
    readonly bindWorker: typeof bindWorker;
    readonly jobBytes: typeof jobBytes;
    readonly unitBytes: typeof unitBytes;
  };

/** The kernels on a memory: each thread has its own instance. */
export function instantiate(module: WebAssembly.Module, memory: WebAssembly.Memory): Kernels {
  const instance = new WebAssembly.Instance(module, { env: { memory, abort: () => {} } });
  return instance.exports as unknown as Kernels;
}
