// The packed package, installed by npm in an empty project: no script runs or warns, and it stays small.

import { execFileSync, spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { scratchFolder } from '../ingest/scratch.js';
import { packed, root } from './installed.js';

const scratch = scratchFolder();
const project = scratch.path('project');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** Of everything that npm installs, unpacked. */
const MOST_BYTES = 60e6;

/** npm of this Node, as a shell would find it. */
function npm(args: readonly string[], cwd: string) {
  const run = spawnSync('npm', args, {
    cwd,
    encoding: 'utf8',
    // The npm settings of this user must not affect the installation.
    env: {
      ...process.env,
      npm_config_userconfig: join(cwd, '.none'),
      npm_config_update_notifier: 'false',
    },
    timeout: 100_000,
  });
  return { status: run.status, said: `${run.stdout}${run.stderr}` };
}

const online = spawnSync('npm', ['ping'], { timeout: 20_000 }).status === 0;

const [{ filename, files }]: [{ filename: string; files: { path: string }[] }] = JSON.parse(
  execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch.path('')], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }),
);

it('what npm packs is what the projects of consumers have', () => {
  expect(packed().sort()).toEqual(files.map(({ path }) => path).sort());
});

describe.skipIf(!online)('the packed package in an empty project', () => {
  let said: string;
  beforeAll(() => {
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
    const options = ['--no-audit', '--no-fund', '--prefer-offline', '--foreground-scripts'];
    const done = npm(['install', ...options, scratch.path(filename)], project);
    expect(done.status, done.said).toBe(0);
    said = done.said;
  }, 120_000);

  it('installs without a warning and without a script', () => {
    // Warnings of npm about settings concern the user who runs the tests.
    const about = said.split('\n').filter((line) => line.trim() !== '' && !/Unknown \w+ config/.test(line));
    expect(about).toEqual([expect.stringMatching(/^added \d+ packages in \S+$/)]);
  });

  it('takes less than 60 MB', () => {
    const modules = join(project, 'node_modules');
    const files = readdirSync(modules, { recursive: true, encoding: 'utf8' });
    const bytes = files.reduce((sum, file) => sum + lstatSync(join(modules, file)).size, 0);
    expect(bytes).toBeGreaterThan(1e6);
    expect(bytes).toBeLessThan(MOST_BYTES);
  });

  it('has a command and a library that work, charts included', () => {
    const bin = join(project, 'node_modules/.bin/graphex');
    expect(execFileSync(process.execPath, [bin, '--version']).toString().trim()).toBe(version);
    const program = `
      import { BipartiteGraph, fit, recommend } from 'graphex';
      import { chartDocument, drawChart, densityChart } from 'graphex/report';
      const graph = BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk'], ['bob', 'tea'], ['cleo', 'milk']]);
      const { model } = await fit(graph, { features: 2, iterations: 5, threads: 1 });
      const [{ item }] = await recommend(model, { user: 'ann' });
      await chartDocument();
      console.log(item, typeof drawChart, typeof densityChart);`;
    writeFileSync(join(project, 'program.js'), program);
    const run = spawnSync(process.execPath, ['program.js'], { cwd: project, encoding: 'utf8' });
    expect([run.stderr, run.stdout.trim()]).toEqual(['', 'milk function function']);
  });
});

it.runIf(!online)('no registry of npm is reached: the package is not installed', () => {});
