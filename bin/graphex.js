#!/usr/bin/env node
// Ctrl-C while the modules load has nothing to clean up; from then on each command sees to its own.
const leave = () => process.exit(130);
process.on('SIGINT', leave).on('SIGTERM', leave);
const { main } = await import('../dist/cli/main.js');
process.off('SIGINT', leave).off('SIGTERM', leave);
process.exit(await main(process.argv));
