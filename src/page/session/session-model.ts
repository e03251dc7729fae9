// The session's models: one that describes the data and a ranker, fitted or opened from a file.

import { catalogueOf, storedTitles } from '../../attributes/info.js';
import { InputError, throwIfAborted } from '../../errors.js';
import { foldHeldOut, observedGraph } from '../../evaluate/held-out.js';
import { checkPredictive, LEAST_DRAWS, type PredictiveCheck } from '../../evaluate/predictive.js';
import { type FitResult, fit } from '../../fit/fit.js';
import { featureCount, type Model, type PosteriorModel } from '../../fit/model.js';
import { refuseFuture } from '../../fit/ranking/recency.js';
import { describeSides } from '../../fit/sides/side-prior.js';
import type { BipartiteGraph } from '../../graph/graph.js';
import { partSize } from '../../graph/graph.js';
import { lastTimes, timeColumn } from '../../ingest/intake/value-column.js';
import { once } from '../../math/once.js';
import { drawPredictive } from '../../predict/draw/draw.js';
import { hasFeatures, mainFeatures } from '../../predict/features.js';
import { createRecommender } from '../../predict/recommender.js';
import { createItemSearch } from '../../predict/search-index.js';
import { recencyWords } from '../../report/words/blend.js';
import { engineWords } from '../../report/words/fit.js';
import { sidePriorWords } from '../../report/words/side-prior.js';
import { splitWords } from '../../report/words/split.js';
import { type SplitOptions, split as splitGraph } from '../../sample/split.js';
import type { Split } from '../../sample/split-types.js';
import { modelFromBytes } from '../../store/model-bytes.js';
import { type SideNames, USERS_AND_ITEMS } from '../../text/sides.js';
import { LABELS } from '../control-labels.js';
import {
  type Api,
  type FitChoice,
  type LiveFit,
  type ModelSummary,
  PURPOSES,
  type Purpose,
  type SplitChoice,
  type SplitSummary,
} from '../protocol.js';
import type { Task } from './session.js';
import { currentData, edgeTimes, forgetData, keepTimes } from './session-data.js';
import { describedModel, storedItemTable } from './session-item-table.js';

export interface SessionModel extends ReturnType<typeof withAnswers> {
  readonly purpose: Purpose;
  /** The model without what a table about the items says. */
  readonly plain: Model;
  /** The file that it was opened from. */
  readonly file?: string;
  /** What the page asked for, and what came of it; undefined for a model that was opened. */
  readonly choice?: FitChoice;
  readonly fitted?: FitResult;
  /** The column of times that the fit read. */
  readonly time?: string | undefined;
  /** A warning about its times. */
  readonly caution?: string | undefined;
  readonly split?: SessionSplit | undefined;
}

/** The parts, the choice that they come from, and the column of their times. */
interface SessionSplit {
  readonly parts: Split;
  readonly choice: SplitChoice;
  readonly time: string | undefined;
}

const models: Partial<Record<Purpose, SessionModel>> = {};

/** A model with what answers questions about it, each made when it is first needed. */
function withAnswers(model: Model) {
  const { ids, degree } = catalogueOf(model);
  return {
    model,
    recommender: createRecommender(model),
    search: once(() => createItemSearch(ids, storedTitles(model), degree)),
    /** The feature that explains most of each item's expected edges; undefined if the model has no map. */
    mainFeatures: once(() => (model.type === 'posterior' ? mainFeatures(model) : undefined)),
  };
}

export function sessionModels(): readonly SessionModel[] {
  return PURPOSES.flatMap((purpose) => models[purpose] ?? []);
}

/** The model of a purpose. Without a purpose, the one that describes the data, else the ranker. */
export function currentModel(purpose?: Purpose): SessionModel {
  const found = purpose ? models[purpose] : sessionModels()[0];
  if (!found) throw new InputError('there is no such model yet: fit one, or open a .safetensors file');
  return found;
}

/** The parts of the models' split, if a part was held out. */
export function currentSplit(): Split | undefined {
  return sessionModels()[0]?.split?.parts;
}

export function forgetModels(): Promise<void> {
  return forget(sessionModels());
}

async function forget(gone: readonly SessionModel[]): Promise<void> {
  for (const { purpose } of gone) delete models[purpose];
  for (const { recommender } of gone) await recommender.close();
}

/** Minutes between two updates of a fit in progress, and the largest share of the time for its draws. */
const UPDATE_MINUTES = 0.4 / 60;
const DRAW_SHARE = 0.2;

/** What is there stays until the new model is ready. */
export async function answerFit(
  choice: FitChoice,
  task: Task,
  sendPartial: (live: LiveFit) => void,
): Promise<ModelSummary> {
  const { graph } = currentData();
  const { purpose, split: asked } = choice;
  const other = sessionModels().find((one) => one.purpose !== purpose && sameSplit(one.split?.choice, asked));
  const { times, caution } = (await timesFor(choice, task)) ?? {};
  const time = times && choice.time;
  const split = asked && splitFor(graph, asked, { time, times }, other);
  const summarised = split && splitSummary(split.parts);
  sendPartial({ purpose, split: summarised, bounds: [], iteration: 0 });
  const train = split?.parts.train ?? graph;
  const fitted =
    purpose === 'recommend'
      ? await fitRanker(train, split ? split.parts.times?.train : times, choice, task)
      : await fitDescription(train, choice, { parts: split?.parts, summary: summarised }, task, sendPartial);
  const model = await describedModel(fitted.model, task);
  throwIfAborted(task.signal);
  // A model of another split is forgotten: the two could not be compared.
  const forgotten = forget(sessionModels().filter((one) => one !== other));
  if (other) models[other.purpose] = { ...other, split };
  if (purpose === 'recommend') keepTimes(times);
  const found = add({
    ...withAnswers(model),
    purpose,
    plain: fitted.model,
    choice,
    fitted,
    time,
    caution,
    split,
  });
  await forgotten;
  return found;
}

/** Keeps a model, and says what it is. */
function add(found: SessionModel): ModelSummary {
  models[found.purpose] = found;
  return summary(found);
}

/** Tells the models what the table about the items says: all of them, or none if it is cancelled. */
export async function describeModels(task: Task): Promise<void> {
  const present = sessionModels();
  const described: Model[] = [];
  for (const { plain } of present) described.push(await describedModel(plain, task));
  throwIfAborted(task.signal);
  for (const [at, before] of present.entries()) {
    models[before.purpose] = { ...before, ...withAnswers(described[at]) };
  }
  for (const { recommender } of present) await recommender.close();
}

function sameSplit(a: SplitChoice | undefined, b: SplitChoice | undefined): boolean {
  return a?.seed === b?.seed && a?.testUsers === b?.testUsers && a?.testItems === b?.testItems;
}

/** The times by which a ranker weighs edges. For a pair that occurs several times: those that the command line takes. */
async function timesFor({ purpose, time, halfLife, split }: FitChoice, task: Task) {
  if (purpose !== 'recommend' || time === undefined || halfLife === 'never') return undefined;
  const found = await edgeTimes(split ? timeColumn(time) : lastTimes(time), task);
  refuseFuture(found.times, halfLife);
  return found;
}

/**
 * The split of the other model, or a new one. A ranker needs the times of its own column: if the split has others, it is
 * made again for both models, with the same parts.
 */
function splitFor(
  graph: BipartiteGraph,
  choice: SplitChoice,
  { time, times }: { readonly time: string | undefined; readonly times: Float64Array | undefined },
  other: SessionModel | undefined,
): SessionSplit {
  if (other?.split && (other.purpose === 'recommend' || other.split.time === time)) return other.split;
  return { parts: splitOrAdvise(graph, { ...choice, times }), choice, time };
}

/** On few data a part may be empty: then the models can be fitted to all of them. */
function splitOrAdvise(graph: BipartiteGraph, options: SplitOptions): Split {
  try {
    return splitGraph(graph, options);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(`${error.message}; or untick “${LABELS.holdOut}” in the settings of Fit`, {
      cause: error,
    });
  }
}

/** A ranker with its own defaults: they depend on the size of the data. */
function fitRanker(
  train: BipartiteGraph,
  times: Float64Array | undefined,
  { engine, seed, halfLife }: FitChoice,
  task: Task,
): Promise<FitResult> {
  const recency = times && { times, halfLife };
  return fit(train, { method: 'ranking', engine, seed, ...recency, ...task });
}

/** A model that describes the data; the page shows its bound and early draws while it is fitted. */
function fitDescription(
  train: BipartiteGraph,
  { features, model: kind, iterations, engine, seed }: FitChoice,
  split: { readonly parts: Split | undefined; readonly summary: SplitSummary | undefined },
  task: Task,
  sendPartial: (live: LiveFit) => void,
): Promise<FitResult> {
  let drawnAgain = performance.now();
  let predictive: PredictiveCheck | undefined;
  return fit(train, {
    features,
    model: kind,
    iterations,
    engine,
    seed,
    ...task,
    checkpointMinutes: UPDATE_MINUTES,
    async onCheckpoint({ checkpoint: { state }, model }) {
      const began = performance.now();
      if (split.parts && model.type === 'posterior' && state.bounds.length > 0 && began >= drawnAgain) {
        predictive = await drawEarly(model, split.parts, { seed, signal: task.signal });
        drawnAgain = performance.now() + (performance.now() - began) / DRAW_SHARE;
      }
      sendPartial({
        purpose: 'understand',
        split: split.summary,
        bounds: state.bounds,
        predictive,
        iteration: state.iteration,
      });
    },
  });
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

function splitSummary({ train, foldIn, test, assignment }: Split): SplitSummary {
  const { users, items } = train.names ?? USERS_AND_ITEMS;
  return {
    train: partSize(train),
    foldIn: partSize(foldIn),
    test: partSize(test),
    words: splitWords({
      ...{ users, items, test: test.edges, train: train.users.count, foldIn: foldIn.users.count },
      all: assignment.users.ids.length,
      unseenItems: assignment.items.ids.length - train.items.count,
    }),
  };
}

export async function answerOpenModel(file: Api['openModel'][0]): Promise<ModelSummary> {
  const model = await modelFromBytes(new File([file.blob], file.name));
  await forgetData();
  const purpose = model.type === 'posterior' ? 'understand' : 'recommend';
  const found = add({ purpose, plain: model, file: file.name, ...withAnswers(model) });
  return { ...found, itemTable: storedItemTable(file.name, model) };
}

function rankerWords(model: Model, names: SideNames): string[] {
  if (model.type !== 'ranker') return [];
  const words = recencyWords(model.recency, model.provenance.recency, names);
  return words === undefined ? [] : [words];
}

function summary({ purpose, model, choice, time, caution, fitted, split }: SessionModel): ModelSummary {
  const { provenance } = model;
  const names = model.names ?? USERS_AND_ITEMS;
  const posterior = model.type === 'posterior' ? model : undefined;
  const seen = { users: model.users.count, items: model.items.count };
  return {
    purpose,
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
    words: posterior
      ? sidePriorWords(describeSides(posterior), {
          seen,
          names,
          features: posterior.features,
          training: split !== undefined,
        })
      : rankerWords(model, names),
    choice,
    time,
    caution,
    split: split && splitSummary(split.parts),
  };
}
