// Users without items, scored by their attributes: the popularity of items among users with the same attributes.

import { columnOf, type SideInfo, settingOf } from '../../attributes/info.js';
import { createTasteScores, FEWEST_USERS, tasteCounts } from '../../attributes/tastes.js';
import type { Model } from '../../fit/model.js';
import { priorExplainer } from '../explain/explain.js';
import type { Id } from '../recommend.js';
import type { UserScorer } from './model-scorer.js';

/** The attributes of a user whom the table about the users has and the data do not; undefined for all others. */
export function attributesOfUser({ users, info }: Model, id: Id): readonly number[] | undefined {
  const about = info?.users;
  if (!about || users.ids.find(id) >= 0) return undefined;
  const added = about.added.find(id);
  if (added < 0) return undefined;
  const { offsets, targets } = about.rows;
  const row = users.count + added;
  return Array.from(targets.subarray(offsets[row], offsets[row + 1]));
}

/** Users of the data who have each attribute. */
const SPREADS = new WeakMap<SideInfo, Uint32Array>();

function spreadOf(about: SideInfo, users: number): Uint32Array {
  let spread = SPREADS.get(about);
  if (!spread) {
    spread = new Uint32Array(about.names.length);
    for (let e = 0; e < about.rows.offsets[users]; e++) spread[about.rows.targets[e]]++;
    SPREADS.set(about, spread);
  }
  return spread;
}

/** Whether a list for these attributes differs from the popular items. */
export function saysMore({ users, info }: Model, attributes: readonly number[]): boolean {
  const about = info?.users;
  if (!about) return false;
  const { columns = {} } = about.tastes ?? {};
  return attributes.some((attribute) => {
    if (!(settingOf(columns, columnOf(about, attribute)) > 0)) return false;
    return spreadOf(about, users.count)[attribute] >= FEWEST_USERS;
  });
}

const NOTHING = { columns: {}, added: 1 };

/** A function that scores users by attributes. It counts the users of each attribute once. */
export function createAttributeUsers(model: Model): (attributes: readonly number[]) => UserScorer {
  const { items, seen, info } = model;
  const about = info?.users;
  const scoresOf =
    about &&
    seen &&
    createTasteScores(about, tasteCounts(about.rows, seen, items.count), about.tastes ?? NOTHING);
  return (attributes) => {
    // Without attributes the list is that of popular items, with the number of their users as scores.
    const { scores, attributes: named } = (attributes.length > 0 && scoresOf?.(attributes)) || {
      scores: Float32Array.from(items.degree),
      attributes: () => [],
    };
    const score = (item: number) => scores[item] ?? 0;
    return { score, explainer: () => priorExplainer(score, 0), attributes: named };
  };
}
