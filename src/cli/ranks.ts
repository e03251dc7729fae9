// What a launcher of several processes may start: each of them would do all of the work, and write the same files.

import { launchedRank, launchedRanks } from '../comm/mpi.js';
import { InputError } from '../errors.js';

/** How long the other processes let the first one speak; a launcher ends them with it, and one that does not waits no longer. */
const SILENT_MS = 5000;

/** Refuses a command of which a launcher has started several; only a fit of parts shares its work out. */
export async function refuseRanks(command: string, source?: string): Promise<void> {
  const launched = launchedRanks();
  if (!launched || (command === 'fit' && source === undefined)) return;
  // Every process finds the same: the first says it, for all.
  if (launchedRank() > 0) {
    await new Promise((resolve) => setTimeout(resolve, SILENT_MS));
    process.exit(2);
  }
  const started = `${launched.size} processes were started (${launched.by}), and each would do all of the work`;
  throw new InputError(
    source === undefined
      ? `graphex ${command}: ${started}; run it once, without the launcher`
      : `${source}: ${started}; run graphex partition ${source} -o parts once, then fit parts`,
  );
}
