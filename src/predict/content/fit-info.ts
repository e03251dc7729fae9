// Tables about both sides of a model, with scores for items without edges and for users without items.

import type { ModelInfo } from '../../attributes/info.js';
import type { Model } from '../../fit/model.js';
import type { TaskOptions } from '../../progress.js';
import { fitContent } from './fit-content.js';
import { fitTastes } from './fit-tastes.js';

/** The model with tables about its sides. Items of their table that have no edges in training are new items. */
export async function withTables<M extends Model>(
  model: M,
  { items, users }: ModelInfo,
  task: TaskOptions & { readonly seed: number },
): Promise<M> {
  const info = {
    ...(items && { items: await fitContent(model, items, task) }),
    ...(users && { users: fitTastes(model, users, task) }),
  };
  return { ...model, info };
}
