// The most memory that a program had, as the kernel counts it.

/** Of the program alone: what a process is started with may have the high-water mark of whoever started it. */
const WATCH = `import { readFileSync } from 'node:fs';
process.on('exit', () => process.stderr.write(/VmHWM:.*/.exec(readFileSync('/proc/self/status', 'utf8'))[0]));`;

/** Linux alone says it. */
export const SAYS_PEAK = process.platform === 'linux';

/** What a Node program is started with to say it at its end. */
export const SAY_PEAK = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(WATCH)}` };

/** Megabytes, of the largest process that has written to stderr. */
export function peakIn(stderr: string): number {
  return Math.max(...Array.from(stderr.matchAll(/VmHWM:\s+(\d+) kB/g), ([, peak]) => Number(peak))) / 1024;
}
