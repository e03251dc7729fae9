// Which edges of the test part a model was fitted to. Their scores are too good.

import { InputError } from '../errors.js';
import type { Model } from '../fit/model.js';
import { ownItems } from '../predict/user-query.js';
import { many } from '../text/phrases.js';
import { USERS_AND_ITEMS } from '../text/sides.js';
import { shown } from '../text/untrusted.js';
import type { SplitTables, TableTask } from './table-task.js';

/** Refuses a model that was fitted to test users whom no part before the test has: every figure would be too good. */
export function checkTestUsers(model: Model, { train, validation }: SplitTables, { users }: TableTask): void {
  const { ids, degree } = model.users;
  const names = model.names ?? train.names ?? USERS_AND_ITEMS;
  let first: string | undefined;
  let count = 0;
  for (let u = 0; u < users.length; u++) {
    const id = users.at(u);
    if (train.users.ids.find(id) >= 0 || (validation?.users.ids.find(id) ?? -1) >= 0) continue;
    if (!((degree[ids.find(id)] ?? 0) > 0)) continue;
    first ??= id;
    count++;
  }
  if (first === undefined) return;
  throw new InputError(
    `the model was fitted to ${many(count, names.users)} of the test part that training does not have, such as ${shown(first)}: every figure would be too good; fit a model to the training part`,
  );
}

/** The test pairs that the model was fitted to, and their users. Zero if the model does not store which items its users have. */
export function fittedTestPairs(
  model: Model,
  { users, items, relevant }: TableTask,
): { readonly pairs: number; readonly users: number } {
  const ours = model.items.ids.findAll(items);
  const found = { pairs: 0, users: 0 };
  for (let u = 0; u < users.length; u++) {
    const row = model.users.ids.find(users.at(u));
    if (row < 0) continue;
    const own = new Set(ownItems(model, row).items);
    const pairs = relevant[u].filter((place) => own.has(ours[place])).length;
    found.pairs += pairs;
    if (pairs > 0) found.users++;
  }
  return found;
}
