// The launchers of MPI that are installed here, and graphex started by them.

import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';

export interface Launcher {
  readonly name: string;
  readonly command: string;
  readonly flags: readonly string[];
}

const CANDIDATES = [
  {
    name: 'Open MPI',
    commands: ['mpirun.openmpi', 'mpirun'],
    flags: ['--oversubscribe', '--bind-to', 'none'],
    says: /Open MPI|open-mpi/,
  },
  { name: 'MPICH', commands: ['mpirun.mpich', 'mpirun'], flags: [], says: /HYDRA|mpich/i },
] as const;

export const LAUNCHERS: readonly Launcher[] = CANDIDATES.flatMap(({ name, commands, flags, says }) => {
  const command = commands.find((one) => {
    const { stdout } = spawnSync(one, ['--version'], { encoding: 'utf8' });
    return says.test(stdout ?? '');
  });
  return command === undefined ? [] : [{ name, command, flags }];
});

/** Which of the launchers are missing, in a line; undefined: none. */
export const MISSING =
  LAUNCHERS.length === CANDIDATES.length
    ? undefined
    : `not installed here, so not tested: ${CANDIDATES.filter(
        ({ name }) => !LAUNCHERS.some((l) => l.name === name),
      )
        .map(({ name }) => name)
        .join(' and ')}`;

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly seconds: number;
}

export interface Running {
  readonly pid: number;
  readonly ended: Promise<Ended>;
}

const PROGRAM = join(import.meta.dirname, '../../bin/graphex.js');

/** Starts graphex, with a launcher or without. A process that hangs is ended after `limit` seconds. */
export function start(
  launched: { readonly launcher: Launcher; readonly ranks: number } | undefined,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  limit = 60,
): Running {
  const own = [process.execPath, PROGRAM, ...args];
  const [command, ...rest] = launched
    ? [launched.launcher.command, ...launched.launcher.flags, '-n', String(launched.ranks), ...own]
    : own;
  const began = performance.now();
  const child = spawn(command, rest, {
    env: { ...process.env, OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), 1000 * limit);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text) => (stdout += text));
  child.stderr.on('data', (text) => (stderr += text));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => {
      clearTimeout(timer);
      resolve({ status, stdout, stderr, seconds: (performance.now() - began) / 1000 });
    });
  });
  return { pid: child.pid!, ended };
}
