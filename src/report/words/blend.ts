// What a fit for ranking adds to its scores, in words.

import type { BlendReport } from '../../fit/ranking/blend/blend.js';
import { short } from '../../text/numbers.js';
import { many } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

/** Why nothing is added where data are too large for it. */
export function noBlendWords(names: SideNames): string {
  return `No weights between ${names.items.many} and no factors by least squares are added to the scores: data of this size leave no room for them.`;
}

/** The parts, their settings, and on whom these were found. */
export function blendWords({ heldBack, weights, leastSquares, kept }: BlendReport, names: SideNames): string {
  const { neighbours, lambda, dropout } = weights;
  const items = names.items.many;
  const parts =
    `Weights between ${items} (from the ${neighbours} nearest, ridge ${short(lambda)}, dropout ${short(dropout)}) and factors by ` +
    `least squares (λ ${short(leastSquares.lambda)}, α ${short(leastSquares.alpha)}) are added to the scores. `;
  return (
    parts +
    (heldBack === 0
      ? `There are too few ${names.users.many} to find such settings on: these are middling ones.`
      : kept
        ? `These settings are those of the former model, found on ${many(heldBack, names.users)} held back for that; both parts are made anew with them.`
        : `These settings were found on ${many(heldBack, names.users)} held back for that.`)
  );
}
