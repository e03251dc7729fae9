import { InputError } from '../../errors.js';
import { writeTexts } from '../../files/folder.js';
import type { SparsityEvidence } from '../../fit/choose/sparsity-evidence.js';
import { fingerprint } from '../../graph/fingerprint.js';
import { DATA_HELP } from '../../ingest/formats.js';
import type { ReadOptions, ReadResult } from '../../ingest/options.js';
import { asFlag } from '../../options/as-flag.js';
import type { COMMANDS } from '../../options/commands.js';
import type { OptionsOf } from '../../options/declare.js';
import { option, optionError } from '../../options/error.js';
import { chartDocument } from '../../report/charts/svg-document.js';
import { renderCheckPage } from '../../report/pages/check.js';
import { checkText } from '../../report/terminal/check.js';
import { readingWords, tablesReadingWords } from '../../report/words/reading.js';
import { sparsityWords } from '../../report/words/sparsity.js';
import { isPartitionFolder, openPartition } from '../../shard/partition-folder.js';
import {
  type CheckOptions,
  checkDegreeCounts,
  checkSparsity,
  type SparsityCheck,
} from '../../sparsity/check.js';
import { tailIndexJson } from '../../sparsity/tail-index.js';
import { VERSION } from '../../version.js';
import { type CommandContext, declareCommand, pause } from '../command.js';
import { posteriorFor } from '../model-source.js';
import { checkOutputs } from '../outputs.js';
import { againArguments, dataArgument, dataJson, readData, refuseReading } from '../read-data.js';

type Values = OptionsOf<typeof COMMANDS.check.own>;

export const register = declareCommand(
  'check',
  {
    description: 'Is it sparse? Density curves, tail index and a verdict for both sides.',
    takes: { '<data...>': DATA_HELP },
    examples: [
      'graphex check ratings.csv --users user_id --items movie_id -o check',
      'graphex check @sotu --json',
    ],
  },
  async (context, { own: values, options: asked, read: reader }, given: string[]) => {
    const { seed, signal, warn } = context;
    const data = await dataArgument(given);
    const source = data.title;
    await checkOutputs({
      files: [reader.rejects],
      folder: values.output === undefined ? undefined : { path: values.output, names: REPORT_FILES },
      inputs: [...data.sources, values.model],
      force: values.force,
    });
    const inParts = given.length === 1 && (await isPartitionFolder(given[0]));
    const looked = inParts
      ? await lookAtParts(given[0], asked.replicates, reader)
      : await lookAtData(data.sources, reader, asked, context);
    const { check } = looked;
    const evidence = values.model ? await modelEvidence(values.model, looked.fingerprint(), warn) : undefined;
    await pause(signal);
    const written = values.output ? await writeReport(values, source, looked, seed) : [];
    return {
      json: {
        ...dataJson(data),
        ...check,
        sigma: { users: tailIndexJson(check.sigma.users), items: tailIndexJson(check.sigma.items) },
        verdict: { ...check.verdict, text: sparsityWords(check).text },
        read: looked.read,
        ...(evidence ? { evidence } : {}),
        written,
      },
      text: checkText(source, againArguments(data, reader), check, looked.reading, written, evidence),
    };
  },
);

/** The result, and the data it describes. */
interface Looked {
  readonly check: SparsityCheck;
  readonly read: ReadResult['read'];
  readonly guess?: ReadResult['guess'] | undefined;
  /** Sentences on how the data were read. */
  readonly reading: string;
  readonly fingerprint: () => string;
}

async function lookAtData(
  sources: readonly string[],
  reader: ReadOptions,
  asked: CheckOptions,
  context: CommandContext,
): Promise<Looked> {
  const { signal, onProgress } = context;
  const result = await readData(sources, reader, context);
  const { graph, read, guess } = result;
  const check = await checkSparsity(graph, { ...asked, signal, onProgress });
  return { check, read, guess, reading: readingWords(result, asFlag), fingerprint: () => fingerprint(graph) };
}

/** The degrees are in parts.json, so no shard is read. */
async function lookAtParts(
  folder: string,
  replicates: number | undefined,
  reader: ReadOptions,
): Promise<Looked> {
  refuseReading(folder, reader, 'partition');
  if (replicates !== undefined && replicates > 0) {
    throw optionError`${option('replicates')} ${replicates}: sampled points need the data in one piece, and ${folder} is in shards; leave it out: the exact line needs only the degrees`;
  }
  const parts = await openPartition(folder);
  const { read, shards } = parts;
  return {
    check: checkDegreeCounts(parts.degrees, parts),
    read,
    reading: tablesReadingWords(read, shards.length, asFlag),
    fingerprint: () => parts.fingerprint,
  };
}

const REPORT_FILES = ['density.svg', 'degrees.svg', 'check.html'] as const;

/** The evidence of a model for sparse or dense. */
async function modelEvidence(
  path: string,
  ofData: string,
  warn: (message: string) => void,
): Promise<SparsityEvidence> {
  const { evidence } = (await posteriorFor(path, 'figures of evidence', ofData, warn)).provenance;
  if (evidence) return evidence;
  throw new InputError(
    `--model ${path}: this model has no evidence; fit the sparse model without --no-evidence`,
  );
}

async function writeReport(
  { output: folder = '.', force }: Values,
  source: string,
  { check, read, guess, fingerprint: print }: Looked,
  seed: number,
): Promise<string[]> {
  // Charts are loaded only here: loading them takes longer than most checks.
  const { checkPictures } = await import('../../report/charts/degrees.js');
  const charts = checkPictures(await chartDocument(), check);
  const files: Record<(typeof REPORT_FILES)[number], string> = {
    'density.svg': charts.density,
    'degrees.svg': charts.degrees,
    'check.html': renderCheckPage({
      source,
      check,
      charts,
      read,
      guess,
      version: VERSION,
      seed,
      fingerprint: print(),
    }),
  };
  return writeTexts(folder, files, { force });
}
