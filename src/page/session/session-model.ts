// The session's models: one that describes the data and a ranker, fitted or opened from a file.

import { InputError } from '../../errors.js';
import { foldHeldOut, observedGraph } from '../../evaluate/held-out.js';
import { checkPredictive, LEAST_DRAWS, type PredictiveCheck } from '../../evaluate/predictive.js';
import { type FitResult, fit } from '../../fit/fit.js';
import { featureCount, type Model, type PosteriorModel } from '../../fit/model.js';
import { describeSides } from '../../fit/sides/side-prior.js';
import type { BipartiteGraph } from '../../graph/graph.js';
import { drawPredictive } from '../../predict/draw/draw.js';
import { hasFeatures } from '../../predict/features.js';
import { createRecommender, type Recommender } from '../../predict/recommender.js';
import { engineWords } from '../../report/words/engines.js';
import { sidePriorWords } from '../../report/words/side-prior.js';
import { split as splitGraph } from '../../sample/split.js';
import type { Split } from '../../sample/split-types.js';
import { modelFromBytes } from '../../store/model-bytes.js';
import { many } from '../../text/phrases.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import {
  type Api,
  type ModelSummary,
  PURPOSES,
  type Purpose,
  type SplitChoice,
  type SplitSummary,
} from '../protocol.js';
import type { Task } from './session.js';
import { currentData, forgetData } from './session-data.js';
import { describedModel, storedItemTable } from './session-item-table.js';

export interface Held {
  readonly purpose: Purpose;
  readonly source: string;
  readonly model: Model;
  readonly split: HeldSplit | undefined;
  readonly fitted: FitResult | undefined;
  readonly recommender: Recommender;
}

/** The parts, and the choice that they come from. */
interface HeldSplit {
  readonly parts: Split;
  readonly choice: SplitChoice;
}

const held: Partial<Record<Purpose, Held>> = {};

/** The models that were fitted or opened. */
export function heldModels(): readonly Held[] {
  return PURPOSES.flatMap((purpose) => held[purpose] ?? []);
}

/** The model of a purpose. Without a purpose, the one that describes the data, else the ranker. */
export function currentModel(purpose?: Purpose): Held {
  const found = purpose ? held[purpose] : heldModels()[0];
  if (!found) throw new InputError('there is no such model yet: fit one, or open a .safetensors file');
  return found;
}

/** The parts of the models' split, if a part was held out. */
export function currentSplit(): Split | undefined {
  return heldModels()[0]?.split?.parts;
}

export async function forgetModels(only: readonly Purpose[] = PURPOSES): Promise<void> {
  for (const purpose of only) {
    await held[purpose]?.recommender.close();
    delete held[purpose];
  }
}

/** Minutes between two updates of a fit in progress, and the largest share of the time for its draws. */
const UPDATE_MINUTES = 0.4 / 60;
const DRAW_SHARE = 0.2;

export async function answerFit(choice: Api['fit'][0], task: Task<'fit'>): Promise<ModelSummary> {
  const { source, graph } = currentData();
  const { purpose, split: asked } = choice;
  // A model of another split is forgotten: the two could not be compared.
  const kept = heldModels().find(
    (other) => other.purpose !== purpose && sameSplit(other.split?.choice, asked),
  );
  await forgetModels(PURPOSES.filter((other) => other !== kept?.purpose));
  const split = kept?.split ?? (asked && { parts: splitGraph(graph, asked), choice: asked });
  const summarised = split && splitSummary(split.parts);
  task.sendPartial({ purpose, split: summarised, bounds: [], iteration: 0 });
  const train = split?.parts.train ?? graph;
  const fitted =
    purpose === 'recommend'
      ? await fitRanker(train, choice, task)
      : await fitDescription(train, choice, split?.parts, summarised, task);
  const model = await describedModel(fitted.model, task);
  const found: Held = { purpose, source, model, split, fitted, recommender: createRecommender(model) };
  held[purpose] = found;
  return summary(found);
}

/** Tells the models what the table about the items says. */
export async function describeModels(task: Task<'itemTable'>): Promise<void> {
  for (const before of heldModels()) {
    const model = await describedModel(before.model, task);
    held[before.purpose] = { ...before, model, recommender: createRecommender(model) };
    await before.recommender.close();
  }
}

function sameSplit(a: SplitChoice | undefined, b: SplitChoice | undefined): boolean {
  return a?.seed === b?.seed && a?.testUsers === b?.testUsers && a?.testItems === b?.testItems;
}

/** A ranker with its own defaults: they depend on the size of the data. */
function fitRanker(
  train: BipartiteGraph,
  { engine, seed }: Api['fit'][0],
  { signal, onProgress }: Task<'fit'>,
): Promise<FitResult> {
  return fit(train, { method: 'ranking', engine, seed, signal, onProgress });
}

/** A model that describes the data; the page shows its bound and early draws while it is fitted. */
function fitDescription(
  train: BipartiteGraph,
  { features, model: kind, iterations, engine, seed }: Api['fit'][0],
  parts: Split | undefined,
  split: SplitSummary | undefined,
  { signal, onProgress, sendPartial }: Task<'fit'>,
): Promise<FitResult> {
  let drawnAgain = performance.now();
  let predictive: PredictiveCheck | undefined;
  return fit(train, {
    ...{ features, model: kind, iterations, engine, seed, signal, onProgress },
    checkpointMinutes: UPDATE_MINUTES,
    async onCheckpoint({ checkpoint: { state }, model }) {
      const began = performance.now();
      if (parts && model.type === 'posterior' && state.bounds.length > 0 && began >= drawnAgain) {
        predictive = await drawEarly(model, parts, { seed, signal });
        drawnAgain = performance.now() + (performance.now() - began) / DRAW_SHARE;
      }
      sendPartial({
        purpose: 'understand',
        split,
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
      `The models learn from ${many(train.users.count, users)}. The other ${many(foldIn.users.count, users)} are held out: ` +
      `a model sees some of their ${items.many} and must predict the rest, ${many(test.edges, 'edge')}.`,
  };
}

export async function answerOpenModel(file: Api['openModel'][0]): Promise<ModelSummary> {
  const model = await modelFromBytes(new File([file.blob], file.name));
  await forgetData();
  const purpose = model.type === 'posterior' ? 'understand' : 'recommend';
  const found: Held = {
    ...{ purpose, source: file.name, model, recommender: createRecommender(model) },
    ...{ split: undefined, fitted: undefined },
  };
  held[purpose] = found;
  return { ...summary(found), itemTable: storedItemTable(file.name, model) };
}

function summary({ purpose, source, model, fitted, split }: Held): ModelSummary {
  const { provenance } = model;
  const names = model.names ?? USERS_AND_ITEMS;
  const posterior = model.type === 'posterior' ? model : undefined;
  const seen = { users: model.users.count, items: model.items.count };
  return {
    purpose,
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
    split: split && splitSummary(split.parts),
  };
}
