// What workers do where many lists are to be told: each has a recommender of the shared model, and tells the next piece.

import type { Model } from '../../fit/model.js';
import { fromShared, type Transfer } from '../../graph/transfer.js';
import { serveTasks } from '../../parallel/worker.js';
import type { UserQuery } from '../recommend.js';
import { createRecommender, type Recommender } from '../recommender.js';
import { type ExplainedList, type ExplainListOptions, explainLists } from './explained-list.js';

let recommender: Recommender | undefined;

export function adopt({ model }: { readonly model: Transfer<Model> }): void {
  recommender = createRecommender(fromShared(model));
}

export interface ExplainedPiece {
  readonly askers: readonly UserQuery[];
  /** What crosses threads: no functions. */
  readonly options: Omit<ExplainListOptions, 'signal' | 'onProgress' | 'onUnknown' | 'threads' | 'engine'>;
  readonly ignoreUnknown: boolean;
}

export async function explainPiece({
  askers,
  options,
  ignoreUnknown,
}: ExplainedPiece): Promise<ExplainedList[]> {
  if (!recommender) throw new Error('no model was adopted');
  return explainLists(recommender, askers, {
    ...options,
    threads: 1,
    ...(ignoreUnknown && { onUnknown: () => {} }),
  });
}

serveTasks('explain-tasks', { adopt, tell: explainPiece });
