// The data of `graphex fit`: the graph of a table or of a split's training part, and the times of its edges.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { InputError } from '../../errors.js';
import type { FitOptions } from '../../fit/options.js';
import { latestOf, parseHalfLife } from '../../fit/ranking/recency.js';
import type { BipartiteGraph } from '../../graph/graph.js';
import { lastTimes } from '../../ingest/intake/value-column.js';
import type { ReadResult } from '../../ingest/options.js';
import { SPLIT_FILE } from '../../options/commands/partition.js';
import { option, optionError } from '../../options/error.js';
import { READ } from '../../options/shared.js';
import { loadSplit } from '../../store/split-folder.js';
import type { CommandContext } from '../command.js';
import { typedOptions } from '../flags.js';
import { readData } from '../read-data.js';

interface TrainingData {
  readonly graph: BipartiteGraph;
  readonly read: ReadResult | undefined;
  /** The time of each edge, if the data have times. */
  readonly times: Float64Array | undefined;
}

/** Times may lie this far ahead of the clock: clocks differ. */
const AHEAD_MS = 86_400_000;

/** The times for weights by age; none if the fit does not weigh edges. */
export function timesFor(
  options: FitOptions,
  resume: string | undefined,
  column: string | number | undefined,
  times: Float64Array | undefined,
  read: ReadResult | undefined,
): { readonly times?: Float64Array } {
  const { halfLife } = options as { readonly halfLife?: string };
  // A resumed fit has its half-life in the saved state.
  if (halfLife === undefined && (resume === undefined || times === undefined)) {
    if (column === undefined) return {};
    throw optionError`${option('time')} is for weights by age; add ${option('halfLife')} auto, or leave it out`;
  }
  if (halfLife !== undefined && parseHalfLife(halfLife) === 'never') return {};
  if (times === undefined) {
    if (read) {
      throw optionError`${option('halfLife')} ${halfLife!} needs the times of the data; name their column with ${option('time')}`;
    }
    throw optionError`${option('halfLife')} ${halfLife!}: this split has no times; split the data again with ${option('time')}`;
  }
  const latest = latestOf(times);
  if (latest > Date.now() + AHEAD_MS) {
    const date = new Date(latest);
    const when = Number.isNaN(date.getTime()) ? `${latest} ms after 1970` : date.toISOString().slice(0, 10);
    throw optionError`${option('halfLife')} ${halfLife ?? 'auto'}: the latest time is ${when}, which lies in the future, so all other edges would count as old; correct the times, or leave these rows out with ${option('where')}`;
  }
  return { times };
}

/** The graph, and how it was read if it came from a table or a recipe. */
export async function trainingData(
  command: Command,
  sources: readonly string[],
  context: CommandContext,
  time: string | number | undefined,
): Promise<TrainingData> {
  const [source] = sources;
  if (sources.length === 1 && isSplitFolder(source)) {
    refuseDataOptions(command, source);
    if (time !== undefined) {
      throw optionError`${option('time')}: ${source} is a split, which keeps the times of its data; leave this option out`;
    }
    const { threads, signal, onProgress } = context;
    const { train, times } = await loadSplit(source, { threads, signal, onProgress });
    return { graph: train, read: undefined, times: times?.train };
  }
  const split = sources.find(isSplitFolder);
  if (split !== undefined) {
    throw new InputError(
      `${split}: this is a split, of which only the training part is fitted; give no other data with it`,
    );
  }
  const value = time === undefined ? undefined : lastTimes(time);
  const read = await readData(sources, typedOptions(command, READ), context, { value });
  return { graph: read.graph, read, times: read.values };
}

/** Refuses options of reading, which a split would ignore: it was read when it was made. */
function refuseDataOptions(command: Command, source: string): void {
  for (const name of Object.keys(typedOptions(command, READ))) {
    throw optionError`${option(name)}: ${source} is a split, which was read when it was made; leave this option out, or give it to graphex split`;
  }
}

function isSplitFolder(source: string): boolean {
  if (!statSync(source, { throwIfNoEntry: false })?.isDirectory()) return false;
  return statSync(join(source, SPLIT_FILE), { throwIfNoEntry: false })?.isFile() ?? false;
}
