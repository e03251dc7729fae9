// What graphex fit prints: its JSON document and its text.

import type { SparsityEvidence } from '../../fit/choose/sparsity-evidence.js';
import type { FitResult } from '../../fit/fit.js';
import type { GibbsPosterior } from '../../fit/gibbs/gibbs.js';
import {
  featureCount,
  fitCount,
  hyperBySide,
  type Model,
  modelHyper,
  type PosteriorModel,
  type Ranker,
} from '../../fit/model.js';
import { mayBlend } from '../../fit/ranking/blend/blend.js';
import { describeSides, type SidesReport } from '../../fit/sides/side-prior.js';
import { bySide, SIDES, type SideName } from '../../graph/graph.js';
import type { ReadResult } from '../../ingest/options.js';
import type { Setting, Tuned } from '../../metrics/setting-search.js';
import { asFlag } from '../../options/as-flag.js';
import { HYPER_NAMES, type HyperName } from '../../options/shared.js';
import { modelState } from '../../store/model-state.js';
import { fixed, grouped, plusMinus, short } from '../../text/numbers.js';
import { list, many, present } from '../../text/phrases.js';
import { type SideNames, USERS_AND_ITEMS } from '../../text/sides.js';
import { blendWords, noBlendWords, recencyWords } from '../words/blend.js';
import {
  countWords,
  engineWords,
  featureChoiceRows,
  featureChoiceWords,
  previousWords,
} from '../words/fit.js';
import { readingWords } from '../words/reading.js';
import { sidePriorWords } from '../words/side-prior.js';
import { evidenceWords } from '../words/sparsity.js';
import { posteriorRows, posteriorWords } from './posterior.js';
import { nextLine, paragraphs, textTable, wrap, wrapAll, wrapLines } from './text-table.js';

const NO_HYPER = Object.fromEntries(HYPER_NAMES.map((name) => [name, null]));

/** A fit, with the priors of a model whose users are in shards. */
type Reported = FitResult & {
  readonly sides?: SidesReport | undefined;
  /** The setting of a baseline, and the search that found it. */
  readonly setting?: Setting | undefined;
  readonly tuned?: Tuned | undefined;
};

export function fitJson(
  result: Reported,
  evidence: SparsityEvidence | undefined,
  read: ReadResult | undefined,
) {
  const { model } = result;
  const { provenance } = model;
  const hyper = modelHyper(model);
  const posterior = model.type === 'posterior' ? model : undefined;
  return {
    model: kindOf(model) ?? null,
    objective: posterior ? 'evidence' : 'ranking',
    features: featureCount(model) ?? null,
    chosenFeatures: result.chosenFeatures ?? null,
    counts: result.countChoice ? { ...result.countChoice, parameters: posterior?.counts ?? null } : null,
    iterations: provenance.iterations,
    converged: provenance.converged,
    bound: posterior?.bound ?? null,
    bounds: (posterior?.provenance.bounds ?? []).map(([iteration, bound]) => ({ iteration, bound })),
    seconds: result.seconds,
    secondsPerIteration: result.seconds / Math.max(1, provenance.iterations),
    engine: result.engine,
    engineReason: engineWords(result.engineReason),
    threads: result.threads,
    ...(hyper ? hyperBySide(hyper) : NO_HYPER),
    sides: sidesOf(result) ?? null,
    evidence: evidence ?? null,
    read: read?.read ?? null,
    from: result.from ?? null,
    blend: result.blend ?? null,
    recency: recencyJson(result),
    state: modelState(model),
    average: fitCount(model),
    posterior: result.posterior ? pickPosterior(result.posterior) : null,
  };
}

/** `about`: what was found in tables about the users and items. */
export function fitText(
  result: Reported,
  evidence: SparsityEvidence | undefined,
  read: ReadResult | undefined,
  output: string,
  previous?: Model,
  next: readonly string[] = ['recommend', output, '--user', 'ID'],
  about: readonly string[] = [],
): string {
  const { model, countChoice, chosenFeatures, posterior, from } = result;
  const bound = model.type === 'posterior' ? model.bound : undefined;
  const names = model.names ?? USERS_AND_ITEMS;
  return paragraphs([
    read && wrapLines(readingWords(read, asFlag)),
    present([
      `${headline(model)}, ${many(model.users.count, names.users)} × ${many(model.items.count, names.items)}`,
      wrap(`${result.engine}; ${engineWords(result.engineReason)}`, 'engine       ', ' '.repeat(13)),
      ...progressLines(result),
      bound !== undefined && `bound        ${short(bound, 5)}`,
      `time         ${fixed(result.seconds, 1)} s`,
    ]).join('\n'),
    countChoice && wrap(countWords(countChoice, names)),
    chosenFeatures && wrap(featureChoiceWords(chosenFeatures)),
    chosenFeatures && textTable(featureChoiceRows(chosenFeatures)),
    // A ranker's hyperparameters are settings, not estimates.
    ...(model.type === 'posterior' ? priorParagraphs(model, sidesOf(result), names) : []),
    posterior && textTable(posteriorRows(posterior, names)),
    posterior && wrap(posteriorWords(posterior)),
    previous && from && wrap(previousWords(from, previous, model, names)),
    evidence && wrap(evidenceWords(evidence)),
    bound !== undefined &&
      wrap(
        evidence
          ? 'Compare sparse and dense fits by this evidence, not by their bounds.'
          : 'Compare this bound only with models of the same kind. To compare sparse and dense, fit with --model sparse, which prints the evidence.',
      ),
    ...(model.type === 'ranker' ? rankerParagraphs(model, result, read, names) : []),
    ...about,
    `model        ${output}\n${nextLine(...next)}`,
  ]);
}

/** The hyperparameters of both sides, and what they mean. */
function priorParagraphs(
  model: PosteriorModel,
  priors: SidesReport | undefined,
  names: SideNames,
): readonly string[] {
  const value = (side: SideName, name: HyperName) => {
    const number = model[side].hyper[name];
    if (name === 'size' && number === 0) return 'none';
    const interval = name === 'size' ? priors?.[side].sizeInterval : null;
    const error = name === 'sigma' ? priors?.[side].standardError.sigma : null;
    if (error) return plusMinus(number, error, 3);
    const text = Math.abs(number) >= 100 ? grouped(number) : short(number);
    return interval ? `${text} (${short(interval.low)} … ${short(interval.high)})` : text;
  };
  const intervals = SIDES.some((side) => priors?.[side].sizeInterval);
  const seen = bySide((side) => model[side].count);
  const closed = SIDES.filter((side) => model[side].hyper.size === 0).map((side) => names[side].many);
  return present([
    textTable([
      ['', ...HYPER_NAMES.map((name) => (name === 'size' && intervals ? 'size (90 % interval)' : name))],
      ...SIDES.map((side) => [names[side].many, ...HYPER_NAMES.map((name) => value(side, name))]),
    ]),
    priors &&
      model.kind === 'auto' &&
      wrapAll(sidePriorWords(priors, { seen, names, features: model.features })),
    closed.length > 0 && `size none    the model expects no ${list(closed, 'or')} beyond those of the data`,
  ]);
}

/** Of which fits the score is the sum, what is added to it, and how edges are weighed by age. */
function rankerParagraphs(
  model: Ranker,
  { blend, recency }: Reported,
  read: ReadResult | undefined,
  names: SideNames,
): readonly string[] {
  const fits = fitCount(model);
  const unblended = !blend && read && model.method === 'ranking' && !mayBlend(read.graph);
  const byAge = recencyWords(model.recency, recency, names);
  return present([
    fits > 1 && `The score is the sum of ${fits} fits from different seeds.`,
    blend && wrap(blendWords(blend, names)),
    unblended && wrap(noBlendWords(names)),
    byAge !== undefined && wrap(byAge),
  ]);
}

/** The half-life in milliseconds (null: edges are not weighed), and the search that found it. */
function recencyJson({ model, recency: report }: Reported) {
  const recency = model.type === 'ranker' ? model.recency : undefined;
  if (!recency && !report) return null;
  return {
    halfLife: recency?.halfLife ?? null,
    latest: recency?.latest ?? null,
    heldBack: report?.heldBack ?? null,
    tried: report?.tried ?? null,
  };
}

/** The sampler's summary without its traces and tables. */
function pickPosterior({ chains, draws, warmup, drawsNeeded, scalars }: GibbsPosterior) {
  return { chains, draws, warmup, drawsNeeded, scalars };
}

/** The iterations, and the setting of a baseline. */
function progressLines({ model, setting, tuned, posterior }: Reported): string[] {
  const { iterations, converged } = model.provenance;
  if (setting === undefined) {
    const raise = posterior?.drawsNeeded ? `add --iterations ${posterior.drawsNeeded}` : 'raise --iterations';
    return [`iterations   ${iterations}${converged ? ', converged' : `, not converged: ${raise}`}`];
  }
  const iterates = model.type === 'ranker' && model.scores.kind === 'factors';
  const found = Object.entries(setting).map(([name, value]) => `${name} ${short(value)}`);
  const tried = tuned
    ? `; the best of ${many(tuned.trials.length, 'setting')}, tried on held-back ${(model.names ?? USERS_AND_ITEMS).users.many}`
    : '';
  return present([
    iterates && `iterations   ${iterations}`,
    found.length > 0 && wrap(`${found.join(', ')}${tried}`, 'setting      ', ' '.repeat(13)),
  ]);
}

/** The priors of both sides: of the model, or as computed over all shards. */
function sidesOf({ model, sides }: Reported): SidesReport | undefined {
  return sides ?? (model.type === 'posterior' ? describeSides(model) : undefined);
}

/** Sparse or dense; undefined for baselines, which are neither. */
function kindOf(model: Model): unknown {
  return model.type === 'posterior' ? model.kind : model.provenance.options.model;
}

function headline(model: Model): string {
  const kind = kindOf(model);
  const features = featureCount(model);
  if (model.type === 'ranker' && model.method === 'ranking') {
    return features === undefined ? 'ranker' : `ranker, ${many(features, 'feature')}`;
  }
  const name = kind === undefined ? (model as { readonly method: string }).method : `${kind} model`;
  return features === undefined ? name : `${name}, ${many(features, 'feature')}`;
}
