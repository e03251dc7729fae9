// The models of a study: each is fitted to the training part and evaluated on the test part. Models with the same
// fit are fitted once.

import type { SideInfo } from '../attributes/info.js';
import { reasonAgainstCalibration } from '../evaluate/calibrate.js';
import { type Evaluation, evaluateModel } from '../evaluate/evaluate.js';
import { asDrawn } from '../evaluate/predictive.js';
import type { CountChoice } from '../fit/choose/counts-model.js';
import { isSameFit } from '../fit/choose/same-fit.js';
import { sparsityEvidence } from '../fit/choose/sparsity-evidence.js';
import { type FitResult, fit } from '../fit/fit.js';
import { hyperBySide, type Model, type PosteriorModel } from '../fit/model.js';
import { describeSides } from '../fit/sides/side-prior.js';
import { joinRankings, type RankingResult } from '../metrics/ranking-metrics.js';
import { withTables } from '../predict/content/fit-content.js';
import type { TaskOptions } from '../progress.js';
import type { Split } from '../sample/split-types.js';
import { type Atlas, atlas } from './atlas.js';
import { PLAIN_ROW, type RankedMethod } from './leaderboard.js';
import {
  calibratedModel,
  fitOptionsOf,
  type ModelKind,
  mainModel,
  modelsOf,
  type StudyOptions,
  type StudySettings,
  titleLookup,
} from './options.js';
import { fitId, type StudyEvidence, type StudyFit } from './results.js';
import type { StageTimes } from './stage-times.js';
import { hasNames, type Topic, topics } from './topics.js';

/** Settings whose numbers of features are known. */
export interface CountedSettings extends StudySettings {
  readonly features: readonly number[];
}

/** Results that only the first run computes. */
export interface FirstRunFindings {
  readonly evidence: StudyEvidence[];
  /** By K. */
  readonly topics: Map<number, Topic[]>;
  /** By K. */
  readonly atlas: Map<number, Atlas>;
}

interface EvaluatedModel {
  readonly kind: ModelKind;
  readonly features: number;
  readonly fitted: FitResult<PosteriorModel>;
  readonly evaluation: Evaluation;
}

/** Fits and evaluates every model with every K; `first` adds what only the first run computes. `about` describes new items to rank. */
export async function fitModels(
  parts: Split,
  settings: CountedSettings,
  times: StageTimes,
  first: { readonly found: FirstRunFindings; readonly options: StudyOptions } | undefined,
  about: SideInfo | undefined,
) {
  const fits: StudyFit[] = [];
  const methods: RankedMethod[] = [];
  /** How the counts of a multigraph were fitted. */
  let counts: CountChoice | null = null;
  for (const features of settings.features) {
    const done: EvaluatedModel[] = [];
    for (const kind of modelsOf(settings)) {
      const same = await sameAmong(done, kind, parts, settings);
      const named = { model: kind, ...(settings.features.length > 1 && { features }) };
      const found =
        same?.fitted ??
        (await times.stage({ stage: 'fit', ...named }, (t) =>
          fit(parts.train, {
            ...fitOptionsOf(settings, kind, features),
            // The first fit decides how counts are modelled, for all fits.
            ...(counts && { counts: counts.model }),
            ...t,
          }),
        ));
      counts ??= found.countChoice ?? null;
      const fitted = { ...found, model: { ...found.model, kind } };
      // Replicas belong to one kind of model, so with them every kind is evaluated.
      const evaluation =
        same && settings.calibrate === 0
          ? uncorrected(same.evaluation)
          : await times.stage({ stage: 'evaluate', ...named }, (t) =>
              evaluateInStudy(fitted.model, parts, settings, t, about),
            );
      const evaluated: EvaluatedModel = { kind, features, fitted, evaluation };
      if (same) times.skip(settings.calibrate > 0 ? 1 : 2);
      done.push(evaluated);
      const described = describeFit(evaluated, same?.kind ?? null);
      fits.push(described);
      addMethod(methods, evaluated, same);
      times.found(modelMethod(evaluated), described);
      if (first) await findings(first.found, evaluated, parts, first.options, settings, times);
    }
  }
  return { fits, methods, counts };
}

/** The earlier model with the same fit, if there is one. */
async function sameAmong(
  done: readonly EvaluatedModel[],
  kind: ModelKind,
  { train }: Split,
  settings: StudySettings,
): Promise<EvaluatedModel | undefined> {
  for (const other of done) {
    const own = fitOptionsOf(settings, kind, other.features);
    if (await isSameFit(train, fitOptionsOf(settings, other.kind, other.features), own)) return other;
  }
  return undefined;
}

/** The paper's models are shown without correction, so that of the first model with the same fit is removed. */
function uncorrected(evaluation: Evaluation): Evaluation {
  const { predictive } = evaluation;
  return { ...evaluation, predictive: predictive && asDrawn(predictive) };
}

function addMethod(
  methods: RankedMethod[],
  evaluated: EvaluatedModel,
  same: EvaluatedModel | undefined,
): void {
  const at = same ? methods.findIndex(({ id }) => id === fitId(same.kind, evaluated.features)) : -1;
  const row = methods[at];
  if (row) methods[at] = { ...row, also: [...row.also, evaluated.kind] };
  else methods.push(modelMethod(evaluated));
}

/** Recommendations and, if draws were requested, predictive checks. `about` describes new items to rank. */
export async function evaluateInStudy(
  model: Model,
  parts: Split,
  settings: StudySettings,
  task: TaskOptions,
  about: SideInfo | undefined,
): Promise<Evaluation> {
  const { n, depth, draws, drawsGiven, seed, engine, protocol } = settings;
  const fixed =
    model.type === 'ranker' || model.kind !== calibratedModel(settings) || reasonAgainstCalibration(model);
  const calibrate = fixed ? 0 : settings.calibrate;
  const known = about ? await withTables(model, { items: about }, { ...task, seed }) : model;
  return evaluateModel(
    known,
    parts,
    { n, depth, draws, calibrate, drawsGiven, seed, engine, ...task },
    protocol,
  );
}

async function findings(
  found: FirstRunFindings,
  { kind, features, fitted }: EvaluatedModel,
  { train }: Split,
  options: StudyOptions,
  settings: StudySettings,
  times: StageTimes,
): Promise<void> {
  if (kind === 'sparse') {
    const evidence = await times.stage({ stage: 'evidence', features }, (t) =>
      sparsityEvidence(train, fitted, { ...fitOptionsOf(settings, kind, features), ...t }),
    );
    if (evidence) found.evidence.push({ features, ...evidence });
  }
  if (kind !== mainModel(settings)) return;
  const titles = titleLookup(options.titles);
  found.atlas.set(features, atlas(fitted.model, titles));
  if (hasNames(fitted.model.items.ids, titles)) {
    found.topics.set(features, topics(fitted.model, settings.topicItems, titles));
  }
}

/** The users that a leaderboard counts: with the protocol all-items all of them, else those with a history. */
export function rankingOf({
  task,
  ranking,
  withoutHistory,
}: Pick<Evaluation, 'task' | 'ranking' | 'withoutHistory'>): RankingResult {
  return task.protocol === 'all-items' ? joinRankings(ranking, withoutHistory) : ranking;
}

function modelMethod({ kind: model, features, evaluation }: EvaluatedModel): RankedMethod {
  const id = fitId(model, features);
  return { ...PLAIN_ROW, id, kind: 'model', model, features, ranking: rankingOf(evaluation) };
}

function describeFit({ kind, fitted, evaluation }: EvaluatedModel, sameAs: ModelKind | null): StudyFit {
  const { model, seconds, engine, engineReason } = fitted;
  const { bounds, iterations, converged } = model.provenance;
  return {
    model: kind,
    features: model.features,
    bound: model.bound!,
    bounds,
    iterations,
    converged,
    seconds,
    secondsPerIteration: seconds / Math.max(1, iterations),
    engine,
    engineReason,
    ...hyperBySide({ users: model.users.hyper, items: model.items.hyper }),
    sides: describeSides(model),
    sameAs,
    predictive: evaluation.predictive
      ? { drawsGiven: evaluation.drawsGiven, ...evaluation.predictive }
      : null,
  };
}
