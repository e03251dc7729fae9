// graphex evaluate: recommendation metrics and predictive checks of a model on a split.

import { InputError } from '../../errors.js';
import {
  type AttributeComparisons,
  againstAttributes,
  againstModel,
  againstPopularity,
  checkComparable,
  type RankingComparison,
} from '../../evaluate/compare-rankings.js';
import { checkHeldOut, type EvaluateOptions, evaluateModel } from '../../evaluate/evaluate.js';
import { evaluateShards } from '../../evaluate/evaluate-shards.js';
import { featureCount, type Model } from '../../fit/model.js';
import { fingerprint } from '../../graph/fingerprint.js';
import type { TaskOptions } from '../../progress.js';
import {
  attributesJson,
  comparisonJson,
  evaluationJson,
  evaluationText,
  type Printed,
} from '../../report/terminal/evaluate.js';
import { wrap } from '../../report/terminal/text-table.js';
import {
  againstWords,
  attributeWords,
  popularityWords,
  rankingAdvice,
} from '../../report/words/evaluation.js';
import {
  frameOfPartition,
  frameOfSplit,
  heldOutPieces,
  isPartitionedSplit,
  openPartitionedSplit,
} from '../../shard/split-partition.js';
import { loadModel } from '../../store/model-file.js';
import { loadSplit } from '../../store/split-folder.js';
import { present } from '../../text/phrases.js';
import { declareCommand } from '../command.js';
import { modelsInTurn, type OpenedModel, openModel } from '../model-source.js';
import { ranksAllItems, runEvaluateTables } from './evaluate-tables.js';

export const register = declareCommand(
  'evaluate',
  {
    description:
      'Recommendation metrics and predictive checks of a model on a split, or of lists made elsewhere.',
    takes: {
      '[model]':
        'a model written by `graphex fit` from the training part: a file, or its folder with users by shard',
      '[dir]': 'the folder written by `graphex split`; not with --train and --test',
    },
    examples: [
      'graphex fit split -o my.model && graphex evaluate my.model split',
      'graphex evaluate ranker.model split --against my.model --against lists.csv',
      'graphex evaluate --train train.csv --test test.csv --recommendations lists.csv',
    ],
  },
  async (
    context,
    { own: flags, options, read },
    modelFile: string | undefined,
    folder: string | undefined,
  ) => {
    const { n: given, ...evaluating } = options;
    const because = await ranksAllItems(flags);
    if (because !== undefined) {
      const positional = [modelFile, folder].filter((given) => given !== undefined);
      return runEvaluateTables(positional, flags, given, read, context, because);
    }
    const { seed, task, warn } = context;
    if (modelFile === undefined || folder === undefined) {
      throw new InputError('give a model and a split folder, or two tables with --train and --test');
    }
    const lengths = [given ?? []].flat();
    if (lengths.length > 1) {
      throw new InputError(
        `-n ${lengths.join(',')}: a (p,q) split is evaluated at one length; give one, or --train and --test`,
      );
    }
    const opened = await openModel(modelFile);
    const { head: model } = opened;
    const asked = { ...evaluating, n: lengths[0], seed, ...task };
    const inTurn = opened.byShard !== undefined || (await isPartitionedSplit(folder));
    const { against: files = [] } = flags;
    if (inTurn && files.length > 0) {
      throw new InputError(
        '--against needs each model in one file and the split in one piece; merge the model, and split the data in one piece',
      );
    }
    const others: Model[] = [];
    for (const file of files) others.push(await loadModel(file));
    const { result, popularity, attributes, rivals } = inTurn
      ? await evaluateByShard(opened, folder, asked, task)
      : await evaluateWhole(model, others, folder, asked, { seed, ...task });
    const { n } = result.ranking;
    const { names } = result;
    const fits = [result.fittedToTrain, ...rivals.map(({ fittedToTrain }) => fittedToTrain)];
    for (const [at, file] of [modelFile, ...files].entries()) {
      if (fits[at]) continue;
      warn(`${file} was not fitted to exactly the training part of ${folder}; the figures may mean little`);
    }
    return {
      json: {
        model: modelFile,
        kind: model.type === 'posterior' ? model.kind : model.type,
        objective: model.type === 'posterior' ? 'evidence' : 'ranking',
        features: featureCount(model) ?? null,
        split: folder,
        protocol: 'split',
        ...evaluationJson(result, popularity),
        ...(attributes && { attributes: attributesJson(attributes) }),
        against: rivals.length > 0 ? rivalJson(files[0], rivals[0]) : null,
        rivals: rivals.map((rival, at) => rivalJson(files[at], rival)),
      },
      text: evaluationText(`${modelFile} (${modelTitle(model)}) on ${folder}`, result, model.multigraph, [
        ...present([
          popularity && popularityWords(popularity, n, names),
          ...(attributes ? attributeWords(attributes, n, names) : []),
          ...rivals.map(({ comparison }, at) => againstWords(files[at], comparison, n, names)),
        ]).map((one) => wrap(one)),
        ...(model.type === 'posterior' ? rankingAdvice(folder) : []),
      ]),
    };
  },
);

interface Evaluated {
  readonly result: Printed;
  readonly popularity: RankingComparison | undefined;
  /** On items without edges: compared with baselines by attributes. */
  readonly attributes?: AttributeComparisons | undefined;
  /** Compared with the models of --against, in their order. */
  readonly rivals: readonly ComparedRival[];
}

interface ComparedRival {
  readonly comparison: RankingComparison;
  readonly fittedToTrain: boolean;
}

const rivalJson = (model: string, { comparison }: ComparedRival) => ({
  model,
  ...comparisonJson(comparison),
});

async function evaluateWhole(
  model: Model,
  others: readonly Model[],
  folder: string,
  asked: EvaluateOptions,
  { seed, ...task }: TaskOptions & { readonly seed: number },
): Promise<Evaluated> {
  const split = await loadSplit(folder, task);
  for (const other of others) checkComparable(model, other, split);
  const result = await evaluateModel(model, split, asked);
  const rivals: ComparedRival[] = [];
  for (const other of others) {
    rivals.push({
      comparison: await againstModel(other, split, result, { ...asked, seed }),
      fittedToTrain: other.provenance.fingerprint === fingerprint(split.train),
    });
  }
  return {
    result,
    popularity: await againstPopularity(model, result, { seed, ...task }),
    attributes: await againstAttributes(model, result, { seed, ...task }),
    rivals,
  };
}

/** Evaluates held-out users shard by shard, with at most one shard of the model's users in memory. */
async function evaluateByShard(
  opened: OpenedModel,
  folder: string,
  asked: EvaluateOptions,
  task: TaskOptions,
): Promise<Evaluated> {
  const { signal, onProgress } = task;
  const inShards = await isPartitionedSplit(folder);
  const parts = inShards ? await openPartitionedSplit(folder) : undefined;
  const split = parts ? undefined : await loadSplit(folder, task);
  if (split && split.method !== 'pq') {
    throw new InputError(
      `${folder}: it holds out edges of users that the model knows, which needs the model in one file: npx graphex merge ${opened.byShard!.folder} -o model.safetensors`,
    );
  }
  const assignment = parts ? { ids: parts.userIds, drawn: parts.userDrawn } : split!.assignment.users;
  for await (const model of modelsInTurn(opened, signal)) checkHeldOut(model, assignment);
  async function* whole() {
    yield { foldIn: split!.foldIn, test: split!.test };
  }
  const pieces = parts
    ? heldOutPieces(parts, {
        ...(signal && { signal }),
        onShard: (done) => onProgress?.({ stage: 'evaluating', done, total: parts.shards, unit: 'shards' }),
      })
    : whole();
  const frame = parts ? frameOfPartition(parts) : frameOfSplit(split!);
  const { popularity, ...result } = await evaluateShards(opened.head, frame, pieces, asked);
  return { result, popularity, rivals: [] };
}

function modelTitle(model: Model): string {
  const features = featureCount(model);
  const name = model.type === 'posterior' ? model.kind : `ranker, ${model.method}`;
  return features === undefined ? name : `${name}, ${features} features`;
}
