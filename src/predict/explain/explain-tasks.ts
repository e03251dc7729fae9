// What workers do where many lists are to be told: each has a recommender of the shared model, and tells the next piece.

import type { Model } from '../../fit/model.js';
import { type Crossing, unpacked } from '../../graph/transfer.js';
import { serveTasks } from '../../parallel/worker.js';
import type { Asker } from '../recommend.js';
import { createRecommender, type Recommender } from '../recommender.js';
import { type TellOptions, type ToldList, tellLists } from './explained-list.js';

let recommender: Recommender | undefined;

export function adopt({ model }: { readonly model: Crossing<Model> }): void {
  recommender = createRecommender(unpacked(model));
}

export interface ToldPiece {
  readonly askers: readonly Asker[];
  /** What crosses threads: no functions. */
  readonly options: Omit<TellOptions, 'signal' | 'onProgress' | 'onUnknown' | 'threads' | 'engine'>;
  readonly ignoreUnknown: boolean;
}

export async function tell({ askers, options, ignoreUnknown }: ToldPiece): Promise<ToldList[]> {
  if (!recommender) throw new Error('no model was adopted');
  return tellLists(recommender, askers, {
    ...options,
    threads: 1,
    ...(ignoreUnknown && { onUnknown: () => {} }),
  });
}

serveTasks('explain-tasks', { adopt, tell });
