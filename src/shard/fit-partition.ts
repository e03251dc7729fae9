// Fits to a partitioned data set: on the ranks of a communicator, or on this process alone.

import { ALONE, type Communicator } from '../comm/communicator.js';
import type { FitResult } from '../fit/fit.js';
import { type AscentOptions, checkFit, type FitOptions, type RankingFitOptions } from '../fit/options.js';
import { option, optionError } from '../options/error.js';
import { requireState } from './fit-state.js';
import type { FittedShards, PartitionFitTask } from './fitted-shards.js';
import { gatherModel } from './gather-model.js';
import { fitAscentShards, type ShardedFitOptions } from './partition-ascent.js';
import { openPartition, type PartitionedData } from './partition-folder.js';
import { fitRankingShards, type ShardedRankingOptions } from './partition-ranking.js';
import { trainPartition } from './split-partition.js';

/** Options of `fit` that partitioned data do not take. */
export type NotForShards = 'resume' | 'onCheckpoint' | 'checkpointMinutes' | 'from';

/** What `fitPartition` takes: the options of `fit` for ascent or ranking, and a limit of memory. */
export type FitPartitionOptions = (
  | Omit<AscentOptions, NotForShards>
  | Omit<RankingFitOptions, NotForShards>
) & {
  /** The memory that the fit may use, as in 4G; shards that do not fit are streamed from a file next to the folder. */
  readonly memory?: string | undefined;
};

/**
 * Fits a model to a folder of shards that `partitionGraph` wrote. The folder may also be a split of a partition, whose
 * training part is fitted. The data need not fit in memory, the model does. It equals the model of a fit on several machines
 * to the bit.
 * @example
 * import { BipartiteGraph, fitPartition, partitionGraph } from 'graphex';
 * const graph = BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk'], ['bob', 'tea'], ['cleo', 'milk']]);
 * await partitionGraph(graph, 'shards', { shards: 2 });
 * const { model } = await fitPartition('shards', { features: 1, seed: 1 });
 * console.log(model.users.count, model.items.count);
 */
export async function fitPartition(folder: string, options: FitPartitionOptions = {}): Promise<FitResult> {
  const { memory, ...fit } = options;
  const path = (await trainPartition(folder)) ?? folder;
  const partition = await openPartition(path);
  const within = memory === undefined ? undefined : { memory, path };
  const fitted = await fitShards(partition, ALONE, { ...fit, ...(within && { within }) });
  return (await gatherModel(partition, ALONE, fitted).finally(fitted.close))!;
}

export type FitShardsOptions = (Omit<AscentOptions, NotForShards> | Omit<RankingFitOptions, NotForShards>) &
  PartitionFitTask &
  Pick<ShardedFitOptions, 'within'>;

/** Fits by the method that the options name, or that of the state to resume from. Every rank calls it. */
export async function fitShards(
  partition: PartitionedData,
  communicator: Communicator,
  options: FitShardsOptions,
): Promise<FittedShards> {
  const { checkpoint, resumeFolder, onCheckpointError, within, ...fit } = options;
  const method =
    resumeFolder === undefined ? checkFit(fit as FitOptions).method : await requireState(resumeFolder);
  if (method !== 'ranking') return fitAscentShards(partition, communicator, options as ShardedFitOptions);
  if (within) throw memoryWithRanking();
  const ranking = { ...fit, checkpoint, resumeFolder, onCheckpointError } as ShardedRankingOptions;
  return fitRankingShards(partition, communicator, ranking);
}

/** A ranking fit cannot stream shards. Ranks check this before they compute, so that the error is printed once. */
export function memoryWithRanking() {
  return optionError`${option('memory')} does not go with ${option('method')} ranking, which keeps all shards in memory; leave it out, and start more processes if they do not fit`;
}
