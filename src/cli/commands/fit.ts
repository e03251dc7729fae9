// graphex fit: data or a split's training part → a model file.

import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AbortError, FitError, InputError } from '../../errors.js';
import type { Checkpoint } from '../../fit/ascent/loop.js';
import { missingUsers, successorOptions } from '../../fit/ascent/previous.js';
import { type SparsityEvidence, sparsityEvidence } from '../../fit/choose/sparsity-evidence.js';
import { type FitResult, fit, resolveOptions } from '../../fit/fit.js';
import type { Model } from '../../fit/model.js';
import { checkFit, type FitOptions } from '../../fit/options.js';
import {
  LostFitError,
  numbersUnderWay,
  statesUnderWay,
  type UnfinishedFit,
  unfinishedFit,
} from '../../fit/unfinished.js';
import { fingerprint } from '../../graph/fingerprint.js';
import type { BipartiteGraph } from '../../graph/graph.js';
import { FIT, FIT_COMMAND, NO_SETTING, NOT_OF_BASELINES, takersOf } from '../../options/commands/fit.js';
import { option, optionError } from '../../options/error.js';
import { type BaselineName, isBaseline } from '../../options/names.js';
import { listOptions, valueAt } from '../../options/option-list.js';
import type { Progress } from '../../progress.js';
import { fitJson, fitText } from '../../report/terminal/fit.js';
import { isPartitionFolder } from '../../shard/partition-folder.js';
import { trainPartition } from '../../shard/split-partition.js';
import { isSavedFit, loadModelFile, saveModel } from '../../store/model-file.js';
import { list } from '../../text/phrases.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import { type CommandContext, declareCommand, type TypedOptions } from '../command.js';
import { infoJson, infoText, readInfo, withInfo } from '../info-options.js';
import { checkOutputs } from '../outputs.js';
import { refuseStorage, storageOf } from '../ranker-storage.js';
import { refuseRanks } from '../ranks.js';
import { dataArgument } from '../read-data.js';
import { timesFor, trainingData } from './fit-data.js';

export const register = declareCommand(
  'fit',
  {
    description:
      'Fits the Poisson matrix model to data or to the training part of a split, with a prior for each side.',
    takes: {
      '<data...>':
        'files, a recipe, a built-in set, or a folder made by `graphex split` (its training part) or `graphex partition`',
    },
    examples: [
      'graphex fit ratings.csv -o model.safetensors',
      'graphex fit split/ -k 50 --model dense -o dense.safetensors',
      'graphex fit split/ --method ranking --average 4 -o ranker.safetensors',
      'graphex fit ratings.csv --method ease -o ease.safetensors',
      'graphex fit until-today.csv --from yesterday.safetensors -o today.safetensors',
    ],
  },
  (context, typed, given: string[]) => run(typed, given, context),
);

async function run(typed: TypedOptions<'fit'>, given: readonly string[], context: CommandContext) {
  if (given.length === 1) {
    const parts = (await isPartitionFolder(given[0])) ? given[0] : await trainPartition(given[0]);
    if (parts !== undefined) {
      // Modules that few fits need are loaded on demand.
      const { runFitShards } = await import('./fit-shards.js');
      return runFitShards(typed, parts, context);
    }
  }
  await refuseRanks('fit', given[0]);
  const { sources } = await dataArgument(given);
  const { own: values, options: fitting, read: reader } = typed;
  if (values.memory !== undefined) {
    throw optionError`${option('memory')} is for partitioned data; run npx graphex partition ${given[0]} -o shards first, then fit shards`;
  }
  if (values.byShard) {
    throw optionError`${option('byShard')} is for partitioned data; leave it out, or run npx graphex partition ${given[0]} -o shards first, then fit shards`;
  }
  const { itemInfo, userInfo } = values;
  const output = values.output!;
  const partial = `${output}.partial`;
  const { rejects, database } = reader;
  const { force } = values;
  const resume = values.resume === true ? partial : values.resume;
  if (resume !== undefined) await requireStateFile(resume);
  // Outputs appear whole or not at all, so the new model may replace the one that it starts from.
  await checkOutputs({
    files: [output, rejects],
    inputs: [...sources, database, resume, itemInfo, userInfo],
    force,
  });
  requireFileFor(partial);
  // The state of an interrupted fit may replace the state from which it continued.
  await checkOutputs({ files: [partial], inputs: [...sources, values.from], force });
  const { graph, read, times } = await trainingData(sources, reader, context, values.time);
  const about = await readInfo({ ...values, database }, graph, context);
  const { task } = context;
  const storage = storageOf(values);
  const report = (result: FitResult, described: Model, evidence?: SparsityEvidence, previous?: Model) => {
    const names = graph.names ?? USERS_AND_ITEMS;
    // After a fit to the training part of a split: evaluate. After a fit to data: recommend.
    const next = read ? ['recommend', output, '--user', 'ID'] : ['evaluate', output, given[0]];
    return {
      json: { ...fitJson(result, evidence, read), ...infoJson(about, described) },
      text: fitText(result, evidence, read, output, previous, next, infoText(about, names, described)),
    };
  };
  const { method } = fitting as { readonly method?: string };
  if (isBaseline(method)) {
    const { trials } = values;
    refuseOptions(typed, method);
    const { seed } = context;
    const { fitBaseline } = await import('../../evaluate/baselines/fit-baseline.js');
    const result = await fitBaseline(graph, method, { trials, seed, ...task });
    const described = await withInfo(result.model, about, context);
    await saveModel(output, described, storage);
    const { json, text } = report(result, described);
    return { json: { ...json, method, setting: result.setting }, text };
  }
  if (values.trials !== undefined) {
    throw optionError`${option('trials')} is for baselines: leave it out, or choose one with ${option('method')}`;
  }
  const from = values.from === undefined ? undefined : (await loadModelFile(values.from)).model;
  const missing = from && missingUsers(from, graph);
  if (missing) context.warn(`${missing.text}; --from takes all data, not only the new rows`);
  const said = { ...fitting, ...task } as FitOptions;
  // The previous model determines the method, which determines how the new model can be stored.
  const whole = from ? successorOptions({ ...said, from } as FitOptions & { from: Model }) : said;
  const asked = {
    ...whole,
    ...timesFor(whole as { halfLife?: string }, resume, values.time, times, read),
  } as FitOptions;
  const keeper = keepStates(partial, context);
  const canGoOn = resume !== undefined || checkFit(asked).method !== 'gibbs';
  const options = {
    ...asked,
    // A resumed fit keeps its seed; a seed that is given must be the same.
    ...(resume === undefined ? { seed: context.seed } : { resume: await savedState(resume, graph) }),
    ...(canGoOn ? { onCheckpoint: keeper.keep, checkpointMinutes: values.checkpoint } : {}),
  } as FitOptions;
  if (checkFit(resolveOptions(graph, options)).method !== 'ranking') refuseStorage(storage);
  if (resume === undefined && (await isSavedFit(partial))) {
    context.warn(`${partial} holds an interrupted fit; this fit starts again, --resume would continue it`);
  }
  const result = await fit(graph, options).catch((error) => keepUnfinished(error, partial));
  const { model } = result;
  const described = await withInfo(model, about, context, from);
  await saveModel(output, described, storage);
  // The model is written, so a state that cannot be removed is not a failure.
  const resumed = resume !== undefined && resolve(resume) === resolve(partial);
  if (keeper.kept() || resumed) await rm(partial).catch(() => undefined);
  const wantsEvidence =
    values.evidence !== false &&
    model.type === 'posterior' &&
    model.kind === 'sparse' &&
    result.checkpoint?.method === 'ascent';
  const onProgress = (progress: Progress) =>
    context.onProgress({ ...progress, stage: 'comparing with dense' });
  const evidence = wantsEvidence
    ? await sparsityEvidence(graph, result, { ...task, onProgress }).catch((error) => {
        if (!context.signal.aborted) throw error;
        throw new AbortError(`${output} is written, without the comparison with a dense fit`);
      })
    : undefined;
  if (evidence && model.type === 'posterior') {
    await saveModel(output, {
      ...model,
      info: described.info,
      provenance: { ...model.provenance, evidence },
    });
  }
  return report(result, described, evidence, from);
}

/** Refuses options that a baseline would ignore: it finds its setting on held-back users. */
function refuseOptions({ own, options }: TypedOptions<'fit'>, method: BaselineName): void {
  const given = { ...options, ...own };
  for (const { path } of listOptions({ ...FIT, ...FIT_COMMAND })) {
    const name = path.join('.');
    const none =
      method === 'popularity' && (name === 'trials' || NOT_OF_BASELINES[name] === NOT_OF_BASELINES.features);
    if ((BASELINE_TAKES.has(name) && !none) || valueAt(given, path) === undefined) continue;
    const why = NOT_OF_BASELINES[name] ?? `it belongs to ${takersOf(name)}`;
    throw optionError`${option(name)} does not go with ${option('method')} ${method}: ${none ? NO_SETTING : why}; leave it out`;
  }
}

const BASELINE_TAKES = new Set([
  'method',
  'seed',
  'output',
  'force',
  'trials',
  'precision',
  'usersInModel',
  'itemInfo',
  'userInfo',
  'infoColumns',
]);

function whereStopped({ model, checkpoint: saved }: UnfinishedFit): string {
  const { average = 1 } = model.provenance.options as { average?: number };
  const several = saved.method === 'ranking' && average > 1;
  const states = saved.method === 'ranking' ? statesUnderWay(saved) : [saved];
  const plural = states.length > 1 ? 's' : '';
  const which = several
    ? ` of fit${plural} ${list(numbersUnderWay(saved).map((run) => String(run + 1)))} of ${average}`
    : '';
  return `stopped at iteration${plural} ${list(states.map(({ state }) => String(state.iteration)))}${which}`;
}

/** Saves the state of a long fit next to its output. A failed save only warns, as when the disk is full. */
function keepStates(partial: string, { warn }: CommandContext) {
  let kept = false;
  let warned = false;
  return {
    kept: () => kept,
    async keep({ model, checkpoint }: UnfinishedFit): Promise<void> {
      try {
        await saveModel(partial, model, { checkpoint });
        kept = true;
      } catch (error) {
        if (!warned) warn(`the state of the fit cannot be kept: ${(error as Error).message}`);
        warned = true;
      }
    },
  };
}

/** Saves the state that an interruption or a lost GPU has left. */
async function keepUnfinished(error: unknown, partial: string): Promise<never> {
  const left = unfinishedFit(error);
  if (!left) throw error;
  const { model, checkpoint } = left;
  await saveModel(partial, model, { checkpoint });
  if (!(error instanceof LostFitError)) {
    throw new AbortError(`${whereStopped(left)}; continue with --resume ${partial}`);
  }
  throw new FitError(
    `${error.message}; the state after ${checkpoint.state.iteration} iterations is kept: add --resume ${partial}`,
  );
}

/** The error for a folder in place of a saved state says what the folder is. */
async function requireStateFile(path: string): Promise<void> {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const { methodOfState } = await import('../../shard/fit-state.js');
  const what = (await methodOfState(path))
    ? 'this is the state of a fit to shards; fit the folder of these shards'
    : 'this is a folder, but the state of this fit is a file; check the path';
  throw new InputError(`${path}: ${what}, or start again without --resume`);
}

/** Throws if a folder has the name of the state file. Nobody gave that name, so the remedy is another output. */
function requireFileFor(partial: string): void {
  if (!statSync(partial, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new InputError(
    `${partial}: this is a folder, but the state of the fit is saved in a file of this name; move it away, or choose another name for the model`,
  );
}

/** The state to continue from. */
async function savedState(path: string, graph: BipartiteGraph): Promise<Checkpoint> {
  const { checkpoint } = await loadModelFile(path);
  if (!checkpoint) {
    throw new InputError(`--resume ${path}: this is a finished model; only an interrupted fit can continue`);
  }
  if (checkpoint.origin.fingerprint !== fingerprint(graph)) {
    throw new InputError(`--resume ${path}: it was fitted to other data; continue with the same data`);
  }
  return checkpoint;
}
