// The prior of each side in words: a fixed population, or one without an upper limit.

import type { SideReport, SidesReport } from '../../fit/sides/side-prior.js';
import { type BySide, otherSide, SIDES, type SideName } from '../../graph/graph.js';
import { chosenFits, type StudyResults } from '../../study/results.js';
import { fixed, grouped, short } from '../../text/numbers.js';
import { are, capital } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

/** What the estimates depend on. */
interface SidePriorContext {
  /** Vertices of the data. */
  readonly seen: BySide<number>;
  readonly names: SideNames;
  readonly features: number;
  /** Whether the fit saw only the training part of a split. */
  readonly training?: boolean | undefined;
}

/** A sentence for each side. */
export function sidePriorWords(sides: SidesReport, context: SidePriorContext): string[] {
  const start = context.training ? 'Training part: ' : '';
  return SIDES.map((side) => `${start}${sideWords(sides[side], side, context, start !== '')}`);
}

/** The same of a study's auto model; empty if it has none. */
export function autoPriorWords(results: StudyResults): string[] {
  const { split } = results.runs[0];
  const auto = chosenFits(results).find(({ model }) => model === 'auto');
  const context = { seen: split.train, names: results.check.names, training: true };
  return auto ? sidePriorWords(auto.sides, { ...context, features: auto.features }) : [];
}

function sideWords(
  { kind, sigma, size, sizeInterval, unseen }: SideReport,
  side: SideName,
  { seen, names, features }: SidePriorContext,
  inside: boolean,
): string {
  const { many } = names[side];
  const start = inside ? many : capital(many);
  const count = grouped(seen[side]);
  if (kind === 'sparse' && unseen === null) {
    const interval = sizeInterval
      ? `, size ${short(size)} with 90 % interval ${short(sizeInterval.low)} to ${short(sizeInterval.high)}`
      : '';
    return `${inside ? 'the' : 'The'} number of ${many} has no upper limit: ${count} ${are(seen[side])} seen so far, and rare ones keep appearing (tail index of the fitted prior ${fixed(sigma, 2)}${interval}).`;
  }
  if (unseen === null || unseen.mean < 0.5) {
    return `${start} are a fixed population, and all ${count} are seen.`;
  }
  const unit = 10 ** Math.max(0, Math.floor(Math.log10((unseen.high - unseen.low) / 2)));
  // Rounded up, so that it is never below the number seen.
  const all = unit * Math.ceil((seen[side] + unseen.mean) / unit);
  return (
    `about ${grouped(all)} ${many} in all, given today’s ${names[otherSide(side)].many} and K = ${features} ` +
    `(90 % interval ${grouped(seen[side] + unseen.low)} to ${grouped(seen[side] + unseen.high)}); ${count} are seen.`
  ).replace(/^a/, inside ? 'a' : 'A');
}
