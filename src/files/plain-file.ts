// Small files that are read whole. A pipe without a writer, and files of the system that wait for events, would block a
// thread for ever: they are opened without blocking, and refused.

import { constants, type Stats, statSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { InputError } from '../errors.js';
import { readError } from './read-error.js';

/** Flags to open a file for reading without waiting for a writer. Not every system has the second one. */
export const READ_ONLY = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

export async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

/** The entry at a path; undefined if there is none, and also without permission, which the reader of the path reports. */
export function entryAt(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Opens a file, lets `use` work with it, and closes it. */
export async function withFile<T>(
  path: string,
  flags: string | number,
  use: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await open(path, flags);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

/** The text of a plain file of at most `mostBytes`. `refuse` makes the errors for a file that is not one or is larger. */
export async function readPlainText(
  path: string,
  mostBytes: number,
  refuse: (problem: 'kind' | 'size', bytes: number) => InputError,
): Promise<string> {
  try {
    return await withFile(path, READ_ONLY, async (file) => {
      const found = await file.stat();
      if (!found.isFile()) throw refuse('kind', 0);
      if (found.size > mostBytes) throw refuse('size', found.size);
      return file.readFile('utf8');
    });
  } catch (cause) {
    // A socket cannot be opened, and a file that waits for events cannot be read.
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENXIO' || code === 'EAGAIN') throw refuse('kind', 0);
    throw readError(path, cause);
  }
}
