import { throwIfAborted } from '../errors.js';
import { readDelimited } from './delimited.js';
import type { ReadOptions, ReadResult } from './options.js';
import { fileSource, lookAt, stdinSource } from './source.js';

/**
 * Reads a graph from a file, `-` (standard input), a recipe such as `netflix:DIR`, or a built-in set such as `@sotu`.
 * Vertices are sorted by id, so the order of rows never matters.
 */
export async function readGraph(source: string, options: ReadOptions = {}): Promise<ReadResult> {
  throwIfAborted(options.signal);
  if (source === '-') return readDelimited(stdinSource(), options);
  return readDelimited(fileSource(source, await lookAt(source)), options);
}
