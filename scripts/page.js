// Builds the page: static files in page/dist, for any host and for `graphex serve`. The library comes from dist/, so what
// runs in the page is what runs everywhere.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { writeManual } from './manual.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [source, page, dist, out] = ['src', 'src/page', 'dist', 'page/dist'].map((path) => join(root, path));

const { CONTENT, FOUNDATION } = await import(join(dist, 'report/pages/style.js'));

/** The page is TypeScript; the rooms that it imports are already built. Colours and common rules are those of the reports. */
const builtRooms = {
  name: 'graphex-rooms',
  enforce: 'pre',
  resolveId(id, importer) {
    if (id === 'virtual:reports.css') return '\0reports.css';
    if (!id.startsWith('.') || !importer) return null;
    const path = resolve(dirname(importer.replace(/\?.*$/, '')), id);
    if (!path.startsWith(source + sep) || path.startsWith(page + sep)) return null;
    return join(dist, relative(source, path));
  },
  load(id) {
    return id === '\0reports.css' ? FOUNDATION + CONTENT : null;
  },
};

const shared = {
  configFile: false,
  root: page,
  base: './',
  logLevel: 'warn',
  plugins: [builtRooms],
  worker: { format: 'es', plugins: () => [builtRooms] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
};
const output = {
  outDir: out,
  target: 'es2022',
  // A worker or a kernel in a data: address is refused by the page's security policy.
  assetsInlineLimit: 0,
  modulePreload: { polyfill: false },
  chunkSizeWarningLimit: 1000,
};
/** Some modules are both imported and run as workers, on purpose: no warning. */
const checks = { ineffectiveDynamicImport: false, pluginTimings: false, bundlerTimings: false };

// The session is built separately: Vite loses workers that a worker starts if both are in one build.
const session = await build({
  ...shared,
  build: {
    ...output,
    // A worker has no document to preload into.
    modulePreload: false,
    emptyOutDir: true,
    rolldownOptions: { input: join(page, 'session/session.ts'), checks },
  },
});
const [{ fileName }] = session.output.filter((chunk) => chunk.isEntry);
await build({
  ...shared,
  define: { SESSION: JSON.stringify(`./${fileName}`) },
  build: { ...output, emptyOutDir: false, rolldownOptions: { checks } },
});

await writeSample();
// Before the manual is written, because only the page is cached for use without a network.
writeServiceWorker();
writeManual(join(out, 'manual'), FOUNDATION);

/** The addresses as the graph that the command line would read, with its report of the reading. */
async function writeSample() {
  const { readGraph } = await import(join(dist, 'index.js'));
  const { graph, guess, read } = await readGraph('@sotu', { multigraph: true });
  const { offsets, neighbors, counts, ids, count } = graph.users;
  const rows = ['speech\tword\tcount'];
  for (let user = 0; user < count; user++) {
    for (let e = offsets[user]; e < offsets[user + 1]; e++) {
      rows.push(`${ids.at(user)}\t${graph.items.ids.at(neighbors[e])}\t${counts[e]}`);
    }
  }
  const folder = join(out, 'samples');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'sotu.tsv.gz'), gzipSync(`${rows.join('\n')}\n`, { level: 9 }));
  const columns = { users: 'speech', items: 'word', count: 'count' };
  writeFileSync(join(folder, 'sotu.json'), JSON.stringify({ columns, guess, read }));
}

function writeServiceWorker() {
  const files = readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'service-worker.js')
    .map((entry) => relative(out, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .sort();
  const hash = createHash('sha256');
  for (const file of files) hash.update(file).update(readFileSync(join(out, file)));
  const head = `const VERSION = ${JSON.stringify(hash.digest('hex').slice(0, 16))};\nconst FILES = ${JSON.stringify(files.map((file) => `./${file}`))};\n`;
  writeFileSync(join(out, 'service-worker.js'), head + readFileSync(join(page, 'service-worker.js'), 'utf8'));
}
