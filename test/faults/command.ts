// Runs the built command line as a process of its own, so that it can be hurt.

import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../bin/graphex.js', import.meta.url));

export interface Ended {
  /** Exit status; null where a signal ended it. */
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly seconds: number;
}

export interface CommandOptions {
  /** Arguments of Node before the program. */
  readonly node?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Called with the process once it runs. */
  readonly onStart?: (child: ChildProcess) => void;
}

/** Runs `graphex ARGS` to its end. */
export function graphex(args: readonly string[], options: CommandOptions = {}): Promise<Ended> {
  const began = performance.now();
  const child = spawn(process.execPath, [...(options.node ?? []), BIN, ...args], {
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text) => (stdout += text));
  child.stderr.on('data', (text) => (stderr += text));
  options.onStart?.(child);
  return new Promise((resolve) => {
    child.on('close', (status, signal) => {
      resolve({ status, signal, stdout, stderr, seconds: (performance.now() - began) / 1000 });
    });
  });
}
