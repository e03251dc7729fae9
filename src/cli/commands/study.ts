// graphex study: data → report.html, results.json and figures, and a summary on the terminal.

import { arch, cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { InputError } from '../../errors.js';
import { writeTexts } from '../../files/folder.js';
import { fingerprint } from '../../graph/fingerprint.js';
import type { SideName } from '../../graph/graph.js';
import { DATA_HELP } from '../../ingest/formats.js';
import { lastTimes } from '../../ingest/intake/value-column.js';
import type { ReadResult } from '../../ingest/options.js';
import { drawPaperSet, PAPER_SETS, type PaperSet } from '../../ingest/recipes/paper-set.js';
import { readSideTable } from '../../ingest/side-file.js';
import { severalTitlesWords, titlesOf } from '../../ingest/title-table.js';
import { asFlag } from '../../options/as-flag.js';
import { STUDY, STUDY_COMMAND } from '../../options/commands/study.js';
import type { OptionsOf } from '../../options/declare.js';
import { option, optionError, show } from '../../options/error.js';
import { listOptions, valueAt } from '../../options/option-list.js';
import { READ } from '../../options/shared.js';
import { STUDY_PICTURES, studyPictures } from '../../report/charts/study.js';
import { chartDocument } from '../../report/charts/svg-document.js';
import { renderStudyPage } from '../../report/pages/study.js';
import { describeStudy, resultsJson, studyDocument } from '../../report/terminal/study.js';
import { wrap } from '../../report/terminal/text-table.js';
import { findingWords } from '../../report/words/findings.js';
import { readingWords } from '../../report/words/reading.js';
import { compareStudies, type StudyDifference } from '../../study/compare.js';
import type { StudyOptions, StudyTruth } from '../../study/options.js';
import type { CheckedReceipt } from '../../study/receipt.js';
import type { StudyFinding, StudyOrigin, StudyResults } from '../../study/results.js';
import { study } from '../../study/study.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import { shown } from '../../text/untrusted.js';
import {
  type CommandContext,
  type CommandOutput,
  declareCommand,
  pause,
  type TypedOptions,
} from '../command.js';
import { readItemInfo } from '../info-options.js';
import { openFile } from '../open.js';
import { checkOutputs } from '../outputs.js';
import { findSource, seenFrom } from '../paths.js';
import { type DataArgument, dataArgument, readData } from '../read-data.js';
import { readReceipt } from '../read-receipt.js';
import { type GivenSplit, givenSplit } from '../study-parts.js';
import { timesFor } from './fit-data.js';

export const register = declareCommand(
  'study',
  {
    description:
      'The whole study in one command: check, split, auto, sparse and dense fits, predictive checks, recommendation, baselines; a report that explains itself.',
    takes: { '[data...]': `${DATA_HELP}; or the folder of a split or of folds` },
    examples: [
      'graphex study @sotu -o report',
      'graphex study ratings.csv --titles movies.csv -k 10,30,60 -o report',
      'graphex study --train a.csv --test b.csv --lists mine=lists.csv -o report',
      'graphex study split/ --lists mine=lists.csv -o report',
      'graphex study ratings.csv --item-info movies.csv -o report',
      'graphex study ratings.csv --time timestamp --half-life auto -o report',
      'graphex study --from report/results.json -o again',
    ],
  },
  (context, typed, given: string[]) => run(typed, given, context),
);

const FIGURES = STUDY_PICTURES.map(figureFile);

function figureFile(name: string): string {
  return join('figures', `${name}.svg`);
}

/** The data and options of the study, from the command line or from a receipt. */
interface Plan {
  readonly data: DataArgument;
  readonly read: OptionsOf<typeof READ>;
  readonly titles: string | undefined;
  readonly info: Pick<OptionsOf<typeof STUDY_COMMAND>, 'itemInfo' | 'infoColumns'>;
  readonly time: string | number | undefined;
  readonly options: StudyOptions;
  readonly before: CheckedReceipt | undefined;
  /** A split that was given, in place of random ones. */
  readonly parts?: GivenSplit | undefined;
}

async function run(
  flags: TypedOptions<'study'>,
  typed: readonly string[],
  context: CommandContext,
): Promise<CommandOutput> {
  const { output: folder = '.', force, from, open } = flags.own;
  const plan = from
    ? await planFromReceipt(flags, typed, await readReceipt(from), from)
    : await planFromOptions(flags, typed, context);
  await checkOutputs({
    files: [plan.read.rejects],
    folder: { path: folder, names: ['report.html', 'results.json', 'figures/', ...FIGURES] },
    inputs: [...(plan.parts?.inputs ?? plan.data.sources), plan.titles, plan.info.itemInfo, from],
    force,
  });
  const { task, signal, threads, onProgress } = context;
  const { given, title } = plan.data;
  const { result, truth } = await readStudied(plan, context, ({ graph }) => {
    const found = plan.before && fingerprint(graph);
    if (found !== plan.before?.fingerprint) {
      throw new InputError(
        `${title}: these are not the data of ${from} (fingerprint ${found}, there ` +
          `${plan.before?.fingerprint}); give the same data and the same options of the reader`,
      );
    }
  });
  const { graph } = result;
  const read = plan.parts?.named.folder === undefined ? result : undefined;
  const { splits, lists } = plan.parts ?? {};
  const known = splits ? splits[0].times?.train : result.values;
  const { times } = timesFor(plan.options, undefined, plan.time, known, read);
  for (const fold of splits?.slice(1) ?? [])
    timesFor(plan.options, undefined, plan.time, fold.times?.train, read);
  const titles =
    plan.titles === undefined
      ? undefined
      : titlesOf(await readSideTable(plan.titles, { signal }), graph.items.ids, plan.titles);
  const itemInfo = await readItemInfo(plan.info, graph, context);
  const sides = graph.names ?? USERS_AND_ITEMS;
  const caution = titles && severalTitlesWords(titles, plan.titles!, sides.items);
  if (caution !== undefined) context.warn(caution);
  const onFinding = (finding: StudyFinding) => context.note(wrap(findingWords(finding, sides)));
  const place = (source: string) => ({ source, sourceFrom: seenFrom(folder, source) });
  const origin: StudyOrigin = {
    source: title,
    sourceFrom: given.length > 1 ? null : seenFrom(folder, title),
    ...(given.length > 1 && { sources: given.map(place) }),
    read: plan.read,
    ...result.guess,
    rows: result.read,
    titles: titles
      ? {
          ...place(plan.titles!),
          matched: titles.matched,
          columns: `${titles.columns.id} → ${titles.columns.title}`,
        }
      : null,
    ...(itemInfo && {
      itemInfo: { ...place(itemInfo.name), columns: plan.info.infoColumns ?? null },
    }),
    ...(plan.time !== undefined && { time: plan.time }),
    runtime: `Node ${process.versions.node}`,
    machine: {
      cpu: cpus()[0]?.model.trim() ?? 'unknown',
      cores: cpus().length,
      memory: totalmem(),
      system: `${type()} ${release()} ${arch()}`,
    },
    threads: threads ?? null,
    ...(plan.parts && { parts: plan.parts.named }),
  };
  const results = await study(graph, {
    ...plan.options,
    ...task,
    titles,
    truth,
    origin,
    onFinding,
    splits,
    lists,
    itemInfo,
    ...(!splits && { times }),
  });
  const differences = plan.before ? compareStudies(plan.before.results, results) : undefined;
  await pause(signal);
  onProgress({ stage: 'writing', done: 0 });
  const document = studyDocument(results);
  const written = await writeReport(folder, force, results);
  if (open) {
    const failed = await openFile(written[0]);
    if (failed) context.warn(failed);
  }
  return {
    json: {
      ...document,
      written,
      ...(differences ? { repeated: { same: differences.length === 0, differences } } : {}),
    },
    text: [
      describeStudy(results, readingWords(result, asFlag)),
      ...describeRepeat(differences),
      '',
      `Report: ${written[0]}`,
    ].join('\n'),
  };
}

async function planFromOptions(
  flags: TypedOptions<'study'>,
  typed: readonly string[],
  context: CommandContext,
): Promise<Plan> {
  const { own, options, read } = flags;
  const { titles, itemInfo, infoColumns, time } = own;
  const plan = { read, titles, info: { itemInfo, infoColumns }, time, before: undefined };
  const parts = await givenSplit(typed, flags, context);
  if (parts) {
    return { ...plan, data: parts.data, options: { ...options, protocol: parts.protocol }, parts };
  }
  if (typed.length === 0) {
    throw new InputError(
      'study: DATA is missing; name a file, a split folder or a built-in set such as @sotu, or use --train and --test, or --from',
    );
  }
  return { ...plan, data: await dataArgument(typed), options };
}

/** Options that a study repeated with --from has of its own: they change no number. */
const OF_A_REPEAT = new Set(['output', 'force', 'from', 'open', 'rejects']);

/** Refuses all other options of a study repeated with --from. */
async function planFromReceipt(
  { own, options, read }: TypedOptions<'study'>,
  typed: readonly string[],
  before: CheckedReceipt,
  path: string,
): Promise<Plan> {
  for (const [declared, given] of [
    [STUDY_COMMAND, own],
    [STUDY, options],
    [READ, read],
  ] as const) {
    for (const leaf of listOptions(declared)) {
      const name = leaf.path.join('.');
      if (valueAt(given, leaf.path) === undefined || OF_A_REPEAT.has(name)) continue;
      throw optionError`${option(name)} cannot be given with ${option('from')}: ${path} says all options`;
    }
  }
  const { rejects } = read;
  if (before.setAside && rejects === undefined) {
    throw optionError`${path}: that study wrote bad rows to a file; name a file for them now with ${option('rejects')}, because a receipt holds no output paths`;
  }
  const { data, titles, itemInfo } = before;
  const advice = `give the place of the data, as in npx graphex study DATA --from ${path}`;
  return {
    data: await dataArgument(
      typed.length > 0 ? typed : data.map((source) => findSource(path, source, advice)),
    ),
    read: rejects === undefined ? before.read : { ...before.read, rejects },
    titles: titles
      ? findSource(path, titles, 'put the titles there, or work in the folder of the first study')
      : undefined,
    info: itemInfo
      ? {
          itemInfo: findSource(
            path,
            itemInfo,
            'put the table about the items there, or work in the folder of the first study',
          ),
          infoColumns: itemInfo.columns,
        }
      : {},
    time: before.time,
    options: before.settings,
    before,
  };
}

/** Whether the options keep all users, items and edges. */
function isPlain({ dropUsers, dropItems, minDegree }: Plan['read']): boolean {
  return dropUsers === undefined && dropItems === undefined && minDegree === undefined;
}

/** The paper's simulated sets come with their true parameters, unless an option leaves some edges out. */
async function readStudied(
  plan: Plan,
  context: CommandContext,
  accept: (result: Pick<ReadResult, 'graph'>) => void,
): Promise<{ readonly result: ReadResult; readonly truth: StudyTruth | undefined }> {
  if (plan.parts) {
    accept(plan.parts.result);
    return { result: plan.parts.result, truth: undefined };
  }
  const name = plan.data.title as PaperSet;
  const { time } = plan;
  const parameters = isPlain(plan.read) && time === undefined ? PAPER_SETS[name] : undefined;
  if (!parameters) {
    const how = { accept, value: time === undefined ? undefined : lastTimes(time) };
    return { result: await readData(plan.data.sources, plan.read, context, how), truth: undefined };
  }
  const drawn = await drawPaperSet(name, { ...plan.read, ...context.task }, true);
  const { truth, ...result } = drawn;
  accept(result);
  const side = (of: SideName) => ({ prior: parameters[of], ...truth![of] });
  return { result, truth: { features: parameters.features, users: side('users'), items: side('items') } };
}

/** Writes all files in one step at the end, so an interrupted study leaves nothing. */
async function writeReport(
  folder: string,
  force: boolean | undefined,
  results: StudyResults,
): Promise<string[]> {
  const pictures = studyPictures(await chartDocument(), results);
  const files: Record<string, string> = {
    'report.html': renderStudyPage(results, pictures),
    'results.json': resultsJson(results),
  };
  for (const [name, { wide }] of Object.entries(pictures)) files[figureFile(name)] = wide;
  // Figures of an earlier study that this one does not have are removed.
  return writeTexts(folder, files, { force, obsolete: FIGURES.filter((name) => !(name in files)) });
}

function describeRepeat(differences: readonly StudyDifference[] | undefined): string[] {
  if (!differences) return [];
  if (differences.length === 0) return ['', 'Repeated: every number is the same.'];
  const [first] = differences;
  return [
    '',
    `Repeated, with differences: ${shown(first!.path)} was ${show(first!.before)} and is now ${show(first!.after)}` +
      `${differences.length > 1 ? ', and more (see --json)' : ''}. Another version, engine or processor can do that.`,
  ];
}
