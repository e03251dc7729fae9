// Streams and pieces of bytes, whatever they come from.

import type { FileHandle } from 'node:fs/promises';
import { InputError } from '../errors.js';
import { concat } from '../math/memory.js';

/** The chunks of a stream; releases it if the caller stops early. Not every browser can iterate over streams. */
export async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** The first bytes (at least 64, unless the stream is shorter), all bytes from the start, and a way to leave them unread. */
export async function peek(chunks: AsyncIterable<Uint8Array>) {
  const iterator = chunks[Symbol.asyncIterator]();
  let first: Uint8Array = new Uint8Array(0);
  let done = false;
  while (first.length < 64 && !done) {
    const next = await iterator.next();
    if (next.done) done = true;
    else first = first.length === 0 ? next.value : concat(Uint8Array, [first, next.value]);
  }
  const close = async () => {
    await iterator.return?.();
  };
  const all = (async function* () {
    try {
      if (first.length > 0) yield first;
      if (!done) yield* { [Symbol.asyncIterator]: () => iterator };
    } finally {
      await close();
    }
  })();
  return { first, all, close };
}

/** `length` bytes from `position` on; fewer at the end. */
export async function readAt(from: FileHandle | Blob, position: number, length: number): Promise<Uint8Array> {
  if (from instanceof Blob)
    return new Uint8Array(await from.slice(position, position + length).arrayBuffer());
  const bytes = new Uint8Array(length);
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await from.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) return bytes.subarray(0, filled);
    filled += bytesRead;
  }
  return bytes;
}

/** Whether these are the first bytes of gzip data; throws if only the name says so. */
export function isGzip(name: string, first: Uint8Array): boolean {
  const gzipped = first[0] === 0x1f && first[1] === 0x8b;
  if (gzipped || first.length === 0 || !/\.gz$/i.test(name)) return gzipped;
  throw new InputError(
    `${name}: this is not gzip data although its name says so; fetch or compress it again, or leave .gz out of its name`,
  );
}
