// How a ranker is stored: the precision of its tables, and whether its users are kept.

import type { MERGE_COMMAND } from '../options/commands/merge.js';
import type { OptionsOf } from '../options/declare.js';
import { option, optionError } from '../options/error.js';
import type { RankerStorage } from '../store/ranker-tensors.js';

export function storageOf({
  precision,
  usersInModel,
}: Pick<OptionsOf<typeof MERGE_COMMAND>, 'precision' | 'usersInModel'>): RankerStorage {
  return { ...(precision && { precision }), ...(usersInModel && { users: usersInModel }) };
}

/** A posterior is stored as a whole: draws and resumed fits need all of it. */
export function refuseStorage(storage: RankerStorage): void {
  if (Object.keys(storage).length === 0) return;
  throw optionError`${option('precision')} and ${option('usersInModel')} are for rankers: leave them out, or fit with ${option('method')} ranking`;
}
