import { execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { writePieces } from '../../src/files/atomic.js';
import { writeFolder } from '../../src/files/folder.js';
import { fingerprint } from '../../src/graph/fingerprint.js';
import { readGraph } from '../../src/ingest/read.js';
import { randomStream } from '../../src/math/random.js';
import { SMALL_SIMULATION } from '../../src/process/parameters.js';
import { simulate } from '../../src/process/poisson-model.js';
import { scratchFolder } from '../ingest/scratch.js';
import { graphex as command, type Run } from './run.js';

const scratch = scratchFolder();
const BIN = new URL('../../bin/graphex.js', import.meta.url).pathname;
const QUICK = [
  '-k',
  '3',
  '--draws',
  '6',
  '--iterations',
  '30',
  '--baselines',
  'popularity,knn',
  '--trials',
  '2',
];
const run = promisify(execFile);

/** Rejects as a child process does where the command fails. */
async function graphex(...args: string[]): Promise<Run> {
  const ended = await command('study', ...args, '--quiet');
  if (ended.status !== 0) throw Object.assign(new Error(ended.stderr), { code: ended.status, ...ended });
  return ended;
}

/** Users like items near their own place on a line; half of the rows repeat. */
function dataFile(): string {
  const random = randomStream(11);
  const lines = ['reader,book,stars'];
  for (let u = 0; u < 150; u++) {
    const degree = 1 + Math.floor(12 * random.uniform() ** 2);
    for (let e = 0; e < degree; e++)
      lines.push(`r${u},b${Math.floor((u / 3 + 15 * random.uniform()) % 60)},${e}`);
  }
  const path = scratch.path('ratings.csv');
  writeFileSync(path, lines.join('\n'));
  return path;
}

describe('graphex study', () => {
  it('studies the same simulated set that every other command reads', async () => {
    const read = await readGraph('@simulated-small');
    const drawn = await simulate({ ...SMALL_SIMULATION, seed: 1, truth: true });
    expect(fingerprint(drawn.graph)).toBe(fingerprint(read.graph));
  });

  it('writes report, results and figures, and repeats them from the receipt', async () => {
    const data = dataFile();
    const folder = scratch.path('report');
    const { stdout } = await graphex(data, ...QUICK, '--seed', '4', '-o', folder);
    expect(stdout.trim().split('\n').at(-1)).toBe(`Report: ${join(folder, 'report.html')}`);
    for (const name of [
      'report.html',
      'results.json',
      'figures/density.svg',
      'figures/ranking.svg',
      'figures/predictive.svg',
    ]) {
      expect(existsSync(join(folder, name)), name).toBe(true);
    }
    const results = JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8'));
    expect(results.receipt.settings).toMatchObject({ seed: 4, features: [3], iterations: 30 });
    expect(results.receipt.origin.machine.cores).toBeGreaterThan(0);

    const again = JSON.parse(
      (
        await graphex(
          '--from',
          join(folder, 'results.json'),
          '-o',
          scratch.path('again'),
          '--threads',
          '1',
          '--json',
        )
      ).stdout,
    );
    expect(again.repeated).toEqual({ same: true, differences: [] });
    expect(again.recommendation).toEqual(results.recommendation);
    expect(again.predictive.sparse.draws).toEqual(results.predictive.sparse.draws);
    expect(Object.keys(again)).toEqual(
      expect.arrayContaining([
        'check',
        'split',
        'fit',
        'predictive',
        'recommendation',
        'runs',
        'receipt',
        'verdicts',
      ]),
    );

    // A receipt with other data is refused.
    const other = scratch.path('other.csv');
    writeFileSync(other, readFileSync(data, 'utf8').replace('r0,', 'r1,'));
    await expect(
      graphex(other, '--from', join(folder, 'results.json'), '-o', scratch.path('third')),
    ).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('these are not the data'),
    });
  }, 240_000);

  it('--draws 0: no predictive checks, in the text, the figures and the results', async () => {
    const folder = scratch.path('undrawn');
    // Figures of an earlier study must not stay in the folder: readers would take them for figures of this one.
    await writeFolder(folder, {
      'figures/prediction.svg': (beside) => writePieces(beside, ['<svg/>']),
    });
    writeFileSync(join(folder, 'figures', 'mine.svg'), '<svg/>');
    const { stdout } = await graphex(
      dataFile(),
      ...QUICK.with(QUICK.indexOf('--draws') + 1, '0'),
      '-o',
      folder,
    );
    expect(stdout).toMatch(/Is it sparse\?[\s\S]*Which method recommends best\?/);
    expect(stdout).not.toMatch(/Which model predicts|NaN|undefined/);
    expect(readdirSync(join(folder, 'figures')).sort()).toEqual([
      'degrees.svg',
      'density.svg',
      'mine.svg',
      'ranking.svg',
      'split.svg',
    ]);
    const results = JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8'));
    expect(results).toMatchObject({ predictive: null, verdicts: { prediction: null } });
    const again = await graphex('--from', join(folder, 'results.json'), '-o', scratch.path('too'), '--json');
    expect(JSON.parse(again.stdout).repeated.same).toBe(true);
  }, 240_000);

  it('finds relative data from inside the report, and says whose path it is when they are gone', async () => {
    const data = dataFile();
    const home = dirname(data);
    const quick = [...QUICK, '--no-ranker', '--model', 'sparse', '--quiet'];
    await run(process.execPath, [BIN, 'study', 'ratings.csv', ...quick, '-o', 'out/report'], { cwd: home });
    const inside = join(home, 'out/report');
    const { origin } = JSON.parse(readFileSync(join(inside, 'results.json'), 'utf8')).receipt;
    expect(origin).toMatchObject({ source: 'ratings.csv', sourceFrom: join('..', '..', 'ratings.csv') });
    const again = ['study', '--from', 'results.json', '-o', 'again', '--json', '--quiet'];
    const { stdout } = await run(process.execPath, [BIN, ...again], { cwd: inside, maxBuffer: 1 << 28 });
    expect(JSON.parse(stdout)).toMatchObject({
      repeated: { same: true },
      receipt: { origin: { source: join('..', '..', 'ratings.csv') } },
    });
    renameSync(data, join(home, 'moved.csv'));
    await expect(run(process.execPath, [BIN, ...again], { cwd: inside })).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the path comes from results.json'),
    });
  }, 120_000);

  it.each([
    [[], /DATA is missing/],
    [['@sotu', '-k', '3,x'], /-k 3,x: expected a list separated by commas, each auto, or a whole number/],
    [['@sotu', '--baselines', 'magic'], /--baselines magic: expected all, none, or some of popularity/],
    [['nowhere.csv'], /nowhere.csv/],
    [['--from', 'nowhere.json'], /nowhere.json/],
  ])(
    'says what is wrong with %j, exit status 2, nothing written',
    async (args, message) => {
      const folder = scratch.path(`bad-${String(message).replace(/\W/g, '')}`);
      await expect(graphex(...args, '-o', folder)).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringMatching(message),
      });
      expect(existsSync(folder)).toBe(false);
    },
    60_000,
  );

  it('leaves nothing behind when interrupted', async () => {
    const folder = scratch.path('interrupted');
    const child = spawn(
      process.execPath,
      [
        BIN,
        'study',
        '@simulated-small',
        '-k',
        '60',
        '--iterations',
        '5000',
        '--tolerance',
        '1e-12',
        '-o',
        folder,
      ],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    let said = '';
    let asked = false;
    child.stderr.on('data', (chunk) => {
      said += chunk;
      if (/fit auto/.test(said) && !asked) asked = child.kill('SIGINT');
    });
    const code = await new Promise((resolve) => child.on('exit', resolve));
    expect(code).toBe(130);
    expect(existsSync(folder)).toBe(false);
  }, 120_000);
});
