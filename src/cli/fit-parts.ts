// graphex fit on a folder of shards: by itself, or as one of the ranks that mpirun or srun has started. Rank 0 prints and
// writes; a rank that fails says which it is and ends all.

import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import { ALONE, type Communicator } from '../comm/communicator.js';
import { launchedRanks, openMpi } from '../comm/mpi.js';
import { AbortError, InputError } from '../errors.js';
import type { FitOptions } from '../fit/options.js';
import { option, optionError } from '../options/error.js';
import { FIT } from '../options/fit.js';
import { READ } from '../options/shared.js';
import { COMMANDS } from '../options/verbs.js';
import { fitParts, type PartsFitOptions } from '../shard/fit.js';
import { gatherModel } from '../shard/model.js';
import { openParts, type Parts } from '../shard/parts.js';
import { isStateFolder, stateFiles } from '../shard/state.js';
import { saveModel } from '../store/model.js';
import { many } from '../text/phrases.js';
import { oneLine } from '../text/untrusted.js';
import type { CommandContext, CommandOutput } from './command.js';
import { fitJson, fitText } from './fit-output.js';
import { typedOptions } from './flags.js';
import { checkOutputs } from './outputs.js';
import { stoppedStatus } from './signals.js';

/** How long a failed rank lets its message travel before it ends the others. */
const MESSAGE_MS = 200;

/** What a fit to parts takes no heed of, or cannot do. */
const REFUSED = ['tune', 'trials', 'precision', 'usersInModel', 'evidence', 'from'] as const;

/** Joins the other ranks where a launcher has started several. */
export async function runFitParts(
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
    const { message } = error as Error;
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
  const values = typedOptions(command, COMMANDS.fit.own);
  const { output = '', force } = values;
  const folder = `${output}.partial`;
  const goOn = values.resume === true ? folder : values.resume;
  const parts = await openParts(source);
  refuse(command, source, parts, size);
  if (rank === 0) {
    await checkOutputs({ files: [output], inputs: [source, goOn], force });
    const names = stateFiles(parts.shards.length);
    await checkOutputs({ folder: { path: folder, names }, inputs: [source], force });
    if (size > 1 && availableParallelism() === 1 && context.threads === undefined) {
      context.warn(
        'a rank may use one core alone; Open MPI binds ranks to cores unless told --bind-to none, Slurm gives what --cpus-per-task says',
      );
    }
  }
  const { threads, signal, onProgress, warn } = context;
  const options = {
    ...(typedOptions(command, FIT) as FitOptions),
    ...(goOn === undefined ? { seed: context.seed } : { goOn }),
    ...{ threads, signal, onProgress },
    keep: { folder, minutes: values.checkpoint },
    ...(values.memory !== undefined && { within: { memory: values.memory, path: output } }),
    onUnkept: ({ message }: Error) => warn(`the state of the fit cannot be kept: ${message}`),
  } as PartsFitOptions;
  const fitted = await fitParts(parts, communicator, options).catch(async (error) => {
    if (!signal.aborted && !(error instanceof AbortError)) throw error;
    throw new AbortError(
      (await isStateFolder(folder))
        ? `the fit was stopped; go on with --resume ${folder}`
        : 'the fit was stopped before it began',
    );
  });
  const result = await gatherModel(parts, communicator, fitted).finally(fitted.close);
  if (!result) return undefined;
  await saveModel(output, result.model);
  // The model is written: a state that cannot be removed is no failure.
  await rm(folder, { recursive: true, force: true }).catch(() => undefined);
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

function refuse(command: Command, source: string, parts: Parts, size: number): void {
  for (const name of Object.keys(typedOptions(command, READ))) {
    throw optionError`${option(name)}: ${source} was read when it was partitioned; leave this option out, or give it to graphex partition`;
  }
  const own = typedOptions(command, COMMANDS.fit.own) as Readonly<Record<string, unknown>>;
  for (const name of REFUSED) {
    // That no evidence is wanted is as it is.
    if (own[name] === undefined || own[name] === false) continue;
    throw optionError`${option(name)} needs the data in one piece, and ${source} is in parts; leave it out`;
  }
  if (size > parts.shards.length) {
    throw new InputError(
      `${source} has ${many(parts.shards.length, 'shard')}, and ${size} ranks were started, of which some would have none; partition into more, or start fewer`,
    );
  }
}

/** Several processes that do the same work would write the same file. */
export function refuseRanks(source: string): void {
  const launched = launchedRanks();
  if (!launched) return;
  throw new InputError(
    `${source}: ${launched.size} processes were started (${launched.by}), and each would do all of the work; run graphex partition ${source} -o parts once, then fit parts`,
  );
}
