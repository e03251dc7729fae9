// Ctrl-C at any moment: exit status 130 and nothing half-written. A fit leaves nothing or FILE.partial, from which
// --resume continues to the numbers of a fit that was never stopped, bit for bit. GRAPHEX_LONG=1 stops eight times as often.

import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { randomStream } from '../../src/math/random.js';
import { loadModel } from '../../src/store/model-file.js';
import { loadSplit } from '../../src/store/split-folder.js';
import { writeTable } from '../cli/run.js';
import { scratchFolder } from '../ingest/scratch.js';
import { type Ended, graphex } from './command.js';
import { modelContents as contents } from './model-contents.js';

vi.setConfig({ testTimeout: 600_000 });
const scratch = scratchFolder();
const TRIALS = process.env.GRAPHEX_LONG ? 8 : 1;
const random = randomStream(7, 0xc);
// A small table, so that most interrupts stop a fit in its sweeps.
const table = scratch.path('pairs.csv');
writeTable(table, 4000);

/** Makes Node believe that stderr is a terminal: the program then reports each stage when it starts. */
const WATCHED = ['--import', 'data:text/javascript,process.stderr.isTTY=true'];

/** Runs the command and interrupts it after `when` milliseconds, or once `when` holds for its stderr. */
function interrupted(
  args: readonly string[],
  when: number | ((stderr: string) => boolean),
  node: readonly string[] = [],
): Promise<Ended> {
  return graphex(args, {
    node,
    onStart(child) {
      if (typeof when === 'number') {
        setTimeout(() => child.kill('SIGINT'), when);
        return;
      }
      let said = '';
      child.stderr!.on('data', (text) => (said += text));
      const watch = setInterval(() => {
        if (!when(said)) return;
        clearInterval(watch);
        child.kill('SIGINT');
      }, 2);
      child.on('exit', () => clearInterval(watch));
    },
  });
}

/** Status 130, or the signal itself if it came before the program had started. */
function expectInterrupted(ended: Ended): void {
  expect(ended.stderr).not.toMatch(/\n {4}at /);
  expect([130, 'SIGINT']).toContain(ended.status ?? ended.signal);
  expect(ended.stdout).toBe('');
}

describe('graphex fit', () => {
  const fitFor = (iterations: number) => [
    ...['fit', table, '-k', '10', '--iterations', String(iterations), '--tolerance', '1e-300'],
    ...['--seed', '5', '--threads', '1'],
  ];
  const FIT = [...fitFor(400), '--engine', 'cpu'];

  const RANKING = [
    ...['fit', table, '-k', '10', '--iterations', '40', '--tolerance', '1e-300'],
    ...[
      '--method',
      'ranking',
      '--no-blend',
      '--average',
      '4',
      '--seed',
      '5',
      '--threads',
      '1',
      '--engine',
      'cpu',
    ],
  ];

  it.each([
    ['evidence', [...FIT, '--no-evidence']],
    ['ranking', RANKING],
  ])('continues to the same numbers wherever it was stopped: %s', async (objective, args) => {
    mkdirSync(scratch.path(`whole-${objective}`));
    const whole = scratch.path(`whole-${objective}/model.safetensors`);
    const never = await graphex([...args, '-o', whole]);
    expect(never.status).toBe(0);
    let resumed = 0;
    for (let trial = 0; trial < TRIALS || (resumed === 0 && trial < 40); trial++) {
      const folder = scratch.path(`stopped-${objective}-${trial}`);
      mkdirSync(folder);
      const output = scratch.path(`stopped-${objective}-${trial}/model.safetensors`);
      const resume: string[] = [];
      // A resumed fit needs no options.
      const again = args.slice(0, 2);
      // Stops the fit at a random moment and resumes it, up to three times; then lets it finish.
      for (let stops = 0; ; stops++) {
        const when = stops < 3 ? Math.round(1000 * never.seconds * random.uniform()) : 1e6;
        const ended = await interrupted(
          [
            ...(resume.length ? [...again, '--threads', '1', '--no-evidence'] : args),
            '-o',
            output,
            ...resume,
          ],
          when,
        );
        if (ended.status === 0) break;
        expectInterrupted(ended);
        const left = readdirSync(folder);
        expect(left).toEqual(resume.length || left.length ? ['model.safetensors.partial'] : []);
        if (left.length) {
          // The program says nothing if it had not started.
          expect(ended.stderr).toMatch(
            /^$|interrupted: (stopped at iteration(s \d+ and)? \d+( of fit(s \d and)? \d of 4)?; continue with --resume|nothing)/,
          );
          await loadModel(`${output}.partial`);
          resume.splice(0, 2, '--resume', `${output}.partial`);
        }
      }
      if (resume.length) resumed++;
      expect(contents(output)).toEqual(contents(whole));
    }
    expect(resumed).toBeGreaterThan(0);
  });

  it('stops while it starts: while modules load, data are drawn and workers start', async () => {
    const folder = scratch.path('early');
    mkdirSync(folder);
    const args = [...fitFor(1_000_000), '--engine', 'cpu', '-o', scratch.path('early/model.safetensors')];
    for (let moment = 0; moment < 1500; moment += 500) {
      expectInterrupted(await interrupted(args, moment + 500 * random.uniform()));
      expect(readdirSync(folder).filter((name) => !name.endsWith('.partial'))).toEqual([]);
    }
  });

  it('leaves nothing with restarts or with the sampler, because these cannot be resumed', async () => {
    const folder = scratch.path('nothing');
    mkdirSync(folder);
    const output = scratch.path('nothing/model.safetensors');
    const begun = (stderr: string) => /fitting|warming|sampling/.test(stderr);
    for (const args of [
      ['--engine', 'cpu', '--restarts', '50'],
      ['--method', 'gibbs'],
    ]) {
      expectInterrupted(await interrupted([...fitFor(2000), ...args, '-o', output], begun, WATCHED));
      expect(readdirSync(folder), args.join(' ')).toEqual([]);
    }
  });

  it('has written the model and says so if it is stopped during the comparison with a dense fit', async () => {
    const output = scratch.path('compared.safetensors');
    // Large enough for the comparison to take a while.
    const large = ['fit', '@simulated-small', ...FIT.slice(2), '--model', 'sparse'];
    const ended = await interrupted([...large, '-o', output], () => existsSync(output));
    expectInterrupted(ended);
    expect(ended.stderr).toMatch(/compared\.safetensors is written, without the comparison/);
    expect((await loadModel(output)).provenance.iterations).toBe(400);
  });
});

describe('other commands, interrupted at random moments', () => {
  it.each([
    ['simulate', ['simulate', '--size-users', '500', '--size-items', '500', '-o', 'OUT/graph.csv.gz']],
    ['split', ['split', '@simulated-small', '-o', 'OUT/split']],
    ['check', ['check', '@simulated-small', '--replicates', '200', '-o', 'OUT/check']],
    ['study', ['study', '@simulated-small', '-k', '5', '-o', 'OUT/study', '--draws', '10']],
  ])(
    '%s leaves all of its output or nothing',
    async (name, template) => {
      for (let trial = 0; trial < TRIALS; trial++) {
        const folder = scratch.path(`${name}-${trial}`);
        mkdirSync(folder);
        const args = [...template.map((part) => part.replace('OUT', folder)), '--threads', '2'];
        const ended = await interrupted(args, 200 + 1800 * random.uniform());
        if (ended.status === 0) {
          if (name === 'split') await loadSplit(`${folder}/split`);
          expect(readdirSync(folder)).toHaveLength(1);
          continue;
        }
        expectInterrupted(ended);
        expect(readdirSync(folder)).toEqual([]);
      }
    },
    120_000,
  );

  it('a second Ctrl-C ends it immediately and leaves no temporary file', async () => {
    const folder = scratch.path('twice');
    mkdirSync(folder);
    const rejects = scratch.path('twice/rejects.csv');
    const rows = scratch.write('rows.csv', `a,b\n${'1,2\n,\n'.repeat(1_000_000)}`);
    const ended = await graphex(['check', rows, '--rejects', rejects], {
      onStart(child) {
        const watch = setInterval(() => {
          if (readdirSync(folder).length === 0) return;
          clearInterval(watch);
          child.kill('SIGINT');
          setTimeout(() => child.kill('SIGINT'), 1);
        }, 2);
        child.on('exit', () => clearInterval(watch));
      },
    });
    expectInterrupted(ended);
    expect(readdirSync(folder)).toEqual([]);
    expect(existsSync(rejects)).toBe(false);
  });
});
