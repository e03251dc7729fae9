// Files appear whole or not at all: written beside, put on the disk, then renamed. Whatever fails on the way is removed
// again. A process that is killed can leave a file or folder ending in .part, never half a result under its own name. Of
// two that write one path at once the last wins, whole: each writes under a name of its own.

import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createNew, temporaryPathFor } from './temporary-name.js';
import { removeOnExit, writeError } from './write-error.js';

/** Lets `write` fill a file beside `path`, and renames it to `path` when it has succeeded. */
export async function writeAtomic(path: string, write: (beside: string) => Promise<void>): Promise<void> {
  const beside = temporaryPathFor(path);
  let done: (() => void) | undefined;
  try {
    createNew(beside);
    done = removeOnExit(beside);
    await write(beside);
    await settle(beside);
    await rename(beside, path);
    await settleFolder(dirname(path));
  } catch (cause) {
    if (done) await remove(beside);
    throw writeError(path, cause);
  } finally {
    done?.();
  }
}

/** Removes what a failed write has left, if anything; whatever is wrong with that, the write's own error is the one to tell. */
export async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

/** Writes the pieces one after the other. */
export async function writePieces(path: string, pieces: Iterable<string | Uint8Array>): Promise<void> {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW = 0 } = constants;
  const file = await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o666);
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
export async function settle(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Waits until a rename is on the disk, where the system lets a folder be opened; the result is whole either way. */
export async function settleFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}
