#!/usr/bin/env node
// Ctrl-C while the modules load has nothing to clean up; from then on each command sees to its own. The listener stays:
// taking it away would lose a signal that came while the modules loaded and is still on its way.
let loading = true;
const leave = () => {
  if (loading) process.exit(130);
};
process.on('SIGINT', leave).on('SIGTERM', leave);
const { main } = await import('../dist/cli/main.js');
loading = false;
process.exit(await main(process.argv));
