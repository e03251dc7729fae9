// Files appear whole or not at all: written beside, put on the disk, then renamed. Whatever fails on the way is removed
// again. A process that is killed can leave a file or folder ending in .part, never half a result under its own name.

import { mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { InputError } from '../errors.js';
import { removeOnExit, writeError } from '../ingest/source.js';

/** Lets `write` fill a file beside `path`, and renames it to `path` when it has succeeded. */
export async function writeAtomic(path: string, write: (beside: string) => Promise<void>): Promise<void> {
  const beside = `${path}.${process.pid}.part`;
  const done = removeOnExit(beside);
  try {
    await write(beside);
    await settle(beside);
    await rename(beside, path);
  } catch (cause) {
    await remove(beside);
    throw writeError(path, cause);
  } finally {
    done();
  }
}

/** Removes what a failed write has left, if anything; whatever is wrong with that, the write's own error is the one to tell. */
async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

/** Where the files of a folder wait that were all written but are not all in their places. */
const COMMITTED = '.graphex-written';

/**
 * Writes several files in a folder, which is made if need be, or below it: all appear, or none. A new folder is written
 * beside and renamed. In a folder that exists one rename decides: from then on the new files count, and whoever comes
 * first, this process or the next that calls `finishFolder`, moves them to their places.
 */
export async function writeFolder(
  folder: string,
  files: Readonly<Record<string, (beside: string) => Promise<void>>>,
): Promise<void> {
  const home = resolve(folder);
  let made: string | undefined;
  let stage: string | undefined;
  let done: (() => void) | undefined;
  try {
    const exists = await isFolder(home);
    if (exists) await finishFolder(home);
    else made = await makeFolders(dirname(home));
    stage = exists ? join(home, `.${process.pid}.part`) : `${home}.${process.pid}.part`;
    done = removeOnExit(stage);
    await mkdir(stage);
    for (const [name, write] of Object.entries(files)) {
      const path = join(stage, name);
      try {
        await makeFolders(dirname(path));
        await write(path);
        await settle(path);
      } catch (cause) {
        throw writeError(join(folder, name), cause);
      }
    }
    await rename(stage, exists ? join(home, COMMITTED) : home);
    if (exists) await finishFolder(home);
  } catch (cause) {
    if (stage !== undefined) await remove(stage);
    // Folders on the way that were made here and are empty go away again.
    await removeFolders(dirname(home), made);
    throw writeError(folder, cause);
  } finally {
    done?.();
  }
}

/** Moves to their places the files that a killed `writeFolder` had all written. Readers of a folder call it first. */
export async function finishFolder(folder: string): Promise<void> {
  const committed = join(folder, COMMITTED);
  const entries = await readdir(committed, { recursive: true, withFileTypes: true }).catch(absent);
  if (entries === undefined) return;
  const folders = [committed];
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) {
      folders.push(path);
      continue;
    }
    const place = join(folder, relative(committed, path));
    await makeFolders(dirname(place));
    // Where another process is at the same, it may have been faster.
    await rename(path, place).catch(absent);
  }
  for (const path of folders.reverse()) await rmdir(path).catch(() => undefined);
}

/** Writes the pieces one after the other. */
export async function writePieces(path: string, pieces: Iterable<string | Uint8Array>): Promise<void> {
  const file = await open(path, 'w');
  try {
    for (const piece of pieces) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
      for (let at = 0; at < bytes.length; ) {
        const { bytesWritten } = await file.write(bytes, at, Math.min(bytes.length - at, 1 << 30));
        at += bytesWritten;
      }
    }
  } finally {
    await file.close();
  }
}

/** Waits until the file is on the disk: renamed before that, a power failure could leave an empty one under its name. */
async function settle(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}

/**
 * Makes a folder and those on the way to it, and returns the first that was missing. One by one: Node's own recursion
 * never ends where a folder is refused as if its parent were not there, as in /proc.
 */
async function makeFolders(folder: string): Promise<string | undefined> {
  if (await isFolder(folder)) return undefined;
  const parent = dirname(folder);
  const made = parent === folder ? undefined : await makeFolders(parent);
  try {
    await mkdir(folder);
  } catch (cause) {
    // Another process may have been faster.
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST' && (await isFolder(folder))) return made;
    await removeFolders(parent, made);
    throw cause;
  }
  return made ?? folder;
}

/** Removes the folders from `made` down to `last` that are empty; none where none was made. */
async function removeFolders(last: string, made: string | undefined): Promise<void> {
  for (let at = last; made !== undefined && at.length >= made.length; at = dirname(at)) {
    await rmdir(at).catch(() => undefined);
  }
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(absent);
  if (found && !found.isDirectory()) {
    throw new InputError(`${path}: a file is in the way of the folder; choose another name or remove it`);
  }
  return found !== undefined;
}

function absent(cause: NodeJS.ErrnoException): undefined {
  if (cause.code !== 'ENOENT') throw cause;
}
