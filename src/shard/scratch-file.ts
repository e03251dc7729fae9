// A scratch file for what does not fit in memory. It is removed from its folder as soon as it is open, so that nothing is
// left behind however the process ends.

import { type FileHandle, open, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { InputError } from '../errors.js';
import { temporaryPathFor } from '../files/temporary-name.js';
import { removeOnExit, writeError } from '../files/write-error.js';
import { option, optionError } from '../options/error.js';
import { memoryText } from './memory-plan.js';

const MOST_BYTES_PER_CALL = 1 << 28;

export type ScratchFile = Awaited<ReturnType<typeof openScratchFile>>;

/** Opens a file for `bytes` bytes next to `path`; throws if the disk has less space. */
export async function openScratchFile(path: string, bytes: number) {
  const name = temporaryPathFor(path);
  let file: FileHandle;
  try {
    const { bavail, bsize } = await statfs(dirname(path));
    if (bavail * bsize < bytes) {
      throw optionError`${dirname(path)}: what does not fit in memory takes ${memoryText(bytes)} of disk, and ${memoryText(bavail * bsize)} are free; free some, write the model elsewhere, or give more ${option('memory')}`;
    }
    file = await open(name, 'wx+', 0o600);
  } catch (cause) {
    throw cause instanceof InputError ? cause : writeError(path, cause);
  }
  const removed = removeOnExit(name);
  await rm(name).then(removed, () => undefined);
  let end = 0;
  return {
    /** The position of `size` new bytes. */
    reserve(size: number): number {
      const at = end;
      end += size;
      return at;
    },
    async write(at: number, given: Uint8Array): Promise<void> {
      try {
        for (let done = 0; done < given.length; ) {
          const length = Math.min(given.length - done, MOST_BYTES_PER_CALL);
          done += (await file.write(given, done, length, at + done)).bytesWritten;
        }
      } catch (cause) {
        throw writeError(path, cause);
      }
    },
    /** Fills all of `into`. */
    async read(at: number, into: Uint8Array): Promise<void> {
      for (let done = 0; done < into.length; ) {
        const length = Math.min(into.length - done, MOST_BYTES_PER_CALL);
        const { bytesRead } = await file.read(into, done, length, at + done);
        if (bytesRead === 0) throw new InputError(`${name}: the scratch file was cut short; start again`);
        done += bytesRead;
      }
    },
    async close(): Promise<void> {
      await file.close();
      await rm(name, { force: true }).catch(() => undefined);
      removed();
    },
  };
}
