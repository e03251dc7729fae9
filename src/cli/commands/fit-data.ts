// The data of `graphex fit`: the graph of a table or of a split's training part, and the times of its edges.

import { InputError } from '../../errors.js';
import { parseHalfLife, refuseFuture } from '../../fit/ranking/recency.js';
import type { BipartiteGraph } from '../../graph/graph.js';
import { lastTimes } from '../../ingest/intake/value-column.js';
import type { ReadOptions, ReadResult } from '../../ingest/options.js';
import { option, optionError } from '../../options/error.js';
import { isSplitFolder, loadSplit } from '../../store/split-folder.js';
import type { CommandContext } from '../command.js';
import { readData, refuseForSplit } from '../read-data.js';

interface TrainingData {
  readonly graph: BipartiteGraph;
  readonly read: ReadResult | undefined;
  /** The time of each edge, if the data have times. */
  readonly times: Float64Array | undefined;
}

/** The times for weights by age; none if the fit does not weigh edges. */
export function timesFor(
  { halfLife }: { readonly halfLife?: string | undefined },
  resume: string | undefined,
  column: string | number | undefined,
  times: Float64Array | undefined,
  read: ReadResult | undefined,
): { readonly times?: Float64Array } {
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
  refuseFuture(times, halfLife ?? 'auto');
  return { times };
}

/** The graph, and how it was read if it came from a table or a recipe. */
export async function trainingData(
  sources: readonly string[],
  reader: ReadOptions,
  context: CommandContext,
  time: string | number | undefined,
): Promise<TrainingData> {
  const [source] = sources;
  const splits = await Promise.all(sources.map(isSplitFolder));
  if (sources.length === 1 && splits[0]) {
    refuseForSplit(source, reader, time);
    const { train, times } = await loadSplit(source, context.task);
    return { graph: train, read: undefined, times: times?.train };
  }
  if (splits.includes(true)) {
    throw new InputError(
      `${sources[splits.indexOf(true)]}: this is a split, of which only the training part is fitted; give no other data with it`,
    );
  }
  const value = time === undefined ? undefined : lastTimes(time);
  const read = await readData(sources, reader, context, { value });
  return { graph: read.graph, read, times: read.values };
}
