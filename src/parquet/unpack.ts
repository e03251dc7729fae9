// Decompresses pages to exactly the size that their header states, never more.

import { decompress as unpackZstd } from 'fzstd';
import { chunksOf } from '../files/chunks.js';
import { DamagedError } from './thrift.js';

type Unpack = (packed: Uint8Array, size: number) => Uint8Array | Promise<Uint8Array>;

/** Undefined in a page. */
const zlib = globalThis.process?.getBuiltinModule?.('node:zlib');

/** In Node from 22.15 on; several times as fast. */
const nativeZstd = (
  zlib as undefined | { zstdDecompressSync?: (bytes: Uint8Array, options: object) => Uint8Array }
)?.zstdDecompressSync;

/** Keyed by Parquet's codec numbers. */
const CODECS: Readonly<Record<number, { readonly name: string; readonly unpack: Unpack | undefined }>> = {
  0: { name: 'uncompressed', unpack: (packed) => packed },
  1: { name: 'Snappy', unpack: unpackSnappy },
  2: {
    name: 'gzip',
    unpack: (packed, size) =>
      zlib ? zlib.gunzipSync(packed, { maxOutputLength: Math.max(1, size) }) : gunzipHere(packed, size),
  },
  3: { name: 'LZO', unpack: undefined },
  4: {
    name: 'Brotli',
    // Browsers cannot decompress it yet.
    unpack:
      zlib && ((packed, size) => zlib.brotliDecompressSync(packed, { maxOutputLength: Math.max(1, size) })),
  },
  5: { name: 'LZ4', unpack: unpackHadoopLz4 },
  6: {
    name: 'Zstandard',
    unpack: (packed, size) =>
      nativeZstd
        ? nativeZstd(packed, { maxOutputLength: Math.max(1, size) })
        : unpackZstd(packed, new Uint8Array(size)),
  },
  7: { name: 'LZ4', unpack: unpackLz4 },
};

export async function unpackPage(codec: number, packed: Uint8Array, size: number): Promise<Uint8Array> {
  const known = CODECS[codec];
  if (!known?.unpack) {
    const used = Object.values(CODECS).filter((other) => other.unpack);
    const names = [...new Set(used.map((other) => other.name))].join(', ');
    throw new DamagedError(
      `its pages are compressed with ${known?.name ?? `codec ${codec}`}; supported are ${names}`,
    );
  }
  let page: Uint8Array;
  try {
    page = await known.unpack(packed, size);
  } catch (cause) {
    if (cause instanceof DamagedError) throw cause;
    throw new DamagedError(`a page cannot be unpacked (${(cause as Error).message})`);
  }
  if (page.length !== size) throw new DamagedError('the size of a page differs from its header');
  // Slices of a Node Buffer share memory, so return a plain array.
  return new Uint8Array(page.buffer, page.byteOffset, size);
}

/** In a page: stops as soon as the output exceeds the stated size. */
export async function gunzipHere(packed: Uint8Array, size: number): Promise<Uint8Array> {
  const unpacked = new Blob([packed as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream('gzip'));
  const page = new Uint8Array(size);
  let at = 0;
  for await (const part of chunksOf(unpacked)) {
    if (at + part.length > size) throw damaged();
    page.set(part, at);
    at += part.length;
  }
  return page.subarray(0, at);
}

/** The total length, then literals and copies of earlier output. */
function unpackSnappy(packed: Uint8Array, size: number): Uint8Array {
  let pos = 0;
  let stated = 0;
  for (let shift = 1; ; shift *= 128) {
    if (pos >= packed.length || pos >= 5) throw damaged();
    const byte = packed[pos++];
    stated += (byte & 127) * shift;
    if (byte < 128) break;
  }
  if (stated !== size) throw damaged();
  const out = new Uint8Array(size);
  let at = 0;
  while (pos < packed.length) {
    const tag = packed[pos++];
    const kind = tag & 3;
    if (kind === 0) {
      let length = tag >> 2;
      if (length >= 60) {
        const extra = length - 59;
        length = littleEndian(packed, pos, extra);
        pos += extra;
      }
      length++;
      if (pos + length > packed.length || at + length > size) throw damaged();
      out.set(packed.subarray(pos, pos + length), at);
      pos += length;
      at += length;
      continue;
    }
    const far = kind === 1 ? 1 : kind === 2 ? 2 : 4;
    const length = kind === 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
    const offset = littleEndian(packed, pos, far) + (kind === 1 ? (tag >> 5) * 256 : 0);
    pos += far;
    at = copyBack(out, at, offset, length);
  }
  if (at !== size) throw damaged();
  return out;
}

/** One raw LZ4 block. */
function unpackLz4(packed: Uint8Array, size: number): Uint8Array {
  const out = new Uint8Array(size);
  let pos = 0;
  let at = 0;
  const lengthFrom = (start: number): number => {
    let length = start;
    if (start < 15) return length;
    for (;;) {
      if (pos >= packed.length) throw damaged();
      const byte = packed[pos++];
      length += byte;
      if (byte < 255) return length;
    }
  };
  while (pos < packed.length) {
    const token = packed[pos++];
    const literals = lengthFrom(token >> 4);
    if (pos + literals > packed.length || at + literals > size) throw damaged();
    out.set(packed.subarray(pos, pos + literals), at);
    pos += literals;
    at += literals;
    if (pos === packed.length) break;
    const offset = littleEndian(packed, pos, 2);
    pos += 2;
    at = copyBack(out, at, offset, lengthFrom(token & 15) + 4);
  }
  if (at !== size) throw damaged();
  return out;
}

/** Blocks preceded by their sizes, as Hadoop writes them, or one raw block, which others wrote under the same number. */
function unpackHadoopLz4(packed: Uint8Array, size: number): Uint8Array {
  try {
    const out = new Uint8Array(size);
    const view = new DataView(packed.buffer, packed.byteOffset, packed.length);
    let at = 0;
    for (let pos = 0; pos < packed.length; ) {
      const full = view.getUint32(pos);
      const length = view.getUint32(pos + 4);
      if (at + full > size || pos + 8 + length > packed.length) throw damaged();
      out.set(unpackLz4(packed.subarray(pos + 8, pos + 8 + length), full), at);
      at += full;
      pos += 8 + length;
    }
    if (at !== size) throw damaged();
    return out;
  } catch {
    return unpackLz4(packed, size);
  }
}

/** Copies `length` bytes from `offset` before `at`; an overlap repeats them. Returns the new end. */
function copyBack(out: Uint8Array, at: number, offset: number, length: number): number {
  if (offset < 1 || offset > at || at + length > out.length) throw damaged();
  if (offset >= length) out.copyWithin(at, at - offset, at - offset + length);
  else for (let i = 0; i < length; i++) out[at + i] = out[at + i - offset];
  return at + length;
}

function littleEndian(bytes: Uint8Array, pos: number, count: number): number {
  if (pos + count > bytes.length) throw damaged();
  let value = 0;
  for (let i = count - 1; i >= 0; i--) value = value * 256 + bytes[pos + i];
  return value;
}

function damaged(): DamagedError {
  return new DamagedError('a page cannot be unpacked');
}
