// What does not fit in memory waits on disk, in one file without a name: it is removed from its folder as soon as it is
// open, so nothing is left however the process ends.

import { type FileHandle, open, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { InputError } from '../errors.js';
import { temporaryPathFor } from '../files/temporary-name.js';
import { removeOnExit, writeError } from '../files/write-error.js';
import { sizeWords } from './memory-size.js';

const MOST_AT_ONCE = 1 << 28;

export interface PageFile {
  /** A new place for so many bytes. */
  place(bytes: number): number;
  write(at: number, bytes: Uint8Array): Promise<void>;
  /** Fills all of `bytes`. */
  read(at: number, bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/** A file for `bytes` beside `path`; where the disk has not so many left, it is refused. */
export async function openPages(path: string, bytes: number): Promise<PageFile> {
  const own = temporaryPathFor(path);
  let file: FileHandle;
  try {
    const { bavail, bsize } = await statfs(dirname(path));
    if (bavail * bsize < bytes) {
      throw new InputError(
        `${dirname(path)}: what does not fit in memory takes ${sizeWords(bytes)} of disk, and ${sizeWords(bavail * bsize)} are free; free some, write the model elsewhere, or give more --memory`,
      );
    }
    file = await open(own, 'wx+', 0o600);
  } catch (cause) {
    throw cause instanceof InputError ? cause : writeError(path, cause);
  }
  const left = removeOnExit(own);
  await rm(own).then(left, () => undefined);
  let end = 0;
  return {
    place(size) {
      const at = end;
      end += size;
      return at;
    },
    async write(at, given) {
      try {
        for (let done = 0; done < given.length; ) {
          const length = Math.min(given.length - done, MOST_AT_ONCE);
          done += (await file.write(given, done, length, at + done)).bytesWritten;
        }
      } catch (cause) {
        throw writeError(path, cause);
      }
    },
    async read(at, into) {
      for (let done = 0; done < into.length; ) {
        const length = Math.min(into.length - done, MOST_AT_ONCE);
        const { bytesRead } = await file.read(into, done, length, at + done);
        if (bytesRead === 0) throw new InputError(`${own}: what waited on disk was cut short; begin anew`);
        done += bytesRead;
      }
    },
    async close() {
      await file.close();
      await rm(own, { force: true }).catch(() => undefined);
      left();
    },
  };
}
