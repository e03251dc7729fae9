// A page bundled by esbuild, as docs/bundling.md says.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { type Served, visit } from '../browser/chromium.js';
import { installed, root } from './installed.js';

export const page = (script: string): string =>
  `<!doctype html><meta charset="utf-8"><title>page</title><script type="module" src="${script}"></script>`;

const manual = readFileSync(join(root, 'docs/bundling.md'), 'utf8');
export const esbuildRecipe = /```js esbuild\.js\n([\s\S]*?)```/.exec(manual)![1];

/** The folder of the page that runs this script. */
export function bundled(script: string): string {
  const files = { 'dist/index.html': page('./page.js'), 'page.js': script, 'esbuild.js': esbuildRecipe };
  const folder = installed(files, ['esbuild']);
  execFileSync(process.execPath, ['esbuild.js'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  return join(folder, 'dist');
}

/** Opens the page of a folder; `more` answers requests for other paths. */
export function visitFolder<Answer>(
  folder: string,
  headers: Record<string, string>,
  more: Readonly<Record<string, Served>> = {},
): Promise<Answer> {
  return visit<Answer>((path) => {
    const file = join(folder, path === '/' ? 'index.html' : path);
    return existsSync(file) ? { type: extname(file), body: readFileSync(file), headers } : more[path];
  });
}
