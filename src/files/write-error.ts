// Errors on writing an output: turns the system's error into a sentence, and removes unfinished output on exit.

import { rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { InputError } from '../errors.js';
import { option, optionError } from '../options/error.js';

const unfinished = new Set<string>();

/** Removes the file or folder if the process exits before the returned function is called. */
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

/** The component of a path that exists but is not a folder. */
function endOfPath(path: string): string {
  for (let at = path; dirname(at) !== at; at = dirname(at)) {
    try {
      if (!statSync(at).isDirectory()) return at;
    } catch {
      // It does not exist or cannot be read: try its parent.
    }
  }
  return 'a part of the path';
}

/** Messages of a lack of memory. */
const OUT_OF_MEMORY = /out of memory|failed to allocate|allocation fail|bad allocation/i;

/** Turns a system error on writing into an InputError that says what to do; leaves other errors unchanged. */
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
