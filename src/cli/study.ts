// graphex study: data → report.html, results.json and figures, and a summary on the terminal.

import { readFile } from 'node:fs/promises';
import { arch, cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { InputError } from '../errors.js';
import { parseTitles, type Titles } from '../evaluate/titles.js';
import { fingerprint } from '../graph/fingerprint.js';
import type { VertexIds } from '../graph/ids.js';
import type { ReadResult } from '../ingest/options.js';
import { readGraph } from '../ingest/read.js';
import { openSource } from '../ingest/source.js';
import { PAPER_SIMULATION, SMALL_SIMULATION } from '../process/parameters.js';
import { simulate } from '../process/poisson-model.js';
import { chartDocument } from '../report/charts/chart.js';
import { STUDY_PICTURES, studyPictures } from '../report/charts/study.js';
import { renderStudyPage } from '../report/pages/study.js';
import { readingWords } from '../report/words/reading.js';
import { writePieces } from '../store/atomic.js';
import { writeFolder } from '../store/folder.js';
import { compareStudies, type StudyDifference } from '../study/compare.js';
import { optionsOf, type StudyOptions, type StudyTruth } from '../study/options.js';
import type { StudyOrigin, StudyResults } from '../study/results.js';
import { study } from '../study/study.js';
import { safeJson } from '../text/untrusted.js';
import {
  addCommonOptions,
  addDataOptions,
  type CommandContext,
  type CommandOutput,
  dataOptions,
  pause,
  runCommand,
} from './command.js';
import { addForce, checkOutputs } from './outputs.js';
import { findSource, seenFrom } from './paths.js';
import { addStudyOptions, studyOptions } from './study-options.js';
import { describeStudy, studyDocument } from './summary.js';

export function register(program: Command): void {
  const command = program
    .command('study')
    .description(
      'The whole study in one command: check, split, sparse and dense fits, predictive checks, recommendation, baselines; a report that explains itself.',
    )
    .argument('[data]', 'a file, -, a recipe such as netflix:DIR, or a built-in set such as @sotu')
    .requiredOption('-o, --output <dir>', 'folder for report.html, results.json and figures/')
    .option('--from <file>', 'repeat the study of a results.json, to the same numbers');
  addForce(command);
  addStudyOptions(command);
  addDataOptions(command);
  addCommonOptions(command, [
    'graphex study @sotu -o report',
    'graphex study ratings.csv --users user_id --items movie_id --titles movies.csv -k 10,30,60 -o report',
    'graphex study --from report/results.json -o again',
  ]);
  command.action((source: string | undefined, values: Values) =>
    runCommand(command, (context) => run(command, source, values, context)),
  );
}

interface Values {
  readonly output: string;
  readonly from?: string;
  readonly titles?: string;
  readonly force?: boolean;
}

const FIGURES = STUDY_PICTURES.map(figureFile);

function figureFile(name: string): string {
  return join('figures', `${name}.svg`);
}

/** What is to be studied, and how: from the command line, or from a receipt. */
interface Plan {
  readonly source: string;
  readonly read: Readonly<Record<string, unknown>>;
  readonly titles: string | undefined;
  readonly options: StudyOptions;
  readonly before: StudyResults | undefined;
}

async function run(
  command: Command,
  source: string | undefined,
  values: Values,
  context: CommandContext,
): Promise<CommandOutput> {
  const plan = values.from
    ? planFromReceipt(command, source, await readResults(values.from), values.from)
    : planFromOptions(command, source, values, context.seed);
  await checkOutputs({
    files: [plan.read.rejects as string | undefined],
    folder: { path: values.output, names: ['report.html', 'results.json', 'figures/', ...FIGURES] },
    inputs: [plan.source, plan.titles, values.from],
    force: values.force,
  });
  const { signal, threads, onProgress } = context;
  const task = { signal, threads, onProgress };
  const { result, truth } = await readData(plan, task);
  const { graph } = result;
  if (plan.before && fingerprint(graph) !== plan.before.receipt.fingerprint) {
    throw new InputError(
      `${plan.source}: these are not the data of ${values.from} (fingerprint ${fingerprint(graph)}, there ` +
        `${plan.before.receipt.fingerprint}); give the same data and the same options of the reader`,
    );
  }
  const titles = plan.titles === undefined ? undefined : await readTitles(plan.titles, graph.items.ids);
  const numbers = await study(graph, { ...plan.options, ...task, titles, truth });
  const results = withOrigin(numbers, {
    source: plan.source,
    sourceFrom: seenFrom(values.output, plan.source),
    read: plan.read,
    ...result.guess,
    rows: result.read,
    titles: titles
      ? {
          source: plan.titles!,
          sourceFrom: seenFrom(values.output, plan.titles!),
          matched: titles.matched,
          columns: `${titles.columns.id} → ${titles.columns.title}`,
        }
      : null,
    runtime: `Node ${process.versions.node}`,
    machine: {
      cpu: cpus()[0]?.model.trim() ?? 'unknown',
      cores: cpus().length,
      memory: totalmem(),
      system: `${type()} ${release()} ${arch()}`,
    },
    threads: threads ?? null,
  });
  const differences = plan.before ? compareStudies(plan.before, results) : undefined;
  await pause(signal);
  onProgress({ stage: 'writing', done: 0 });
  const document = studyDocument(results);
  const written = await writeReport(values, results, document);
  return {
    json: {
      ...document,
      written,
      ...(differences ? { repeated: { same: differences.length === 0, differences } } : {}),
    },
    text: [
      describeStudy(results, readingWords(result)),
      ...describeRepeat(differences),
      '',
      `Report: ${written[0]}`,
    ].join('\n'),
  };
}

function planFromOptions(command: Command, source: string | undefined, values: Values, seed: number): Plan {
  if (source === undefined) {
    throw new InputError(
      'study: DATA is missing; name a file or a built-in set such as @sotu, or use --from',
    );
  }
  return {
    source,
    read: definedOnly(dataOptions(command)),
    titles: values.titles,
    options: { ...studyOptions(command.opts()), seed },
    before: undefined,
  };
}

/** Options beside --from that would change the numbers are refused rather than ignored. */
function planFromReceipt(
  command: Command,
  source: string | undefined,
  before: StudyResults,
  path: string,
): Plan {
  const allowed = new Set(['output', 'force', 'from', 'json', 'quiet', 'threads']);
  for (const option of command.options) {
    const name = option.attributeName();
    if (!allowed.has(name) && command.getOptionValueSource(name) === 'cli') {
      throw new InputError(
        `${option.long ?? option.short} cannot be given with --from: ${path} says all options`,
      );
    }
  }
  const { origin, settings } = before.receipt;
  if (!origin)
    throw new InputError(`${path}: it does not say where its data came from; give DATA and options`);
  return {
    source:
      source ?? findSource(path, origin, `say where the data are, as in graphex study DATA --from ${path}`),
    read: origin.read,
    titles:
      origin.titles === null
        ? undefined
        : findSource(path, origin.titles, 'put the titles there, or work in the folder of the first study'),
    options: optionsOf(settings),
    before,
  };
}

/** What is used of a receipt before the study looks at its settings. */
const receiptSchema = z.looseObject({
  fingerprint: z.string(),
  settings: z.looseObject({
    models: z.array(z.enum(['sparse', 'dense'])).min(1),
    given: z.object({ users: z.record(z.string(), z.number()), items: z.record(z.string(), z.number()) }),
  }),
  origin: z
    .looseObject({
      source: z.string(),
      sourceFrom: z.string().nullish(),
      read: z.record(
        z.string(),
        z.union([z.string(), z.number(), z.boolean(), z.object({ users: z.string(), items: z.string() })]),
      ),
      titles: z.looseObject({ source: z.string(), sourceFrom: z.string().nullish() }).nullable(),
    })
    .nullish(),
});

async function readResults(path: string): Promise<StudyResults> {
  let results: StudyResults;
  try {
    results = JSON.parse(await readFile(path, 'utf8'));
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new InputError(`${path}: it is not valid JSON (${cause.message}); give a results.json of a study`);
  }
  if (results?.format !== 'graphex-study' || !receiptSchema.safeParse(results.receipt).success) {
    throw new InputError(`${path}: it is not the results.json of a study; give one that graphex study wrote`);
  }
  if (results.version !== 1) {
    throw new InputError(`${path}: it has version ${results.version}, this graphex reads 1; update graphex`);
  }
  return results;
}

const SIMULATED: Readonly<Record<string, typeof PAPER_SIMULATION>> = {
  '@simulated': PAPER_SIMULATION,
  '@simulated-small': SMALL_SIMULATION,
};

/** Simulated sets bring their truth along, which readGraph has no place for: drawn here, with the same seed. */
async function readData(
  plan: Plan,
  task: Pick<CommandContext, 'signal' | 'threads' | 'onProgress'>,
): Promise<{ readonly result: ReadResult; readonly truth: StudyTruth | undefined }> {
  const law = SIMULATED[plan.source];
  if (!law) return { result: await readGraph(plan.source, { ...plan.read, ...task }), truth: undefined };
  const multigraph = plan.read.multigraph === true;
  const { graph, truth } = await simulate({ ...law, multigraph, seed: 1, truth: true, ...task });
  return {
    result: {
      graph,
      read: { rows: graph.edges, kept: graph.edges, merged: 0, rejected: 0 },
      guess: { kind: 'simulated', format: 'simulated', columns: { users: 'user', items: 'item' } },
    },
    truth: {
      features: law.features,
      users: { law: law.users, ...truth!.users },
      items: { law: law.items, ...truth!.items },
    },
  };
}

async function readTitles(path: string, ids: VertexIds): Promise<Titles> {
  const source = await openSource(path);
  try {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of source.chunks) text += decoder.decode(chunk, { stream: true });
    return parseTitles(text + decoder.decode(), ids, path);
  } finally {
    source.close();
  }
}

function withOrigin(results: StudyResults, origin: StudyOrigin): StudyResults {
  const receipt = { ...results.receipt, origin };
  return { ...results, receipt };
}

/** Everything at the end and together: an interrupted study leaves nothing. */
async function writeReport(
  { output: folder, force }: Values,
  results: StudyResults,
  document: object,
): Promise<string[]> {
  const pictures = studyPictures(await chartDocument(), results);
  const files: Record<string, string> = {
    'report.html': renderStudyPage(results, pictures),
    'results.json': `${safeJson(JSON.stringify(document, null, 1))}\n`,
  };
  for (const [name, { wide }] of Object.entries(pictures)) files[figureFile(name)] = wide;
  await writeFolder(
    folder,
    Object.fromEntries(
      Object.entries(files).map(([name, text]) => [name, (beside: string) => writePieces(beside, [text])]),
    ),
    // A picture that this study has not may be there from an earlier one.
    { force, obsolete: FIGURES.filter((name) => !(name in files)) },
  );
  return Object.keys(files).map((name) => join(folder, name));
}

function describeRepeat(differences: readonly StudyDifference[] | undefined): string[] {
  if (!differences) return [];
  if (differences.length === 0) return ['', 'Repeated: every number is the same.'];
  const [first] = differences;
  return [
    '',
    `Repeated, with differences: ${first!.path} was ${JSON.stringify(first!.before)} and is now ${JSON.stringify(first!.after)}` +
      `${differences.length > 1 ? ', and more (see --json)' : ''}. Another version, engine or processor can do that.`,
  ];
}

function definedOnly(values: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
