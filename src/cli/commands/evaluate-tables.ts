// graphex evaluate --train A --test B: evaluates a model or lists made elsewhere on any pair of tables.

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

/** Options that describe a split made elsewhere. */
export interface TableFlags {
  readonly train?: string | undefined;
  readonly test?: string | undefined;
  readonly validation?: string | undefined;
  readonly recommendations?: string | undefined;
  readonly rank?: string | number | undefined;
  readonly score?: string | number | undefined;
  readonly protocol?: Protocol | undefined;
  readonly metrics?: readonly ListMetricName[] | undefined;
  /** Options that only a (p,q) split takes. */
  readonly against?: string | undefined;
}

/** Whether every item is ranked: with --protocol all-items, and for tables, lists and metrics unless the protocol is split. */
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
    warn(`${modelFile} was not fitted to exactly this training part; the figures may mean little`);
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
        `${positional[1]}: --train and --test replace the split folder; give only a model, or nothing`,
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
    throw new InputError('there is no test data: give --train and --test, or the folder of a split');
  }
  return { modelFile: positional.length > 1 ? positional[0] : undefined, folder: positional.at(-1) };
}

/** The parts of the split, all read with the same options. */
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

/** Reads lists by rank or by score, whichever column is named or found; otherwise rows are in order. */
async function readLists(
  { recommendations: source, rank, score }: TableFlags,
  reading: ReadOptions,
): Promise<{ readonly given: GivenRecommendations; readonly duplicates: number }> {
  if (rank !== undefined && score !== undefined) {
    throw new InputError('--rank and --score are both given; give the one by which lists are ordered');
  }
  // Column numbers of the parts do not apply to this file; column names may.
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
  throw new Error('no way of reading the lists returned or threw');
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
