// Loaded before the command line (node --import): a worker dies at the time and in the way that GRAPHEX_FAULT names:
//   "terminate 500"  the first worker is ended from outside after this number of milliseconds
//   "memory 4"       every worker has a heap of this number of MB

import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

const [how, amount] = (process.env.GRAPHEX_FAULT ?? '').split(' ');
const { Worker } = threads;
let first = true;

if (threads.isMainThread) {
  threads.Worker = class extends Worker {
    constructor(url, options) {
      const limits = how === 'memory' ? { maxOldGenerationSizeMb: Number(amount) } : undefined;
      super(url, { ...options, execArgv: [], ...(limits && { resourceLimits: limits }) });
      if (how === 'terminate' && first) setTimeout(() => this.terminate(), Number(amount));
      first = false;
    }
  };
  syncBuiltinESMExports();
}
