// DATA on a command line: one source or several files, and sentences on how they were read.

import type { ValueColumn } from '../ingest/intake/value-column.js';
import type { ReadOptions, ReadResult } from '../ingest/options.js';
import { readAccepted, readWithValues } from '../ingest/read.js';
import { expandSources, sourceTitle } from '../ingest/sources.js';
import { toArguments } from '../options/arguments.js';
import { asFlag } from '../options/as-flag.js';
import type { OptionsOf } from '../options/declare.js';
import { option, optionError } from '../options/error.js';
import { READ } from '../options/shared.js';
import { readingCautions } from '../report/words/reading.js';
import type { CommandContext } from './command.js';

export interface DataArgument {
  /** As typed. */
  readonly given: readonly string[];
  /** The files that match the patterns, or the one source that is not a file. */
  readonly sources: readonly string[];
  /** Its name in messages, pages and documents. */
  readonly title: string;
}

export async function dataArgument(given: readonly string[]): Promise<DataArgument> {
  return { given, sources: await expandSources(given), title: sourceTitle(given) };
}

/** The arguments with which another command reads the same data. */
export function againArguments({ given }: DataArgument, read: OptionsOf<typeof READ>): readonly string[] {
  return [...given, ...toArguments(READ, read)];
}

/** The fields of the document of --json on what was read. */
export function dataJson({ title, given, sources }: DataArgument): object {
  return { source: title, ...(given.length > 1 || sources.length > 1 ? { sources } : {}) };
}

interface Reading {
  readonly value?: ValueColumn | undefined;
  /** If it throws, nothing was written. */
  readonly accept?: (result: ReadResult) => void;
}

/** Refuses options of reading for a folder of shards or a split: its data were read when the folder was made. */
export function refuseReading(source: string, given: object, by: 'partition' | 'split'): void {
  const when =
    by === 'split' ? 'is a split, which was read when it was made' : 'was read when it was partitioned';
  for (const name of Object.keys(given)) {
    throw optionError`${option(name)}: ${source} ${when}; leave this option out, or give it to graphex ${by}`;
  }
}

/** Refuses what a split has already: how it was read, and the times of its data. */
export function refuseForSplit(source: string, given: object, time: string | number | undefined): void {
  refuseReading(source, given, 'split');
  if (time === undefined) return;
  throw optionError`${option('time')}: ${source} is a split, which keeps the times of its data; leave this option out`;
}

/** Reads the data and warns of what people should know about them. */
export async function readData(
  sources: readonly string[],
  options: ReadOptions,
  { task, warn }: Pick<CommandContext, 'task' | 'warn'>,
  { value, accept = () => undefined }: Reading = {},
): Promise<ReadResult> {
  const how = { ...options, ...task };
  const result = value ? await readWithValues(sources, how, value) : await readAccepted(sources, how, accept);
  for (const caution of readingCautions(result, asFlag)) warn(caution);
  return result;
}
