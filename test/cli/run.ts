import { type ChildProcess, fork, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
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

/**
 * Runs the built command line to its end, in a process that runs one command after the other: starting Node and loading
 * the modules takes longer than most commands. A test about the process itself starts its own.
 */
export function graphex(...args: string[]): Promise<Run> {
  return graphexIn(process.cwd(), args);
}

/** The same in a folder. */
export function graphexIn(folder: string, args: readonly string[]): Promise<Run> {
  const run = last.then(() => ask(folder, args));
  last = run.catch(() => undefined);
  return run;
}

let last: Promise<unknown> = Promise.resolve();
let commands: ChildProcess | undefined;
/** What Node itself has written to stderr. The output of a command comes with its result. */
let said = '';

function ask(folder: string, args: readonly string[]): Promise<Run> {
  const child = commands ?? startCommands();
  return new Promise((resolve, reject) => {
    const onExit = (status: number | null, signal: string | null) =>
      reject(new Error(`graphex ${args.join(' ')} ended its process: ${status ?? signal}\n${said}`));
    child.once('exit', onExit);
    child.once('message', (run: Run) => {
      child.off('exit', onExit);
      resolve(run);
    });
    child.send({ folder, args });
  });
}

function startCommands(): ChildProcess {
  const child = fork(join(import.meta.dirname, 'commands.js'), {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  commands = child;
  said = '';
  child.stderr!.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  child.on('exit', () => {
    commands = undefined;
  });
  // It ends with this process, and does not keep it alive.
  child.unref();
  child.channel!.unref();
  (child.stderr as Socket).unref();
  return child;
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
