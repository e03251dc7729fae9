// graphex evaluate --train A --test B: evaluates a model or lists made elsewhere on any pair of tables.

import { InputError } from '../../errors.js';
import { evaluateTables, type Rival, type TablesEvaluation } from '../../evaluate/evaluate-tables.js';
import { fittedTestPairs } from '../../evaluate/fitted-to-test.js';
import { tableTask } from '../../evaluate/table-task.js';
import type { ReadOptions } from '../../ingest/options.js';
import { once } from '../../math/once.js';
import { isUserMetric } from '../../metrics/definitions.js';
import type { EVALUATE_COMMAND } from '../../options/commands/evaluate.js';
import type { OptionsOf } from '../../options/declare.js';
import { groupsJson, tableEvaluationText } from '../../report/terminal/evaluate-tables.js';
import { tableEvaluationDefinition, tableEvaluationWords } from '../../report/words/table-evaluation.js';
import { isModelFolder } from '../../shard/model-folder.js';
import { loadModel } from '../../store/model-file.js';
import { isModelFile } from '../../store/signature.js';
import { loadSplit } from '../../store/split-folder.js';
import { many } from '../../text/phrases.js';
import { type SideNames, USERS_AND_ITEMS } from '../../text/sides.js';
import type { CommandContext, CommandOutput } from '../command.js';
import { readLists } from '../read-lists.js';
import { hasTables, readTables } from '../study-parts.js';

type TableFlags = OptionsOf<typeof EVALUATE_COMMAND>;

/**
 * The option that asks for every item to be ranked: --protocol all-items, or tables, lists and metrics unless the protocol
 * is split. Undefined if no option does.
 */
export async function ranksAllItems(flags: TableFlags): Promise<string | undefined> {
  const { protocol, train, test, validation, recommendations, metrics } = flags;
  let against: string | undefined;
  for (const path of flags.against ?? []) if (!(await isModel(path))) against ??= path;
  const given = Object.entries({ train, test, validation, recommendations, metrics, against }).find(
    ([, value]) => value !== undefined,
  );
  if (protocol === 'split' && given) {
    throw new InputError(`--${given[0]} needs --protocol all-items; leave one of the two out`);
  }
  return protocol === 'all-items' ? 'protocol' : given?.[0];
}

/** Whether a rival is a model; otherwise it is a table of lists. */
async function isModel(path: string): Promise<boolean> {
  return (await isModelFile(path)) || (await isModelFolder(path));
}

/** The rivals of --against, each with its path as name. */
async function readRivals(flags: TableFlags, reading: ReadOptions): Promise<Rival[]> {
  const rivals: Rival[] = [];
  for (const name of flags.against ?? []) {
    if (rivals.some((rival) => rival.name === name)) {
      throw new InputError(`--against ${name} is given twice; give each rival once`);
    }
    rivals.push(
      (await isModel(name))
        ? { name, model: await loadModel(name) }
        : { name, recommendations: (await readLists(name, reading, flags)).given },
    );
  }
  return rivals;
}

export async function runEvaluateTables(
  positional: readonly string[],
  flags: TableFlags,
  n: readonly number[] | number | undefined,
  reader: ReadOptions,
  context: CommandContext,
  because: string,
): Promise<CommandOutput> {
  const { seed, task, warn } = context;
  const reading = { ...reader, ...task };
  const { modelFile, folder } = whichInputs(positional, flags);
  const parts =
    folder === undefined ? await readTables(flags, reader, context) : await loadSplit(folder, reading);
  if ('method' in parts && parts.method === 'new-items') {
    throw new InputError(
      `${folder}: this split holds out items, which are ranked alone and at one length; leave out --protocol, --metrics and --recommendations, as in npx graphex evaluate MODEL ${folder}`,
    );
  }
  const names = parts.train.names ?? USERS_AND_ITEMS;
  const model = modelFile === undefined ? undefined : await loadModel(modelFile);
  const source = flags.recommendations;
  const lists = source === undefined ? undefined : await readLists(source, reading, flags);
  const rivals = await readRivals(flags, reading);
  if (rivals.length > 0 && !model && !lists) {
    throw new InputError('--against needs a model or --recommendations to compare: give one of them');
  }
  const ranked = once(() => tableTask(parts));
  const found = await evaluateTables(parts, {
    model,
    recommendations: lists?.given,
    rivals,
    metrics: flags.metrics,
    n,
    seed,
    ...task,
  });
  const others = rivals.filter(({ name }) => found.rivalsOfOtherData.includes(name));
  if (found.fittedToTrain === false) others.unshift({ name: modelFile!, model });
  for (const other of others)
    warn(otherDataWords(other.name, fittedTestPairs(other.model!, ranked()), names));
  const words = tableEvaluationWords(found, names, lists?.duplicates);
  if (folder !== undefined && because !== 'protocol') {
    words.unshift(
      `The protocol is all items because of --${because}; without this option, a split folder is evaluated by the protocol split.`,
    );
  }
  return {
    json: {
      ...(folder === undefined ? { train: flags.train, test: flags.test } : { split: folder }),
      protocol: 'all-items',
      model: modelFile ?? null,
      recommendations: flags.recommendations ?? null,
      ...partsJson(found),
      definition: tableEvaluationDefinition(names),
      duplicates: lists?.duplicates ?? 0,
      notes: words,
    },
    text: tableEvaluationText(found, names, words),
  };
}

/** A warning about a model that was fitted to other data than the training part. */
function otherDataWords(
  name: string,
  { pairs, users }: ReturnType<typeof fittedTestPairs>,
  names: SideNames,
): string {
  return pairs === 0
    ? `${name} was not fitted to exactly this training part; the figures may mean little`
    : `${name} was fitted to other data than this training part, which have ${many(pairs, 'test pair')} of ${many(users, names.users)}: its figures are too good; fit a model to this training part`;
}

/** With --train and --test the one argument is a model; without them the last is the folder of a split. */
function whichInputs(
  positional: readonly string[],
  flags: TableFlags,
): { readonly modelFile: string | undefined; readonly folder: string | undefined } {
  if (hasTables(flags)) {
    if (positional.length > 1) {
      throw new InputError(
        `${positional[1]}: --train and --test replace the split folder; give only a model, or nothing`,
      );
    }
    return { modelFile: positional[0], folder: undefined };
  }
  if (positional.length === 0) {
    throw new InputError('there is no test data: give --train and --test, or the folder of a split');
  }
  return { modelFile: positional.length > 1 ? positional[0] : undefined, folder: positional.at(-1) };
}

/** The document of --json. `metrics` are those of the last row: the lists made elsewhere, or the model. */
function partsJson(found: TablesEvaluation): object {
  const byName = (
    scores: TablesEvaluation['leaderboard'][number]['scores'],
    kind: 'mean' | 'standardError',
  ) =>
    Object.fromEntries(
      found.metrics
        .filter((name) => kind === 'mean' || isUserMetric(name))
        .map((name) => [
          name,
          Object.fromEntries(
            found.n.map((n, at) => [n, (scores[at][kind] as Partial<Record<string, number>>)[name] ?? null]),
          ),
        ]),
    );
  const rows = found.leaderboard.map(({ source, name, missing, scores }) => ({
    source,
    name,
    missing,
    metrics: byName(scores, 'mean'),
    standardError: byName(scores, 'standardError'),
  }));
  const last = rows[rows.length - 1];
  const [own] = found.leaderboard.slice(-1);
  return {
    n: found.n,
    users: found.users,
    candidates: found.candidates,
    missing: last.missing,
    metrics: last.metrics,
    recommendation: groupsJson(found, own),
    leaderboard: rows,
    comparisons: found.comparisons,
    comparisonsOfListed: found.comparisonsOfListed,
    left: found.left,
    given: found.given ?? null,
    fittedToTrain: found.fittedToTrain ?? null,
  };
}
