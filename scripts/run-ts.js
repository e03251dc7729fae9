// Runs a TypeScript program of bench/ or examples/ against the built library:
//   node scripts/run-ts.js bench/fit.ts [arguments]
// The types are stripped by the compiler; imports of ../src/ become imports of dist/, where the workers and kernels are.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [program, ...rest] = process.argv.slice(2);
if (!program || !existsSync(resolve(program))) {
  process.stderr.write(
    `usage: node scripts/run-ts.js bench/NAME.ts [arguments]; no such program: ${program}\n`,
  );
  process.exit(2);
}
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
const out = mkdtempSync(join(root, '.run-'));
try {
  const options = [
    '--noCheck',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--moduleResolution',
    'nodenext',
  ];
  execFileSync(
    process.execPath,
    [
      tsc,
      '--ignoreConfig',
      resolve(program),
      ...options,
      '--rootDir',
      root,
      '--outDir',
      out,
      '--skipLibCheck',
    ],
    { cwd: root, stdio: 'inherit' },
  );
  rmSync(join(out, 'src'), { recursive: true, force: true });
  for (const folder of ['bench', 'examples']) {
    if (!existsSync(join(out, folder))) continue;
    for (const name of readdirSync(join(out, folder))) {
      const path = join(out, folder, name);
      if (name.endsWith('.js')) {
        writeFileSync(path, readFileSync(path, 'utf8').replaceAll("'../src/", "'../../dist/"));
      }
    }
  }
  const compiled = join(out, resolve(program).slice(root.length).replace(/\.ts$/, '.js'));
  const result = spawnSync(process.execPath, ['--expose-gc', compiled, ...rest], { stdio: 'inherit' });
  process.exitCode = result.status ?? 1;
} finally {
  rmSync(out, { recursive: true, force: true });
}
