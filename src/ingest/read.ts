import { throwIfAborted } from '../errors.js';
import { checkOptions } from '../options/check-options.js';
import { option, optionError } from '../options/error.js';
import { READ, TASK } from '../options/shared.js';
import { readWithThreads } from './formats/parquet-threads.js';
import { missingFile, namedFormat, refuseOptions, tableFormat } from './formats.js';
import { openRejects } from './intake/rejects.js';
import { TableTarget } from './intake/target.js';
import { refuseTrimming, trimmed } from './intake/trim.js';
import type { ValueColumn } from './intake/value-column.js';
import type { ReaderOptions, ReadOptions, ReadResult, RejectSink } from './options.js';
import { readerOptions } from './reader-options.js';
import { withNames } from './side-names.js';
import { openSource } from './source.js';
import { expandSources, refuseOwnInput, sourceTitle } from './sources.js';

/**
 * Reads a graph from a file, `-` (standard input), a recipe such as `netflix:DIR`, or a built-in set such as `@sotu`.
 * Several files, or a pattern such as `logs/*.csv`, are read as one table. Vertices are sorted by id, so the order of rows
 * never matters.
 * @example
 * import { readGraph } from 'graphex';
 * const { graph, read } = await readGraph('@simulated-small');
 * console.log(graph.users.count, graph.items.count, read.kept);
 */
export async function readGraph(
  source: string | readonly string[],
  options: ReadOptions = {},
): Promise<ReadResult> {
  return readAccepted(source, options, () => undefined);
}

/** The same, but nothing is written if `accept` throws. */
export async function readAccepted(
  source: string | readonly string[],
  given: ReadOptions,
  accept: (result: ReadResult) => void,
): Promise<ReadResult> {
  // The column of values and the receiver of rows are internal, not options.
  const { value, spill, ...plain } = given as ReaderOptions;
  const checked = checkOptions({ ...READ, ...TASK }, plain);
  const options: ReaderOptions = { ...readerOptions(checked), value, spill };
  throwIfAborted(options.signal);
  const sources = typeof source === 'string' ? [source] : source;
  if (options.rejects === undefined) {
    const result = await readAny(sources, options);
    accept(result);
    return result;
  }
  const { database } = options;
  await refuseOwnInput([options.rejects], [...sources, ...(database === undefined ? [] : [database])]);
  const rejects = openRejects(options.rejects);
  try {
    const result = await readAny(sources, options, rejects);
    accept(result);
    rejects.commit();
    return result;
  } finally {
    rejects.discard();
  }
}

/**
 * Reads a table with a value for each edge: a time (`timeColumn`), a rank or a score. `values` are in the order of graph.users.neighbors.
 * @example
 * import { writeFileSync } from 'node:fs';
 * import { readWithValues, split, timeColumn } from 'graphex';
 * const rows = Array.from({ length: 100 }, (_, i) => `u${i % 9},i${(i * 7) % 11},${2000 + (i % 20)}-01-01`);
 * writeFileSync('times.csv', `user,item,time\n${rows.join('\n')}\n`);
 * const { graph, values } = await readWithValues('times.csv', {}, timeColumn('time'));
 * console.log(split(graph, { method: 'time', times: values, testUsers: 0.2 }).test.edges);
 */
export async function readWithValues(
  source: string | readonly string[],
  options: ReadOptions,
  value: ValueColumn,
): Promise<ReadResult & { readonly values: Float64Array }> {
  const read: ReaderOptions = { ...options, value };
  const { values, ...result } = await readGraph(source, read);
  if (!values) {
    throw optionError`${sourceTitle([source].flat())}: it is not a table, so it has no column for ${option(value.role)}; leave it out`;
  }
  return { ...result, values };
}

async function readAny(
  sources: readonly string[],
  options: ReaderOptions,
  rejects?: RejectSink,
): Promise<ReadResult> {
  try {
    const named = sources.length === 1 ? namedFormat(sources[0]) : undefined;
    refuseOptions(sources[0] ?? '', named, options);
    if (options.spill) refuseTrimming(options);
    const result = await (named
      ? named.read(sources[0], options, rejects)
      : readFiles(await expandSources(sources), options, rejects));
    if (options.spill) return withNames(result, options.names);
    return withNames(trimmed(result, options, sourceTitle(sources)), options.names);
  } catch (cause) {
    // A source closed by the signal throws its own error.
    throwIfAborted(options.signal);
    throw cause;
  }
}

/** Reads one table, row by row. */
export async function readTable(path: string, options: ReaderOptions): Promise<ReadResult> {
  const target = new TableTarget(options, undefined);
  await readFile(path, options, target);
  return target.finish(path);
}

/** Reads several files as one table, one after the other. */
async function readFiles(
  paths: readonly string[],
  options: ReaderOptions,
  rejects?: RejectSink,
): Promise<ReadResult> {
  const together = await readWithThreads(paths, options);
  if (together) return together;
  const target = new TableTarget(options, rejects, paths.length > 1);
  const report = options.onProgress;
  // Progress over all files.
  let before = 0;
  let done = 0;
  for (const [at, path] of paths.entries()) {
    before = done;
    const onProgress: typeof report =
      report && paths.length > 1
        ? ({ total: _, ...progress }) => {
            done = before + progress.done;
            report({ ...progress, done, note: `file ${at + 1} of ${paths.length}` });
          }
        : report;
    await readFile(path, { ...options, ...target.sameColumns(), onProgress }, target);
  }
  return target.finish(sourceTitle(paths));
}

async function readFile(path: string, options: ReaderOptions, target: TableTarget): Promise<void> {
  const source = await openSource(path, options.signal, missingFile(path));
  try {
    await tableFormat(source, options).fill(source, options, target);
  } finally {
    source.close();
  }
}
