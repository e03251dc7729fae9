// graphex evaluate --train A --test B: any pair of tables, a model or lists made elsewhere.

import { InputError } from '../../errors.js';
import { evaluateTables, type TablesEvaluation } from '../../evaluate/evaluate-tables.js';
import type { GivenRecommendations } from '../../evaluate/make-lists.js';
import type { SplitTables } from '../../evaluate/table-task.js';
import { NoColumnError } from '../../ingest/intake/columns.js';
import { parseNumber, type ValueColumn } from '../../ingest/intake/value-column.js';
import type { ReadOptions } from '../../ingest/options.js';
import { readWithValues } from '../../ingest/read.js';
import { isUserMetric } from '../../metrics/definitions.js';
import type { ListMetricName } from '../../metrics/list-metrics.js';
import type { Protocol } from '../../options/names.js';
import { tableEvaluationText } from '../../report/terminal/evaluate-tables.js';
import { tableEvaluationDefinition, tableEvaluationWords } from '../../report/words/table-evaluation.js';
import { loadModel } from '../../store/model-file.js';
import { loadSplit } from '../../store/split-folder.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import type { CommandContext, CommandOutput } from '../command.js';
import { readData } from '../read-data.js';

/** What the command line says of anybody's parts. */
export interface TableFlags {
  readonly train?: string | undefined;
  readonly test?: string | undefined;
  readonly validation?: string | undefined;
  readonly recommendations?: string | undefined;
  readonly rank?: string | number | undefined;
  readonly score?: string | number | undefined;
  readonly protocol?: Protocol | undefined;
  readonly metrics?: readonly ListMetricName[] | undefined;
  /** Of splits of users and items alone. */
  readonly against?: string | undefined;
}

/** Whether every item is ranked: if asked for, and for tables, lists and metrics unless the protocol is split. */
export function ranksAllItems(flags: TableFlags): boolean {
  const { protocol, train, test, validation, recommendations, metrics } = flags;
  const given = Object.entries({ train, test, validation, recommendations, metrics }).find(
    ([, value]) => value !== undefined,
  );
  if (protocol === 'split' && given) {
    throw new InputError(`--${given[0]} needs --protocol all-items; leave one of the two out`);
  }
  return protocol === 'all-items' || given !== undefined;
}

export async function runEvaluateTables(
  positional: readonly string[],
  flags: TableFlags,
  n: readonly number[] | number | undefined,
  reader: ReadOptions,
  context: CommandContext,
): Promise<CommandOutput> {
  const { seed, threads, signal, onProgress, warn } = context;
  if (flags.against !== undefined) {
    throw new InputError(
      '--against compares two models under --protocol split: leave --train, --test, --recommendations, --metrics and --protocol all-items out',
    );
  }
  const reading = { ...reader, threads, signal, onProgress };
  const { modelFile, folder } = whichInputs(positional, flags);
  const parts =
    folder === undefined ? await readTables(flags, reader, context) : await loadSplit(folder, reading);
  const names = parts.train.names ?? USERS_AND_ITEMS;
  const model = modelFile === undefined ? undefined : await loadModel(modelFile);
  const lists = flags.recommendations === undefined ? undefined : await readLists(flags, reading);
  const found = await evaluateTables(parts, {
    model,
    recommendations: lists?.given,
    metrics: flags.metrics,
    n,
    seed,
    threads,
    signal,
    onProgress,
  });
  if (found.fittedToTrain === false) {
    warn(`${modelFile} was not fitted to this training part as it is; the figures may mean little`);
  }
  const words = tableEvaluationWords(found, names, lists?.duplicates);
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

/** With --train and --test the one argument is a model; without them the last is the folder of a split. */
function whichInputs(
  positional: readonly string[],
  { train, test }: TableFlags,
): { readonly modelFile: string | undefined; readonly folder: string | undefined } {
  if (train !== undefined && test !== undefined) {
    if (positional.length > 1) {
      throw new InputError(
        `${positional[1]}: with --train and --test there is no split folder to give; give a model alone, or none`,
      );
    }
    return { modelFile: positional[0], folder: undefined };
  }
  if (train !== undefined || test !== undefined) {
    throw new InputError(
      `--${train === undefined ? 'test' : 'train'} is given alone; give both --train and --test`,
    );
  }
  if (positional.length === 0) {
    throw new InputError('there is nothing to judge on: give --train and --test, or the folder of a split');
  }
  return { modelFile: positional.length > 1 ? positional[0] : undefined, folder: positional.at(-1) };
}

/** The parts as tables, all read alike. */
export async function readTables(
  { train, test, validation }: TableFlags,
  reader: ReadOptions,
  context: CommandContext,
): Promise<SplitTables> {
  const read = async (source: string) => (await readData([source], reader, context)).graph;
  return {
    train: await read(train!),
    test: await read(test!),
    ...(validation === undefined ? {} : { validation: await read(validation) }),
  };
}

/** Lists by rank or by score, whichever column is named or there; else in the order of the rows. */
async function readLists(
  { recommendations: source, rank, score }: TableFlags,
  reading: ReadOptions,
): Promise<{ readonly given: GivenRecommendations; readonly duplicates: number }> {
  if (rank !== undefined && score !== undefined) {
    throw new InputError('--rank and --score are both given; lists go by one of them');
  }
  // Its columns have numbers of their own; names may be those of the parts.
  const named = (column: string | number | undefined) =>
    typeof column === 'string' && !/^\d+$/.test(column) ? column : undefined;
  const { threads, signal, onProgress } = reading;
  const options = { users: named(reading.users), items: named(reading.items), threads, signal, onProgress };
  const column = (role: 'rank' | 'score', at: string | number | undefined): ValueColumn => ({
    column: at,
    role,
    parse: parseNumber(role),
    keep: role === 'rank' ? 'least' : 'largest',
  });
  const tries: readonly ValueColumn[] =
    rank !== undefined
      ? [column('rank', rank)]
      : score !== undefined
        ? [column('score', score)]
        : [column('rank', 'rank'), column('score', 'score'), column('rank', undefined)];
  for (const [at, value] of tries.entries()) {
    try {
      const { graph, values, read } = await readWithValues(source!, options, value);
      return { given: { graph, values, first: value.keep }, duplicates: read.merged };
    } catch (error) {
      if (!(error instanceof NoColumnError) || at === tries.length - 1) throw error;
    }
  }
  throw new Error('the last way of reading lists neither read nor threw');
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
  const rows = found.leaderboard.map(({ source, missing, scores }) => ({
    source,
    missing,
    metrics: byName(scores, 'mean'),
    standardError: byName(scores, 'standardError'),
  }));
  const last = rows[rows.length - 1];
  return {
    n: found.n,
    users: found.users,
    candidates: found.candidates,
    missing: last.missing,
    metrics: last.metrics,
    leaderboard: rows,
    comparisons: found.comparisons,
    comparisonsOfListed: found.comparisonsOfListed,
    left: found.left,
    given: found.given ?? null,
    fittedToTrain: found.fittedToTrain ?? null,
  };
}
