// graphex fit: data or a split's training part → a model file.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { Option } from 'commander';
import { ENGINE_NAMES, type EngineName } from '../engine/select.js';
import { AbortError, FitError, InputError } from '../errors.js';
import { type TunedRanking, tuneRanking } from '../evaluate/tune.js';
import { LostFitError } from '../fit/ascent.js';
import { sparsityEvidence } from '../fit/evidence.js';
import { fit } from '../fit/fit.js';
import type { Checkpoint } from '../fit/loop.js';
import type { FitOptions } from '../fit/options.js';
import { refitOptions } from '../fit/refit.js';
import { fingerprint } from '../graph/fingerprint.js';
import { type BipartiteGraph, SIDES } from '../graph/graph.js';
import type { ReadResult } from '../ingest/options.js';
import { readGraph } from '../ingest/read.js';
import { loadModelFile, type ModelFile, saveModel } from '../store/model.js';
import { loadSplit } from '../store/split.js';
import {
  addCommonOptions,
  addDataOptions,
  type CommandContext,
  DATA_GROUP,
  dataOptions,
  decimalNumber,
  runCommand,
  wholeNumber,
} from './command.js';
import { fitJson, fitText } from './fit-output.js';
import { addForce, checkOutputs } from './outputs.js';

const HYPER = [
  ['sigma', 'tail index of the GGP, below 1', { below: 1 }],
  ['size', 'size of the GGP; 0: no unseen vertices', { min: 0 }],
  ['tau', 'tilt of the GGP', { above: 0 }],
  ['shape', 'Gamma shape of the features', { above: 0 }],
  ['rate', 'Gamma rate of the features', { above: 0 }],
] as const;

export function register(program: Command): void {
  const command = program
    .command('fit')
    .description('Fits the sparse or dense Poisson matrix model to data or to the training part of a split.')
    .argument(
      '<data>',
      'a file, a recipe, a built-in set, or a folder made by `graphex split` (its training part)',
    )
    .requiredOption('-o, --output <file>', 'the model file to write (safetensors)')
    .option(
      '-k, --features <n>',
      'number of features (default: 30; for ranking by the size of the data)',
      wholeNumber('-k', { min: 1, max: 512 }),
    )
    .addOption(new Option('--model <kind>', 'sparse or dense (default: sparse)').choices(['sparse', 'dense']))
    .addOption(
      new Option(
        '--objective <name>',
        'evidence: the Bayesian fit; ranking: cross-fitted for recommending (default: evidence)',
      ).choices(['evidence', 'ranking']),
    )
    .option(
      '--iterations <n>',
      'most iterations (default: 400; for ranking 40)',
      wholeNumber('--iterations', { min: 1 }),
    )
    .option(
      '--tolerance <x>',
      'stop when the bound (for ranking the likelihood of items given users who never saw them) changes by less than ' +
        'this, relatively, per iteration (default: 1e-5; for ranking 1e-3)',
      decimalNumber('--tolerance', { above: 0 }),
    )
    .addOption(
      new Option('--engine <name>', 'what computes (default: auto)').choices([...ENGINE_NAMES, 'gibbs']),
    )
    .addOption(new Option('--start <kind>', 'where to begin (default: warm)').choices(['warm', 'cold']))
    .option(
      '--restarts <n>',
      'fit from n seeds, keep the best bound (default: 1)',
      wholeNumber('--restarts', { min: 1 }),
    )
    .option(
      '--learn <list>',
      'maximize the bound over these: sigma,size,tau,shape,rate, or users.sigma, …',
      commaList,
    )
    .addOption(
      new Option('--sizes <way>', 'how sizes that are not given are found (default: bound)').choices([
        'bound',
        'paper',
      ]),
    )
    .option(
      '--folds <n>',
      'ranking: folds of the items, each fitted to users who never saw it (default: 3)',
      wholeNumber('--folds', { min: 2, max: 100 }),
    )
    .option(
      '--average <n>',
      'ranking: add the scores of fits from n seeds (default: 1)',
      wholeNumber('--average', { min: 1, max: 100 }),
    )
    .option(
      '--tune [minutes]',
      'ranking: first search features and shapes on held-back users, beginning no fit after so many minutes (default: 10)',
      decimalNumber('--tune', { above: 0 }),
    )
    .option('--no-evidence', 'do not compare the bound with that of a dense fit')
    .option('--resume <file>', 'go on from a state that an interrupted fit has left');
  for (const side of SIDES) {
    for (const [name, meaning, range] of HYPER) {
      const flag = `--${name}-${side}`;
      command.addOption(
        new Option(
          `${flag} <x>`,
          `${meaning}${name === 'sigma' || name === 'size' ? ' (default: estimated)' : ''}`,
        )
          .argParser(decimalNumber(flag, range))
          .helpGroup('Hyperparameters:'),
      );
    }
  }
  addForce(command);
  addDataOptions(command);
  addCommonOptions(command, [
    'graphex fit ratings.csv -o model.safetensors',
    'graphex fit split/ -k 50 --model dense -o dense.safetensors',
    'graphex fit split/ --objective ranking --tune --average 4 -o ranker.safetensors',
  ]);
  command.action(async (source: string) => {
    await runCommand(command, (context) => run(command, source, context));
  });
}

function commaList(text: string): string[] {
  return text.split(',').filter((part) => part.trim() !== '');
}

async function run(command: Command, source: string, context: CommandContext) {
  const values = command.opts();
  const partial = `${values.output}.partial`;
  const { force } = values;
  await checkOutputs({ files: [values.output, values.rejects], inputs: [source, values.resume], force });
  // The state of an interrupted fit may replace the one that it went on from.
  await checkOutputs({ files: [partial], inputs: [source], force });
  const { graph, read } = await trainingData(command, source, context);
  if (values.resume && values.tune !== undefined) {
    throw new InputError(
      '--tune cannot be given with --resume: a saved fit goes on with the settings that it has; leave --tune out',
    );
  }
  const saved = values.resume ? await loadModelFile(values.resume) : undefined;
  const options: FitOptions = {
    ...(saved ? savedOptions(saved, values.resume, graph) : {}),
    ...fitOptions(values),
    seed: saved ? saved.model.provenance.seed : context.seed,
    threads: context.threads,
    signal: context.signal,
    onProgress: context.onProgress,
  };
  const tuned = values.tune === undefined ? undefined : await tuneFirst(graph, values.tune, options);
  const result = await fit(graph, { ...options, ...tuned?.options }).catch((error) =>
    keepLost(error, partial),
  );
  if (result.stopped === 'aborted') {
    await saveModel(partial, result.model, { checkpoint: result.checkpoint });
    throw new AbortError(`${whereStopped(result.checkpoint!, options)}; go on with --resume ${partial}`);
  }
  await saveModel(values.output, result.model);
  const { model } = result;
  const wantsEvidence = values.evidence && model.type === 'posterior' && model.kind === 'sparse';
  const evidence = wantsEvidence
    ? await sparsityEvidence(graph, result, { ...options, onProgress: relabel(context) })
    : undefined;
  if (wantsEvidence && context.signal.aborted) {
    throw new AbortError(`${values.output} is written, without the comparison with a dense fit`);
  }
  if (evidence && model.type === 'posterior') {
    await saveModel(values.output, { ...model, provenance: { ...model.provenance, evidence } });
  }
  return {
    json: fitJson(result, evidence, tuned, read),
    text: fitText(result, evidence, tuned, read, values.output),
  };
}

function whereStopped(saved: Checkpoint, { average = 1 }: FitOptions): string {
  const which =
    saved.method === 'ranking' && average > 1 ? ` of fit ${saved.done.length + 1} of ${average}` : '';
  return `stopped at iteration ${saved.state.iteration}${which}`;
}

/** What a lost GPU has left goes to the disk, as after an interruption. */
async function keepLost(error: unknown, partial: string): Promise<never> {
  if (!(error instanceof LostFitError)) throw error;
  const { model, checkpoint } = error.result;
  await saveModel(partial, model, { checkpoint });
  throw new FitError(
    `${error.message}; the state after ${checkpoint.state.iteration} iterations is kept: add --resume ${partial}`,
  );
}

/** Searches what the command line leaves open. */
function tuneFirst(
  graph: BipartiteGraph,
  minutes: number | true,
  options: FitOptions,
): Promise<TunedRanking> {
  const { objective, features, users, items, engine, average, seed, threads, signal, onProgress, ...rest } =
    options;
  if (objective !== 'ranking') {
    throw new InputError(
      '--tune searches settings for ranking: add --objective ranking, or leave --tune out',
    );
  }
  if (features !== undefined || users !== undefined || items !== undefined) {
    throw new InputError(
      '--tune finds the number of features and the hyperparameters: leave out -k and those of users and items',
    );
  }
  return tuneRanking(graph, {
    ...(minutes === true ? {} : { budgetMinutes: minutes }),
    engine: engine as EngineName | undefined,
    fit: rest,
    seed,
    threads,
    signal,
    onProgress,
  });
}

function relabel(context: CommandContext): FitOptions['onProgress'] {
  return (progress) => context.onProgress({ ...progress, stage: 'comparing with dense' });
}

/** The graph, and how it was read where it was read from a table or a recipe. */
async function trainingData(
  command: Command,
  source: string,
  context: CommandContext,
): Promise<{ readonly graph: BipartiteGraph; readonly read: ReadResult | undefined }> {
  if (isSplitFolder(source)) {
    refuseDataOptions(command, source);
    return { graph: (await loadSplit(source, context)).train, read: undefined };
  }
  const read = await readGraph(source, {
    ...dataOptions(command),
    signal: context.signal,
    onProgress: context.onProgress,
    threads: context.threads,
  });
  return { graph: read.graph, read };
}

/** A split was read when it was made: what would be ignored is refused. */
function refuseDataOptions(command: Command, source: string): void {
  for (const option of command.options) {
    if (option.helpGroupHeading !== DATA_GROUP) continue;
    if (command.getOptionValueSource(option.attributeName()) !== 'cli') continue;
    throw new InputError(
      `${option.long}: ${source} is a split, which was read when it was made; leave this option out, or give it to graphex split`,
    );
  }
}

function isSplitFolder(source: string): boolean {
  if (!statSync(source, { throwIfNoEntry: false })?.isDirectory()) return false;
  return statSync(join(source, 'split.json'), { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Only what was said on the command line: the library has the defaults. */
function fitOptions(values: Record<string, unknown>): FitOptions {
  const options: Record<string, unknown> = {};
  for (const name of [
    'features',
    'model',
    'objective',
    'iterations',
    'tolerance',
    'engine',
    'start',
    'restarts',
    'learn',
    'sizes',
    'folds',
    'average',
  ]) {
    if (values[name] !== undefined) options[name] = values[name];
  }
  for (const side of SIDES) {
    const hyper: Record<string, unknown> = {};
    const suffix = side === 'users' ? 'Users' : 'Items';
    for (const [name] of HYPER) if (values[name + suffix] !== undefined) hyper[name] = values[name + suffix];
    if (Object.keys(hyper).length > 0) options[side] = hyper;
  }
  return options as FitOptions;
}

/** The options of the interrupted fit, so that it goes on as it began. */
function savedOptions(file: ModelFile, path: string, graph: BipartiteGraph): FitOptions {
  if (!file.checkpoint)
    throw new InputError(`--resume ${path}: a finished model; only an interrupted fit can go on`);
  if (file.model.provenance.fingerprint !== fingerprint(graph)) {
    throw new InputError(
      `--resume ${path}: it was fitted to other data; go on with the data that it began with`,
    );
  }
  const resume = file.checkpoint;
  if (resume.method === 'ascent') return { ...refitOptions(file.model), resume };
  // A fit for ranking has all hyperparameters from its beginning, and learns none.
  const { hyper, ...settings } = file.model.provenance.options as {
    hyper?: Pick<FitOptions, 'users' | 'items'>;
  };
  return { ...(settings as Record<string, unknown>), ...hyper, resume };
}
