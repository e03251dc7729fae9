// File patterns with *, ?, [a-z], and ** for any number of folders: for shells without them, and for quoted patterns.

import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError } from '../errors.js';
import { matchesPattern } from '../text/wildcards.js';
import { readError } from './read-error.js';

/** The most files that are read as one. */
export const MOST_FILES = 100_000;
/** The most folders and files that a search visits. */
const MOST_LOOKED_AT = 10_000_000;
/** The deepest level of folders that ** visits. */
const DEEPEST = 64;

export function isPattern(path: string): boolean {
  return /[*?[]/.test(path);
}

/**
 * The files that match a pattern, sorted by name, or the path itself if such a file exists. Only patterns that begin with
 * a dot match names that do.
 */
export async function filesOf(pattern: string): Promise<string[]> {
  if (!isPattern(pattern) || (await isThere(pattern))) return [pattern];
  const parts = pattern.split('/').filter((part, at) => part !== '' || at === 0);
  const search: Search = { found: [], lookedAt: 0, pattern };
  const [root, rest] = parts[0] === '' ? ['/', parts.slice(1)] : ['', parts];
  await walk(search, root, rest, 0);
  if (search.found.length === 0) {
    throw new InputError(`${pattern}: no file has such a name; check the folder and the pattern`);
  }
  return [...new Set(search.found)].sort((a, b) => (a < b ? -1 : 1));
}

interface Search {
  readonly found: string[];
  readonly pattern: string;
  lookedAt: number;
}

async function walk(search: Search, folder: string, parts: readonly string[], depth: number): Promise<void> {
  const [part, ...rest] = parts;
  if (!isPattern(part) && rest.length > 0) return walk(search, join(folder, part), rest, depth);
  if (!isPattern(part)) {
    if (await isThere(join(folder, part))) take(search, join(folder, part));
    return;
  }
  const entries = await entriesOf(folder);
  search.lookedAt += entries.length;
  if (search.lookedAt > MOST_LOOKED_AT) {
    throw new InputError(
      `${search.pattern}: more than ${MOST_LOOKED_AT} files and folders to look at; name a folder nearer to the files`,
    );
  }
  if (part === '**') {
    await walk(search, folder, rest.length > 0 ? rest : ['*'], depth);
    if (depth >= DEEPEST) return;
    for (const entry of entries) {
      // Do not follow links: they may form a cycle.
      if (entry.isDirectory() && !entry.name.startsWith('.')) {
        await walk(search, join(folder, entry.name), parts, depth + 1);
      }
    }
    return;
  }
  for (const entry of entries) {
    if (!matches(entry.name, part)) continue;
    const path = join(folder, entry.name);
    if (rest.length > 0) {
      if (entry.isDirectory() || entry.isSymbolicLink()) await walk(search, path, rest, depth);
    } else if (!entry.isDirectory()) take(search, path);
  }
}

function take(search: Search, path: string): void {
  search.found.push(path);
  if (search.found.length > MOST_FILES) {
    throw new InputError(
      `${search.pattern}: more than ${MOST_FILES} files have such names; join them, or read them in parts`,
    );
  }
}

/** The entries of a folder; none if it does not exist, because another folder may match. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder || '.', { withFileTypes: true });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw readError(folder || '.', cause);
  }
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

export function matches(name: string, pattern: string): boolean {
  if (name.startsWith('.') && !pattern.startsWith('.')) return false;
  return matchesPattern(name, pattern, '*', (character, p) => oneMatch(character, pattern, p));
}

/** How many characters of the pattern at `p` match this character; 0 if they do not. */
function oneMatch(character: string, pattern: string, p: number): number {
  if (pattern[p] === '?') return 1;
  const end = pattern[p] === '[' ? pattern.indexOf(']', p + 2) : -1;
  if (end < 0) return pattern[p] === character ? 1 : 0;
  const refused = pattern[p + 1] === '!' || pattern[p + 1] === '^';
  let inside = false;
  for (let at = p + (refused ? 2 : 1); at < end; at++) {
    if (pattern[at + 1] === '-' && at + 2 < end) {
      inside ||= character >= pattern[at] && character <= pattern[at + 2];
      at += 2;
    } else inside ||= pattern[at] === character;
  }
  return inside === refused ? 0 : end - p + 1;
}
