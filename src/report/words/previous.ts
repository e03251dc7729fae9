// What a fit took over from a previous model, in words.

import type { PreviousReport } from '../../fit/ascent/previous.js';
import { type Model, modelHyper } from '../../fit/model.js';
import { SIDES } from '../../graph/graph.js';
import { HYPER_NAMES } from '../../options/shared.js';
import { grouped, short } from '../../text/numbers.js';
import { list, many, present } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

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
