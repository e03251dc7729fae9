// graphex under real launchers: the same bits on all of them, and any failure on one rank ends all with a message.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { ALONE } from '../../src/comm/communicator.js';
import { launchedRanks } from '../../src/comm/mpi.js';
import { randomStream } from '../../src/math/random.js';
import { mergeModel, openModelShards } from '../../src/shard/model-folder.js';
import { openPartition, shardFile } from '../../src/shard/partition-folder.js';
import { partitionGraph } from '../../src/shard/partition-graph.js';
import { fitRankingShards } from '../../src/shard/partition-ranking.js';
import { modelState } from '../../src/store/model-state.js';
import { scratchFolder } from '../ingest/scratch.js';
import { type Ended, LAUNCHERS, type Launcher, MISSING, type Running, start } from './launchers.js';

const { path } = scratchFolder();
const FIT = ['-k', '3', '--iterations', '10', '--tolerance', '1e-12', '--threads', '1', '--json', '--quiet'];

beforeAll(async () => {
  const random = randomStream(3, 9);
  const rows = Array.from(
    { length: 3000 },
    () => `${random.below(200)},${Math.floor(60 * random.uniform() ** 2)}`,
  );
  writeFileSync(path('rows.csv'), rows.join('\n'));
  await partitionGraph(path('rows.csv'), path('parts'), { shards: 4 });
});

test('a launcher is recognised by its variable for the number of processes', () => {
  expect(launchedRanks({})).toBeUndefined();
  expect(launchedRanks({ OMPI_COMM_WORLD_SIZE: '1' })).toBeUndefined();
  // A batch job that has launched nothing yet.
  expect(launchedRanks({ SLURM_NTASKS: '8' })).toBeUndefined();
  expect(launchedRanks({ SLURM_STEP_NUM_TASKS: '8' })).toEqual({ size: 8, by: 'SLURM_STEP_NUM_TASKS' });
  expect(launchedRanks({ PMI_SIZE: '3' })).toEqual({ size: 3, by: 'PMI_SIZE' });
});

if (MISSING) test.skip(MISSING);

/** The processes that a process has started, and theirs. */
function below(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        return [{ pid: Number(name), parent: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) }];
      } catch {
        return [];
      }
    });
  const own = parents.filter(({ parent }) => parent === pid).map((one) => one.pid);
  return [...own, ...own.flatMap(below)];
}

/** Waits until a fit has left its first state. */
async function stateOf({ ended }: Running, folder: string): Promise<void> {
  let end: Ended | undefined;
  void ended.then((one) => (end = one));
  while (!existsSync(join(folder, 'state.safetensors'))) {
    if (end) throw new Error(`the fit ended before it left a state: ${JSON.stringify(end)}`);
    await new Promise((wait) => setTimeout(wait, 50));
  }
}

const isGraphex = (pid: number) => {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return command[0].endsWith('node') && command[1]?.endsWith('graphex.js');
  } catch {
    return false;
  }
};

describe.each(LAUNCHERS.map((launcher) => [launcher.name, launcher] as const))(
  '%s',
  (name, launcher: Launcher) => {
    const out = (what: string) => path(`${name} ${what}.safetensors`);

    test('two ranks print one document, write one model, and give the bits of one rank', async () => {
      const alone = await start(undefined, ['fit', path('parts'), ...FIT, '-o', out('alone')]).ended;
      expect(alone.stderr).toBe('');
      const two = await start({ launcher, ranks: 2 }, ['fit', path('parts'), ...FIT, '-o', out('two')]).ended;
      expect(two.status, two.stderr).toBe(0);
      const [one, both] = [JSON.parse(alone.stdout), JSON.parse(two.stdout)];
      expect(both).toMatchObject({ ranks: 2, shards: 4, state: one.state, bound: one.bound });
      expect(both.engine).toContain(`2 ranks of ${name}`);
      expect(existsSync(out('two'))).toBe(true);
    }, 60_000);

    test('two ranks fit a ranker and write a model by shard, with the bits of one rank', async () => {
      const parts = await openPartition(path('parts'));
      const how = { features: 3, folds: 2, iterations: 5, threads: 1 };
      const { stateHash: hash } = await fitRankingShards(parts, ALONE, { ...how, engine: 'cpu', seed: 1 });
      const flags = ['-k', '3', '--method', 'ranking', '--folds', '2', '--iterations', '5', '--threads', '1'];
      const asked = [
        ...flags,
        '--engine',
        'cpu',
        '--by-shard',
        '--json',
        '--quiet',
        '-o',
        path(`${name} model`),
      ];
      const two = await start({ launcher, ranks: 2 }, ['fit', path('parts'), ...asked]).ended;
      expect(two.status, two.stderr).toBe(0);
      expect(JSON.parse(two.stdout)).toMatchObject({ ranks: 2, state: hash });
      const model = await mergeModel(await openModelShards(path(`${name} model`)));
      expect(modelState(model)).toBe(hash);
    }, 60_000);

    test('code that other threads may run is not overwritten', async () => {
      const { status, stdout, stderr } = await start(
        { launcher, ranks: 2 },
        ['fit', path('parts'), ...FIT, '-o', out('unwatched')],
        { UCX_LOG_LEVEL: 'debug', UCX_MEM_LOG_LEVEL: 'debug' },
      ).ended;
      expect(status, stderr).toBe(0);
      expect(stdout + stderr).not.toContain('installing bistro hook');
    }, 60_000);

    // These wait more than they compute.
    test.concurrent('a killed rank ends the job and leaves the last state, from which one rank continues', async () => {
      const args = [
        'fit',
        path('parts'),
        '-k',
        '3',
        '--threads',
        '1',
        '--quiet',
        '--json',
        '-o',
        out('killed'),
      ];
      const long = ['--iterations', '100000', '--tolerance', '0', '--checkpoint', '1e-6'];
      const running = start({ launcher, ranks: 2 }, [...args, ...long]);
      const state = `${out('killed')}.partial`;
      await stateOf(running, state);
      const ranks = below(running.pid).filter(isGraphex);
      expect(ranks).toHaveLength(2);
      const began = performance.now();
      process.kill(ranks[1], 'SIGKILL');
      const { status } = await running.ended;
      expect(status).not.toBe(0);
      expect(performance.now() - began).toBeLessThan(20_000);
      expect(existsSync(out('killed'))).toBe(false);
      const more = await start(undefined, [...args, '--resume', '--iterations', '100']).ended;
      // It resumes at the saved state or later.
      expect(more.status, more.stderr).toBe(0);
      expect(JSON.parse(more.stdout)).toMatchObject({ ranks: 1, shards: 4 });
      rmSync(state, { recursive: true, force: true });
    }, 60_000);

    test.concurrent('Ctrl-C ends the job and leaves the last state', async () => {
      const args = ['fit', path('parts'), '-k', '3', '--threads', '1', '--quiet', '-o', out('stopped')];
      const long = ['--iterations', '100000', '--tolerance', '0', '--checkpoint', '1e-6'];
      const running = start({ launcher, ranks: 2 }, [...args, ...long]);
      const state = `${out('stopped')}.partial`;
      await stateOf(running, state);
      process.kill(running.pid, 'SIGINT');
      const { status, stderr } = await running.ended;
      // Open MPI kills the ranks and ends with an error status. MPICH may end with status 0, because it does not always wait
      // for the status of the ranks; then the ranks have time to print their own error.
      if (status === 0) expect(stderr).toContain('interrupted: the fit was stopped; continue with --resume');
      expect(existsSync(out('stopped'))).toBe(false);
      const more = await start(undefined, [...args, '--resume', '--iterations', '100']).ended;
      expect(more.status, more.stderr).toBe(0);
    }, 60_000);

    test.concurrent('a rank whose shard is missing is named, and ends all ranks within seconds', async () => {
      const broken = path(`${name} broken`);
      mkdirSync(broken);
      for (const file of readdirSync(path('parts'))) {
        if (file !== shardFile(3)) writeFileSync(join(broken, file), readFileSync(join(path('parts'), file)));
      }
      const { status, stderr, stdout, seconds } = await start({ launcher, ranks: 2 }, [
        'fit',
        broken,
        ...FIT,
        ...['-o', out('broken')],
      ]).ended;
      expect(status).toBe(2);
      expect(stdout).toBe('');
      expect(stderr).toContain(
        `error: rank 1 of 2 on ${hostname()}: ${join(broken, shardFile(3))}: there is no such file`,
      );
      expect(seconds).toBeLessThan(30);
      expect(existsSync(out('broken'))).toBe(false);
    }, 60_000);

    test.concurrent('a rank that hangs, as after a cut network, is noticed, and the job ends', async () => {
      const args = ['fit', path('parts'), '-k', '3', '--threads', '1', '--quiet', '-o', out('hung')];
      const long = ['--iterations', '100000', '--tolerance', '0', '--checkpoint', '1e-6'];
      const running = start({ launcher, ranks: 2 }, [...args, ...long], { GRAPHEX_MPI_PATIENCE: '2' });
      const state = `${out('hung')}.partial`;
      await stateOf(running, state);
      const ranks = below(running.pid).filter(isGraphex);
      process.kill(ranks[1], 'SIGSTOP');
      const began = performance.now();
      const { status, stderr } = await running.ended;
      expect(status).not.toBe(0);
      expect(stderr).toMatch(/rank [01] on .*: no answer from the other ranks for 2 s/);
      expect(performance.now() - began).toBeLessThan(30_000);
      expect(existsSync(join(state, 'state.safetensors'))).toBe(true);
    }, 60_000);
  },
);

test.skipIf(LAUNCHERS.length < 2).concurrent(
  'a launcher of another MPI is told apart, and nothing is written',
  async () => {
    const [open] = LAUNCHERS;
    const library = { GRAPHEX_MPI_LIBRARY: 'libmpich.so.12' };
    const args = ['fit', path('parts'), ...FIT, '-o', path('wrong.safetensors')];
    const { status, stderr } = await start({ launcher: open, ranks: 2 }, args, library).ended;
    expect(status).toBe(2);
    expect(stderr).toContain(
      'OMPI_COMM_WORLD_SIZE says that 2 processes were started, but libmpich.so.12 knows of 1',
    );
    expect(existsSync(path('wrong.safetensors'))).toBe(false);
  },
  60_000,
);

test.skipIf(LAUNCHERS.length === 0).concurrent(
  'more ranks than shards, data in one piece, and a library that is not there',
  async () => {
    const [launcher] = LAUNCHERS;
    await partitionGraph(path('rows.csv'), path('one'), { shards: 1 });
    const fit = (parts: string, flags: readonly string[], env?: NodeJS.ProcessEnv) =>
      start({ launcher, ranks: 2 }, ['fit', path(parts), ...FIT, ...flags, '-o', path('m.safetensors')], env)
        .ended;
    const [many, whole, wrong, none] = await Promise.all([
      fit('one', []),
      fit('rows.csv', []),
      fit('parts', ['--method', 'ranking', '--memory', '1G']),
      fit('parts', [], { GRAPHEX_MPI_LIBRARY: 'libnothing.so' }),
    ]);
    expect(many.status).toBe(2);
    expect(many.stderr).toContain('has 1 shard, and 2 ranks were started');
    // An error of all ranks is printed once, with the flags of the command line.
    expect(many.stderr.match(/^error: /gm)).toHaveLength(1);
    // Data in one piece are refused: each process would do all of the work.
    expect(whole.status).toBe(2);
    expect(whole.stderr).toContain('2 processes were started');
    expect(whole.stderr.match(/^error: /gm)).toHaveLength(1);
    expect(existsSync(path('m.safetensors'))).toBe(false);
    expect(wrong.status).toBe(2);
    expect(wrong.stderr.match(/^error: .*/gm)).toEqual([
      expect.stringMatching(/^error: --memory does not go with --method ranking/),
    ]);
    expect(none.status).toBe(2);
    expect(none.stderr).toContain('no MPI library is found (libnothing.so)');
  },
  60_000,
);
