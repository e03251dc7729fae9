// What the workers of a server do: hold the model, answer jobs.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { titleList, titlesOf } from '../evaluate/title-table.js';
import type { Model } from '../fit/model.js';
import { fromShared, type Transfer, toShared } from '../graph/transfer.js';
import { readSideTable } from '../ingest/side-table.js';
import { serveTasks } from '../parallel/worker.js';
import { createRecommender } from '../predict/recommender.js';
import { titleBook } from '../predict/titles.js';
import { loadModel } from '../store/model-file.js';
import { USERS_AND_ITEMS } from '../text/sides.js';
import type { Served } from './answer.js';
import type { Job, Reply } from './jobs.js';
import type { Information } from './schema.js';
import { answerJobs } from './turns.js';

/** A model and its titles, as they go from the worker that read them to the others. */
export interface SharedServing {
  readonly info: Omit<Information, 'loaded'>;
  readonly shared: Transfer<Model>;
  /** Title of each item, '' where there is none. */
  readonly titles: readonly string[];
}

let served: Served | undefined;

/** Reads a model file and its titles. */
export async function load({ path, titles: titleFile }: LoadTask): Promise<SharedServing> {
  const [model, hash] = await Promise.all([loadModel(path), hashOf(path)]);
  const { ids } = model.items;
  const titles =
    titleFile === undefined ? [] : titleList(titlesOf(await readSideTable(titleFile), ids, titleFile), ids);
  const names = model.names ?? USERS_AND_ITEMS;
  return {
    info: {
      hash,
      kind: model.type === 'posterior' ? model.kind : model.method,
      features: featuresOf(model),
      users: model.users.count,
      items: model.items.count,
      names: { users: names.users.many, items: names.items.many },
      titles: titles.filter((title) => title !== '').length,
    },
    shared: toShared(model),
    titles,
  };
}

interface LoadTask {
  readonly path: string;
  readonly titles: string | undefined;
}

/** How much nicer computing is than talking. */
export const NICER = 1;

/**
 * Computing gives way to the thread that talks HTTP: with as many workers as cores that thread waited for its turn, and so did
 * everybody who asked whether the server is well. On Linux a priority belongs to a thread, elsewhere to the whole process.
 */
function giveWay(): void {
  if (isMainThread || process.platform !== 'linux') return;
  try {
    setPriority(0, Math.min(19, getPriority(process.pid) + NICER));
  } catch {
    // Where it may not be changed, all are equal.
  }
}

/** Makes a recommender of what another worker has read, and asks it once: the first real question then waits for nothing. */
export async function adopt({ shared, titles }: SharedServing): Promise<void> {
  giveWay();
  const model = fromShared(shared);
  const recommender = createRecommender(model);
  served = { recommender, titles: titleBook(model.items.ids, titles) };
  const [first] = recommender.popular({ n: 1 });
  await answer([{ kind: 'recommend', request: { likes: [first.item], n: 1 } }]);
  await answer([{ kind: 'similar', item: first.item, n: 1 }]);
}

export async function answer(jobs: readonly Job[]): Promise<Reply[]> {
  if (!served) throw new Error('no model was adopted');
  return answerJobs(served, jobs);
}

/** Features of all fits whose scores are added; not of what stands beside them. */
function featuresOf(model: Model): number {
  if (model.type === 'posterior') return model.features;
  return model.scores.kind === 'factors'
    ? model.scores.members.reduce((sum, { features, share }) => sum + (share === undefined ? features : 0), 0)
    : 0;
}

/** The first half of the file's SHA-256. */
async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest('hex').slice(0, 32);
}

serveTasks('serving-tasks', { load, adopt, answer });
