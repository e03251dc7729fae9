// What workers do where many lists are to be told: each has a recommender of the shared model, and tells the next piece.

import type { Model } from '../fit/model.js';
import { type Crossing, unpacked } from '../graph/crossing.js';
import { serveTasks } from '../parallel/worker.js';
import type { Asker } from './recommend.js';
import { createRecommender, type Recommender } from './recommender.js';
import { type TellOptions, type ToldList, tellLists } from './told.js';

/** By the number of their crew: without shared memory several live in one thread. */
const recommenders = new Map<number, Recommender>();

export function adopt({ crew, model }: { readonly crew: number; readonly model: Crossing<Model> }): void {
  recommenders.set(crew, createRecommender(unpacked(model)));
}

export interface ToldPiece {
  readonly crew: number;
  readonly askers: readonly Asker[];
  /** What crosses threads: no functions. */
  readonly options: Omit<TellOptions, 'signal' | 'onProgress' | 'onUnknown' | 'threads' | 'engine'>;
  readonly ignoreUnknown: boolean;
}

export async function tell({ crew, askers, options, ignoreUnknown }: ToldPiece): Promise<ToldList[]> {
  const recommender = recommenders.get(crew);
  if (!recommender) throw new Error('no model was adopted');
  return tellLists(recommender, askers, {
    ...options,
    threads: 1,
    ...(ignoreUnknown && { onUnknown: () => {} }),
  });
}

export async function release({ crew }: { readonly crew: number }): Promise<void> {
  await recommenders.get(crew)?.close();
  recommenders.delete(crew);
}

serveTasks('told-tasks', { adopt, tell, release });
