// The sources that DATA names: one source, or files and patterns that are read as one table.

import { fstatSync, realpathSync, type Stats } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { InputError } from '../errors.js';
import { filesOf, isPattern, MOST_FILES } from '../files/glob.js';
import { entryAt } from '../files/plain-file.js';
import { namedFormat } from './formats.js';

const SQL = 'sql:';

/** The files of paths and patterns in the given order; those of a pattern are sorted by name. */
export async function expandSources(sources: readonly string[]): Promise<string[]> {
  if (sources.length === 0) throw new InputError('there is nothing to read: give at least one file');
  const files: string[] = [];
  for (const source of sources) {
    const named = namedFormat(source) !== undefined;
    if (named && sources.length > 1) {
      throw new InputError(
        `${source}: this is not a file, so it cannot be combined; only files are read as one`,
      );
    }
    for (const file of named ? [source] : await filesOf(source)) files.push(file);
    if (files.length > MOST_FILES) {
      throw new InputError(`more than ${MOST_FILES} files to read as one; join them, or read them in parts`);
    }
  }
  const seen = new Set<string>();
  for (const file of files) {
    const place = file === '-' ? file : resolve(file);
    if (seen.has(place)) {
      throw new InputError(`${file}: it is given twice, so its rows would count twice; give each file once`);
    }
    seen.add(place);
  }
  return files;
}

/** Throws if a file that will be written is one of those that are read. */
export async function refuseOwnInput(outputs: readonly string[], inputs: readonly string[]): Promise<void> {
  const read = (await Promise.all(inputs.map(filesRead))).flat();
  for (const path of outputs) {
    const there = entryAt(path);
    if (!there || !read.some((input) => isRead(input, path, there))) continue;
    throw new InputError(`${path}: the output is the input file; choose another path`);
  }
}

/** The files that are read by a source: those that a query names or that match a pattern, or the source itself. */
async function filesRead(source: string): Promise<string[]> {
  if (source.startsWith(SQL)) {
    const { namedFiles } = await import('./formats/duckdb.js');
    const { files, matched } = await namedFiles(source.slice(SQL.length));
    return [...files, ...matched];
  }
  const found = isPattern(source) ? await filesOf(source).catch(() => []) : [];
  return found.length > 0 ? found : [source];
}

/** Whether reading `input` reads the file at `path`, which is `there`. */
function isRead(input: string, path: string, there: Stats): boolean {
  if (input === '-') return isStandardInput(there);
  const plain = entryAt(input);
  const recipe = plain ? undefined : /^[a-z]+:(.*)$/s.exec(input)?.[1];
  const place = recipe ?? input;
  const source = plain ?? entryAt(place);
  if (!source?.isDirectory()) return source !== undefined && isSame(there, source);
  // Of an input folder, only the texts of a recipe or the parts of a split are read; other files may be there.
  const real = realpathSync(path);
  const isPart = recipe === undefined ? /(\.parquet|split\.json)$/ : /\.txt$/;
  return real.startsWith(join(realpathSync(place), sep)) && isPart.test(real);
}

function isStandardInput(file: Stats): boolean {
  try {
    return isSame(file, fstatSync(0));
  } catch {
    return false; // it is closed
  }
}

/** Compares by the file system's identity, so that links and letter case make no difference. */
function isSame(a: Stats, b: Stats): boolean {
  return a.isFile() && a.ino !== 0 && a.ino === b.ino && a.dev === b.dev;
}

/** Its name in messages and reports: the source, or the first of several and their number. */
export function sourceTitle(sources: readonly string[]): string {
  const [first = '', ...more] = sources;
  if (more.length === 0) return first === '-' ? 'standard input' : first;
  return more.length === 1 ? `${first} and ${more[0]}` : `${first} and ${more.length} others`;
}
