// What every fit to a partition does, whatever its method: it checks options, agrees with the other ranks, saves its state
// and returns a model whose users stay in their shards.

import { anyRank, type Communicator } from '../comm/communicator.js';
import type { CountingEngine } from '../engine/engine.js';
import { type EngineReason, onEngine } from '../engine/select.js';
import { abortReason } from '../errors.js';
import { everyMinutes } from '../fit/ascent/ascent.js';
import type { DataFacts } from '../fit/ascent/hyper.js';
import type { Checkpoint, FitOrigin } from '../fit/ascent/loop.js';
import type { FitResult } from '../fit/fit.js';
import type { UserTables } from '../fit/fold-in/user-tables.js';
import type { Model } from '../fit/model.js';
import { type CheckedFit, checkFit, type FitOptions } from '../fit/options.js';
import { resumedOptions } from '../fit/resume.js';
import { addHashes, NO_HASH } from '../graph/fingerprint.js';
import { option, optionError } from '../options/error.js';
import type { EngineName } from '../options/names.js';
import { stateOf, usersState } from '../store/model-state.js';
import { shardsOfRank } from './gather-shards.js';
import { type PartitionedData, readShard } from './partition-folder.js';
import { arithmeticHash, requireAgreement } from './rank-agreement.js';
import { type RankRows, shardIds } from './rank-shards.js';

/** What a fit of either method takes: where it saves its state, and from where it resumes. */
export interface PartitionFitTask {
  /** The folder for the state, which the fit saves every few minutes and when it is stopped. */
  readonly checkpoint?: { readonly folder: string; readonly minutes?: number | undefined } | undefined;
  /** The folder of a state to resume from. */
  readonly resumeFolder?: string | undefined;
  /** Called on rank 0 if the state cannot be saved; the fit continues. */
  readonly onCheckpointError?: ((error: Error) => void) | undefined;
}

/** What a rank has at the end of a fit of either method. */
export interface FittedShards extends Omit<FitResult, 'model'> {
  /** The model without its users, the same on every rank. */
  readonly itemsModel: Model;
  /** The tables of the users of a shard of this rank, until `close`. */
  readonly tablesOf: (localShard: number) => Promise<UserTables>;
  /** The number of shards that were read from disk in every pass. */
  readonly streamedShards: number;
  /** The hash of the whole model's numbers: equal on any number of ranks and for the data in one piece. */
  readonly stateHash: string;
  /** Releases the scratch file. */
  close(): Promise<void>;
}

type OptionsOfMethod<M extends CheckedFit['method']> = Omit<
  Extract<CheckedFit, { readonly method: M }>['options'],
  'resume' | 'from'
>;

/** The checked options of a fit, or those of the fit that it resumes. */
export function checkedOptions<M extends 'ascent' | 'ranking'>(
  { fingerprint }: PartitionedData,
  method: M,
  given: object,
  saved: { readonly origin: FitOrigin } | undefined,
): OptionsOfMethod<M> {
  const options = (method === 'ranking' ? { ...given, method } : given) as FitOptions;
  const resume = saved && ({ method, ...saved } as unknown as Checkpoint);
  const checked = checkFit(resume ? resumedOptions(() => fingerprint, { ...options, resume }) : options);
  if (checked.method !== method) throw needsOnePiece('method', checked.method);
  const { resume: _, from, ...rest } = checked.options as { resume?: unknown; from?: unknown };
  if (from !== undefined) throw needsOnePiece('from');
  return rest as OptionsOfMethod<M>;
}

/** The error for an option that shards cannot serve. */
export function needsOnePiece(name: string, value = '', why = '') {
  const said = value && ` ${value}`;
  const reason = why && `, since ${why}`;
  return optionError`${option(name)}${said} needs the data in one piece${reason}; leave it out, or fit the data themselves instead of shards`;
}

/** Runs a fit on an engine, after all ranks have agreed on program, data, options and arithmetic. */
export function onAgreedEngine<T>(
  partition: PartitionedData,
  communicator: Communicator,
  settings: { readonly engine: EngineName; readonly features: number },
  saved: { readonly state: unknown } | undefined,
  { edges, threads }: { readonly edges: number; readonly threads: number | undefined },
  run: (local: CountingEngine, reason: EngineReason) => Promise<T>,
): Promise<T> {
  const work = { edges, features: settings.features };
  return onEngine(settings.engine, work, threads, async ({ engine: local, reason }) => {
    await requireAgreement(communicator, await arithmeticHash(local), partition, [settings, saved?.state]);
    return run(local, reason);
  });
}

/** Saves the state of a fit when rank 0 says that it is time, and when the fit is stopped. */
export function checkpointer<S>(
  communicator: Communicator,
  { checkpoint, onCheckpointError }: PartitionFitTask,
  save: (folder: string, state: S) => Promise<void>,
) {
  const due = everyMinutes(checkpoint?.minutes);
  return {
    /** Every rank calls it between two sweeps. */
    afterSweep:
      checkpoint &&
      (async (state: S) => {
        if (!(await anyRank(communicator, communicator.rank === 0 && due()))) return;
        await save(checkpoint.folder, state).catch((error: Error) => onCheckpointError?.(error));
      }),
    async stop(state: S, signal: AbortSignal | undefined): Promise<never> {
      if (checkpoint) await save(checkpoint.folder, state);
      throw abortReason(signal?.aborted ? signal : AbortSignal.abort());
    },
  };
}

export function edgesOfRank({ shards }: PartitionedData, communicator: Communicator): number {
  const { first, last } = shardsOfRank(shards.length, communicator);
  return shards.slice(first, last).reduce((sum, { edges }) => sum + edges, 0);
}

/** What a fit must know of the data, from what all shards add up to. */
export function partitionFacts(partition: PartitionedData): DataFacts {
  const { edges, total, multigraph, users, items, degrees } = partition;
  return {
    ...{ edges, total, multigraph, degreeCounts: degrees },
    users: { count: users },
    items: { count: items },
  };
}

/** The items as a model without users has them. */
export function itemVertices({ items, itemIds, itemDegree }: PartitionedData) {
  return Object.freeze({ count: items, ids: itemIds, degree: itemDegree });
}

/** The hash of the whole model, on every rank. */
export async function hashOfAllRanks(
  partition: PartitionedData,
  communicator: Communicator,
  { itemsModel, tablesOf }: Pick<FittedShards, 'itemsModel' | 'tablesOf'>,
  rows: RankRows | undefined,
): Promise<string> {
  const { first, last } = shardsOfRank(partition.shards.length, communicator);
  let users = NO_HASH;
  for (let s = 0; s < last - first; s++) {
    const ids = rows ? shardIds(rows, s) : (await readShard(partition, first + s)).ids;
    users = addHashes(users, usersState(ids, await tablesOf(s)));
  }
  // Sums of whole numbers are exact, so their last 32 bits are those of the whole.
  const sums = Float64Array.of(users.low, users.high);
  await communicator.sum(sums);
  return stateOf(itemsModel, { low: sums[0] | 0, high: sums[1] | 0 });
}
