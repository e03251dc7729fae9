import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InputError, throwIfAborted } from '../errors.js';
import { checkOptions } from '../options/door.js';
import { READ, TASK } from '../options/shared.js';
import { sideNames } from '../text/sides.js';
import { fileFormat } from './file-formats.js';
import { missingFile, namedFormat, refuseOptions } from './formats.js';
import { withNames } from './names.js';
import type { ByteSource, ReaderOptions, ReadOptions, ReadResult, RejectSink } from './options.js';
import { openRejects } from './rejects.js';
import { openSource, removeOnExit, temporaryPath, writeError } from './source.js';
import type { ValueColumn } from './value-column.js';

/**
 * Reads a graph from a file, `-` (standard input), a recipe such as `netflix:DIR`, or a built-in set such as `@sotu`.
 * Vertices are sorted by id, so the order of rows never matters.
 */
export async function readGraph(source: string, options: ReadOptions = {}): Promise<ReadResult> {
  return readAccepted(source, options, () => undefined);
}

/** The same, but nothing is written where `accept` throws. */
export async function readAccepted(
  source: string,
  given: ReadOptions,
  accept: (result: ReadResult) => void,
): Promise<ReadResult> {
  // A further column and a place for rows come from within: they are no options of anybody's.
  const { value, spill, ...plain } = given as ReaderOptions;
  const options: ReaderOptions = { ...checkOptions({ ...READ, ...TASK }, plain), value, spill };
  if (options.names) sideNames(options.names);
  throwIfAborted(options.signal);
  if (options.rejects === undefined) {
    const result = await readAny(source, options);
    accept(result);
    return result;
  }
  const rejects = openRejects(options.rejects);
  try {
    const result = await readAny(source, options, rejects);
    accept(result);
    rejects.commit();
    return result;
  } finally {
    rejects.discard();
  }
}

/**
 * Reads a table with a further number for each edge: a time (`timeColumn`), a rank, a score. `values` are in the order of
 * graph.users.neighbors.
 */
export async function readWithValues(
  source: string,
  options: ReadOptions,
  value: ValueColumn,
): Promise<ReadResult & { readonly values: Float64Array }> {
  const read: ReaderOptions = { ...options, value };
  const { values, ...result } = await readGraph(source, read);
  if (!values) {
    throw new InputError(
      `${source}: it is no table with columns, so it has none for --${value.role}; leave it out`,
    );
  }
  return { ...result, values };
}

async function readAny(source: string, options: ReadOptions, rejects?: RejectSink): Promise<ReadResult> {
  try {
    const format = namedFormat(source);
    refuseOptions(source, format, options);
    const result = await (format
      ? format.read(source, options, rejects)
      : readFile(source, options, rejects));
    return withNames(result, options.names);
  } catch (cause) {
    // A source that the signal closed ends with an error of its own.
    throwIfAborted(options.signal);
    throw cause;
  }
}

async function readFile(path: string, options: ReadOptions, rejects?: RejectSink): Promise<ReadResult> {
  const source = await openSource(path, options.signal, missingFile(path));
  try {
    const inFile = <T>(use: (file: string) => Promise<T>) =>
      source.plainFile ? use(path) : spooled(source, use);
    return await fileFormat(source).read(source, options, rejects, inFile);
  } finally {
    source.close();
  }
}

/** Parquet needs a file to seek in: standard input and compressed files are first written to a temporary one. */
async function spooled<T>(source: ByteSource, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(temporaryPath('graphex-'));
  const done = removeOnExit(folder);
  try {
    const file = join(folder, 'spooled.parquet');
    try {
      await pipeline(Readable.from(source.chunks), createWriteStream(file));
    } catch (cause) {
      throw writeError(file, cause);
    }
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
    done();
  }
}
