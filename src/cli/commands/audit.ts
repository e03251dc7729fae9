// graphex audit: is this split fair?

import { type AuditOptions, auditSplit } from '../../audit/audit.js';
import { type Decision, decideAcrossSplits } from '../../audit/decision.js';
import { wholeOfParts } from '../../audit/numbering.js';
import { InputError } from '../../errors.js';
import type { SplitTables } from '../../evaluate/table-task.js';
import { writeTexts } from '../../files/folder.js';
import type { BipartiteGraph } from '../../graph/graph.js';
import { timeColumn } from '../../ingest/intake/value-column.js';
import type { ReadOptions } from '../../ingest/options.js';
import { toArguments } from '../../options/arguments.js';
import { SPLIT_TABLES } from '../../options/commands/evaluate.js';
import { option, optionError } from '../../options/error.js';
import { READ_TABLES } from '../../options/shared.js';
import { renderAuditPage } from '../../report/pages/audit.js';
import { auditText } from '../../report/terminal/audit.js';
import { auditWords } from '../../report/words/audit.js';
import { loadSplit } from '../../store/split-folder.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import { type CommandContext, declareCommand, pause } from '../command.js';
import { checkOutputs } from '../outputs.js';
import { readData, refuseForSplit } from '../read-data.js';

const REPORT_FILES = ['audit.html'] as const;
const PART_OPTIONS = ['train', 'foldIn', 'validation', 'test'] as const;

export const register = declareCommand(
  'audit',
  {
    description:
      'Is this split fair? Overlap, degree bias, false zeros, time leaks, filtering: each with a verdict.',
    takes: { '[dir]': 'the folder written by `graphex split`; not with --train and --test' },
    examples: [
      'graphex audit split -o audit',
      'graphex audit --train train.csv --test test.csv --time timestamp --decision',
    ],
  },
  async (context, { own, options, read: reader }, folder: string | undefined) => {
    const { seed, task, signal } = context;
    const { output, force, decision: decide, time, ...tables } = own;
    await checkOutputs({
      files: [reader.rejects],
      folder: output === undefined ? undefined : { path: output, names: REPORT_FILES },
      inputs: [folder, tables.train, tables.test, tables.validation, tables.foldIn],
      force,
    });
    const given = await inputs(folder, tables, time, reader, context);
    const audit = await auditSplit(given.parts, { ...options, ...given.options, ...task });
    let decision: Decision | undefined;
    if (decide) {
      const { graph, times } = wholeOfParts(given.parts, given.options.times);
      decision = await decideAcrossSplits(graph, { times, seed, ...task });
    }
    const names = given.parts.train.names ?? USERS_AND_ITEMS;
    const source = folder ?? `${tables.train} and ${tables.test}`;
    await pause(signal);
    const next =
      audit.verdict === 'broken'
        ? ['split', 'DATA', '-o', 'split']
        : folder === undefined
          ? ['evaluate', ...toArguments(SPLIT_TABLES, tables), ...toArguments(READ_TABLES, reader)]
          : ['fit', folder, '-o', 'model.safetensors'];
    const said = auditWords(audit, names);
    const page = () => renderAuditPage({ source, audit, decision, names, seed });
    const written = output === undefined ? [] : await writeTexts(output, { 'audit.html': page() }, { force });
    return {
      json: {
        source,
        ...audit,
        checks: audit.checks.map((check, at) => ({
          ...check,
          text: said.checks[at].words,
          advice: said.checks[at].advice ?? null,
        })),
        text: said.answer,
        decision: decision ?? null,
        written,
      },
      text: auditText(source, audit, decision, names, written, next),
    };
  },
);

interface Inputs {
  readonly parts: SplitTables;
  readonly options: Pick<AuditOptions, 'times' | 'assignment' | 'method'>;
}

async function inputs(
  folder: string | undefined,
  tables: Readonly<Partial<Record<(typeof PART_OPTIONS)[number], string | undefined>>>,
  time: string | number | undefined,
  reader: ReadOptions,
  context: CommandContext,
): Promise<Inputs> {
  if (folder !== undefined) {
    const extra = PART_OPTIONS.find((name) => tables[name] !== undefined);
    if (extra)
      throw optionError`${option(extra)}: a split folder already has its tables; give one or the other`;
    refuseForSplit(folder, reader, time);
    const parts = await loadSplit(folder, context.task);
    const { method, assignment, times: all } = parts;
    // Other methods keep times too, but do not promise any order.
    const ordered = method === 'time' || method === 'last';
    const times = ordered && all ? { train: all.train, test: all.test } : undefined;
    const isDrawn = method === 'pq' || method === 'new-items';
    return { parts, options: { method, ...(isDrawn && { assignment }), ...(times && { times }) } };
  }
  if (tables.train === undefined || tables.test === undefined) {
    throw new InputError('there is no split to audit: give a split folder, or both --train and --test');
  }
  const graphs: Partial<Record<(typeof PART_OPTIONS)[number], BipartiteGraph>> = {};
  const times: Partial<Record<(typeof PART_OPTIONS)[number], Float64Array>> = {};
  for (const name of PART_OPTIONS) {
    const source = tables[name];
    if (source === undefined) continue;
    const value = time === undefined ? undefined : timeColumn(time);
    const { graph, values } = await readData([source], reader, context, { value });
    graphs[name] = graph;
    if (values) times[name] = values;
  }
  return { parts: graphs as unknown as SplitTables, options: time === undefined ? {} : { times } };
}
