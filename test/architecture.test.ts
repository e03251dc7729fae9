import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, posix, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

// The table of ARCHITECTURE.md is the rule: a room may import what its row names, and whatever those may import.
const root = join(import.meta.dirname, '..');
const source = join(root, 'src');

/** Of these, each may import those before it. */
const EVERYWHERE = ['errors.ts', 'progress.ts', 'version.ts', 'text', 'options'];
const ARROWS: Record<string, readonly string[]> = {};
for (const line of readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').split('\n')) {
  const cells = line.split('|').map((cell) => cell.trim());
  if (cells.length !== 5 || !cells[1].startsWith('`')) continue;
  const rooms = [...cells[1].matchAll(/`([^`]+?)\/?`/g)].map((m) => m[1]);
  const targets = /^(nothing|everything)/.test(cells[3]) ? [] : cells[3].split(', ');
  for (const name of rooms) {
    const place = EVERYWHERE.indexOf(name);
    ARROWS[name] = place < 0 ? [...EVERYWHERE, ...targets] : EVERYWHERE.slice(0, place);
  }
}
const rooms = Object.keys(ARROWS).filter((name) => !name.endsWith('.ts') && name !== 'cli');
ARROWS['browser.ts'] = [...EVERYWHERE, ...rooms];
ARROWS['index.ts'] = [...EVERYWHERE, ...rooms, 'browser.ts'];
ARROWS['report.ts'] = ARROWS['browser.ts'];
ARROWS['report-node.ts'] = [...EVERYWHERE, ...rooms, 'report.ts'];
ARROWS.cli = [...EVERYWHERE, ...rooms];

/** Files outside store/ and cli/ that may use Node: the readers of files, and the loaders of workers and kernels. */
const NODE_FILES = [
  /^files\//,
  /^parquet\/(pages|rows|unpack|write)\.ts$/,
  /^ingest\/(read|source|sources|recipes\/(builtin|netflix|recipes)|intake\/rejects|formats\/(duckdb|parquet-threads))\.ts$/,
  /^parallel\/(spawn|worker)\.ts$/,
  /^wasm\/load\.ts$/,
  /^store\//,
  /^events\//,
  /^refit\//,
  /^load\//,
  /^shard\//,
  /^comm\/mpi\.ts$/,
  /^cli\//,
  /^serve\//,
  /^engine\/webgpu\/device\.ts$/,
];

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
  /** Only when asked for: an import() or the module of a worker. */
  readonly dynamic: boolean;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return path.endsWith(join('wasm', 'kernels')) ? [] : filesBelow(path);
    return /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

const files = filesBelow(source).map((path) => relative(source, path).replaceAll('\\', '/'));
const text = new Map(files.map((file) => [file, readFileSync(join(source, file), 'utf8')]));

/** Static, dynamic and URL imports, resolved to a path in src/ or left as the name of a package. */
function importsOf(file: string): Import[] {
  const code = text.get(file)!.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const found: Import[] = [];
  const add = (specifier: string, typeOnly: boolean, dynamic: boolean) => {
    const path = posix.normalize(posix.join(posix.dirname(file), specifier)).replace(/\.js$/, '.ts');
    const resolved = text.has(path) ? path : path.replace(/\.ts$/, '.tsx');
    const to = specifier.startsWith('.') ? (text.has(resolved) ? resolved : path) : specifier;
    found.push({ from: file, to, typeOnly, dynamic });
  };
  for (const m of code.matchAll(
    /^(?:import|export)\s+(type\s+)?(?:[^'"();]*?\sfrom\s+)?['"]([^'"]+)['"]/gm,
  )) {
    add(m[2], m[1] !== undefined, false);
  }
  for (const m of code.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)) add(m[1], false, true);
  for (const m of code.matchAll(/\bgetBuiltinModule\(\s*['"]([^'"]+)['"]\s*\)/g)) add(m[1], false, true);
  for (const m of code.matchAll(/new URL\(\s*['"](\.[^'"]+)['"],\s*import\.meta\.url/g))
    add(m[1], false, true);
  return found;
}

const imports = files.flatMap(importsOf);
const room = (file: string) => file.split('/')[0];

function reachable(from: string): Set<string> {
  const seen = new Set<string>([from]);
  const queue = [from];
  while (queue.length > 0) {
    for (const next of ARROWS[queue.pop()!] ?? []) {
      if (!seen.has(next)) queue.push(next);
      seen.add(next);
    }
  }
  return seen;
}

describe('architecture', () => {
  it('sees the imports: static, typed, dynamic and of workers', () => {
    expect(imports.length).toBeGreaterThan(100);
    expect(imports).toContainEqual({
      from: 'sparsity/curves.ts',
      to: 'graph/graph.ts',
      typeOnly: true,
      dynamic: false,
    });
    expect(imports).toContainEqual({
      from: 'parallel/spawn.ts',
      to: 'node:worker_threads',
      typeOnly: false,
      dynamic: true,
    });
    expect(imports.some(({ to }) => to === '@observablehq/plot')).toBe(true);
  });

  it('has a row for every room, and no arrow that leads back', () => {
    expect(rooms.length).toBeGreaterThan(10);
    for (const file of files) expect(Object.keys(ARROWS), file).toContain(room(file));
    for (const [from, targets] of Object.entries(ARROWS)) {
      for (const to of targets) expect(reachable(to).has(from), `${from} → ${to} → … → ${from}`).toBe(false);
    }
  });

  it('imports follow the arrows', () => {
    const wrong = imports
      .filter(({ to }) => text.has(to))
      .filter(({ from, to }) => !reachable(room(from)).has(room(to)))
      .map(({ from, to }) => `${from} → ${to}`);
    expect(wrong).toEqual([]);
  });

  it('every relative import leads to a file of src/', () => {
    const isKernel = (to: string) => to.startsWith('wasm/kernels/') && existsSync(join(source, to));
    const known = (to: string) =>
      text.has(to) || isKernel(to) || /\.(wasm|br|css)$/.test(to) || to.includes('package.json');
    const lost = imports.filter(
      ({ from, to }) => to.includes('/') && room(to) in ARROWS && !known(to) && from,
    );
    expect(lost.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  it('only file readers, loaders, store and cli import Node', () => {
    const isNode = (to: string) => to.startsWith('node:') || builtinModules.includes(to);
    const wrong = imports
      .filter(({ to, typeOnly }) => isNode(to) && !typeOnly)
      .filter(({ from }) => !NODE_FILES.some((allowed) => allowed.test(from)))
      .map(({ from, to }) => `${from} → ${to}`);
    expect(wrong).toEqual([]);
  });

  it('a page can import browser.ts, and ours its session: no Node module and no DuckDB on the way, but where it was asked for', () => {
    const reached = new Set(['browser.ts', 'page/main.tsx', 'page/session/session.ts']);
    const wrong: string[] = [];
    for (const file of reached) {
      for (const { to, typeOnly, dynamic } of importsOf(file)) {
        if (typeOnly || dynamic) continue;
        if (text.has(to)) reached.add(to);
        else if (/^node:|^@duckdb|^commander|^webgpu/.test(to) || builtinModules.includes(to)) {
          wrong.push(`${file} → ${to}`);
        }
      }
    }
    expect(reached.size).toBeGreaterThan(30);
    expect(wrong).toEqual([]);
  });

  it('the library is silent: console and stdout belong to cli/', () => {
    const loud = files.filter(
      (file) =>
        room(file) !== 'cli' &&
        /\bconsole\.|process\.std(out|err)/.test(text.get(file)!.replace(/\/\*[\s\S]*?\*\//g, '')),
    );
    expect(loud).toEqual([]);
  });

  it('tasks are exported, since a pool in the caller’s thread takes them from the module', () => {
    const hidden = files.flatMap((file) => {
      const [, names = ''] = /serveTasks\('[\w-]+', \{([^}]*)\}\)/.exec(text.get(file)!) ?? [];
      return [...names.matchAll(/\w+/g)].filter(([name]) =>
        new RegExp(`^(async )?(function|const) ${name}\\b`, 'm').test(text.get(file)!),
      );
    });
    expect(hidden).toEqual([]);
  });

  it('folders are subsystems: none has more than 25 files', () => {
    const count = new Map<string, number>();
    for (const file of files) count.set(posix.dirname(file), (count.get(posix.dirname(file)) ?? 0) + 1);
    expect([...count].filter(([, number]) => number > 25)).toEqual([]);
  });

  it('files are topics: none above 400 lines, none called utils, helpers, common or base', () => {
    const long = files.filter((file) => text.get(file)!.split('\n').length > 401);
    expect(long).toEqual([]);
    expect(files.filter((file) => /(^|\/)(utils?|helpers?|common|base)\b/.test(file))).toEqual([]);
    expect(dirname(source)).toBe(root);
  });
});
