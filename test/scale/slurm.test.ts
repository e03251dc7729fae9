// The batch script of docs/scale.md, run by a real Slurm over two hosts.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomStream } from '../../src/math/random.js';
import { partitionGraph } from '../../src/shard/partition-graph.js';
import { scratchFolder } from '../ingest/scratch.js';
import { LAUNCHERS, start } from './launchers.js';
import { missing, type Slurm, startSlurm } from './slurm.js';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = `${process.execPath} ${join(ROOT, 'bin/graphex.js')}`;
const lacks = LAUNCHERS.some(({ name }) => name === 'Open MPI') ? missing() : 'Open MPI';
const { path } = scratchFolder();
const FIT = ['-k', '3', '--iterations', '10', '--tolerance', '0', '--threads', '1', '--json', '--quiet'];
let slurm: Slurm;

if (lacks) test.skip(`not tested: jobs of Slurm, as there is no ${lacks}`);

describe.skipIf(lacks)('Slurm', () => {
  beforeAll(async () => {
    const random = randomStream(3, 9);
    const rows = Array.from({ length: 3000 }, () => `${random.below(200)},${random.below(60)}`);
    writeFileSync(path('rows.csv'), rows.join('\n'));
    await partitionGraph(path('rows.csv'), path('parts'), { shards: 4 });
    slurm = await startSlurm(path('.'));
  }, 90_000);
  afterAll(() => slurm?.stop());

  test('the batch script of the manual gives the bits of one process', async () => {
    const manual = readFileSync(join(ROOT, 'docs/scale.md'), 'utf8');
    const script = manual.match(/```sh\n(#!\/bin\/sh\n#SBATCH[^`]*)```/)?.[1] ?? '';
    expect(script).toContain('srun');
    // Two small hosts instead of four large ones, and this program; the fit is a short one.
    const job = script
      .replace(/--nodes=\d+/, '--nodes=2')
      .replace(/--cpus-per-task=\d+/, '--cpus-per-task=1')
      .replace(/^module load.*$/m, '')
      .replaceAll('npx graphex', PROGRAM)
      .replace(/-k 30 -o .*$/m, `${FIT.join(' ')} -o ${path('model')}`)
      .replaceAll('shards/', path('parts'));
    writeFileSync(path('job.sh'), job);
    const sent = await slurm.run(['sbatch', '--mem=50', `--output=${path('job.out')}`, path('job.sh')], 20);
    expect(sent.status, sent.stderr).toBe(0);
    await expect
      .poll(async () => (await slurm.run(['squeue', '--noheader'], 20)).stdout, { timeout: 60_000 })
      .toBe('');
    const said = readFileSync(path('job.out'), 'utf8');
    const alone = await start(undefined, ['fit', path('parts'), ...FIT, '-o', path('alone')]).ended;
    expect(said).toMatch(/^\{.*\}\n$/);
    const [two, one] = [JSON.parse(said), JSON.parse(alone.stdout)];
    expect(two).toMatchObject({ ranks: 2, shards: 4, state: one.state, bound: one.bound });
    expect(two.engine).toContain('2 ranks of Open MPI');
    expect(existsSync(path('model'))).toBe(true);
  }, 90_000);

  test('srun without an MPI plugin fails and writes nothing', async () => {
    const fit = [...PROGRAM.split(' '), 'fit', path('parts'), ...FIT, '-o', path('none')];
    const { status } = await slurm.run(['srun', '--nodes=2', '--mem=50', '--mpi=none', ...fit], 40);
    expect(status).not.toBe(0);
    expect(existsSync(path('none'))).toBe(false);
  }, 60_000);

  test('a rank that is killed takes the job along, and its state goes on', async () => {
    const long = ['-k', '3', '--threads', '1', '--quiet', '--iterations', '1000000', '--tolerance', '0'];
    const out = path('killed');
    const fit = [...PROGRAM.split(' '), 'fit', path('parts'), ...long, '--checkpoint', '1e-6', '-o', out];
    // The second process of the job kills itself once there is a state.
    const state = join(`${out}.partial`, 'state.safetensors');
    const script = `if [ "$SLURM_PROCID" = 1 ]; then (while [ ! -e "${state}" ] && kill -0 $$; do sleep 0.1; done; kill -9 $$) & fi; exec "$@"`;
    const job = [
      'srun',
      '--nodes=2',
      '--mem=50',
      '--mpi=pmix',
      '--kill-on-bad-exit=1',
      'sh',
      '-c',
      script,
      'sh',
      ...fit,
    ];
    const { status, stderr } = await slurm.run(job, 60);
    expect(status, stderr).not.toBe(0);
    expect(stderr).toMatch(/task 1: Killed/);
    expect(existsSync(out)).toBe(false);
    const more = await start(undefined, [
      'fit',
      path('parts'),
      ...long.slice(0, 5),
      '--iterations',
      '20',
      '--tolerance',
      '0',
      '--resume',
      '-o',
      out,
    ]).ended;
    expect(more.status, more.stderr).toBe(0);
  }, 90_000);
});
