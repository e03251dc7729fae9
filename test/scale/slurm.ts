// A Slurm of our own: two hosts in network namespaces, with everything it keeps in one folder.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PROGRAMS = ['munged', 'slurmctld', 'slurmd', 'srun', 'sbatch', 'nsenter', 'ip'];
const HOSTS = [`gxs${process.pid}a`, `gxs${process.pid}b`] as const;
const NET = '10.213.8';

const run = (command: string, ...args: string[]) => spawnSync(command, args, { encoding: 'utf8' });

/** What is missing to start one here; undefined: nothing. */
export function missing(): string | undefined {
  const absent = PROGRAMS.filter((name) => run('sh', '-c', `command -v ${name}`).status !== 0);
  if (absent.length > 0) return absent.join(', ');
  if (run('ip', 'netns', 'add', HOSTS[0]).status !== 0) return 'the right to make network namespaces';
  run('ip', 'netns', 'del', HOSTS[0]);
  return undefined;
}

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Slurm {
  /** Runs a command on the first host, at most for so many seconds. */
  run(args: readonly string[], limit: number, env?: NodeJS.ProcessEnv): Promise<Ended>;
  stop(): void;
}

/** Starts one whose state lies in `folder`, which has to be there. */
export async function startSlurm(folder: string): Promise<Slurm> {
  const at = (name: string) => join(folder, name);
  const env = { ...process.env, SLURM_CONF: at('slurm.conf') };
  const daemons: ReturnType<typeof spawn>[] = [];
  const children: number[] = [];

  const asHost = 'mount --bind "$0" /etc/hosts && hostname "$1" && shift && exec "$@"';
  const on = (host: string, args: readonly string[]) => [
    ...[`--net=/run/netns/${host}`, 'unshare', '--mount', '--uts', 'sh', '-c', asHost, at('hosts'), host],
    ...args,
  ];
  const daemon = (command: string, args: readonly string[]) => {
    const child = spawn(command, args, { env, stdio: 'ignore' });
    child.on('error', () => {});
    daemons.push(child);
  };

  for (const host of HOSTS) run('ip', 'netns', 'add', host);
  run(
    'ip',
    'link',
    'add',
    'veth0',
    'netns',
    HOSTS[0],
    'type',
    'veth',
    'peer',
    'name',
    'veth0',
    'netns',
    HOSTS[1],
  );
  for (const [i, host] of HOSTS.entries()) {
    run('ip', '-n', host, 'addr', 'add', `${NET}.${i + 1}/24`, 'dev', 'veth0');
    for (const link of ['lo', 'veth0']) run('ip', '-n', host, 'link', 'set', link, 'up');
    for (const kept of ['spool', 'tmp']) mkdirSync(at(`${kept}-${host}`));
  }
  mkdirSync(at('state'));
  writeFileSync(
    at('hosts'),
    `127.0.0.1 localhost\n${HOSTS.map((host, i) => `${NET}.${i + 1} ${host}\n`).join('')}`,
  );
  writeFileSync(at('key'), 'x'.repeat(64), { mode: 0o400 });
  const settings = {
    ClusterName: 'two',
    SlurmctldHost: HOSTS[0],
    SlurmUser: 'root',
    SlurmdUser: 'root',
    AuthType: 'auth/munge',
    AuthInfo: `socket=${at('munge')}`,
    StateSaveLocation: at('state'),
    SlurmdSpoolDir: at('spool-%n'),
    TmpFS: at('tmp-%n'),
    SlurmctldPidFile: at('slurmctld.pid'),
    SlurmdPidFile: at('slurmd-%n.pid'),
    SlurmctldLogFile: at('slurmctld.log'),
    SlurmdLogFile: at('slurmd-%n.log'),
    ProctrackType: 'proctrack/linuxproc',
    TaskPlugin: 'task/none',
    SelectType: 'select/cons_tres',
    SelectTypeParameters: 'CR_CPU',
    MpiDefault: 'none',
    ReturnToService: '2',
    // Seconds between asking a process to end and killing it; one that waits for a lost process cannot react.
    KillWait: '2',
  };
  writeFileSync(
    at('slurm.conf'),
    [
      ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
      `NodeName=${HOSTS.join(',')} CPUs=2 RealMemory=100`,
      'PartitionName=all Nodes=ALL Default=YES State=UP\n',
    ].join('\n'),
  );
  daemon('munged', [
    ...['--foreground', '--force', `--key-file=${at('key')}`, `--socket=${at('munge')}`, '--num-threads=2'],
    ...[`--pid-file=${at('munge.pid')}`, `--log-file=${at('munge.log')}`, `--seed-file=${at('munge.seed')}`],
  ]);
  daemon('nsenter', on(HOSTS[0], ['slurmctld', '-D', '-c']));
  for (const host of HOSTS) daemon('nsenter', on(host, ['slurmd', '-D']));

  function stop() {
    for (const host of HOSTS) {
      const inside = (run('ip', 'netns', 'pids', host).stdout ?? '').split('\n').filter(Boolean);
      for (const pid of [...inside.map(Number), ...children]) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // It has ended by itself.
        }
      }
    }
    for (const child of daemons) child.kill('SIGKILL');
    for (const host of HOSTS) run('ip', 'netns', 'del', host);
  }

  const onFirst: Slurm['run'] = (args, limit, more = {}) => {
    const child = spawn('nsenter', on(HOSTS[0], args), {
      env: { ...env, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    if (child.pid) children.push(child.pid);
    const timer = setTimeout(() => child.kill('SIGKILL'), 1000 * limit);
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (text) => (stdout += text));
    child.stderr.on('data', (text) => (stderr += text));
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (status) => {
        clearTimeout(timer);
        resolve({ status, stdout, stderr });
      });
    });
  };

  const began = performance.now();
  for (;;) {
    const { stdout } = await onFirst(['sinfo', '--noheader', '--format=%D %T'], 5);
    if (stdout.trim() === '2 idle') return { run: onFirst, stop };
    const dead = daemons.find(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null);
    if (dead || performance.now() - began > 60_000) {
      stop();
      const log = existsSync(at('slurmctld.log')) ? readFileSync(at('slurmctld.log'), 'utf8') : '';
      const why = dead ? `${dead.spawnargs.join(' ')} has ended` : 'not within 60 s';
      throw new Error(`Slurm did not start, ${why}: ${stdout}\n${log.split('\n').slice(-5).join('\n')}`);
    }
    await new Promise((wait) => setTimeout(wait, 100));
  }
}
