// Tensors in files. They are read in pieces, since a file may be larger than one buffer.

import { createHash } from 'node:crypto';
import { type FileHandle, stat } from 'node:fs/promises';
import { InputError } from '../errors.js';
import { writePieces } from '../files/atomic.js';
import { readAt } from '../files/chunks.js';
import { withFile } from '../files/plain-file.js';
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

/** Writes the file at a temporary path, which the caller moves. */
export async function writeTensorsTo(path: string, file: TensorFile): Promise<void> {
  await writePieces(path, encodeTensors(file, nativeSha256()));
}

/** Reads a file that `writeTensorsTo` wrote; refuses a file that is cut, changed, foreign or of another version. */
export async function readTensors(path: string, expected: ExpectedTensors): Promise<TensorFile> {
  try {
    // To open a pipe is to wait for a writer.
    const found = await stat(path);
    if (!found.isFile() && !found.isDirectory()) {
      throw new InputError(`${path}: this is not a regular file; give a ${expected.what} that graphex wrote`);
    }
    return await withFile(path, 'r', async (file) =>
      decodeTensors(await fileSource(path, file), expected, nativeSha256()),
    );
  } catch (cause) {
    throw readError(path, cause);
  }
}

/** The metadata of a file; its tensors are not read. */
export async function readMetadata(
  path: string,
  expected: ExpectedTensors,
): Promise<Readonly<Record<string, string>>> {
  return withFile(
    path,
    'r',
    async (file) => (await readHeader(await fileSource(path, file), expected)).metadata,
  );
}

async function fileSource(path: string, file: FileHandle): Promise<ByteSource> {
  const { size } = await file.stat();
  return { name: path, size, read: (position, length) => readAt(file, position, length) };
}

function nativeSha256(): Sha256 {
  const hash = createHash('sha256');
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') };
}
