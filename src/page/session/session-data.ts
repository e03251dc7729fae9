// The session's data: previewed, read, thinned, checked.

import { InputError } from '../../errors.js';
import { fingerprint } from '../../graph/fingerprint.js';
import type { BipartiteGraph } from '../../graph/graph.js';
import { readBlob, readBlobWithValues } from '../../ingest/blob.js';
import type { ValueColumn } from '../../ingest/intake/value-column.js';
import type { ReadResult } from '../../ingest/options.js';
import { previewBlob, type TablePreview } from '../../ingest/preview.js';
import { drawPaperSet } from '../../ingest/recipes/paper-set.js';
import { withNames } from '../../ingest/side-names.js';
import { option, optionError } from '../../options/error.js';
import type { TaskOptions } from '../../progress.js';
import { readingSentences, timeCaution } from '../../report/words/reading.js';
import { thin } from '../../sample/thin.js';
import { checkSparsity, type SparsityCheck } from '../../sparsity/check.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import type { Api, Opened, ReadChoice, Source } from '../protocol.js';
import type { Task } from './session.js';
import { asLabel } from './session-error.js';
import { forgetItemTable } from './session-item-table.js';
import { forgetModels } from './session-model.js';

/** The table that was read, and the graph in use: the whole table, or a thinned part of it. */
interface Data {
  readonly from: Source;
  readonly read: ReadResult;
  readonly graph: BipartiteGraph;
  /** What the page knows of it. */
  readonly opened: Opened;
  /** The time of each edge in use, if a ranker read it. The lists of held-out users need it. */
  readonly times?: Float64Array | undefined;
}

let data: Data | undefined;

export function currentData(): Data {
  if (!data) throw new InputError('there are no data yet: drop a table or choose a sample');
  return data;
}

export function dataIfRead(): Data | undefined {
  return data;
}

/** Releases the table, its models and the table about its items. */
export async function forgetData(): Promise<void> {
  data = undefined;
  forgetItemTable();
  await forgetModels();
}

const REJECTED_SHOWN = 20;

export async function answerPreview({ source, options }: Api['preview'][0]): Promise<TablePreview> {
  return previewBlob(source, { sep: options.sep, header: options.header });
}

export async function answerRead({ source, options, shares }: Api['read'][0], task: Task): Promise<Opened> {
  const rejected: { line: number; reason: string }[] = [];
  const sink = {
    add: ({ line, reason }: { line: number; reason: string }) => {
      if (rejected.length < REJECTED_SHOWN) rejected.push({ line, reason });
    },
  };
  // The old table is released first: two tables may be too much for a tab.
  await forgetData();
  const found =
    source.kind === 'sample'
      ? await readSample(source, options, task)
      : await readBlob(source, readerOptions(options, task), options.setAside ? sink : undefined, shares);
  // The page reports thinned rows in a sentence of its own.
  const { leftOut, ...counts } = found.read;
  const read = shares ? { ...found, read: counts } : found;
  const opened: Opened = {
    source: source.name,
    ...figuresOf(read.graph),
    names: read.graph.names ?? USERS_AND_ITEMS,
    read: read.read,
    guess: read.guess,
    words: readingSentences(read, asLabel, shares !== undefined),
    rejected,
    kept: shares,
    choice: options,
    passedOver: shares && (leftOut?.where ?? 0),
  };
  data = { from: source, read, graph: read.graph, opened };
  return opened;
}

function figuresOf(graph: BipartiteGraph) {
  return {
    users: graph.users.count,
    items: graph.items.count,
    edges: graph.edges,
    total: graph.total,
    multigraph: graph.multigraph,
    fingerprint: fingerprint(graph),
  };
}

function readerOptions({ setAside: _, ...choice }: ReadChoice, task: TaskOptions) {
  return { ...choice, ...task };
}

/** The data in use with the times of a column, read again; without times, if they were not read from a table. */
export async function timedData(value: ValueColumn, task: TaskOptions): Promise<TimedData> {
  const { graph, from, opened } = currentData();
  if (from.kind !== 'blob') return { graph, values: undefined };
  // Rows that were set aside before are skipped again.
  const skip = opened.choice.setAside ? { add: () => {} } : undefined;
  const read = await readBlobWithValues(from, readerOptions(opened.choice, task), value, skip, opened.kept);
  return { graph: read.graph, values: read.values, caution: timeCaution(read.guess, asLabel) };
}

interface TimedData {
  readonly graph: BipartiteGraph;
  readonly values: Float64Array | undefined;
  /** A warning about times that are perhaps none. */
  readonly caution?: string | undefined;
}

/** The time of each edge in use, by which a ranker weighs it. */
export async function edgeTimes(value: ValueColumn, task: TaskOptions) {
  const { graph: timed, values: times, caution } = await timedData(value, task);
  const current = currentData();
  if (!times || timed.edges !== current.graph.edges) {
    throw optionError`${option('time')}: some rows have no time; choose another column, or “no” for ${option('halfLife')}`;
  }
  return { times, caution };
}

/** Keeps the times by which the ranker weighs edges, for lists of held-out users. */
export function keepTimes(times: Float64Array | undefined): void {
  data = { ...currentData(), times };
}

async function readSample(
  { name }: Extract<Source, { kind: 'sample' }>,
  { multigraph }: ReadChoice,
  task: Task,
): Promise<ReadResult> {
  if (name !== '@sotu') {
    return withNames(await drawPaperSet(name, { multigraph, ...task }), undefined);
  }
  const file = async (ending: string) => {
    const answer = await fetch(new URL(`../samples/sotu.${ending}`, self.location.href), {
      signal: task.signal,
    });
    if (!answer.ok)
      throw new InputError(`${name}: this sample could not be fetched (status ${answer.status}); try again`);
    return answer;
  };
  // The graph that the command line makes from the texts, with its report of reading them.
  const { columns, guess, read } = await (await file('json')).json();
  const table = { name: 'sotu.tsv.gz', blob: await (await file('tsv.gz')).blob() };
  const { graph } = await readBlob(table, { ...columns, multigraph, ...task });
  return withNames({ graph, guess, read }, undefined);
}

/** Keeps users and items at random. The first rows of a table would be another kind of table. */
export async function answerThin(shares: Api['thin'][0]): Promise<Opened> {
  const whole = currentData();
  const all = shares.users === 1 && shares.items === 1;
  const graph = all ? whole.read.graph : thin(whole.read.graph, shares);
  if (graph.edges === 0) throw new InputError('no edge is left: keep a larger share');
  await forgetModels();
  const named = Object.freeze({ ...graph, names: whole.read.graph.names });
  const words = readingSentences(whole.read, asLabel, !all);
  const opened = { ...whole.opened, ...figuresOf(named), words, kept: all ? undefined : shares };
  data = { ...whole, graph: named, opened, times: undefined };
  return opened;
}

/** Sends the exact lines and the verdict first, and the sampled points when they are ready. */
export async function answerCheck(
  { seed }: Api['check'][0],
  task: Task,
  sendPartial: (early: SparsityCheck) => void,
): Promise<SparsityCheck> {
  const { graph } = currentData();
  sendPartial(await checkSparsity(graph, { seed, replicates: 0, signal: task.signal }));
  return checkSparsity(graph, { seed, ...task });
}
