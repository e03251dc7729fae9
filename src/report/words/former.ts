// What a fit took over from a former model, in words.

import type { FormerReport } from '../../fit/former.js';
import { type Model, modelHyper } from '../../fit/model.js';
import { SIDES } from '../../graph/graph.js';
import { HYPER_NAMES } from '../../options/shared.js';
import { grouped, short } from '../../text/numbers.js';
import { list, many } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

/** Matched, new and dropped vertices, and the hyperparameters that are others now. */
export function formerWords(report: FormerReport, former: Model, now: Model, names: SideNames): string {
  const sides = SIDES.map((side) => {
    const { matched, new: fresh, dropped } = report[side];
    return `${many(matched, names[side])} matched, ${grouped(fresh)} new, ${grouped(dropped)} gone`;
  });
  const changed = changedHyper(former, now, names);
  const others = changed.length === 0 ? '' : ` Since then ${list(changed, 'and')}.`;
  return `The fit began where the former model ended: ${sides.join('; ')}.${others}`;
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
