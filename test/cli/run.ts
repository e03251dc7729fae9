import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { randomStream } from '../../src/math/random.js';

export const bin = join(import.meta.dirname, '../../bin/graphex.js');

export interface Run {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built command line to its end. */
export function graphex(...args: string[]): Promise<Run> {
  return finished(start(args));
}

export function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [bin, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

export function finished(child: ChildProcess): Promise<Run> {
  let stdout = '';
  let stderr = '';
  child.stdout!.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr!.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, stdout, stderr })));
}

/** A folder of this test file's own, removed at its end. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'graphex-cli-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A table of random pairs with a header. */
export function writeTable(path: string, rows: number, users = 200, items = 150): void {
  const random = randomStream(3);
  const lines = Array.from({ length: rows }, () => {
    const user = Math.floor(users * random.uniform() ** 1.5);
    return `${user},${Math.floor(items * random.uniform() ** 2)}`;
  });
  writeFileSync(path, `person,thing\n${lines.join('\n')}\n`);
}
