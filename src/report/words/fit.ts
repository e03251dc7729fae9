// What a fit did and why, in words: its engine, its number of features, its counts, and the model that it continued.

import type { EngineReason } from '../../engine/select.js';
import type { PreviousReport } from '../../fit/ascent/previous.js';
import type { CountChoice } from '../../fit/choose/counts-model.js';
import type { FeatureChoice } from '../../fit/choose/feature-count.js';
import { type Model, modelHyper } from '../../fit/model.js';
import { SIDES } from '../../graph/graph.js';
import { HYPER_NAMES } from '../../options/shared.js';
import { fixed, grouped, short } from '../../text/numbers.js';
import { list, many, present } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

const REASONS: Readonly<Record<EngineReason['code'], (detail: string) => string>> = {
  asked: () => 'as requested',
  'only-one': () => 'the only one for baselines',
  'little-work': () => 'too little work for a GPU',
  gpu: (detail) => `GPU found (${detail})`,
  'no-gpu': (detail) => (/^no GPU/.test(detail) ? detail : `no GPU: ${detail}`),
  'software-gpu': (detail) => `the only GPU is emulated in software (${detail})`,
  'gpu-failed': (detail) => `the GPU failed: ${detail}`,
};

/** Why the engine of a fit ran, without a capital or a full stop. */
export function engineWords({ code, detail = '', iteration }: EngineReason): string {
  return REASONS[code](detail) + (iteration === undefined ? '' : `; continued from iteration ${iteration}`);
}

export function featureChoiceWords({ chosen, sample, trials }: FeatureChoice): string {
  const compared = trials.filter(({ whole }) => whole !== null).map(({ features }) => String(features));
  const first = sample === null ? '' : ` A sample of ${many(sample, 'edge')} narrowed the search.`;
  return `K = ${chosen} has the highest bound of K = ${list(compared)}.${first}`;
}

/** K, and the bound per edge on a sample and on all data. */
export function featureChoiceRows({ chosen, trials }: FeatureChoice): string[][] {
  const bound = (value: number | null) => (value === null ? '' : fixed(value, 4));
  return [
    ['features', 'bound per edge: sample', 'all data', ''],
    ...trials.map(({ features, coarse, whole }) => [
      String(features),
      bound(coarse),
      bound(whole),
      features === chosen ? 'chosen' : '',
    ]),
  ];
}

export function countWords({ model, evidence }: CountChoice, { users, items }: SideNames): string {
  const hurdle = `edges follow the simple model, counts a log-normal distribution with an effect of each ${users.one} and each ${items.one}`;
  if (!evidence)
    return model === 'hurdle'
      ? `Counts are modelled separately: ${hurdle}.`
      : 'Counts follow a Poisson distribution.';
  const times = `${fixed(evidence.pairs, evidence.pairs < 2 ? 2 : 1)} times as many pairs`;
  const held = `held-back ${users.many}`;
  const there = `as there are (${grouped(evidence.edges)})`;
  return model === 'hurdle'
    ? `A Poisson model expects ${times} of ${held} ${there}. So ${hurdle}.`
    : `Counts follow a Poisson distribution, which expects ${times} of ${held} ${there}.`;
}

/** Matched, new and dropped vertices, and the hyperparameters that changed. */
export function previousWords(report: PreviousReport, previous: Model, now: Model, names: SideNames): string {
  const sides = SIDES.map((side) => {
    // A ranker may be saved without its users.
    if (previous[side].count === 0) return `the previous model has no ${names[side].many}`;
    const { matched, new: fresh, dropped } = report[side];
    return `${many(matched, names[side])} matched, ${grouped(fresh)} new, ${grouped(dropped)} dropped`;
  });
  const changed = changedHyper(previous, now, names);
  return present([
    `The fit started from the previous model: ${sides.join('; ')}.`,
    changed.length > 0 && `Since then ${list(changed)}.`,
    previous.multigraph !== now.multigraph && otherRates(now),
    isPlain(previous) &&
      isPlain(now) &&
      'Like the previous model, this one has no blend; the option blend adds it.',
  ]).join(' ');
}

/** If counts are modelled separately, rates are those of edges. */
function otherRates({ multigraph }: Model): string {
  const [were, are] = multigraph ? ['edges', 'counts'] : ['counts', 'edges'];
  return (
    `The previous model has rates of ${were}, this one has rates of ${are}, so it is a poor start. ` +
    'Compare it with a fit that does not start from a model.'
  );
}

/** Whether it is a ranker without a blend. */
function isPlain({ type, provenance }: Model): boolean {
  return type === 'ranker' && provenance.options.blend === false;
}

function changedHyper(previous: Model, now: Model, names: SideNames): string[] {
  const [before, after] = [modelHyper(previous), modelHyper(now)];
  if (!before || !after) return [];
  return SIDES.flatMap((side) =>
    HYPER_NAMES.flatMap((name) => {
      const [was, is] = [short(before[side][name]), short(after[side][name])];
      return was === is ? [] : [`${name} of ${names[side].many} went from ${was} to ${is}`];
    }),
  );
}
