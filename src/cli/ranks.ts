// Refuses commands that a launcher started several times: each process would do all of the work and write the same files.

import { launchedRank, launchedRanks } from '../comm/mpi.js';
import { InputError } from '../errors.js';

/** How long the other processes wait for the message of the first. A launcher usually ends them earlier. */
const SILENT_MS = 5000;

/** Throws if a launcher has started several processes; only a fit to shards divides its work among them. */
export async function refuseRanks(command: string, source?: string): Promise<void> {
  const launched = launchedRanks();
  if (!launched || (command === 'fit' && source === undefined)) return;
  // Every process finds the same error; only the first prints it.
  if (launchedRank(launched) > 0) {
    await new Promise((resolve) => setTimeout(resolve, SILENT_MS));
    process.exit(2);
  }
  const started = `${launched.size} processes were started (${launched.by}), and each would do all of the work`;
  throw new InputError(
    source === undefined
      ? `graphex ${command}: ${started}; run it once, without the launcher`
      : `${source}: ${started}; run npx graphex partition ${source} -o shards once, then fit shards`,
  );
}
