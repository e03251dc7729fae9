// The blend of a ranker in words.

import type { BlendReport } from '../../fit/ranking/blend/blend.js';
import { short } from '../../text/numbers.js';
import { many } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

/** Why a ranker of large data has no blend. */
export function noBlendWords(names: SideNames): string {
  return `The ranker has no blend: for data of this size, weights between ${names.items.many} and least-squares factors do not fit in memory.`;
}

/** The parts of the blend, their settings, and how they were found. */
export function blendWords({ heldBack, weights, leastSquares, kept }: BlendReport, names: SideNames): string {
  const { neighbours, lambda, dropout } = weights;
  const items = names.items.many;
  const parts =
    `Blend: the scores include weights between ${items} (${neighbours} nearest, ridge ${short(lambda)}, dropout ${short(dropout)}) and ` +
    `least-squares factors (λ ${short(leastSquares.lambda)}, α ${short(leastSquares.alpha)}). `;
  return (
    parts +
    (heldBack === 0
      ? `There are too few ${names.users.many} to tune these settings, so they are defaults.`
      : kept
        ? `The settings come from the previous model, tuned on ${many(heldBack, names.users)} held back; both parts are recomputed.`
        : `The settings were tuned on ${many(heldBack, names.users)} held back.`)
  );
}
