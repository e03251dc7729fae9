// The session's model: fitted or opened from a file, then evaluated, explored and asked for lists.

import { InputError } from '../errors.js';
import { baselineTitle } from '../evaluate/baselines/all-baselines.js';
import { fitBaseline } from '../evaluate/baselines/fit-baseline.js';
import { evaluateModel } from '../evaluate/evaluate.js';
import { foldHeldOut, observedGraph } from '../evaluate/held-out.js';
import { checkPredictive, LEAST_DRAWS, type PredictiveCheck } from '../evaluate/predictive.js';
import { type FitResult, fit } from '../fit/fit.js';
import { featureCount, type Model, needPosterior, type PosteriorModel } from '../fit/model.js';
import { describeSides } from '../fit/sides/side-prior.js';
import { drawPredictive } from '../predict/draw/draw.js';
import { type DescribedFeature, hasFeatures } from '../predict/features.js';
import { mapItems } from '../predict/map/item-map.js';
import { createRecommender, type Recommender } from '../predict/recommender.js';
import { confidenceWords } from '../report/words/confidence.js';
import { engineWords } from '../report/words/engines.js';
import { intervalWords, leftOutWords, surpriseWords } from '../report/words/evaluation.js';
import { sidePriorWords } from '../report/words/side-prior.js';
import { split as splitGraph } from '../sample/split.js';
import type { Split } from '../sample/split-types.js';
import { modelFromBytes } from '../store/model-bytes.js';
import { capital, many } from '../text/phrases.js';
import { USERS_AND_ITEMS } from '../text/sides.js';
import { packNames } from './map/packed-names.js';
import type {
  Answer,
  Api,
  EvaluationSummary,
  FoundItems,
  ItemMap,
  ModelSummary,
  NearItem,
  SplitSummary,
} from './protocol.js';
import type { Task } from './session.js';
import { currentData } from './session-data.js';

interface Held {
  readonly source: string;
  readonly model: Model;
  readonly split: Split | undefined;
  readonly fitted: FitResult | undefined;
  readonly recommender: Recommender;
}

let held: Held | undefined;
/** The feature that each item has most of, once the map was drawn. */
let mapped: { readonly model: Model; readonly feature: Uint16Array } | undefined;

/** The model, which must have been fitted or opened. */
export function currentModel(): Held {
  if (!held) throw new InputError('there is no model yet: fit one, or open a .safetensors file');
  return held;
}

export async function forgetModel(): Promise<void> {
  await held?.recommender.close();
  held = undefined;
  mapped = undefined;
}

/** Minutes between two updates of a fit in progress, and the largest share of the time for its draws. */
const UPDATE_MINUTES = 0.4 / 60;
const DRAW_SHARE = 0.2;

export async function answerFit(
  choice: Api['fit'][0],
  { signal, onProgress, tell }: Task<'fit'>,
): Promise<ModelSummary> {
  const { source, graph } = currentData();
  const { split: asked, seed, features, model: kind, iterations, engine } = choice;
  await forgetModel();
  const split = asked && splitGraph(graph, asked);
  const parts = split && splitSummary(split);
  tell({ split: parts, bounds: [], iteration: 0 });
  let drawnAgain = performance.now();
  let predictive: PredictiveCheck | undefined;
  const fitted = await fit(split?.train ?? graph, {
    ...{ features, model: kind, iterations, engine, seed, signal, onProgress },
    checkpointMinutes: UPDATE_MINUTES,
    async onCheckpoint({ checkpoint: { state }, model }) {
      const began = performance.now();
      if (split && model.type === 'posterior' && state.bounds.length > 0 && began >= drawnAgain) {
        predictive = await drawEarly(model, split, { seed, signal });
        drawnAgain = performance.now() + (performance.now() - began) / DRAW_SHARE;
      }
      tell({ split: parts, bounds: state.bounds, predictive, iteration: state.iteration });
    },
  });
  held = { source, model: fitted.model, split, fitted, recommender: createRecommender(fitted.model) };
  return summary(held);
}

/** A few draws of the test part from a fit in progress. */
async function drawEarly(
  model: PosteriorModel,
  split: Split,
  { seed, signal }: { readonly seed: number; readonly signal: AbortSignal },
): Promise<PredictiveCheck> {
  const { folded } = await foldHeldOut(model, split, { signal });
  const draws = await drawPredictive(model, folded!, split, { draws: LEAST_DRAWS, seed, signal });
  return checkPredictive(draws, observedGraph(model, folded!, split, 'unconditional'));
}

function splitSummary({ train, foldIn, test }: Split): SplitSummary {
  const size = ({ users, items, edges }: Split['train']) => ({
    users: users.count,
    items: items.count,
    edges,
  });
  const { users, items } = train.names ?? USERS_AND_ITEMS;
  return {
    train: size(train),
    foldIn: size(foldIn),
    test: size(test),
    words:
      `The model learns from ${many(train.users.count, users)} and never sees the other ${many(foldIn.users.count, users)}. ` +
      `Of those it is shown some ${items.many}, and asked about the rest: ${many(test.edges, 'edge')}.`,
  };
}

export async function answerEvaluate(
  { seed, n, draws }: Api['evaluate'][0],
  { signal, onProgress }: Task<'evaluate'>,
): Promise<EvaluationSummary> {
  const { model, split } = currentModel();
  if (!split) throw new InputError('nothing was held out: fit again with a test part');
  const task = { signal, onProgress };
  const evaluation = await evaluateModel(model, split, { seed, n, draws, ...task });
  const popularity = await fitBaseline(split.train, 'popularity', { seed, ...task });
  const plain = await evaluateModel(popularity.model, split, { seed, n, draws: 0, ...task });
  const { predictive, names, ranking } = evaluation;
  const score = (name: string, { all }: typeof ranking) => ({
    name,
    recall: all.mean.recall,
    ndcg: all.mean.ndcg,
  });
  return {
    predictive,
    names,
    kind: model.type === 'posterior' ? model.kind : 'auto',
    features: featureCount(model) ?? 0,
    words: [
      ...(predictive
        ? [surpriseWords(predictive, names, model.multigraph), intervalWords(predictive, names)]
        : []),
      leftOutWords(evaluation),
    ],
    scores: [score('This model', ranking), score(capital(baselineTitle('popularity')), plain.ranking)],
    n,
    users: ranking.all.users,
  };
}

export async function answerOpenModel(file: Api['openModel'][0]): Promise<ModelSummary> {
  const model = await modelFromBytes(new File([file.blob], file.name));
  await forgetModel();
  held = {
    source: file.name,
    model,
    split: undefined,
    fitted: undefined,
    recommender: createRecommender(model),
  };
  return summary(held);
}

function summary({ source, model, fitted, split }: Held): ModelSummary {
  const { provenance } = model;
  const names = model.names ?? USERS_AND_ITEMS;
  const posterior = model.type === 'posterior' ? model : undefined;
  const seen = { users: model.users.count, items: model.items.count };
  return {
    source,
    type: model.type,
    kind: model.type === 'posterior' ? model.kind : model.method,
    names,
    users: model.users.count,
    items: model.items.count,
    features: hasFeatures(model) ? featureCount(model) : undefined,
    bound: posterior?.bound,
    bounds: posterior?.provenance.bounds ?? [],
    iterations: provenance.iterations,
    converged: provenance.converged,
    seconds: fitted?.seconds,
    engine: fitted?.engine,
    why: fitted && engineWords(fitted.engineReason),
    threads: fitted?.threads,
    sides: posterior
      ? sidePriorWords(describeSides(posterior), { seen, names, features: posterior.features })
      : [],
    split: split && splitSummary(split),
  };
}

export async function answerFeatures({ n }: Api['features'][0]): Promise<DescribedFeature[]> {
  return currentModel().recommender.features({ n });
}

export async function answerMap({ seed }: Api['map'][0], task: Task<'map'>): Promise<ItemMap> {
  const { model } = currentModel();
  needPosterior(model, 'maps of items');
  const { x, y, feature } = await mapItems(model, { seed, signal: task.signal, onProgress: task.onProgress });
  const { ids, count, degree } = model.items;
  mapped = { model, feature };
  return { x, y, feature, degree, names: packNames(count, (j) => ids.at(j)) };
}

export async function answerSimilar({ item, n }: Api['similar'][0]): Promise<NearItem[]> {
  const { model, recommender } = currentModel();
  return recommender.similar(item, { n }).map((near) => ({ ...near, at: model.items.ids.find(near.item) }));
}

/** Items whose id contains the text, popular items first. Without a text: the popular items. */
export async function answerFind({ text, n, feature }: Api['find'][0]): Promise<FoundItems> {
  const { model } = currentModel();
  const wanted = text.trim().toLowerCase();
  const { ids, degree, count } = model.items;
  const own = mapped?.model === model ? mapped.feature : undefined;
  /** First the item itself, then those that begin with the text, then the others. */
  const found: { at: number; place: number }[] = [];
  for (let at = 0; at < count; at++) {
    if (feature !== undefined && own && own[at] !== feature) continue;
    const item = wanted === '' ? '' : ids.at(at).toLowerCase();
    const place = item.indexOf(wanted);
    if (place >= 0) found.push({ at, place: item === wanted ? -1 : Math.sign(place) });
  }
  found.sort((a, b) => a.place - b.place || degree[b.at] - degree[a.at]);
  const items = found.slice(0, n).map(({ at }) => ({
    ...{ item: ids.at(at), users: degree[at], at },
    ...(own && { feature: own[at] }),
  }));
  return { items, total: found.length };
}

export async function answerRecommend(
  { likes, n }: Api['recommend'][0],
  { signal, tell }: Task<'recommend'>,
): Promise<Answer> {
  const { recommender } = currentModel();
  const began = performance.now();
  const items = await recommender.recommend({ likes }, { n, explain: true, signal });
  const milliseconds = performance.now() - began;
  const listed = items.map((entry) => ({
    item: entry.item,
    score: entry.score,
    reasons: recommender.reasons(entry),
  }));
  tell({ items: listed, sure: undefined, milliseconds });
  const sure = await recommender
    .confidence(
      { likes },
      items.map(({ item }) => item),
    )
    .catch((error) => {
      // Some models have no confidence; their lists are still valid.
      if (error instanceof InputError) return undefined;
      throw error;
    });
  return {
    items: listed.map((entry, i) => ({ ...entry, ...sure?.intervals[i] })),
    sure: sure && confidenceWords(sure, items.length),
    milliseconds,
  };
}
