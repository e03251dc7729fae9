// Jobs answered by a recommender: ids and titles to items, items to ids and titles, refusals in words.

import { InputError } from '../errors.js';
import type { VertexIds } from '../graph/ids.js';
import { type Reasons, titledReasons } from '../predict/explain/reasons.js';
import type { Recommendation, UserQuery } from '../predict/recommend.js';
import type { Recommender } from '../predict/recommender.js';
import { basisOf, FEW_LIKES } from '../predict/scoring/basis.js';
import type { TitleBook } from '../predict/titles.js';
import { confidenceWords } from '../report/words/confidence.js';
import type { Finished, Job, Refusal } from './jobs.js';
import { Problem } from './problems.js';
import type { Answered, Explain, OneRequest, Rank } from './schema.js';

export interface Served {
  readonly recommender: Recommender;
  readonly titles: TitleBook;
}

/** Unknown ids that an answer names. */
const NAMED = 20;

/** Any job but lists, which are worked on together. */
export async function answerOther(
  served: Served,
  job: Exclude<Job, { kind: 'recommend' | 'batch' }>,
): Promise<unknown> {
  const { recommender, titles } = served;
  const { items: sides } = recommender.model;
  const titled = (id: string) => withTitle(titles, sides.ids.find(id));
  switch (job.kind) {
    case 'rank':
      return rank(served, job.request);
    case 'explain':
      return explain(served, job.request);
    case 'similar': {
      const item = sides.ids.at(itemOf(served, job.item, 'id'));
      const items = recommender.similar(item, { n: job.n });
      return { items: items.map((one) => ({ ...one, ...titled(one.item) })) };
    }
    case 'popular':
      return { items: recommender.popular({ n: job.n }).map((one) => ({ ...one, ...titled(one.item) })) };
    case 'search': {
      const found = titles.search(job.text, byPopularity(recommender), job.n);
      return { items: found.map((item) => ({ item: sides.ids.at(item), ...withTitle(titles, item) })) };
    }
    case 'features': {
      const described = recommender.features({ n: job.n }).map((feature) => ({
        ...feature,
        items: feature.items.map((one) => ({ ...one, ...titled(one.item) })),
      }));
      if (job.feature === undefined) return { features: described };
      const feature = described.find((one) => one.feature === job.feature);
      if (!feature) {
        throw new Problem(
          'not-found',
          `there is no feature ${job.feature}; the model has ${described.length}`,
          {
            field: 'k',
          },
        );
      }
      return { feature };
    }
  }
}

/** One request after its ids were looked up. */
interface Prepared {
  readonly request: OneRequest;
  readonly asker: UserQuery;
  readonly likes: number;
  readonly unknown: readonly string[];
  readonly exclude: readonly string[];
  /** The only items that may be listed; undefined: all. */
  readonly include?: readonly string[] | undefined;
  /** False: the caller chose the items, and how sure a choice is cannot be asked. */
  readonly chosen?: false;
}

/** Lists for all requests; those that ask in the same way are ranked in one product. */
export async function recommendAll(
  served: Served,
  requests: readonly OneRequest[],
): Promise<(Answered | Refusal)[]> {
  const answers: (Answered | Refusal | undefined)[] = new Array(requests.length);
  const together = new Map<string, { readonly at: number; readonly prepared: Prepared }[]>();
  for (const [at, request] of requests.entries()) {
    try {
      const prepared = prepare(served, request);
      if ('popular' in prepared) {
        answers[at] = prepared.popular;
        continue;
      }
      const { explain = false, includeSeen = false, include } = request;
      const key = include ? `alone ${at}` : `${explain} ${includeSeen}`;
      const group = together.get(key) ?? [];
      together.set(key, group);
      group.push({ at, prepared });
    } catch (error) {
      answers[at] = refusal(error);
    }
  }
  for (const group of together.values()) {
    let lists: Recommendation[][] | undefined;
    try {
      lists = await listsFor(
        served,
        group.map(({ prepared }) => prepared),
      );
    } catch (error) {
      refusal(error); // a bug goes up; what one of them has done wrong is not the others' fault
    }
    for (const [i, { at, prepared }] of group.entries()) {
      try {
        const [list] = lists ? [lists[i]] : await listsFor(served, [prepared]);
        answers[at] = await answered(served, prepared, list.slice(0, prepared.request.n ?? 20));
      } catch (error) {
        answers[at] = refusal(error);
      }
    }
  }
  return answers as (Answered | Refusal)[];
}

/** Lists for requests that ask in the same way. */
function listsFor(served: Served, group: readonly Prepared[]): Promise<Recommendation[][]> {
  const { explain, includeSeen } = group[0].request;
  const { include } = group[0];
  return served.recommender.recommendMany(
    group.map(({ asker, exclude }) => ({ ...asker, exclude })),
    {
      n: Math.max(...group.map(({ request }) => request.n ?? 20)),
      explain,
      includeSeen,
      ...(include && { include }),
      threads: 1,
    },
  );
}

/** Ids and titles looked up; where nothing is known of the asker, the popular items at once. */
function prepare(served: Served, request: OneRequest): Prepared | { readonly popular: Answered } {
  const { recommender, titles } = served;
  const { n = 20, exclude = [] } = request;
  const without = exclude.flatMap((id, i) => knownId(served, id, `exclude.${i}`));
  const include = request.include?.flatMap((id, i) => knownId(served, id, `include.${i}`));
  const { asker, likes, unknown } = askerOf(served, request);
  if (asker) return { request, asker, likes, unknown, exclude: without, include };
  const { ids, count } = recommender.model.items;
  const among = include && new Set(include);
  const items = recommender
    .popular({ n: among ? count : n, exclude: without })
    .filter(({ item }) => among?.has(item) ?? true)
    .slice(0, n)
    .map(({ item, users }) => ({ item, ...withTitle(titles, ids.find(item)), score: users }));
  return { popular: { items, basis: 'popular', unknown: [...unknown] } };
}

interface Looked {
  /** Undefined where nothing is known of them. */
  readonly asker: UserQuery | undefined;
  readonly likes: number;
  readonly unknown: readonly string[];
}

function askerOf(served: Served, request: Pick<OneRequest, 'user' | 'likes' | 'counts' | 'unknown'>): Looked {
  const { model } = served.recommender;
  const { user, likes = [], counts, unknown: unknownWay = 'refuse' } = request;
  if (user !== undefined) {
    const row = model.users.ids.find(user);
    if (row < 0) {
      if (unknownWay === 'ignore') return { asker: undefined, likes: 0, unknown: [String(user)] };
      throw new Problem('not-found', `user ${user} is not in the model; send likes for a new user`, {
        field: 'user',
      });
    }
    const { seen } = model;
    return {
      asker: { user },
      likes: seen ? seen.offsets[row + 1] - seen.offsets[row] : FEW_LIKES,
      unknown: [],
    };
  }
  if (counts && counts.length !== likes.length) {
    throw new Problem(
      'bad-request',
      `counts: ${counts.length} counts for ${likes.length} likes; give one for each`,
      {
        field: 'counts',
      },
    );
  }
  const known: string[] = [];
  const knownCounts: number[] = [];
  const unknown: string[] = [];
  for (const [i, like] of likes.entries()) {
    const found = served.titles.find(like);
    if (typeof found === 'string') {
      if (unknownWay === 'refuse') throw notOneItem(like, found, `likes.${i}`);
      unknown.push(String(like));
      continue;
    }
    known.push(model.items.ids.at(found.item));
    knownCounts.push(counts?.[i] ?? 1);
  }
  return {
    asker: known.length === 0 ? undefined : { likes: known, ...(counts && { counts: knownCounts }) },
    likes: new Set(known).size,
    unknown: unknown.slice(0, NAMED),
  };
}

function notOneItem(
  text: string | number,
  found: 'unknown' | 'ambiguous',
  field: string,
  instead = 'leave it out, or say unknown: ignore',
): Problem {
  return found === 'unknown'
    ? new Problem('not-found', `${field}: ${text} is no item of the model; ${instead}`, { field })
    : new Problem(
        'not-found',
        `${field}: several items are called ${text}; send the id of the one that is meant`,
        { field },
      );
}

async function answered(
  served: Served,
  prepared: Prepared,
  list: readonly Recommendation[],
): Promise<Answered> {
  const { recommender, titles } = served;
  const { asker, likes, request, unknown, include } = prepared;
  const { ids } = recommender.model.items;
  const unlisted = () =>
    include ? [...prepared.exclude, ...allBut(ids, new Set(include))] : prepared.exclude;
  const confidence = request.confidence
    ? await recommender.confidence(
        { ...asker, exclude: unlisted() },
        list.map(({ item }) => item),
      )
    : undefined;
  return {
    items: list.map(({ item, score, explanation }, i) => ({
      item,
      ...withTitle(titles, ids.find(item)),
      score,
      ...(confidence && { low: confidence.intervals[i].low, high: confidence.intervals[i].high }),
      ...(explanation && { explanation: shownExplanation(served, { item, score, explanation }) }),
    })),
    basis: basisOf(likes),
    ...(confidence &&
      prepared.chosen !== false && {
        confidence: { overlap: confidence.overlap, text: confidenceWords(confidence, list.length) },
      }),
    unknown: [...unknown],
  };
}

const allBut = (ids: VertexIds, some: ReadonlySet<string>): string[] =>
  Array.from({ length: ids.length }, (_, item) => ids.at(item)).filter((id) => !some.has(id));

/** The caller's candidates in order: all of them, unless some are unknown and to be ignored. */
async function rank(served: Served, request: Rank): Promise<Answered> {
  const { recommender, titles } = served;
  const { candidates, explain = false, confidence = false } = request;
  const { asker, likes, unknown } = askerOf(served, request);
  const { ids, degree } = recommender.model.items;
  const wanted = candidates.flatMap((id, i) => {
    const found = titles.find(id);
    if (typeof found !== 'string') return [ids.at(found.item)];
    if (request.unknown !== 'ignore') throw notOneItem(id, found, `candidates.${i}`);
    return [];
  });
  if (!asker) {
    const items = [...new Set(wanted)]
      .map((item) => ({ item, ...withTitle(titles, ids.find(item)), score: degree[ids.find(item)] }))
      .sort((a, b) => b.score - a.score);
    return { items, basis: 'popular', unknown: [...unknown] };
  }
  const list = recommender.rank(asker, wanted, { explain });
  return answered(
    served,
    { request: { confidence }, asker, likes, unknown, exclude: [], chosen: false },
    list,
  );
}

function explain(served: Served, request: Explain): unknown {
  const { recommender, titles } = served;
  const item = itemOf(served, request.item, 'item');
  const { asker, unknown } = askerOf(served, request);
  if (!asker) {
    throw new Problem(
      'cannot-do',
      'nothing is known of the user, so there is no score to explain; send likes',
      {
        field: 'likes',
      },
    );
  }
  const explained = recommender.explain(asker, recommender.model.items.ids.at(item));
  return {
    item: explained.item,
    ...withTitle(titles, item),
    score: explained.score,
    explanation: shownExplanation(served, explained),
    unknown: [...unknown],
  };
}

/** In brief, with titles: items, others and rest add up to the score. */
function shownExplanation({ recommender, titles }: Served, explained: Recommendation) {
  const { ids } = recommender.model.items;
  return titledReasons(recommender.reasons(explained) as Reasons, (item) =>
    withTitle(titles, ids.find(item)),
  );
}

function itemOf({ titles }: Served, text: string | number, field: string): number {
  const found = titles.find(text);
  if (typeof found === 'string') throw notOneItem(text, found, field, 'GET /v1/items?search= finds items');
  return found.item;
}

/** The id for an id or a title; nothing for what the model does not know. A title of several items must not pass in silence. */
function knownId({ recommender, titles }: Served, text: string | number, field: string): string[] {
  const found = titles.find(text);
  if (found === 'ambiguous') throw notOneItem(text, found, field);
  return typeof found === 'string' ? [] : [recommender.model.items.ids.at(found.item)];
}

function withTitle(titles: TitleBook, item: number): { title?: string } {
  const title = titles.of(item);
  return title === undefined ? {} : { title };
}

function byPopularity(recommender: Recommender): number[] {
  const { ids, count } = recommender.model.items;
  return recommender.popular({ n: count }).map(({ item }) => ids.find(item));
}

/** Its value, or what may be heard of why there is none. */
export async function attempt(task: () => Promise<unknown>): Promise<Finished> {
  try {
    return { value: await task() };
  } catch (error) {
    return refusal(error);
  }
}

/** What a client may hear of an error; a bug goes up. */
function refusal(error: unknown): Refusal {
  if (error instanceof Problem) {
    return {
      problem: error.kind,
      detail: error.message,
      ...(error.field !== undefined && { field: error.field }),
    };
  }
  if (error instanceof InputError) return { problem: 'cannot-do', detail: error.message };
  throw error;
}
