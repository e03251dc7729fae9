// A fit prints nothing of its own on any Node, whatever flags the process was started with.

import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const library = new URL('../../dist/browser.js', import.meta.url).href;
const program = `
  import { BipartiteGraph, fit } from '${library}';
  const graph = BipartiteGraph.fromEdges({ users: [0, 0, 1, 1], items: [0, 1, 1, 2], userCount: 2, itemCount: 3 });
  const { model } = await fit(graph, { features: 2, iterations: 10, threads: 2 });
  process.stdout.write(String(model.features));
`;

test.each([
  ['a program on the command line', {}, ['--input-type=module', '-e', program]],
  ['flags in the environment', { NODE_OPTIONS: '--input-type=module' }, ['-e', program]],
])('%s', (_, env, flags) => {
  const ended = spawnSync(process.execPath, flags, { encoding: 'utf8', env: { ...process.env, ...env } });
  expect(ended).toMatchObject({ stdout: '2', stderr: '', status: 0 });
});
