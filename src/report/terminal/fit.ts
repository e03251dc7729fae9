// What graphex fit prints: its JSON document and its text.

import type { SparsityEvidence } from '../../fit/choose/sparsity-evidence.js';
import type { FitResult } from '../../fit/fit.js';
import type { GibbsPosterior } from '../../fit/gibbs/gibbs.js';
import { featureCount, fitCount, hyperBySide, type Model, modelHyper } from '../../fit/model.js';
import { mayBlend } from '../../fit/ranking/blend/blend.js';
import { describeSides, type SidesReport } from '../../fit/sides/side-prior.js';
import { SIDES, type SideName } from '../../graph/graph.js';
import type { ReadResult } from '../../ingest/options.js';
import type { Setting, Tuned } from '../../metrics/setting-search.js';
import { asFlag } from '../../options/as-flag.js';
import { modelState } from '../../store/model-state.js';
import { fixed, grouped, plusMinus, short } from '../../text/numbers.js';
import { list, many } from '../../text/phrases.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import { blendWords, noBlendWords, recencyWords } from '../words/blend.js';
import { countWords } from '../words/counts.js';
import { engineWords } from '../words/engines.js';
import { featureChoiceRows, featureChoiceWords } from '../words/feature-count.js';
import { previousWords } from '../words/previous.js';
import { readingWords } from '../words/reading.js';
import { sidePriorWords } from '../words/side-prior.js';
import { evidenceWords } from '../words/sparsity.js';
import { posteriorRows, posteriorWords } from './posterior.js';
import { nextLine, textTable, wrap, wrapLines } from './text-table.js';

const HYPER = ['sigma', 'size', 'tau', 'shape', 'rate'] as const;
const NO_HYPER = { sigma: null, size: null, tau: null, shape: null, rate: null };

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

export function fitText(
  result: Reported,
  evidence: SparsityEvidence | undefined,
  read: ReadResult | undefined,
  output: string,
  previous?: Model,
  next: readonly string[] = ['recommend', output, '--user ID'],
  about: readonly string[] = [],
): string {
  const { model } = result;
  const bound = model.type === 'posterior' ? model.bound : undefined;
  const names = model.names ?? USERS_AND_ITEMS;
  const lines = [
    ...(read ? [wrapLines(readingWords(read, asFlag)), ''] : []),
    `${headline(model)}, ${many(model.users.count, names.users)} × ${many(model.items.count, names.items)}`,
    wrap(`${result.engine}; ${engineWords(result.engineReason)}`, 'engine       ', ' '.repeat(13)),
    ...progressLines(result),
    ...(bound === undefined ? [] : [`bound        ${short(bound, 5)}`]),
    `time         ${fixed(result.seconds, 1)} s`,
  ];
  if (result.countChoice) lines.push('', wrap(countWords(result.countChoice, names)));
  if (result.chosenFeatures) {
    lines.push('', wrap(featureChoiceWords(result.chosenFeatures)), '');
    lines.push(textTable(featureChoiceRows(result.chosenFeatures)));
  }
  // A ranker's hyperparameters are settings, not estimates.
  if (model.type === 'posterior') {
    const { hyper: users } = model.users;
    const hyper = { users, items: model.items.hyper };
    const priors = sidesOf(result);
    const value = (side: SideName, name: (typeof HYPER)[number]) => {
      const number = hyper[side][name];
      if (name === 'size' && number === 0) return 'none';
      const interval = name === 'size' ? priors?.[side].sizeInterval : null;
      const error = name === 'sigma' ? priors?.[side].standardError.sigma : null;
      if (error) return plusMinus(number, error, 3);
      const text = Math.abs(number) >= 100 ? grouped(number) : short(number);
      return interval ? `${text} (${short(interval.low)} … ${short(interval.high)})` : text;
    };
    const intervals = SIDES.some((side) => priors?.[side].sizeInterval);
    lines.push(
      '',
      textTable([
        ['', ...HYPER.map((name) => (name === 'size' && intervals ? 'size (90 % interval)' : name))],
        ...SIDES.map((side) => [names[side].many, ...HYPER.map((name) => value(side, name))]),
      ]),
    );
    if (priors && model.kind === 'auto') {
      const seen = { users: model.users.count, items: model.items.count };
      const context = { seen, names, features: model.features };
      lines.push('', ...sidePriorWords(priors, context).map((sentence) => wrap(sentence)));
    }
    const closed = SIDES.filter((side) => hyper[side].size === 0).map((side) => names[side].many);
    if (closed.length > 0) {
      lines.push('', `size none    the model expects no ${list(closed, 'or')} beyond those of the data`);
    }
  }
  if (result.posterior) {
    lines.push(
      '',
      textTable(posteriorRows(result.posterior, names)),
      '',
      wrap(posteriorWords(result.posterior)),
    );
  }
  if (previous && result.from) lines.push('', wrap(previousWords(result.from, previous, model, names)));
  if (evidence) lines.push('', wrap(evidenceWords(evidence)));
  if (bound !== undefined) {
    lines.push(
      '',
      evidence
        ? 'Compare sparse and dense fits by this evidence, not by their bounds.'
        : wrap(
            'Compare this bound only with models of the same kind. To compare sparse and dense, fit with --model sparse, which prints the evidence.',
          ),
    );
  }
  if (model.type === 'ranker') {
    const fits = fitCount(model);
    if (fits > 1) lines.push('', `The score is the sum of ${fits} fits from different seeds.`);
    if (result.blend) lines.push('', wrap(blendWords(result.blend, names)));
    else if (read && model.method === 'ranking' && !mayBlend(read.graph))
      lines.push('', wrap(noBlendWords(names)));
    const byAge = recencyWords(model.recency, result.recency, names);
    if (byAge !== undefined) lines.push('', wrap(byAge));
  }
  lines.push(...about, '', `model        ${output}`, nextLine(...next));
  return lines.join('\n');
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
  return [
    ...(iterates ? [`iterations   ${iterations}`] : []),
    ...(found.length > 0 ? [wrap(`${found.join(', ')}${tried}`, 'setting      ', ' '.repeat(13))] : []),
  ];
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
