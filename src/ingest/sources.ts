// The sources that DATA names: one source, or files and patterns that are read as one table.

import { resolve } from 'node:path';
import { InputError } from '../errors.js';
import { filesOf, isPattern, MOST_FILES } from '../files/glob.js';
import { namedFormat } from './formats.js';

/** The files of paths and patterns in the given order; those of a pattern are sorted by name. */
export async function expandSources(sources: readonly string[]): Promise<string[]> {
  if (sources.length === 0) throw new InputError('there is nothing to read: give at least one file');
  const files: string[] = [];
  for (const source of sources) {
    if (sources.length > 1 && namedFormat(source)) {
      throw new InputError(
        `${source}: this is not a file, so it cannot be combined; only files are read as one`,
      );
    }
    for (const file of isRecipe(source) ? [source] : await filesOf(source)) files.push(file);
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

function isRecipe(source: string): boolean {
  return source.startsWith('@') || namedFormat(source) !== undefined;
}

/** Its name in messages and reports: the source, or the first of several and their number. */
export function sourceTitle(sources: readonly string[]): string {
  const [first = '', ...more] = sources;
  if (more.length === 0) return isPattern(first) || first !== '-' ? first : 'standard input';
  return more.length === 1 ? `${first} and ${more[0]}` : `${first} and ${more.length} others`;
}
