// What happens when an output cannot be written: the system's error as a sentence, and what is half-written removed on exit.

import { rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { InputError } from '../errors.js';
import { option, optionError } from '../options/error.js';

const unfinished = new Set<string>();

/** Removes the file or folder should the process exit before the returned function is called. */
export function removeOnExit(path: string): () => void {
  if (unfinished.size === 0) process.on('exit', removeUnfinished);
  unfinished.add(path);
  return () => {
    unfinished.delete(path);
    if (unfinished.size === 0) process.off('exit', removeUnfinished);
  };
}

function removeUnfinished(): void {
  for (const path of unfinished) rmSync(path, { recursive: true, force: true });
}

/** The part of a path that is there and no folder. */
function endOfPath(path: string): string {
  for (let at = path; dirname(at) !== at; at = dirname(at)) {
    try {
      if (!statSync(at).isDirectory()) return at;
    } catch {
      // Nothing is below it, or one may not look: on the way up it will be met.
    }
  }
  return 'a part of the path';
}

/** How a want of memory is worded. */
const OUT_OF_MEMORY = /out of memory|failed to allocate|allocation fail|bad allocation/i;

/** A system error on writing as an InputError that says what to do; anything else unchanged. */
export function writeError(path: string, cause: unknown): unknown {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (cause instanceof InputError) return cause;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new InputError(
      `${path}: the disk is full; nothing was written. Free some space or write to another disk`,
    );
  }
  if (code === 'EFBIG') {
    return new InputError(
      `${path}: the file would be larger than the file system or a limit (ulimit -f) allows; nothing was written. Write to another disk`,
    );
  }
  if (OUT_OF_MEMORY.test(message ?? '')) {
    return optionError`${path}: not enough memory to write it (${message!.split('\n')[0]}); close other programs, lower ${option('threads')}, or sample the data first`;
  }
  if (code === 'ENOTDIR') {
    return new InputError(
      `${path}: ${endOfPath(path)} is a file where a folder is needed; choose another path, or move that file away`,
    );
  }
  if (typeof code !== 'string') return cause;
  if (code === 'ENOENT') {
    return new InputError(`${path}: its folder does not exist; create the folder or choose another path`);
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new InputError(`${path}: no permission to write there; choose another path`);
  }
  if (code === 'EISDIR') return new InputError(`${path}: a directory is in the way; choose another path`);
  return new InputError(`${path}: it cannot be written (${message}); choose another path`);
}
