// Temporary names next to an output, which is written under them and then renamed. They are random for two reasons:
// process numbers repeat when containers share a disk, and nobody can place a link at a name they cannot guess. A file is
// created only if the name is free.

import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync } from 'node:fs';

/** Creates a new file, never through a link; the system refuses if the name is taken. */
const CREATE = constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** Enough that two writers never choose the same name. */
const TOKEN_BYTES = 8;

export function temporaryPathFor(path: string): string {
  return `${path}.${randomToken()}.part`;
}

export function randomToken(): string {
  return randomBytes(TOKEN_BYTES).toString('hex');
}

/** Creates the file, which must not exist, and returns its descriptor; `readable` allows reading it too. */
export function openNew(path: string, readable = false): number {
  return openSync(path, CREATE | (readable ? constants.O_RDWR : constants.O_WRONLY), 0o666);
}

export function createNew(path: string): void {
  closeSync(openNew(path));
}
