// Small files that are read whole. A pipe without a writer, and files of the system that wait for events, would block a
// thread for ever: they are opened without blocking, and refused.

import { constants, type Stats, statSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
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

/** The text of a plain file of at most `mostBytes`. `refuse` makes the errors for a file that is not one or is larger. */
export async function readPlainText(
  path: string,
  mostBytes: number,
  refuse: (problem: 'kind' | 'size', bytes: number) => InputError,
): Promise<string> {
  let file: Awaited<ReturnType<typeof open>> | undefined;
  try {
    file = await open(path, READ_ONLY);
    const found = await file.stat();
    if (!found.isFile()) throw refuse('kind', 0);
    if (found.size > mostBytes) throw refuse('size', found.size);
    return await file.readFile('utf8');
  } catch (cause) {
    // A socket cannot be opened, and a file that waits for events cannot be read.
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENXIO' || code === 'EAGAIN') throw refuse('kind', 0);
    throw readError(path, cause);
  } finally {
    await file?.close();
  }
}
