// Two network namespaces stand for two hosts whose network is cut, and a small file system for a disk that fills up: each ends the
// job with a message that names the rank and its host, and leaves the last state whole.

import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { randomStream } from '../../src/math/random.js';
import { partitionGraph } from '../../src/shard/partition-graph.js';
import { scratchFolder } from '../ingest/scratch.js';
import { LAUNCHERS, start } from './launchers.js';

const { path } = scratchFolder();
const open = LAUNCHERS.find(({ name }) => name === 'Open MPI');
const [here, there] = [`gxa${process.pid}`, `gxb${process.pid}`];
const AS_ROOT = { OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' };
const LONG = ['--iterations', '1000000', '--tolerance', '0', '--checkpoint', '1e-6'];
const PROGRAM = join(import.meta.dirname, '../../bin/graphex.js');
const fitting = (out: string) => ['fit', path('parts'), '-k', '3', '--threads', '1', '--quiet', '-o', out];

const ip = (...args: string[]) => spawnSync('ip', args, { encoding: 'utf8' });
const pids = (host: string) =>
  (ip('netns', 'pids', host).stdout ?? '').split('\n').filter(Boolean).map(Number);
const made = ip('netns', 'add', here).status === 0 && ip('netns', 'add', there).status === 0;
const mounts = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

beforeAll(async () => {
  const random = randomStream(3, 9);
  const rows = Array.from({ length: 3000 }, () => `${random.below(200)},${random.below(60)}`);
  writeFileSync(path('rows.csv'), rows.join('\n'));
  await partitionGraph(path('rows.csv'), path('parts'), { shards: 4 });
});
afterAll(() => {
  for (const host of [here, there]) {
    for (const pid of pids(host)) process.kill(pid, 'SIGKILL');
    ip('netns', 'del', host);
  }
});

const isGraphex = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[1]?.endsWith('graphex.js') ?? false;
  } catch {
    return false;
  }
};

async function until(said: () => boolean, seconds: number): Promise<number> {
  const began = performance.now();
  const passed = () => (performance.now() - began) / 1000;
  while (!said() && passed() < seconds) await new Promise((wait) => setTimeout(wait, 50));
  return passed();
}

if (!open || !made)
  test.skip('not tested: a cut network needs Open MPI and the right to make network namespaces');
if (!open || !mounts) test.skip('not tested: a full disk needs Open MPI and the right to mount');

/** A fit on both hosts, whose network is cut as soon as there is a state. */
async function cutOff(out: string, patience: number, flags: readonly string[] = []) {
  const net = '10.213.7.0/24';
  const launch = [
    ...[open!.command, '--host', `${here},${there}`, '-n', '2', '--bind-to', 'none', ...flags],
    ...['--mca', 'plm_rsh_agent', path('agent'), '--mca', 'btl', 'tcp,self'],
    ...['--mca', 'oob_tcp_if_include', net, '--mca', 'btl_tcp_if_include', net],
    ...['-x', 'GRAPHEX_MPI_PATIENCE', process.execPath, PROGRAM],
  ];
  const asHost = 'mount --bind "$0" /etc/hosts && hostname "$1" && shift && exec "$@"';
  const child = spawn(
    'ip',
    [
      ...['netns', 'exec', here, 'unshare', '--mount', '--uts', 'sh', '-c', asHost, path('hosts'), here],
      ...[...launch, ...fitting(out), ...LONG],
    ],
    {
      env: { ...process.env, ...AS_ROOT, GRAPHEX_MPI_PATIENCE: String(patience) },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let stderr = '';
  child.stderr.on('data', (text) => (stderr += text));
  const ranks = () => [here, there].flatMap(pids).filter(isGraphex);
  const gone = () => child.exitCode !== null || child.signalCode !== null;
  await until(() => gone() || existsSync(join(`${out}.partial`, 'state.safetensors')), 45);
  expect(gone(), `the fit ended before it left a state: ${stderr}`).toBe(false);
  expect(ranks(), stderr).toHaveLength(2);
  ip('-n', there, 'link', 'set', 'veth0', 'down');
  return { child, ranks, said: () => stderr };
}

describe.skipIf(!open || !made)('a cut network', () => {
  beforeAll(() => {
    ip('link', 'add', 'veth0', 'netns', here, 'type', 'veth', 'peer', 'name', 'veth0', 'netns', there);
    for (const [at, host] of [here, there].entries()) {
      ip('-n', host, 'addr', 'add', `10.213.7.${at + 1}/24`, 'dev', 'veth0');
      for (const link of ['lo', 'veth0']) ip('-n', host, 'link', 'set', link, 'up');
    }
    writeFileSync(path('hosts'), `127.0.0.1 localhost\n10.213.7.1 ${here}\n10.213.7.2 ${there}\n`);
    // In place of ssh: a command on the other host.
    writeFileSync(
      path('agent'),
      `#!/bin/sh\nwhile case $1 in -*) true;; *) false;; esac; do shift; done\nhost=$1; shift\nexec ip netns exec "$host" unshare --uts sh -c 'hostname "$0"; exec sh -c "$*"' "$host" "$@"\n`,
    );
    chmodSync(path('agent'), 0o755);
  });
  beforeEach(() => void ip('-n', there, 'link', 'set', 'veth0', 'up'));
  afterEach(() => {
    for (const pid of [here, there].flatMap(pids)) process.kill(pid, 'SIGKILL');
  });

  test('every rank ends soon after its time limit, names itself, and the state can be resumed', async () => {
    const { ranks, said } = await cutOff(path('cut'), 2);
    // A time limit of 2 s, then 5 s to end the other ranks; Open MPI's daemons keep waiting for each other.
    expect(await until(() => ranks().length === 0, 30)).toBeLessThan(20);
    expect(said()).toMatch(
      new RegExp(`error: rank 0 of 2 on ${here}: .*no answer from the other ranks for 2 s`),
    );
    const more = await start(undefined, [...fitting(path('cut')), '--resume', '--iterations', '20']).ended;
    expect(more.status, more.stderr).toBe(0);
  }, 60_000);

  test('mpirun of Open MPI ends if its keepalives are shorter than the time limit, and names the host', async () => {
    const keepalive = ['time', 'intvl', 'probes'].flatMap((name) => [
      '--mca',
      `oob_tcp_keepalive_${name}`,
      '1',
    ]);
    const { child, ranks, said } = await cutOff(path('alive'), 20, keepalive);
    const ended = await until(() => child.exitCode !== null && ranks().length === 0, 40);
    // A second until the first probe, one for it, and then some for the end.
    expect(ended).toBeLessThan(15);
    expect(child.exitCode).not.toBe(0);
    expect(said()).toMatch(new RegExp(`lost communication with a remote daemon[^]*on node ${there}`));
    expect(existsSync(join(path('alive.partial'), 'state.safetensors'))).toBe(true);
  }, 60_000);
});

test.skipIf(!open || !mounts)(
  'a disk that fills up: the rank that writes names itself, and the last state stays whole',
  async () => {
    const disk = path('disk');
    // The disk fills up as soon as there is a state. Its files are copied before the namespace ends, because the disk ends with
    // it.
    const script = `
      mkdir "$1" && mount -t tmpfs -o size=1m none "$1" || exit 77
      disk=$1; copy=$2; shift 2
      "$@" & job=$!
      while [ ! -e "$disk/m.partial/state.safetensors" ] && kill -0 $job; do sleep 0.05; done
      dd if=/dev/zero of="$disk/filled" bs=4k 2>/dev/null
      wait $job; status=$?
      rm "$disk/filled"; cp -r "$disk" "$copy"; exit $status`;
    const launch = [open!.command, ...open!.flags, '-n', '2', process.execPath, PROGRAM];
    const limited = ['--iterations', '80', '--tolerance', '0', '--checkpoint', '1e-6'];
    const ended = spawnSync(
      'unshare',
      [
        '-m',
        'sh',
        '-c',
        script,
        'sh',
        disk,
        path('copy'),
        ...launch,
        ...fitting(join(disk, 'm')),
        ...limited,
      ],
      { env: { ...process.env, ...AS_ROOT }, encoding: 'utf8', timeout: 50_000 },
    );
    expect(ended.status, ended.stderr).toBe(2);
    expect(ended.stderr).toContain(`error: rank 0 of 2 on ${hostname()}: ${join(disk, 'm')}`);
    expect(existsSync(join(path('copy'), 'm'))).toBe(false);
    cpSync(join(path('copy'), 'm.partial'), path('full.partial'), { recursive: true });
    rmSync(path('copy'), { recursive: true });
    const more = await start(undefined, [...fitting(path('full')), '--resume', '--iterations', '100']).ended;
    expect(more.status, more.stderr).toBe(0);
  },
  60_000,
);
