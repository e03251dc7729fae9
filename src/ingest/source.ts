// Files and standard input as streams of bytes. The format is recognised by the first bytes, so gzip and Parquet work under any name and on
// standard input.

import { createReadStream, createWriteStream, openSync, type ReadStream, type Stats } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { InputError, throwIfAborted } from '../errors.js';
import { isGzip, peek } from '../files/chunks.js';
import { folderKinds } from '../files/folder-kinds.js';
import { READ_ONLY } from '../files/plain-file.js';
import { readError } from '../files/read-error.js';
import { removeOnExit, writeError } from '../files/write-error.js';
import type { NamedFile } from '../parquet/rows.js';
import type { BegunSource } from './formats/file-formats.js';

const CHUNK = 1 << 20;

interface OpenedSource extends BegunSource<NamedFile> {
  /** Whether the file itself holds the content: it is neither standard input nor compressed. */
  readonly plainFile: boolean;
  close(): void;
}

/**
 * Opens a path or `-`, decompresses it if needed, and returns its first bytes. The signal closes it, which also ends a wait for input.
 * `missing`: the remedy if the file does not exist.
 */
export async function openSource(
  path: string,
  signal?: AbortSignal,
  missing?: string,
): Promise<OpenedSource> {
  const name = path === '-' ? 'standard input' : path;
  let stream: ReadStream | Socket | undefined;
  let size: number | undefined;
  let abort: (() => void) | undefined;
  try {
    if (path !== '-') {
      const found = await stat(path);
      if (found.isDirectory()) {
        const [kind] = folderKinds(path);
        throw new InputError(
          kind
            ? `${path}: this is ${kind.name}, which ${kind.readers}; ${kind.instead}`
            : `${path}: this is a folder; give a file, or text:${path} for a folder of .txt files`,
        );
      }
      refuseDevice(path, found);
      if (found.isFile()) size = found.size;
      stream = found.isFIFO()
        ? openPipe(path)
        : createReadStream(path, {
            highWaterMark: CHUNK,
            // Some files of the system, such as /proc/kmsg, wait for events.
            ...(found.isFile() && { fd: openSync(path, READ_ONLY) }),
          });
    }
    const opened: Readable = stream ?? process.stdin;
    // A signal that has come already tells no listener.
    throwIfAborted(signal);
    abort = () => opened.destroy();
    signal?.addEventListener('abort', abort, { once: true });
    let peeked = await peek(opened);
    const gzipped = isGzip(name, peeked.first);
    if (gzipped) peeked = await peek(gunzipped(peeked.all));
    const file = stream;
    const chunks = guarded(name, peeked.all, signal);
    const plainFile = stream !== undefined && size !== undefined && !gzipped;
    return {
      name,
      chunks,
      size,
      ...(file ? { consumed: () => file.bytesRead } : {}),
      close() {
        // Remove the listener, because one signal may serve many files.
        if (abort) signal?.removeEventListener('abort', abort);
        file?.destroy();
      },
      first: peeked.first,
      plainFile,
      inFile: (use) =>
        plainFile
          ? use({ name, path })
          : withTemporaryFile(chunks, (temporary) => use({ name, path: temporary })),
    };
  } catch (cause) {
    if (abort) signal?.removeEventListener('abort', abort);
    stream?.destroy();
    // A source that the signal closed ends with an error of its own.
    throwIfAborted(signal);
    throw readError(name, cause, missing);
  }
}

/** The kind of a path that is neither file nor folder; undefined for those two and for pipes, which can be read. */
function deviceKind(found: Stats): string | undefined {
  if (found.isSocket()) return 'a socket';
  if (found.isBlockDevice() || found.isCharacterDevice()) return 'a device';
  return undefined;
}

/** Paths of standard input and of files that a shell has opened; they may be a terminal. */
const OPENED = /^\/dev\/(stdin|tty|fd\/\d+)$|^\/proc\/(self|\d+)\/fd\/\d+$/;

function refuseDevice(path: string, found: Stats): void {
  const kind = OPENED.test(path) ? undefined : deviceKind(found);
  if (kind !== undefined) throw new InputError(`${path}: this is ${kind}, not a file; give a file or a pipe`);
}

/** Throws unless an entry of a folder is a file or a link to one: a folder is read whole, so no entry may block or be endless. */
export async function requireFile(path: string): Promise<Stats> {
  let found: Stats;
  try {
    found = await stat(path);
  } catch (cause) {
    throw readError(path, cause);
  }
  if (found.isFile()) return found;
  const kind = found.isDirectory() ? 'a folder' : found.isFIFO() ? 'a pipe' : deviceKind(found);
  throw new InputError(`${path}: this is ${kind} or leads to one, where a file is expected; move it away`);
}

/** Waits for a writer without blocking a thread, which would keep the process from ending. */
function openPipe(path: string): Socket {
  const fd = openSync(path, READ_ONLY);
  return new Socket({ fd, readable: true, writable: false });
}

async function* gunzipped(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: CHUNK });
  const compressed = Readable.from(input, { objectMode: false });
  compressed.on('error', (cause) => gunzip.destroy(cause)).pipe(gunzip);
  try {
    yield* gunzip;
  } finally {
    compressed.destroy();
    gunzip.destroy();
  }
}

async function* guarded(
  name: string,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  try {
    yield* chunks;
  } catch (cause) {
    throwIfAborted(signal);
    throw readError(name, cause);
  }
}

/** Writes the bytes to a temporary file and uses that: formats such as Parquet need a file to seek in. */
async function withTemporaryFile<T>(
  chunks: AsyncIterable<Uint8Array>,
  use: (file: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'graphex-'));
  const done = removeOnExit(folder);
  try {
    const file = join(folder, 'table.parquet');
    try {
      await pipeline(Readable.from(chunks), createWriteStream(file));
    } catch (cause) {
      throw writeError(file, cause);
    }
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
    done();
  }
}
