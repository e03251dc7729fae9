// The blend of a ranker and its weights by age, in words.

import { type BlendReport, hasPart, LEAST_TO_LEAVE_OUT } from '../../fit/ranking/blend/blend.js';
import type { PartGains } from '../../fit/ranking/blend/item-weights.js';
import type { RecencyReport } from '../../fit/ranking/half-life-search.js';
import type { Recency } from '../../fit/ranking/recency.js';
import type { StudyRun } from '../../study/results.js';
import { durationWords } from '../../text/durations.js';
import { percent, short } from '../../text/numbers.js';
import { list, many, present } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

export function noBlendWords(names: SideNames): string {
  return `The ranker has no blend: for data of this size, weights between ${names.items.many} and least-squares factors do not fit in memory.`;
}

/** The parts of the blend, their settings, what they add, and how they were found. */
export function blendWords(found: BlendReport, names: SideNames): string {
  const { heldBack, weights, leastSquares, adds, kept } = found;
  const { neighbours, lambda, dropout, users, similarities, history } = weights;
  const items = names.items.many;
  const has = (part: keyof PartGains) => hasPart(found, part);
  const gain = (part: keyof PartGains) => (adds ? `, adds ${percent(adds[part])}` : '');
  const parts = present([
    has('weights') &&
      `weights between ${items} (${neighbours} nearest, ridge ${short(lambda)}, dropout ${short(dropout)}${gain('weights')})`,
    has('similarities') &&
      `similarities of ${items} (share ${short(similarities)}, exponent ${short(history)}${gain('similarities')})`,
    has('leastSquares') &&
      `least-squares factors (λ ${short(leastSquares.lambda)}, α ${short(leastSquares.alpha)}${gain('leastSquares')})`,
  ]);
  const keepsAll =
    adds &&
    (['weights', 'similarities', 'leastSquares'] as const).some((part) => has(part) && adds[part] < 0);
  const left = present([
    !has('weights') && `weights between ${items}`,
    !has('leastSquares') && 'least-squares factors',
  ]);
  const sentences = present([
    parts.length > 0 ? `Blend: the scores include ${list(parts)}.` : 'Blend: no part of it helps.',
    left.length > 0 && `Left out, since they do not help: ${list(left)}.`,
    users > 0 && `A ${names.users.one} with many ${items} counts less (exponent ${short(users)}).`,
    heldBack === 0
      ? `There are too few ${names.users.many} to tune these settings, so they are defaults.`
      : kept
        ? `The settings come from the previous model, tuned on ${many(heldBack, names.users)} held back; all parts are recomputed.`
        : `The settings were tuned on ${many(heldBack, names.users)} held back.`,
    adds && parts.length > 0 && '“Adds” is the gain in recall and nDCG for these users.',
    keepsAll &&
      `With fewer than ${LEAST_TO_LEAVE_OUT} of them, a loss may be chance, so no part is left out.`,
  ]);
  return sentences.join(' ');
}

/** How the ranker of a study weighs edges by age, if it was asked to. */
export function rankerAges({ ranker }: Pick<StudyRun, 'ranker'>, names: SideNames): string[] {
  const words = recencyWords(ranker?.recency, ranker?.halfLifeSearch, names);
  return words === undefined ? [] : [words.replace('Edges are', 'For the ranker, edges are')];
}

/** The half-life of a ranker, and how it was found. */
export function recencyWords(
  recency: Recency | undefined,
  report: RecencyReport | undefined,
  names: SideNames,
): string | undefined {
  if (!recency && !report) return undefined;
  const says = recency
    ? `Edges are weighed by age: after ${durationWords(recency.halfLife)} an edge counts half, and none counts less than a sixteenth.`
    : 'Edges are not weighed by age.';
  if (!report) return says;
  const { heldBack, tried } = report;
  if (tried.length === 0)
    return `${says} There are too few ${names.users.many}, or too few times, to search a half-life.`;
  const on = `the last interactions of ${many(heldBack, names.users)}`;
  const best = tried.reduce((a, b) => (b.gain > a.gain ? b : a));
  if (recency)
    return `${says} This half-life was the best of ${tried.length} on ${on}: it gains ${percent(best.gain)}.`;
  return `${says} None of ${tried.length} half-lives gained enough on ${on}.`;
}
