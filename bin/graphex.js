#!/usr/bin/env node
import { constants } from 'node:os';

// Ctrl-C while the modules load has nothing to clean up; from then on each command sees to its own. The listeners stay:
// taking them away would lose a signal that came while the modules loaded and is still on its way.
let loading = true;
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(name, () => {
    if (loading) process.exit(128 + constants.signals[name]);
  });
}
const { main } = await import('../dist/cli/main.js');
const status = await main(process.argv, () => {
  loading = false;
});
process.exit(status);
