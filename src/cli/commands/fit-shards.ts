// graphex fit on a partitioned data set: alone, or as one of the ranks that mpirun or srun has started. Rank 0 prints and
// writes; a rank that fails reports its number and ends all.

import { availableParallelism } from 'node:os';
import { ALONE, type Communicator } from '../../comm/communicator.js';
import { launchedRanks, openMpi } from '../../comm/mpi.js';
import { AbortError, InputError } from '../../errors.js';
import type { Model } from '../../fit/model.js';
import { checkFit, type FitOptions } from '../../fit/options.js';
import { refuseTrimming } from '../../ingest/intake/trim.js';
import { option, optionError } from '../../options/error.js';
import { isBaseline } from '../../options/names.js';
import { fitJson, fitText } from '../../report/terminal/fit.js';
import { type FitShardsOptions, fitShards, memoryWithRanking } from '../../shard/fit-partition.js';
import { methodOfState, removeState, requireState, stateFiles } from '../../shard/fit-state.js';
import { gatherModel } from '../../shard/gather-model.js';
import { modelFiles, saveModelShards } from '../../shard/model-folder.js';
import { openPartition, type PartitionedData } from '../../shard/partition-folder.js';
import { isCommonError, OtherRankError, prepareAllRanks } from '../../shard/rank-agreement.js';
import { saveModel } from '../../store/model-file.js';
import { many } from '../../text/phrases.js';
import { oneLine } from '../../text/untrusted.js';
import type { CommandContext, CommandOutput, TypedOptions } from '../command.js';
import { checkOutputs } from '../outputs.js';
import { refuseStorage, storageOf } from '../ranker-storage.js';
import { refuseReading } from '../read-data.js';
import { stoppedStatus } from '../signals.js';

/** How long a failed rank waits for its message to arrive before it ends the others. */
const MESSAGE_MS = 200;

/** Options that need the data in one piece. */
const REFUSED = ['trials', 'evidence', 'from', 'blend', 'halfLife', 'time', 'itemInfo', 'userInfo'] as const;

/** Joins the other ranks if a launcher has started several. */
export async function runFitShards(
  typed: TypedOptions<'fit'>,
  source: string,
  context: CommandContext,
): Promise<CommandOutput | undefined> {
  const launched = launchedRanks();
  const communicator = launched ? await openMpi(launched) : ALONE;
  const { rank, size, host } = communicator;
  if (size === 1) return fitAsRank(typed, source, context, communicator);
  try {
    const silent = { ...context.task, onProgress: () => {} };
    const quiet = { ...context, ...silent, task: silent, warn: () => {} };
    const output = await fitAsRank(typed, source, rank === 0 ? context : quiet, communicator);
    await communicator.close();
    return output;
  } catch (error) {
    // A stopped fit is not an error on any rank.
    if (error instanceof AbortError) {
      await communicator.close();
      if (rank === 0) throw error;
      process.exit(stoppedStatus());
    }
    const { message } = context.inFlags(error) as Error;
    // Rank 0 reports an error of all ranks before any rank ends, because a launcher ends all ranks with the first.
    if (isCommonError(error)) {
      if (rank === 0) process.stderr.write(`error: ${oneLine(message)}\n`);
      await communicator.sum(Float64Array.of(0));
      await communicator.close();
      process.exit(2);
    }
    // The failed rank ends the others.
    if (error instanceof OtherRankError) return new Promise(() => {});
    process.stderr.write(`error: rank ${rank} of ${size} on ${host}: ${oneLine(message)}\n`);
    await new Promise((resolve) => setTimeout(resolve, MESSAGE_MS));
    communicator.abort(2);
    return new Promise(() => {});
  }
}

async function fitAsRank(
  typed: TypedOptions<'fit'>,
  source: string,
  context: CommandContext,
  communicator: Communicator,
): Promise<CommandOutput | undefined> {
  const { rank, size } = communicator;
  const { values, partition, asked, output, folder, resumeFolder } = await prepareAllRanks(communicator, () =>
    checkCommand(typed, source, context, communicator),
  );
  const { force, byShard } = values;
  const { task, signal, warn } = context;
  const { memory } = values;
  const options = {
    ...asked,
    ...(resumeFolder === undefined ? { seed: context.seed } : { resumeFolder }),
    ...task,
    checkpoint: { folder, minutes: values.checkpoint },
    ...(memory !== undefined && { within: { memory, path: output, byShard } }),
    onCheckpointError: ({ message }: Error) => warn(`the state of the fit cannot be saved: ${message}`),
  };
  const fitted = await fitShards(partition, communicator, options as FitShardsOptions).catch(
    async (error) => {
      if (!signal.aborted && !(error instanceof AbortError)) throw error;
      throw new AbortError(
        (await methodOfState(folder))
          ? `the fit was stopped; continue with --resume ${folder}`
          : 'the fit was stopped before it started',
      );
    },
  );
  const result = byShard
    ? await saveModelShards(output, partition, communicator, fitted, force)
        .then((sides) =>
          rank === 0
            ? { ...fitted, model: asReported(fitted.itemsModel, partition.users), sides }
            : undefined,
        )
        .finally(fitted.close)
    : await gatherModel(partition, communicator, fitted).finally(fitted.close);
  if (!result) return undefined;
  if (!byShard) await saveModel(output, result.model, storageOf(values));
  // The model is written, so a state that cannot be removed is not a failure.
  await removeState(folder).catch(() => undefined);
  return {
    json: {
      ...fitJson(result, undefined, undefined),
      ranks: size,
      shards: partition.shards.length,
      inTurn: fitted.streamedShards,
      state: fitted.stateHash,
    },
    text: fitText(result, undefined, undefined, output),
  };
}

/** Checks the command on each rank before any rank computes. */
async function checkCommand(
  typed: TypedOptions<'fit'>,
  source: string,
  context: CommandContext,
  { rank, size }: Communicator,
) {
  const { own: values } = typed;
  const { force, byShard } = values;
  const output = byShard ? withoutSlash(values.output!) : values.output!;
  const folder = `${output}.partial`;
  const resumeFolder = values.resume === true ? folder : values.resume;
  const partition = await openPartition(source);
  const asked = typed.options as FitOptions;
  if (isBaseline(asked.method)) {
    throw optionError`${option('method')} ${asked.method} needs the data in one piece, and ${source} is in shards; fit the data themselves, or leave ${option('method')} out`;
  }
  const method = resumeFolder === undefined ? checkFit(asked).method : await requireState(resumeFolder);
  const forRanking = method === 'ranking';
  refuse(typed, source, partition, { size, forRanking });
  const { length: shards } = partition.shards;
  if (rank === 0) {
    if (byShard) {
      const names = modelFiles(shards);
      await checkOutputs({ folder: { path: output, names }, inputs: [source, resumeFolder], force });
    } else await checkOutputs({ files: [output], inputs: [source, resumeFolder], force });
    await checkOutputs({ folder: { path: folder, names: stateFiles(shards) }, inputs: [source], force });
    if (resumeFolder === undefined) {
      const { counts = 'auto' } = asked as { readonly counts?: string };
      if (partition.multigraph && !forRanking && counts === 'auto') {
        context.warn(
          'counts are fitted as Poisson counts: only data in one piece can show whether another prior fits better; partition without --multi to fit edges without counts',
        );
      }
      if (await methodOfState(folder)) {
        context.warn(
          `${folder} holds the state of a stopped fit; this fit starts again and replaces it, --resume would continue it`,
        );
      }
    }
    if (size > 1 && availableParallelism() === 1 && context.threads === undefined) {
      context.warn(
        'a rank may use only one core; pass --bind-to none to Open MPI, or --cpus-per-task to Slurm',
      );
    }
  }
  return { values, partition, asked, output, folder, resumeFolder };
}

/** A model whose users are in other files, with their number, for the report. */
function asReported(head: Model, users: number): Model {
  return { ...head, users: { ...head.users, count: users } } as Model;
}

function withoutSlash(path: string): string {
  let end = path.length;
  while (end > 1 && (path[end - 1] === '/' || path[end - 1] === '\\')) end--;
  return path.slice(0, end);
}

function refuse(
  { own: values, options, read }: TypedOptions<'fit'>,
  source: string,
  partition: PartitionedData,
  { size, forRanking }: { readonly size: number; readonly forRanking: boolean },
): void {
  refuseTrimming(read);
  refuseReading(source, read, 'partition');
  const given: Readonly<Record<string, unknown>> = { ...options, ...values };
  for (const name of REFUSED) {
    // A fit to shards has no evidence and no blend, so false is fine.
    if (given[name] === undefined || given[name] === false) continue;
    throw optionError`${option(name)} needs the data in one piece, and ${source} is in shards; leave it out`;
  }
  const storage = storageOf(values);
  if (!forRanking) refuseStorage(storage);
  if (values.byShard && Object.keys(storage).length > 0) {
    throw optionError`${option('precision')} and ${option('usersInModel')} are for a model in one file; leave them out, and give them to graphex merge`;
  }
  if (forRanking && values.memory !== undefined) throw memoryWithRanking();
  if (size > partition.shards.length) {
    throw new InputError(
      `${source} has ${many(partition.shards.length, 'shard')}, and ${size} ranks were started; partition into more shards, or start fewer ranks`,
    );
  }
}
