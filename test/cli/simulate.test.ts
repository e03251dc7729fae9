import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readGraph } from '../../src/ingest/read.js';
import { simulate } from '../../src/process/poisson-model.js';
import { graphex } from './run.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'graphex-simulate-'));
});
afterAll(() => rm(folder, { recursive: true }));

const run = (...args: string[]) => graphex('simulate', ...args);

const SMALL = [
  '--size-users',
  '20',
  '--size-items',
  '30',
  '--features',
  '5',
  '--sigma-items',
  '-0.3',
  '--seed',
  '7',
];

describe('graphex simulate', () => {
  it('writes the graph that the library draws, as CSV and as Parquet', async () => {
    const side = { tau: 1, shape: 0.1, rate: 0.1 };
    const { graph, atoms, cut } = await simulate({
      users: { ...side, sigma: 0.2, size: 20 },
      items: { ...side, sigma: -0.3, size: 30 },
      features: 5,
      seed: 7,
      multigraph: true,
    });
    for (const ending of ['csv', 'parquet']) {
      const file = join(folder, `graph.${ending}`);
      const { status, stdout } = await run('-o', file, ...SMALL, '--multi', '--json');
      expect(status).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        users: graph.users.count,
        items: graph.items.count,
        edges: graph.edges,
        total: graph.total,
        atoms,
        cut,
      });
      const read = await readGraph(file, { multigraph: true, count: 'count' });
      expect([read.graph.users.count, read.graph.items.count]).toEqual([
        graph.users.count,
        graph.items.count,
      ]);
      expect([read.graph.edges, read.graph.total]).toEqual([graph.edges, graph.total]);
    }
  });

  it('describes what it drew', async () => {
    const { status, stdout } = await run('-o', join(folder, 'words.tsv.gz'), ...SMALL);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /vertices .*\ndrawn, with those without edges .*\nsmallest weight drawn .*none\n.*edges, density 0\.\d+\nwrote /,
    );
  });

  it.each(['dense', 'sparse-items', 'power-law'])('draws the process %s', async (name) => {
    const file = join(folder, `${name}.csv`);
    const sizes = ['--size-users', '20', '--size-items', '10'];
    const { status, stdout } = await run('-o', file, '--process', name, ...sizes, '--json');
    expect(status).toBe(0);
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({ process: name, sizes: { users: 20, items: 10 } });
    const rows = (await readFile(file, 'utf8')).trim().split('\n');
    expect(rows.length - 1).toBe(document.edges);
    expect(document.atoms.items).toBeGreaterThanOrEqual(document.items);
  });

  it.each<[string, string[], RegExp]>([
    ['sigma', ['--sigma-users', '1'], /--sigma-users 1: expected a number.*edges is infinite/],
    ['tau', ['--tau-items', '0'], /--tau-items 0: expected a number.*edges is infinite/],
    ['features', ['--features', '0'], /--features 0: expected a whole number, at least 1/],
    ['sizes', ['--size-users', '1e6', '--size-items', '1e6'], /3\.00e\+13 edges in expectation/],
    ['a number', ['--rate-users', 'many'], /--rate-users many: expected a number/],
    ['tolerance', ['--tolerance', '2'], /--tolerance 2: expected a number, above 0 and below 1/],
    ['a process', ['--process', 'circle'], /--process circle: expected one of dense/],
    ['both', ['--process', 'dense', '--features', '3'], /--features has no effect with --process dense/],
  ])('refuses bad %s with status 2, and writes nothing', async (_what, args, message) => {
    const file = join(folder, 'never.csv');
    const { status, stdout, stderr } = await run('-o', file, ...args);
    expect(status).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(existsSync(file)).toBe(false);
  });

  it('refuses an ending that it does not know before any work', async () => {
    const { status, stderr } = await run('-o', join(folder, 'graph.xls'));
    expect(status).toBe(2);
    expect(stderr).toMatch(/graph\.xls: the format is not known/);
  });
});
