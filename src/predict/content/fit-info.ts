// Tables about both sides of a model, with scores for items without edges and for users without items.

import type { ModelInfo, SideInfo } from '../../attributes/info.js';
import type { Model } from '../../fit/model.js';
import type { TaskOptions } from '../../progress.js';
import { fitContent } from './fit-content.js';
import { fitTastes } from './fit-tastes.js';

export async function fitInfo(
  model: Model,
  { items, users }: ModelInfo,
  task: TaskOptions & { readonly seed: number },
): Promise<ModelInfo> {
  return {
    ...(items && { items: await fitContent(model, items, task) }),
    ...(users && { users: fitTastes(model, users, task) }),
  };
}

/** A model with attributes of the items; those of the table without edges in training are new items. */
export async function withAttributes<M extends Model>(
  model: M,
  items: SideInfo,
  task: TaskOptions & { readonly seed: number },
): Promise<M> {
  return { ...model, info: await fitInfo(model, { items }, task) };
}
