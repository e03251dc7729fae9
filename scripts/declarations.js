// The compiler over the built declarations, with the library of the language, for scripts and tests.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ts } from '@ts-morph/common';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const dist = join(root, 'dist').split(sep).join('/');

/** The folder of lib.d.ts: the native compiler keeps it in the package of its platform. */
function libraryFolder() {
  const folder = join(root, 'node_modules/@typescript');
  const places = [
    ...(existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name, 'lib')) : []),
    join(root, 'node_modules/typescript/lib'),
  ];
  const found = places.find((place) => existsSync(join(place, 'lib.d.ts')));
  if (!found) throw new Error('lib.d.ts of TypeScript is not installed: run npm ci');
  return found;
}

/** @param {string[]} entries paths of .d.ts files */
export function declarationProgram(entries) {
  const options = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    exactOptionalPropertyTypes: true,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
    noEmit: true,
  };
  const host = ts.createCompilerHost(options);
  const folder = libraryFolder();
  host.getDefaultLibLocation = () => folder;
  host.getDefaultLibFileName = (given) => join(folder, ts.getDefaultLibFileName(given));
  return ts.createProgram(entries, options, host);
}
