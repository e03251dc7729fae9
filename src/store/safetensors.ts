// Tensors in files: read in pieces, so that a file may be larger than one buffer, and written beside and renamed.

import { createHash } from 'node:crypto';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { InputError } from '../errors.js';
import { writeAtomic, writePieces } from '../files/atomic.js';
import { readError } from '../files/read-error.js';
import type { Sha256 } from '../files/sha256.js';
import {
  type ByteSource,
  decodeTensors,
  type ExpectedTensors,
  encodeTensors,
  readHeader,
  type TensorFile,
} from './tensors.js';

/** Writes the file beside and renames it. */
export async function writeTensors(path: string, file: TensorFile): Promise<void> {
  const pieces = encodeTensors(file, nativeSha256());
  await writeAtomic(path, (beside) => writePieces(beside, pieces));
}

/** The same at a place that its caller puts in order. */
export async function writeTensorsTo(path: string, file: TensorFile): Promise<void> {
  await writePieces(path, encodeTensors(file, nativeSha256()));
}

/** Reads a file that `writeTensors` wrote; refuses one that is cut, changed or foreign, with a sentence. */
export async function readTensors(path: string, expected: ExpectedTensors): Promise<TensorFile> {
  let file: FileHandle | undefined;
  try {
    // Before it is opened: opening a pipe waits for whoever writes to it.
    const found = await stat(path);
    if (!found.isFile() && !found.isDirectory()) {
      const { command = 'fit' } = expected;
      throw new InputError(
        `${path}: this is not a regular file; give a file that "graphex ${command}" wrote`,
      );
    }
    file = await open(path, 'r');
    return await decodeTensors(await fileSource(path, file), expected, nativeSha256());
  } catch (cause) {
    throw readError(path, cause);
  } finally {
    await file?.close();
  }
}

/** What a file says of itself, its tensors unread. */
export async function readMetadata(
  path: string,
  expected: ExpectedTensors,
): Promise<Readonly<Record<string, string>>> {
  const file = await open(path, 'r');
  try {
    return (await readHeader(await fileSource(path, file), expected)).metadata;
  } finally {
    await file.close();
  }
}

async function fileSource(path: string, file: FileHandle): Promise<ByteSource> {
  const { size } = await file.stat();
  return {
    name: path,
    size,
    async read(position, length) {
      const buffer = Buffer.alloc(length);
      let filled = 0;
      while (filled < length) {
        const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return buffer.subarray(0, filled);
    },
  };
}

function nativeSha256(): Sha256 {
  const hash = createHash('sha256');
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') };
}
