// Files appear whole or not at all: they are written under a temporary name, synced to the disk, then renamed. A write
// that fails removes its file. A process that is killed can leave a file or folder that ends in .part, but never half a
// result under the final name. If two processes write one path, the last one wins, because each has its own temporary name.

import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { withFile } from './plain-file.js';
import { createNew, temporaryPathFor } from './temporary-name.js';
import { removeOnExit, writeError } from './write-error.js';

/** Lets `write` fill a temporary file, and renames it to `path` once that has succeeded. */
export async function writeAtomic(path: string, write: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = temporaryPathFor(path);
  let done: (() => void) | undefined;
  try {
    createNew(temporary);
    done = removeOnExit(temporary);
    await write(temporary);
    await syncFile(temporary);
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (cause) {
    if (done) await remove(temporary);
    throw writeError(path, cause);
  } finally {
    done?.();
  }
}

/** Removes what a failed write has left. Errors are ignored: the error of the write itself is reported. */
export async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

export async function writePieces(path: string, pieces: Iterable<string | Uint8Array>): Promise<void> {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW = 0 } = constants;
  await withFile(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, async (file) => {
    for (const piece of pieces) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
      for (let at = 0; at < bytes.length; ) {
        const { bytesWritten } = await file.write(bytes, at, Math.min(bytes.length - at, 1 << 30));
        at += bytesWritten;
      }
    }
  });
}

/** Waits until the file is on the disk. Otherwise a power failure after the rename could leave an empty file. */
export async function syncFile(path: string): Promise<void> {
  await withFile(path, 'r+', (file) => file.datasync());
}

/** Waits until a rename is on the disk, if the system can open folders; the result is whole either way. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}
