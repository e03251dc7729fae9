// Files appear whole or not at all: written beside, then renamed. Whatever fails on the way is removed again.

import { mkdir, open, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeError } from '../ingest/source.js';

/** Lets `write` fill a file beside `path`, and renames it to `path` when it has succeeded. */
export async function writeAtomic(path: string, write: (beside: string) => Promise<void>): Promise<void> {
  await writeTogether([{ path, write }]);
}

/** The same for a text or bytes at hand. */
export async function writeFileAtomic(path: string, data: string | Uint8Array): Promise<void> {
  await writeAtomic(path, (beside) => writeSynced(beside, [data]));
}

/** Writes several files in a folder, which is made if need be, or one level below it: all appear, or none. */
export async function writeFolder(
  folder: string,
  files: Readonly<Record<string, (beside: string) => Promise<void>>>,
): Promise<void> {
  let made: string | undefined;
  const inner: string[] = [];
  try {
    made = await mkdir(folder, { recursive: true });
    for (const name of Object.keys(files)) {
      const parent = dirname(join(folder, name));
      if (parent !== folder && (await mkdir(parent, { recursive: true }))) inner.push(parent);
    }
    await writeTogether(Object.entries(files).map(([name, write]) => ({ path: join(folder, name), write })));
  } catch (cause) {
    // Only folders that are empty and were made here go away again.
    for (const parent of inner) await rmdir(parent).catch(() => undefined);
    for (let at = folder; made !== undefined && at.length >= made.length; at = dirname(at)) {
      await rmdir(at).catch(() => undefined);
    }
    throw writeError(folder, cause);
  }
}

async function writeTogether(
  files: readonly { path: string; write: (beside: string) => Promise<void> }[],
): Promise<void> {
  const beside = (path: string) => `${path}.${process.pid}.part`;
  try {
    for (const { path, write } of files) await guard(path, () => write(beside(path)));
    for (const { path } of files) await guard(path, () => rename(beside(path), path));
  } catch (cause) {
    for (const { path } of files) await rm(beside(path), { force: true });
    throw cause;
  }
}

/** Writes the pieces one after the other and waits until they are on the disk. */
export async function writeSynced(path: string, pieces: Iterable<string | Uint8Array>): Promise<void> {
  const file = await open(path, 'w');
  try {
    for (const piece of pieces) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
      for (let at = 0; at < bytes.length; ) {
        const { bytesWritten } = await file.write(bytes, at, Math.min(bytes.length - at, 1 << 30));
        at += bytesWritten;
      }
    }
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function guard(path: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    throw writeError(path, cause);
  }
}
