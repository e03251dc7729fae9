// The most memory that a program had, as the kernel counts it.

/** Measures the program alone: a new process may begin with the high-water mark of the process that started it. */
const WATCH = `import { readFileSync } from 'node:fs';
process.on('exit', () => process.stderr.write(/VmHWM:.*/.exec(readFileSync('/proc/self/status', 'utf8'))[0]));`;

/** Linux alone says it. */
export const SAYS_PEAK = process.platform === 'linux';

/** The environment with which a Node program prints its peak when it ends. */
export const SAY_PEAK = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(WATCH)}` };

/** Megabytes, of the largest process that has written to stderr. */
export function peakIn(stderr: string): number {
  return Math.max(...Array.from(stderr.matchAll(/VmHWM:\s+(\d+) kB/g), ([, peak]) => Number(peak))) / 1024;
}
