// Files and standard input as streams of bytes; .gz is recognised by its first two bytes, whatever the name.

import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { InputError } from '../errors.js';
import type { ByteSource } from './options.js';

const CHUNK = 1 << 20;

/** What the first bytes of a file say it is. */
export type Content = 'parquet' | 'gzip' | 'zip' | 'bytes';

/** Checks that the path can be read and looks at its first bytes. */
export async function lookAt(path: string): Promise<{ size: number; content: Content }> {
  let size: number;
  try {
    const found = await stat(path);
    if (found.isDirectory()) {
      throw new InputError(
        `${path}: this is a directory; give a file, or a recipe such as text:${path} for a folder of .txt files`,
      );
    }
    size = found.size;
    const file = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(4), position: 0 });
      return { size, content: content(buffer.subarray(0, bytesRead)) };
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw readError(path, cause);
  }
}

function content(first: Uint8Array): Content {
  const magic = Buffer.from(first).toString('latin1');
  if (magic === 'PAR1') return 'parquet';
  if (magic.startsWith('\x1f\x8b')) return 'gzip';
  if (magic.startsWith('PK\x03\x04')) return 'zip';
  return 'bytes';
}

/** A file's bytes, decompressed where it is gzipped. */
export function fileSource(path: string, looked: { size: number; content: Content }): ByteSource {
  if (looked.content === 'zip')
    throw new InputError(`${path}: this is a zip archive; unpack it and give the file inside`);
  const stream = createReadStream(path, { highWaterMark: CHUNK });
  return {
    name: path,
    chunks: guarded(path, looked.content === 'gzip' ? gunzipped(stream) : stream),
    size: looked.size,
    consumed: () => stream.bytesRead,
  };
}

/** Standard input, decompressed where it is gzipped. */
export function stdinSource(): ByteSource {
  return { name: 'standard input', chunks: guarded('standard input', sniffed(process.stdin)) };
}

async function* sniffed(stream: NodeJS.ReadableStream): AsyncIterable<Uint8Array> {
  const iterator = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let first: Uint8Array = Buffer.alloc(0);
  let done = false;
  while (first.length < 4 && !done) {
    const next = await iterator.next();
    if (next.done) done = true;
    else first = Buffer.concat([first, next.value]);
  }
  const kind = content(first.subarray(0, 4));
  if (kind === 'parquet')
    throw new InputError('standard input: Parquet must be read from a file; save it and give its path');
  if (kind === 'zip') throw new InputError('standard input: this is a zip archive; unpack it first');
  const rest = (async function* () {
    yield first;
    if (!done) yield* { [Symbol.asyncIterator]: () => iterator };
  })();
  yield* kind === 'gzip' ? gunzipped(rest) : rest;
}

async function* gunzipped(input: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: CHUNK });
  const feed = (async () => {
    try {
      for await (const chunk of input) {
        if (!gunzip.write(chunk)) await new Promise((resolve) => gunzip.once('drain', resolve));
      }
      gunzip.end();
    } catch (cause) {
      gunzip.destroy(cause as Error);
    }
  })();
  try {
    yield* gunzip;
  } finally {
    gunzip.destroy();
  }
  await feed;
}

async function* guarded(name: string, chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* chunks;
  } catch (cause) {
    throw readError(name, cause);
  }
}

/** A system error as an InputError that says what to do. */
export function readError(path: string, cause: unknown): unknown {
  const code = (cause as NodeJS.ErrnoException).code;
  if (cause instanceof InputError || !code) return cause;
  if (code === 'ENOENT') return new InputError(`${path}: there is no such file; check the path`);
  if (code === 'EACCES' || code === 'EPERM') {
    return new InputError(`${path}: no permission to read it; change its permissions or run as its owner`);
  }
  if (code === 'EISDIR') return new InputError(`${path}: this is a directory; give a file`);
  if (code.startsWith('Z_')) {
    return new InputError(
      `${path}: the gzip data is damaged or cut short (${(cause as Error).message}); fetch the file again`,
    );
  }
  return new InputError(`${path}: it cannot be read (${(cause as Error).message})`);
}
