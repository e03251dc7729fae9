// Temporary names next to an output, under which it is written before it is renamed. They are random, because process
// numbers repeat when containers share a disk, and because nobody can put a link where the name cannot be guessed. A file
// is created only if nothing has its name.

import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync } from 'node:fs';

/** Creates a new file, never through a link; the system refuses if the name is taken. */
const CREATE = constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** Enough that two writers never meet. */
const TOKEN_BYTES = 8;

/** A temporary name in the folder of `path`. */
export function temporaryPathFor(path: string): string {
  return `${path}.${randomToken()}.part`;
}

export function randomToken(): string {
  return randomBytes(TOKEN_BYTES).toString('hex');
}

/** Creates the file, which must not exist, and returns its descriptor; `readable`: what is written can be read again. */
export function openNew(path: string, readable = false): number {
  return openSync(path, CREATE | (readable ? constants.O_RDWR : constants.O_WRONLY), 0o666);
}

/** Creates the file, which must not exist, empty. */
export function createNew(path: string): void {
  closeSync(openNew(path));
}
