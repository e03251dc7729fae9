// What a fit took over from a former model, in words.

import type { PreviousReport } from '../../fit/ascent/previous.js';
import { type Model, modelHyper } from '../../fit/model.js';
import { SIDES } from '../../graph/graph.js';
import { HYPER_NAMES } from '../../options/shared.js';
import { grouped, short } from '../../text/numbers.js';
import { list, many } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

/** Matched, new and dropped vertices, and the hyperparameters that are others now. */
export function previousWords(report: PreviousReport, former: Model, now: Model, names: SideNames): string {
  const sides = SIDES.map((side) => {
    // A ranker may have been saved without its users: then nobody knows who is new.
    if (former[side].count === 0) return `that model holds no ${names[side].many}`;
    const { matched, new: fresh, dropped } = report[side];
    return `${many(matched, names[side])} matched, ${grouped(fresh)} new, ${grouped(dropped)} gone`;
  });
  const changed = changedHyper(former, now, names);
  return [
    `The fit began where the former model ended: ${sides.join('; ')}.`,
    ...(changed.length === 0 ? [] : [`Since then ${list(changed, 'and')}.`]),
    ...(former.multigraph === now.multigraph ? [] : [otherRates(now)]),
    ...(isPlain(former) && isPlain(now)
      ? [
          `As for the former model, no weights between ${names.items.many} and no factors by least squares are added to the scores; --blend adds them.`,
        ]
      : []),
  ].join(' ');
}

/** Where counts have a law of their own, rates are those of edges as in a simple graph. */
function otherRates({ multigraph }: Model): string {
  const [were, are] = multigraph ? ['edges', 'counts'] : ['counts', 'edges'];
  return (
    `The former model's rates were those of ${were}, this one's are those of ${are}: the fit began elsewhere than its data say. ` +
    'Compare it with one that begins anew, without --from.'
  );
}

/** Whether it is a fit for ranking that nothing is added to. */
function isPlain({ type, provenance }: Model): boolean {
  return type === 'ranker' && provenance.options.blend === false;
}

function changedHyper(former: Model, now: Model, names: SideNames): string[] {
  const [before, after] = [modelHyper(former), modelHyper(now)];
  if (!before || !after) return [];
  return SIDES.flatMap((side) =>
    HYPER_NAMES.flatMap((name) => {
      const [was, is] = [short(before[side][name]), short(after[side][name])];
      return was === is ? [] : [`${name} of ${names[side].many} went from ${was} to ${is}`];
    }),
  );
}
