// A table of a billion edges, from Parquet to a model on the GPU, in two steps. `node bench/gpu/billion.mjs make FOLDER
// [PARTS [FRACTION]]` writes PARTS tables (10 have a billion rows): each has as many users as Netflix's set, all have ten times its items;
// `node bench/gpu/billion.mjs fit FOLDER` fits all of them through the command line and says what took how long.
// Buffers pass 4 GiB: Node 22 or later.

import { execFile, fork } from 'node:child_process';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { writeParquet } from '../../dist/parquet/write.js';
import { SHAPES, skewedGraph } from './graphs.mjs';

const [what, folder, parts = '10', fraction = '1'] = process.argv.slice(2);
const began = performance.now();
const say = (...words) => console.log(`[${((performance.now() - began) / 1000).toFixed(1)} s]`, ...words);
const tables = () =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.parquet'))
    .sort()
    .map((name) => join(folder, name));

if (what === 'make') {
  const own = fileURLToPath(import.meta.url);
  const writers = Array.from({ length: Number(parts) }, (_, part) =>
    fork(own, ['part', folder, `${part}`, fraction]),
  );
  const codes = await Promise.all(
    writers.map((child) => new Promise((resolve) => child.once('exit', (code) => resolve(code)))),
  );
  if (codes.some((code) => code !== 0)) throw new Error(`a part could not be written: ${codes}`);
  say(`${tables().length} tables, ${tables().reduce((sum, path) => sum + statSync(path).size, 0)} bytes`);
} else if (what === 'part') {
  const part = Number(parts);
  const shape = {
    ...SHAPES.netflix,
    items: { ...SHAPES.netflix.items, count: 10 * SHAPES.netflix.items.count },
  };
  const graph = skewedGraph('part', shape, Number(fraction), 1 + part);
  const { offsets, neighbors } = graph.users;
  const users = new Uint32Array(graph.edges);
  for (let u = 0; u < graph.userCount; u++)
    users.fill(part * graph.userCount + u, offsets[u], offsets[u + 1]);
  await writeParquet(join(folder, `part-${part}.parquet`), graph.edges, [
    { name: 'user', numbers: users },
    { name: 'item', numbers: neighbors },
  ]);
  say(`part ${part}: ${graph.edges} rows`);
} else {
  const model = join(folder, 'model.safetensors');
  const bin = fileURLToPath(new URL('../../bin/graphex.js', import.meta.url));
  const fit = [
    'fit',
    ...tables(),
    '-o',
    model,
    '--force',
    '-k',
    '32',
    '--model',
    'sparse',
    '--no-evidence',
    '--json',
  ];
  const long = ['--iterations', '50', '--tolerance', '0', '--engine', process.env.ENGINE ?? 'gpu'];
  const run = promisify(execFile)(process.execPath, ['--max-old-space-size=32000', bin, ...fit, ...long], {
    maxBuffer: 1 << 28,
  });
  run.child.stderr.on('data', (text) => say(String(text).trim()));
  const { stdout } = await run;
  const seconds = (performance.now() - began) / 1000;
  const { bounds, bound, engine, read, ...times } = JSON.parse(stdout);
  if (!(bounds.length > 2 && bounds.at(-1).bound > bounds[0].bound))
    throw new Error('the bound did not rise');
  say(`from tables to model ${seconds.toFixed(1)} s; the fit ${times.seconds.toFixed(1)} s of it`);
  say(
    `${(1000 * times.secondsPerIteration).toFixed(1)} ms an iteration, bound ${bound}, ${read?.kept} rows, ${engine}`,
  );
  rmSync(model);
}
