// graphex fit on a folder of shards: by itself, or as one of the ranks that mpirun or srun has started. Rank 0 prints and
// writes; a rank that fails says which it is and ends all.

import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import { ALONE, type Communicator } from '../../comm/communicator.js';
import { launchedRanks, openMpi } from '../../comm/mpi.js';
import { AbortError, InputError } from '../../errors.js';
import type { Model } from '../../fit/model.js';
import { checkFit, type FitOptions } from '../../fit/options.js';
import { refuseTrimming } from '../../ingest/intake/trim.js';
import { FIT } from '../../options/commands/fit.js';
import { COMMANDS } from '../../options/commands.js';
import type { OptionsOf } from '../../options/declare.js';
import { option, optionError } from '../../options/error.js';
import { BASELINES } from '../../options/names.js';
import { READ } from '../../options/shared.js';
import { fitJson, fitText, refuseStorage } from '../../report/terminal/fit.js';
import { isStateFolder, removeState, requireStateFolder, stateFiles } from '../../shard/fit-state.js';
import { gatherModel } from '../../shard/gather-model.js';
import { modelFiles, saveModelShards } from '../../shard/model-folder.js';
import { fitShards, type ShardedFitOptions } from '../../shard/partition-ascent.js';
import { openPartition, type PartitionedData } from '../../shard/partition-folder.js';
import { fitRankingShards, type ShardedRankingOptions } from '../../shard/partition-ranking.js';
import { isCommonError, OtherRankError, prepareAllRanks } from '../../shard/rank-agreement.js';
import { isRankingState } from '../../shard/ranking-state.js';
import { saveModel } from '../../store/model-file.js';
import type { RankerStorage } from '../../store/ranker-tensors.js';
import { many } from '../../text/phrases.js';
import { oneLine } from '../../text/untrusted.js';
import { type CommandContext, type CommandOutput, inFlags } from '../command.js';
import { typedOptions } from '../flags.js';
import { checkOutputs } from '../outputs.js';
import { stoppedStatus } from '../signals.js';

/** How long a failed rank lets its message travel before it ends the others. */
const MESSAGE_MS = 200;

/** What a fit to parts takes no heed of, or cannot do. */
const REFUSED = ['tune', 'trials', 'evidence', 'from', 'blend'] as const;

/** Joins the other ranks where a launcher has started several. */
export async function runFitShards(
  command: Command,
  source: string,
  context: CommandContext,
): Promise<CommandOutput | undefined> {
  const launched = launchedRanks();
  const communicator = launched ? await openMpi(launched) : ALONE;
  const { rank, size, host } = communicator;
  if (size === 1) return fitAsRank(command, source, context, communicator);
  try {
    const quiet = { ...context, onProgress: () => {}, warn: () => {} };
    const output = await fitAsRank(command, source, rank === 0 ? context : quiet, communicator);
    await communicator.close();
    return output;
  } catch (error) {
    // A fit that was stopped is in order on every rank.
    if (error instanceof AbortError) {
      await communicator.close();
      if (rank === 0) throw error;
      process.exit(stoppedStatus());
    }
    const { message } = inFlags(command, error) as Error;
    // What all have, rank 0 says, and it has said it before any of them ends: a launcher ends all with the first.
    if (isCommonError(error)) {
      if (rank === 0) process.stderr.write(`error: ${oneLine(message)}\n`);
      await communicator.sum(Float64Array.of(0));
      await communicator.close();
      process.exit(2);
    }
    // Whoever has failed ends the others.
    if (error instanceof OtherRankError) return new Promise(() => {});
    process.stderr.write(`error: rank ${rank} of ${size} on ${host}: ${oneLine(message)}\n`);
    await new Promise((resolve) => setTimeout(resolve, MESSAGE_MS));
    communicator.abort(2);
    return new Promise(() => {});
  }
}

async function fitAsRank(
  command: Command,
  source: string,
  context: CommandContext,
  communicator: Communicator,
): Promise<CommandOutput | undefined> {
  const { rank, size } = communicator;
  const { values, parts, asked, forRanking, output, folder, goOn } = await prepareAllRanks(communicator, () =>
    checkCommand(command, source, context, communicator),
  );
  const { force, byShard } = values;
  const { threads, signal, onProgress, warn } = context;
  const { memory } = values;
  const options = {
    ...asked,
    ...(goOn === undefined ? { seed: context.seed } : { goOn }),
    ...{ threads, signal, onProgress },
    keep: { folder, minutes: values.checkpoint },
    ...(memory !== undefined && { within: { memory, path: output, byShard } }),
    onUnkept: ({ message }: Error) => warn(`the state of the fit cannot be kept: ${message}`),
  };
  const fit = forRanking
    ? fitRankingShards(parts, communicator, options as ShardedRankingOptions)
    : fitShards(parts, communicator, options as ShardedFitOptions);
  const fitted = await fit.catch(async (error) => {
    if (!signal.aborted && !(error instanceof AbortError)) throw error;
    throw new AbortError(
      (await isStateFolder(folder))
        ? `the fit was stopped; go on with --resume ${folder}`
        : 'the fit was stopped before it began',
    );
  });
  const result = byShard
    ? await saveModelShards(output, parts, communicator, fitted, force)
        .then((sides) =>
          rank === 0 ? { ...fitted, model: asReported(fitted.head, parts.users), sides } : undefined,
        )
        .finally(fitted.close)
    : await gatherModel(parts, communicator, fitted).finally(fitted.close);
  if (!result) return undefined;
  if (!byShard) await saveModel(output, result.model, storageOf(values));
  // The model is written: a state that cannot be removed is no failure.
  await removeState(folder).catch(() => undefined);
  return {
    json: {
      ...fitJson(result, undefined, undefined, undefined),
      ranks: size,
      shards: parts.shards.length,
      inTurn: fitted.inTurn,
      state: fitted.hash,
    },
    text: fitText(result, undefined, undefined, undefined, output),
  };
}

/** What was asked for, looked at by each rank before the first computes. */
async function checkCommand(
  command: Command,
  source: string,
  context: CommandContext,
  { rank, size }: Communicator,
) {
  const values = typedOptions(command, COMMANDS.fit.own);
  const { force, byShard } = values;
  const output = byShard ? withoutSlash(values.output!) : values.output!;
  const folder = `${output}.partial`;
  const goOn = values.resume === true ? folder : values.resume;
  const parts = await openPartition(source);
  const asked = typedOptions(command, FIT) as FitOptions;
  refuseBaseline(asked.method, source);
  if (goOn !== undefined) await requireStateFolder(goOn);
  const forRanking = goOn === undefined ? checkFit(asked).method === 'ranking' : await isRankingState(goOn);
  refuse(command, source, parts, { size, forRanking });
  const { length: shards } = parts.shards;
  if (rank === 0) {
    if (byShard) {
      const names = modelFiles(shards);
      await checkOutputs({ folder: { path: output, names }, inputs: [source, goOn], force });
    } else await checkOutputs({ files: [output], inputs: [source, goOn], force });
    await checkOutputs({ folder: { path: folder, names: stateFiles(shards) }, inputs: [source], force });
    warnOfParts(context, parts, asked as { readonly counts?: string }, {
      forRanking,
      begins: goOn === undefined,
      replaced: goOn === undefined && (await isStateFolder(folder)) ? folder : undefined,
    });
    if (size > 1 && availableParallelism() === 1 && context.threads === undefined) {
      context.warn(
        'a rank may use one core alone; Open MPI binds ranks to cores unless told --bind-to none, Slurm gives what --cpus-per-task says',
      );
    }
  }
  return { values, parts, asked, forRanking, output, folder, goOn };
}

/** What a fit of the data in one piece would do otherwise, and a state that is about to be lost. */
function warnOfParts(
  { warn }: CommandContext,
  { multigraph }: PartitionedData,
  { counts }: { readonly counts?: string | undefined },
  {
    forRanking,
    begins,
    replaced,
  }: {
    readonly forRanking: boolean;
    readonly begins: boolean;
    /** The folder of a state that the fit does not go on from. */
    readonly replaced: string | undefined;
  },
): void {
  if (multigraph && !forRanking && begins && (counts === undefined || counts === 'auto')) {
    warn(
      'counts are taken for Poisson: whether a law of their own fits better is only found out of data in one piece; without counts (partition without --multi) edges are fitted as there or not',
    );
  }
  if (replaced !== undefined) {
    warn(
      `${replaced} has the state of a fit that was stopped; this one begins anew and replaces it, --resume would go on`,
    );
  }
}

function refuseBaseline(method: string | undefined, source: string): void {
  if (!(BASELINES as readonly (string | undefined)[]).includes(method)) return;
  throw optionError`${option('method')} ${method!} needs the data in one piece, and ${source} is in parts; give the data themselves, or leave ${option('method')} out`;
}

/** A model whose users are elsewhere, for what is printed of it: it has so many. */
function asReported(head: Model, users: number): Model {
  return { ...head, users: { ...head.users, count: users } } as Model;
}

function withoutSlash(path: string): string {
  return path.length > 1 ? path.replace(/[/\\]+$/, '') : path;
}

function storageOf({ precision, usersInModel }: OptionsOf<typeof COMMANDS.fit.own>): RankerStorage {
  return { ...(precision && { precision }), ...(usersInModel && { users: usersInModel }) };
}

function refuse(
  command: Command,
  source: string,
  parts: PartitionedData,
  { size, forRanking }: { readonly size: number; readonly forRanking: boolean },
): void {
  const reading = typedOptions(command, READ);
  refuseTrimming(reading);
  for (const name of Object.keys(reading)) {
    throw optionError`${option(name)}: ${source} was read when it was partitioned; leave this option out, or give it to graphex partition`;
  }
  const given: Readonly<Record<string, unknown>> = typedOptions(command, { ...FIT, ...COMMANDS.fit.own });
  for (const name of REFUSED) {
    // That no evidence is wanted, or no blend, is as it is.
    if (given[name] === undefined || given[name] === false) continue;
    throw optionError`${option(name)} needs the data in one piece, and ${source} is in parts; leave it out`;
  }
  const values = typedOptions(command, COMMANDS.fit.own);
  const storage = storageOf(values);
  if (!forRanking) refuseStorage(storage);
  if (values.byShard && Object.keys(storage).length > 0) {
    throw optionError`${option('precision')} and ${option('usersInModel')} are for a model in one file; leave them out, and give them to graphex merge`;
  }
  if (forRanking && values.memory !== undefined) {
    throw optionError`${option('memory')} does not go with ${option('method')} ranking, which holds all shards; leave it out, and start more processes if they do not fit`;
  }
  if (size > parts.shards.length) {
    throw new InputError(
      `${source} has ${many(parts.shards.length, 'shard')}, and ${size} ranks were started, of which some would have none; partition into more, or start fewer`,
    );
  }
}
