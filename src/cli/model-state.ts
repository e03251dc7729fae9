// A hash of what a fit has found, for whoever compares fits: of numbers alone, not of times, versions or names of engines.

import { createHash } from 'node:crypto';
import type { Model } from '../fit/model.js';
import { modelHyper } from '../fit/model.js';

/** Equal wherever the bits of the fitted tables are. */
export function modelState(model: Model): string {
  const hash = createHash('sha256');
  for (const table of tablesOf(model)) {
    hash.update(new Uint8Array(table.buffer, table.byteOffset, table.byteLength));
  }
  return hash.update(JSON.stringify(modelHyper(model) ?? null)).digest('hex');
}

function tablesOf(model: Model): ArrayBufferView[] {
  if (model.type === 'posterior') {
    return [model.users, model.items].flatMap((side) => [
      side.weightShape,
      side.weightRate,
      side.featureShape,
      side.featureRate,
      side.leftover,
    ]);
  }
  const { scores } = model;
  if (scores.kind === 'popularity') return [model.items.degree];
  if (scores.kind === 'items') {
    return [scores.offsets, scores.targets, scores.weights].filter((table) => table !== undefined);
  }
  return scores.members.flatMap(({ items, users }) => (users ? [items, users] : [items]));
}
