// Spells out the worker scripts in the built files. Sources declare a module of tasks in one line,
//   const TASKS = taskModule('./NAME.js', import.meta.url);
// and bundlers need `new Worker(new URL('./NAME.js', import.meta.url), …)` and `import('./NAME.js')` as literals.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const DECLARATION = /taskModule\('\.\/([\w-]+)\.js', import\.meta\.url\)/g;

export function spellOutTaskModules(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.js')) continue;
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const text = readFileSync(path, 'utf8');
    const spelled = text.replace(
      DECLARATION,
      (_, name) =>
        `taskModule('./${name}.js', import.meta.url, ` +
        `() => new Worker(new URL('./${name}.js', import.meta.url), { type: 'module', name: 'graphex:${name}' }), ` +
        `() => import('./${name}.js'))`,
    );
    if (spelled !== text) writeFileSync(path, spelled);
  }
}
