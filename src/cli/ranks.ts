// What a launcher of several processes may start: each of them would do all of the work, and write the same files.

import { launchedRanks } from '../comm/mpi.js';
import { InputError } from '../errors.js';

/** Refuses a command of which a launcher has started several; only a fit of parts shares its work out. */
export function refuseRanks(command: string, source?: string): void {
  const launched = launchedRanks();
  if (!launched || (command === 'fit' && source === undefined)) return;
  const started = `${launched.size} processes were started (${launched.by}), and each would do all of the work`;
  throw new InputError(
    source === undefined
      ? `graphex ${command}: ${started}; run it once, without the launcher`
      : `${source}: ${started}; run graphex partition ${source} -o parts once, then fit parts`,
  );
}
