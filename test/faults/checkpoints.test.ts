// Long fits save their state next to the output, so that even kill -9 loses only minutes. --resume finds it, continues
// to the same bits, and refuses options that differ from those of the saved fit. Signals end with 128 + n.

import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import {
  type FitOptions,
  type FitResult,
  fit,
  InputError,
  readGraph,
  saveModel,
  type UnfinishedFit,
  unfinishedFit,
} from '../../src/index.js';
import { loadModelFile } from '../../src/store/model-file.js';
import { graphex as command, writeTable } from '../cli/run.js';
import { scratchFolder } from '../ingest/scratch.js';
import { type Ended, graphex } from './command.js';
import { modelContents } from './model-contents.js';

vi.setConfig({ testTimeout: 300_000 });
const scratch = scratchFolder();
// A small table, so that a process spends its time on sweeps and on saving states.
const data = scratch.path('pairs.csv');
writeTable(data, 4000);

const COMMON = ['--threads', '1', '--engine', 'cpu', '--seed', '5', '--tolerance', '1e-300', '-k', '6'];
const evidence = (iterations: number) => [
  ...['fit', data, ...COMMON, '--iterations', String(iterations), '--no-evidence'],
];
const RANKING = [
  ...['fit', data, ...COMMON, '--iterations', '150'],
  ...['--method', 'ranking', '--no-blend', '--average', '3'],
];
/** After every block of sweeps. */
const OFTEN = ['--checkpoint', '1e-6'];

/** Runs the command and sends the signal as soon as `when` is true, which it checks every two milliseconds. */
function signalled(args: readonly string[], signal: NodeJS.Signals, when: () => boolean): Promise<Ended> {
  return graphex(args, {
    onStart(child) {
      const watch = setInterval(() => {
        if (!when()) return;
        clearInterval(watch);
        child.kill(signal);
      }, 2);
      child.on('exit', () => clearInterval(watch));
    },
  });
}

describe('kill -9 in a long fit', () => {
  it.each([
    ['evidence', evidence(1500)],
    ['ranking', RANKING],
  ])('leaves a state from which --resume goes on to the same bits: %s', async (name, args) => {
    const home = scratch.path(name);
    mkdirSync(home);
    const whole = scratch.path(`${name}.safetensors`);
    expect((await command(...args, '-o', whole)).status).toBe(0);
    const output = join(home, 'model.safetensors');
    const partial = `${output}.partial`;
    let kept = 0;
    for (let kills = 0; kills < 2; kills++) {
      const resume = existsSync(partial) ? ['fit', data, '--threads', '1', '--resume'] : args;
      const more = resume.includes('--no-evidence') ? OFTEN : [...OFTEN, '--no-evidence'];
      // Kills the run soon after it has saved its first state.
      const before = existsSync(partial) ? iterationOf(await loadModelFile(partial)) : 0;
      let since: number | undefined;
      const ended = await signalled([...resume, ...more, '-o', output], 'SIGKILL', () => {
        if (existsSync(partial)) since ??= performance.now();
        return since !== undefined && performance.now() - since > 300 + 400 * kills;
      });
      if (ended.status === 0) break;
      expect(ended.signal).toBe('SIGKILL');
      expect(existsSync(output)).toBe(false);
      expect(iterationOf(await loadModelFile(partial))).toBeGreaterThanOrEqual(before);
      kept++;
    }
    expect(kept).toBeGreaterThan(0);
    if (!existsSync(output)) {
      const rest = await graphex(['fit', data, '--threads', '1', '--resume', '-o', output, '--no-evidence']);
      expect(rest.stderr).not.toMatch(/error/);
      expect(rest.status).toBe(0);
    }
    expect(modelContents(output)).toEqual(modelContents(whole));
    expect(readdirSync(home).filter((file) => !file.endsWith('.part'))).toEqual(['model.safetensors']);
  });

  function iterationOf({ checkpoint }: Awaited<ReturnType<typeof loadModelFile>>): number {
    const done = checkpoint!.method === 'ranking' ? checkpoint!.done.length : 0;
    return 1000 * done + checkpoint!.state.iteration;
  }
});

/** What a fit has computed. */
function numbers({ model }: FitResult): unknown {
  return model.type === 'ranker'
    ? model.scores
    : [model.users.featureRate, model.items.featureRate, model.bound];
}

describe('the state of a long fit', () => {
  it('is not saved if a fit cannot resume, and saving it changes no bit', async () => {
    const { graph } = await readGraph(data, { threads: 1 });
    const options = { features: 3, iterations: 40, tolerance: 1e-300, engine: 'cpu', threads: 1 } as const;
    for (const more of [{}, { method: 'ranking', average: 2 }] as FitOptions[]) {
      const states: FitResult[] = [];
      const plain = await fit(graph, { ...options, ...more } as FitOptions);
      const kept = await fit(graph, {
        ...options,
        ...more,
        checkpointMinutes: 1e-9,
        onCheckpoint: (state: FitResult) => void states.push(state),
      } as FitOptions);
      expect(numbers(kept)).toEqual(numbers(plain));
      expect(states.length).toBeGreaterThan(4);
      // A fit resumes from each state alone, to the same numbers.
      for (const { checkpoint } of [states[0], states.at(-1)!]) {
        const rest = await fit(graph, { threads: 1, resume: checkpoint! });
        expect(numbers(rest)).toEqual(numbers(plain));
      }
    }
    const onCheckpoint = () => expect.fail('a state that cannot go on was handed out');
    await fit(graph, { ...options, restarts: 2, checkpointMinutes: 1e-9, onCheckpoint });
    const { engine: _engine, tolerance: _tolerance, ...both } = options;
    await expect(fit(graph, { ...both, method: 'gibbs', onCheckpoint } as FitOptions)).rejects.toThrow(
      /onCheckpoint does not go with method gibbs/,
    );
  });

  it('is warned about once if it cannot be saved, and the fit succeeds', async () => {
    const home = scratch.path('unkept');
    mkdirSync(join(home, 'm.partial'), { recursive: true });
    // A folder in the place of the state is found before the work. One that appears later is found when a state is written.
    const early = await command(...evidence(300), ...OFTEN, '-o', join(home, 'm'));
    expect([early.status, early.stderr]).toEqual([2, expect.stringMatching(/m\.partial: this is a folder/)]);
    const output = join(home, 'n');
    const ended = await graphex([...evidence(300), ...OFTEN, '-o', output], {
      onStart(child) {
        const watch = setInterval(() => {
          if (!existsSync(`${output}.partial`)) return;
          clearInterval(watch);
          rmSync(`${output}.partial`);
          mkdirSync(join(`${output}.partial`, 'in the way'), { recursive: true });
        }, 1);
        child.on('exit', () => clearInterval(watch));
      },
    });
    expect(ended.status).toBe(0);
    expect(ended.stderr.match(/warning: the state of the fit cannot be kept/g)).toHaveLength(1);
    expect(existsSync(output)).toBe(true);
  });

  it('--resume without a file and without a state says what is missing', async () => {
    const ended = await command('fit', data, '-o', scratch.path('none'), '--resume');
    expect([ended.status, ended.stderr]).toEqual([
      2,
      expect.stringMatching(/none\.partial: there is no such file/),
    ]);
  });
});

describe('a saved fit resumes with its options', () => {
  const file = scratch.path('saved.partial');
  let graph: Awaited<ReturnType<typeof readGraph>>['graph'];
  let stopped: UnfinishedFit;
  beforeAll(async () => {
    graph = (await readGraph(data, { threads: 1 })).graph;
    const abort = new AbortController();
    stopped = await fit(graph, {
      ...{
        model: 'sparse',
        features: 4,
        iterations: 60,
        seed: 3,
        engine: 'cpu',
        threads: 1,
        tolerance: 1e-300,
      },
      users: { tau: 2 },
      signal: abort.signal,
      onProgress: () => abort.abort(),
    }).then(
      () => {
        throw new Error('the fit ended before it was stopped');
      },
      (error) => unfinishedFit(error)!,
    );
    await saveModel(file, stopped.model, { checkpoint: stopped.checkpoint });
  });

  const OTHERS: [string, string[], FitOptions, RegExp][] = [
    ['--model', ['--model', 'dense'], { model: 'dense' }, /model sparse \(not dense\)/],
    [
      '--sigma-users',
      ['--sigma-users', '0.3'],
      { users: { sigma: 0.3 } },
      /users\.sigma estimated \(not 0\.3\)/,
    ],
    ['--tau-users', ['--tau-users', '3'], { users: { tau: 3 } }, /users\.tau 2 \(not 3\)/],
    ['--seed', ['--seed', '9'], { seed: 9 }, /seed 3 \(not 9\)/],
    ['--restarts', ['--restarts', '4'], { restarts: 4 }, /restarts 1 \(not 4\)/],
    ['-k', ['-k', '5'], { features: 5 }, /features 4 \(not 5\)/],
    ['--start', ['--start', 'cold'], { start: 'cold' }, /start warm \(not cold\)/],
    ['--learn', ['--learn', 'users.tau'], { learn: ['users.tau'] }, /learn none \(not users\.tau\)/],
    ['--sizes', ['--sizes', 'paper'], { sizes: 'paper' }, /sizes bound \(not paper\)/],
    ['--method', ['--method', 'ranking'], { method: 'ranking' }, /method ascent \(not ranking\)/],
  ];

  it.each(OTHERS)('a different %s is refused by name', async (flag, args, options, says) => {
    const output = scratch.path(`other${flag}`);
    const { status, stderr } = await command('fit', data, '--resume', file, ...args, '-o', output);
    expect(stderr).toContain(`the saved fit was started with ${flag} `);
    expect([status, existsSync(output)]).toEqual([2, false]);
    const attempt = fit(graph, { ...options, resume: stopped.checkpoint! } as FitOptions);
    await expect(attempt).rejects.toThrow(InputError);
    await expect(attempt).rejects.toThrow(says);
  });

  it('several differences are named in one message; equal values and options that may change are accepted', async () => {
    const both = ['--model', 'dense', '--seed', '9', '--sigma-items', '0'];
    const { stderr } = await command('fit', data, '--resume', file, ...both, '-o', scratch.path('x'));
    for (const flag of [
      '--model sparse (not dense)',
      '--seed 3 (not 9)',
      '--sigma-items estimated (not 0)',
    ]) {
      expect(stderr).toContain(flag);
    }
    const same = ['--model', 'sparse', '--seed', '3', '-k', '4', '--tau-users', '2', '--restarts', '1'];
    const output = scratch.path('same.safetensors');
    const free = ['--iterations', '70', '--tolerance', '1e-200', '--engine', 'cpu'];
    const ended = await command('fit', data, '--resume', file, ...same, ...free, '-o', output);
    expect(ended.stderr).not.toMatch(/error/);
    const { model } = await loadModelFile(output);
    expect(model.provenance).toMatchObject({ iterations: 70, seed: 3, evidence: expect.anything() });
    expect(model.type === 'posterior' && model.users.hyper.tau).toBe(2);
  });

  it('other data are refused, in the library too', async () => {
    const table = scratch.write('other.csv', 'u,i\n1,2\n1,3\n2,2\n');
    const other = await readGraph(table);
    await expect(fit(other.graph, { resume: stopped.checkpoint! })).rejects.toThrow(/is of other data/);
    const ended = await command('fit', table, '--resume', file, '-o', scratch.path('y'));
    expect(ended.stderr).toMatch(/it was fitted to other data/);
  });
});

describe.skipIf(process.platform === 'win32')('each signal ends with 128 + n', () => {
  const table = scratch.path('wait.csv');
  beforeAll(() => writeFileSync(table, '1,2\n'.repeat(2_000_000)));

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s', async (signal) => {
    const status = 128 + constants.signals[signal];
    const home = scratch.path(signal);
    mkdirSync(home);
    const endless = ['fit', data, '-k', '6', '--iterations', '1000000', '--tolerance', '1e-300'];
    const output = join(home, 'm');
    const began = () => existsSync(`${output}.partial`);
    const fitted = await signalled([...endless, ...OFTEN, '-o', output], signal, began);
    expect(fitted.stderr).toMatch(/interrupted: stopped at iteration \d+; continue with --resume/);
    expect(fitted.status).toBe(status);
    expect(readdirSync(home)).toEqual(['m.partial']);
    // While modules load, and while a file is read.
    for (const wait of signal === 'SIGINT' ? [60, 300, 900] : [300]) {
      const start = performance.now();
      const ended = await signalled(['check', table], signal, () => performance.now() - start > wait);
      expect([status, signal, 0]).toContain(ended.status ?? ended.signal);
      expect(ended.stderr).not.toMatch(/ {4}at /);
    }
  });
});
