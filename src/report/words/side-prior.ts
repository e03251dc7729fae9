// The law of each side in words: a fixed population of which so many were seen, or one without end.

import type { SideReport, SidesReport } from '../../fit/sides/side-prior.js';
import { SIDES } from '../../graph/graph.js';
import { fixed, grouped } from '../../text/numbers.js';
import { capital } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

/** A sentence for each side; `seen`: how many of its vertices the data have. */
export function sidePriorWords(
  law: SidesReport,
  seen: Readonly<Record<'users' | 'items', number>>,
  names: SideNames,
): string[] {
  // Said once: who comes from check has met another number by the name of tail index.
  const first = SIDES.find((side) => isEndless(law[side]));
  return SIDES.map((side) => sideWords(law[side], seen[side], names[side].many, side === first));
}

function isEndless({ kind, unseen }: SideReport): boolean {
  return kind === 'sparse' && unseen === null;
}

function sideWords(law: SideReport, seen: number, many: string, explained: boolean): string {
  const { sigma, unseen } = law;
  const said = `${capital(many)}:`;
  if (isEndless(law)) {
    const other = explained ? '; check judges by another estimate' : '';
    return `${said} no end of them; ${grouped(seen)} were seen, and rare ones keep turning up (tail index of the fitted law: ${fixed(sigma, 2)}${other}).`;
  }
  if (unseen === null || unseen.mean < 0.5) {
    return `${said} a fixed population; all ${grouped(seen)} were seen.`;
  }
  return (
    `${said} a fixed population of about ${grouped(rounded(seen + unseen.mean))}, ${grouped(seen)} of them seen ` +
    `(unseen, 90 % with these features: ${grouped(unseen.low)} to ${grouped(unseen.high)}).`
  );
}

/** Three digits are more than such a number is known to, but never fewer than were seen. */
function rounded(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 2);
  return unit * Math.ceil(value / unit);
}
