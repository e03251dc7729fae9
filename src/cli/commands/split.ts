import { type PartSize, partSize } from '../../graph/graph.js';
import { DATA_HELP } from '../../ingest/formats.js';
import { timeColumn } from '../../ingest/intake/value-column.js';
import type { ReadResult } from '../../ingest/options.js';
import { asFlag } from '../../options/as-flag.js';
import { option, optionError } from '../../options/error.js';
import type { SplitMethod } from '../../options/names.js';
import { foldsText, splitSummary, splitText } from '../../report/terminal/split.js';
import { nextLine, wrapLines } from '../../report/terminal/text-table.js';
import { readingWords } from '../../report/words/reading.js';
import { drawnVertices, type SplitOptions, split, splitFolds, unseenByTraining } from '../../sample/split.js';
import type { Split } from '../../sample/split-types.js';
import { isPartitionFolder, openPartition } from '../../shard/partition-folder.js';
import { partitionedSplitFiles, splitPartition } from '../../shard/split-partition.js';
import { compareSplit, type SplitBias } from '../../sparsity/split-bias.js';
import { foldFiles, saveFolds } from '../../store/fold-folder.js';
import { type SplitPart, saveSplit, splitFiles } from '../../store/split-folder.js';
import { many } from '../../text/phrases.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import { type CommandContext, type CommandOutput, declareCommand, pause } from '../command.js';
import { checkOutputs } from '../outputs.js';
import { dataArgument, dataJson, readData, refuseReading } from '../read-data.js';

export const register = declareCommand(
  'split',
  {
    description:
      'Train, fold-in and test parts by (p,q)-sampling: without the degree bias of held-out edges.',
    takes: { '<data...>': `${DATA_HELP}; or a folder made by \`graphex partition\`` },
    examples: [
      'graphex split ratings.csv -o split --test-users 0.2 --test-items 0.2',
      'graphex split ratings.csv --method time --time timestamp -o split',
      'graphex split ratings.csv --method last --time timestamp -o split',
      'graphex split ratings.csv --method new-items --test-items 0.2 -o split',
      'graphex split ratings.csv --folds 5 --format csv -o folds',
      'graphex split shards/ -o split/',
    ],
  },
  async (context, { own, options: asked, read: reader }, given: string[]) => {
    const { signal, onProgress } = context;
    const data = await dataArgument(given);
    const { output = '.', force, time, folds, format } = own;
    if (given.length === 1 && (await isPartitionFolder(given[0]))) {
      refuseReading(given[0], { ...reader, ...(time !== undefined && { time }) }, 'partition');
      refuseWhole({ folds, format });
      return runSplitParts(given[0], data.title, output, force, asked, context);
    }
    await checkOutputs({
      files: [reader.rejects],
      folder: { path: output, names: folds === undefined ? splitFiles(format) : foldFiles(folds, format) },
      inputs: data.sources,
      force,
    });
    checkTime(asked.method, time);
    if (folds !== undefined) checkFolds(asked);
    const value = time === undefined ? undefined : timeColumn(time);
    const result = await readData(data.sources, reader, context, { value });
    onProgress({ stage: 'splitting', done: 0 });
    if (folds !== undefined) {
      const { testItems, seed } = asked;
      const splits = splitFolds(result.graph, folds, { testItems, seed, times: result.values });
      await pause(signal);
      onProgress({ stage: 'writing', done: 0 });
      await saveFolds(output, splits, { ...dataJson(data) }, { force, format });
      return foldsOutput(splits, result, { ...dataJson(data), output });
    }
    const parts = split(result.graph, { ...asked, times: result.values });
    const { train, foldIn, test } = parts;
    const unseen = unseenByTraining(parts);
    const bias = compareSplit(result.graph, parts);
    const dropped = unseen.foldIn.edges + unseen.test.edges;
    await pause(signal);
    onProgress({ stage: 'writing', done: 0 });
    const extra = { ...dataJson(data), dropped, unseen: { foldin: unseen.foldIn, test: unseen.test } };
    await saveSplit(output, parts, extra, { force, format });
    const sizes = { train: partSize(train), foldIn: partSize(foldIn), test: partSize(test) };
    return {
      json: { ...extra, ...splitJson(parts, sizes, bias), read: result.read, output },
      text: [
        wrapLines(readingWords(result, asFlag)),
        '',
        splitText(splitSummary(parts, bias, dropped)),
        `wrote ${output}`,
        parts.method === 'new-items'
          ? nextLine('study', output, '--item-info', 'TABLE', '-o', 'report')
          : nextLine('fit', output, '-o', 'model.safetensors'),
      ].join('\n'),
    };
  },
);

function splitJson(
  split: Omit<Split, SplitPart>,
  { train, foldIn, test }: Readonly<Record<SplitPart, PartSize>>,
  bias: SplitBias,
) {
  const { method, seed, testUsers, testItems, times, assignment, fingerprint } = split;
  return {
    method,
    seed,
    ...(method !== 'last' && method !== 'new-items' && { testUsers }),
    ...((method === 'pq' || method === 'new-items') && { testItems }),
    ...(times?.cut !== undefined && { cut: times.cut }),
    train,
    foldin: foldIn,
    test,
    coins: drawnVertices(assignment),
    bias,
    fingerprint,
  };
}

function foldsOutput(
  splits: readonly Split[],
  result: ReadResult,
  about: { readonly output: string },
): CommandOutput {
  const [{ method, seed, testItems, fingerprint }] = splits;
  const folds = splits.map(({ train, foldIn, test }, fold) => ({
    fold: fold + 1,
    train: partSize(train),
    foldin: partSize(foldIn),
    test: partSize(test),
  }));
  return {
    json: { ...about, method, seed, testItems, fingerprint, folds, read: result.read },
    text: [
      wrapLines(readingWords(result, asFlag)),
      '',
      foldsText(splits),
      `wrote ${about.output}`,
      nextLine('study', about.output, '-o', 'report'),
    ].join('\n'),
  };
}

/** Splits partitioned data shard by shard. */
async function runSplitParts(
  source: string,
  title: string,
  output: string,
  force: boolean | undefined,
  asked: SplitOptions,
  { signal, onProgress }: CommandContext,
): Promise<CommandOutput> {
  const parts = await openPartition(source);
  const names = partitionedSplitFiles(parts.shards.length);
  await checkOutputs({ folder: { path: output, names }, inputs: [source], force });
  const extra = { source: title };
  const made = await splitPartition(parts, output, asked, { extra, force, signal, onProgress });
  const { method, bias, unseen } = made;
  const dropped = unseen.foldIn.edges + unseen.test.edges;
  const { train, foldIn, test } = made.parts;
  const size = ({ users, items, edges }: PartSize): PartSize => ({ users, items, edges });
  return {
    json: {
      ...extra,
      dropped,
      unseen: { foldin: unseen.foldIn, test: unseen.test },
      ...splitJson(made, { train: size(train), foldIn: size(foldIn), test: size(test) }, bias),
      shards: parts.shards.length,
      output,
    },
    text: [
      splitText({
        method,
        bias,
        dropped,
        names: parts.names ?? USERS_AND_ITEMS,
        edges: { train: train.edges, foldIn: foldIn.edges, test: test.edges },
      }),
      `wrote ${output}, in ${many(parts.shards.length, 'shard')}`,
      nextLine('fit', output, '-o', 'model.safetensors'),
    ].join('\n'),
  };
}

function checkTime(method: SplitMethod | undefined, time: string | number | undefined): void {
  const needed = method === 'time' || method === 'last';
  if (needed && time === undefined) {
    throw optionError`${option('method')} ${method}: it needs the column of the times, as in ${option('time')} timestamp`;
  }
}

/** Refuses what only data in one piece can have. */
function refuseWhole(given: object): void {
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    throw optionError`${option(name)}: the split of a folder of shards has shards itself; leave this option out, or give the data themselves`;
  }
}

function checkFolds({ method = 'pq', testUsers, last }: SplitOptions): void {
  if (method !== 'pq') {
    throw optionError`${option('folds')} cuts the users: it needs ${option('method')} pq, not ${method}; leave one of the two out`;
  }
  for (const [name, value] of Object.entries({ testUsers, last })) {
    if (value === undefined) continue;
    throw optionError`${option(name)} has no meaning with ${option('folds')}: each fold holds out its own users; leave one of the two out`;
  }
}
