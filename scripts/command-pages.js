// Writes docs/commands: a page for each command, from the declarations of its options. Run with `npm run docs:options`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandPages } from '../dist/cli/command-pages.js';

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'docs', 'commands');
mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(await commandPages())) writeFileSync(join(folder, name), text);
