// Names beside an output, where it is written before it is renamed. They are random: a process number is not unique where
// containers share a disk, and one call may run beside another in one process. Whoever can guess no name can put no link
// there, and a file is only ever created where nothing is.

import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync } from 'node:fs';

/** Created here and now, never through a link; the system says so where something is there already. */
const CREATE = constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** Enough that two writers never meet. */
const TOKEN_BYTES = 8;

/** A new name beside `path`, for as long as it is written. */
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
