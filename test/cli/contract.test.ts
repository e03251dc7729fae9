import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram, reportError } from '../../src/cli/main.js';
import { COMMANDS, type CommandName } from '../../src/options/commands.js';
import type { Declaration } from '../../src/options/declare.js';
import { listOptions } from '../../src/options/option-list.js';
import { COMMON } from '../../src/options/shared.js';
import { VERSION } from '../../src/version.js';
import { bin, finished, graphex, scratch, start, writeTable } from './run.js';

// The contract of every command: its options, its exit status, and what goes to which stream.

const folder = scratch();
const data = join(folder, 'data.csv');
writeTable(data, 2000);
const commands = (await createProgram()).commands.map((command) => command.name());

/** The help on a terminal of 80 columns. */
async function help(name: string, flag: '--help' | '--help-all'): Promise<string> {
  let said = '';
  const write = (text: string) => {
    said += text;
  };
  const program = await createProgram(name, write, flag === '--help' ? 'common' : 'all');
  for (const command of program.commands) command.configureOutput({ getOutHelpWidth: () => 80 });
  await program.parseAsync(['node', 'graphex', name, '--help']).catch(() => undefined);
  return said;
}

/** The lines between the first heading of options and the examples. */
function optionLines(text: string): string[] {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => /^(Options|Study|Data):/.test(line));
  const last = lines.findIndex((line) => /^Examples?:/.test(line));
  return lines.slice(first, last).filter((line) => /^ +\S/.test(line));
}

/** Parses in this process; returns what commander prints and the exit status. */
async function parse(...args: string[]): Promise<{ said: string; status: number }> {
  let said = '';
  const write = (text: string) => {
    said += text;
  };
  const program = await createProgram();
  for (const command of [program, ...program.commands])
    command.configureOutput({ writeOut: write, writeErr: write });
  try {
    await program.parseAsync(['node', 'graphex', ...args]);
    return { said, status: 0 };
  } catch (error) {
    return { said, status: (error as CommanderError).exitCode };
  }
}

describe('every command', () => {
  it.each(commands)('%s has the common options, an example and a version', async (name) => {
    const { said, status } = await parse(name, '--help');
    expect(status).toBe(0);
    for (const part of ['--json', '--seed', '--threads', '--quiet']) expect(said).toContain(part);
    expect(said).toMatch(new RegExp(`Examples?:\n {2}graphex .*\\b${name} `));
    expect(await parse(name, '--version')).toEqual({ said: `${VERSION}\n`, status: 0 });
  });

  it.each(commands)(
    '%s has at most 24 lines of common options, all of them by --help-all, and lines of at most 80 characters',
    async (name) => {
      const short = await help(name, '--help');
      const all = await help(name, '--help-all');
      for (const line of `${short}\n${all}`.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
      expect(optionLines(short).length).toBeLessThanOrEqual(24);
      expect(optionLines(short).length).toBeGreaterThan(5);
      const declared = Object.values<Declaration>(COMMANDS[name as CommandName]).flatMap((part) =>
        listOptions(part),
      );
      for (const { flag, off, option } of declared) {
        for (const one of [flag, off]) {
          if (one === undefined) continue;
          const mentions = new RegExp(`^ +${one}(?![\\w-])`, 'm');
          expect(all, one).toMatch(mentions);
          // The short help has every option that all commands share.
          if (!Object.hasOwn(COMMON, one.replace(/^--/, '')))
            expect(mentions.test(short), one).toBe(option.common === true);
        }
      }
    },
  );

  it.each(commands)('%s suggests the option that was meant', async (name) => {
    const hasOutput = (await createProgram()).commands
      .find((c) => c.name() === name)!
      .options.some((o) => o.short === '-o');
    const { said, status } = await parse(name, 'x', 'y', ...(hasOutput ? ['-o', 'z'] : []), '--sede', '3');
    expect(status).toBe(1); // which main turns into 2
    expect(said).toMatch(/unknown option '--sede'\n\(Did you mean --seed\?\)/);
  });

  it.each(commands)('%s refuses --seed 1.5 and --threads 0 by name', async (name) => {
    for (const [option, value] of [
      ['--seed', '1.5'],
      ['--threads', '0'],
    ] as const) {
      const values = ['node', 'graphex', name, 'x', '-o', 'z', option, value];
      await expect((await createProgram()).parseAsync(values)).rejects.toThrow(
        `${option} ${value}: expected a whole number`,
      );
    }
  });
});

describe('exit status and streams', () => {
  it('no command, an unknown one, a wrong number: 2, on stderr, without a stack', async () => {
    for (const [args, said] of [
      [[], /Usage: graphex/],
      [['chek', data], /unknown command 'chek'\n\(Did you mean check\?\)/],
      [['check'], /missing required argument 'data'/],
      [['check', data, '--seed', '1.5'], /^error: --seed 1\.5: expected a whole number/],
      [['check', data, '--sede', '1'], /Did you mean --seed/],
      [['check', data, '--replicates', 'ten'], /--replicates ten: expected a whole number/],
      [['check', data, '--multi', '--multi'], /--multi is given twice; give it once/],
      [
        ['check', data, '--replicates', '3', '--replicates', '4'],
        /--replicates is given twice; give it once/,
      ],
      [['check', data, '--simple'], /unknown option '--simple'/],
      [['fit', data, '--objective', 'ranking', '-o', 'x'], /unknown option '--objective'/],
      [
        ['fit', data, '--engine', 'gibbs', '-o', 'x'],
        /--engine gibbs: expected one of auto, cpu, gpu, reference/,
      ],
      [['recommend', data, '--like', 'x'], /unknown option '--like'\n\(Did you mean --likes\?\)/],
      [['check', join(folder, 'missing.csv')], /missing\.csv: there is no such file/],
      [['split', data], /'-o, --output <dir>' not specified/],
      [
        ['split', data, '-o', folder, '--test-users', '1'],
        /--test-users 1: expected a number, above 0 and below 1/,
      ],
      [['split', data, '-o', folder, '--method', 'rows'], /--method rows: expected one of pq, edges/],
      [
        ['split', data, '-o', folder, '--method', 'edges', '--test-items', '.1'],
        /--test-items has no meaning/,
      ],
    ] as const) {
      const { status, stdout, stderr } = await graphex(...args);
      expect([status, stdout], args.join(' ')).toEqual([2, '']);
      expect(stderr).toMatch(said);
      expect(stderr).not.toMatch(/\n\s+at /);
    }
  });

  it('--json: one document on stdout and nothing else there; numbers of the table in it', async () => {
    const { status, stdout } = await graphex('check', data, '--json');
    expect(status).toBe(0);
    expect(stdout.endsWith('}\n')).toBe(true);
    const check = JSON.parse(stdout);
    expect(check.read).toMatchObject({ rows: 2000, kept: check.edges, rejected: 0 });
    expect(check.read.kept + check.read.merged).toBe(2000);
  });

  it('--quiet leaves stderr empty', async () => {
    expect((await graphex('check', data, '--quiet')).stderr).toBe('');
  });

  it('a reader that closes the pipe early is not a failure', async () => {
    const child = start(['check', data, '--json', '--replicates', '200']);
    child.stdout!.destroy();
    const { status, stderr } = await finished(child);
    expect([status, stderr]).toEqual([0, '']);
  });

  it('Ctrl-C, SIGTERM and SIGHUP: 128 + the number of the signal, no result, nothing half-written', async () => {
    const endedBy = async (signal: NodeJS.Signals) => {
      // Standard input that never ends: the command waits in the middle of its work.
      const out = join(folder, `interrupted-${signal}`);
      const child = spawn(process.execPath, [bin, 'check', '-', '--json', '-o', out], { stdio: 'pipe' });
      const done = finished(child);
      child.stdin.write('a,b\n1,2\n');
      await new Promise((resolve) => setTimeout(resolve, 2000));
      child.kill(signal);
      const { status, stdout } = await done;
      expect(existsSync(out)).toBe(false);
      return [status, stdout];
    };
    const ended = await Promise.all((['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map(endedBy));
    expect(ended).toEqual([
      [130, ''],
      [143, ''],
      [129, ''],
    ]);
  });

  it('a bug exits 1 with its stack and says what to do', () => {
    const said: string[] = [];
    const write = process.stderr.write;
    process.stderr.write = ((text: string) => said.push(text) > 0) as typeof process.stderr.write;
    try {
      expect(reportError(new TypeError('x is not a function'))).toBe(1);
      expect(reportError(Object.assign(new Error('full'), { code: 'ENOSPC', path: 'out/a.svg' }))).toBe(2);
      expect(reportError(new RangeError('Array buffer allocation failed'))).toBe(2);
      // From a worker an error comes with its name, not its class.
      expect(reportError(Object.assign(new Error('bad row'), { name: 'InputError' }))).toBe(2);
      expect(reportError(Object.assign(new Error('stopped'), { name: 'AbortError' }))).toBe(130);
    } finally {
      process.stderr.write = write;
    }
    expect(said[0]).toMatch(/TypeError: x is not a function\n\s+at [\s\S]*This is a bug in graphex/);
    expect(said[1]).toBe('error: out/a.svg: the disk is full; make room or choose another place\n');
    expect(said[2]).toMatch(/not enough memory/);
    expect(said[3]).toBe('error: bad row\n');
  });

  it('a full disk under stdout is an error, not a truncated result', () => {
    if (!existsSync('/dev/full')) return;
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [bin, 'check', data, '--json'], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(full);
    expect(status).toBe(2);
    expect(stderr).toMatch(/disk is full/);
  });

  it.each(['--help', 'fit --help', '--version'])('a full disk under %s is an error too', (asked) => {
    if (!existsSync('/dev/full')) return;
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [bin, ...asked.split(' ')], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(full);
    expect(stderr).toMatch(/disk is full/);
    expect(status).toBe(2);
  });

  it('reads standard input', () => {
    const { status, stdout } = spawnSync(process.execPath, [bin, 'check', '-', '--json'], {
      input: 'a,b\nx,1\nx,2\ny,1\n',
      encoding: 'utf8',
    });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ users: 2, items: 2, edges: 3 });
  });
});
