// The sources that DATA names: one source, or files and patterns that are read as one table.

import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { InputError } from '../errors.js';
import { filesOf, MOST_FILES } from '../files/glob.js';
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

/** The files that are read by a source: those that a query names, or the source itself. */
export async function filesRead(source: string): Promise<string[]> {
  if (!source.startsWith(SQL)) return [source];
  const { namedFiles } = await import('./formats/duckdb.js');
  const { files, matched } = await namedFiles(source.slice(SQL.length));
  return [...files, ...matched];
}

/** Throws if a file that will be written is one of those that are read. */
export async function refuseOwnInput(output: string, inputs: readonly string[]): Promise<void> {
  const there = await stat(output).catch(() => undefined);
  if (!there?.isFile() || there.ino === 0) return;
  for (const input of inputs) {
    for (const file of await filesRead(input)) {
      const read = await stat(file).catch(() => undefined);
      if (read?.ino === there.ino && read.dev === there.dev) {
        throw new InputError(`${output}: the output is the input file; choose another path`);
      }
    }
  }
}

/** Its name in messages and reports: the source, or the first of several and their number. */
export function sourceTitle(sources: readonly string[]): string {
  const [first = '', ...more] = sources;
  if (more.length === 0) return first === '-' ? 'standard input' : first;
  return more.length === 1 ? `${first} and ${more[0]}` : `${first} and ${more.length} others`;
}
