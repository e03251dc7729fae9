import { afterAll, describe, expect, it } from 'vitest';
import { createRecommender } from '../../src/predict/recommender.js';
import type { OneRequest } from '../../src/serve/http-schema.js';
import { createLiveView } from '../../src/serve/live/live-view.js';
import {
  answerQueries,
  type Finished,
  joinReplies,
  piecesOf,
  type Query,
  type Reply,
  sliceOf,
} from '../../src/serve/queries.js';
import { createQueue } from '../../src/serve/work-queue.js';
import { smallModel } from '../predict/recommend-model.js';

const model = smallModel();
const recommender = createRecommender(model);
const served = { recommender, live: createLiveView(model.items, []) };
const user = (u: number) => model.users.ids.at(u);
const over = () => true;
const never = () => false;

afterAll(() => recommender.close());

/** How many requests of a batch are answered in a time slice that ends as soon as anything is done. */
async function inShortSlice(requests: OneRequest[]): Promise<number> {
  const [reply] = await answerQueries(served, [{ endpoint: 'batch', request: { requests } }], over);
  if ('done' in reply) return reply.done.length;
  return ((reply as { value: unknown }).value as { answers: unknown[] }).answers.length;
}

describe('the time slice of a worker', () => {
  it('takes plain lists in one batch, and lists with an explanation, a confidence or an inclusion one by one', async () => {
    const requests = Array.from({ length: 8 }, (_, u): OneRequest => ({ user: user(u), n: 3 }));
    expect(await inShortSlice(requests)).toBe(8);
    expect(await inShortSlice(requests.map((one) => ({ ...one, confidence: true })))).toBe(1);
    expect(await inShortSlice(requests.map((one) => ({ ...one, explain: true })))).toBe(1);
    expect(await inShortSlice(requests.map((one) => ({ ...one, include: [model.items.ids.at(1)] })))).toBe(1);
    expect(await inShortSlice(requests.map((one, i) => ({ ...one, confidence: i === 3 })))).toBe(3);
  });

  it('answers the other requests of a batch if one does not fit its schema', async () => {
    const refused = { problem: 'bad-request', detail: 'n: expected at least 1', field: 'n' };
    const requests = [{ user: user(0), n: 2 }, { refused } as OneRequest, { user: user(1), n: 2 }];
    const [reply] = await answerQueries(served, [{ endpoint: 'batch', request: { requests } }], never);
    expect((reply as Finished).value).toEqual({
      answers: [
        expect.objectContaining({ unknown: [] }),
        { error: refused.detail, field: 'n' },
        expect.objectContaining({ unknown: [] }),
      ],
    });
  });

  it('leaves single requests that it did not start', async () => {
    const queries = [true, false, false].map(
      (confidence, u): Query => ({ endpoint: 'recommend', request: { user: user(u), n: 2, confidence } }),
    );
    const replies = await answerQueries(served, queries, over);
    expect(replies.map((reply) => 'value' in reply)).toEqual([true, false, false]);
    expect(replies.slice(1)).toEqual([{ done: [] }, { done: [] }]);
    expect(sliceOf(queries[1], replies[1])).toEqual({
      reply: undefined,
      left: { query: queries[1], weight: 1 },
    });
  });

  it('gives a batch the same answers in many slices, and a single request waits for one slice of it', async () => {
    const requests = Array.from(
      { length: 20 },
      (_, i): OneRequest => ({
        user: i === 7 ? 'nobody' : user(i % 12),
        n: 3,
        confidence: i % 3 > 0,
        explain: i % 4 === 1,
      }),
    );
    const query: Query = { endpoint: 'batch', request: { requests } };
    const [whole] = await answerQueries(served, [query], never);
    const slices: string[] = [];
    const worker = (queries: readonly Query[]): Promise<Reply[]> => {
      slices.push(queries[0].endpoint);
      return answerQueries(served, queries, over);
    };
    const queue = createQueue<Query, Reply>([worker], { capacity: 10, batchSize: 16, sliceOf });
    const batch = queue.ask(piecesOf(query), { deadline: 60_000 });
    await queue.ask([{ query: { endpoint: 'popular', request: { n: 1 } }, weight: 1 }], { deadline: 60_000 });
    expect(slices.slice(0, 2)).toEqual(['batch', 'popular']);
    expect(joinReplies(query, await batch)).toEqual({ value: (whole as Finished).value });
    expect(slices.length).toBeGreaterThan(12);
  });

  it('ranks many candidates with explanations in pieces, to the same answer', async () => {
    const { ids, count } = model.items;
    const all = Array.from({ length: count }, (_, item) => ids.at(item));
    const candidates = Array.from({ length: 300 }, (_, i) => all[(7 * i) % count]);
    const query: Query = { endpoint: 'rank', request: { user: user(1), candidates, explain: true } };
    const pieces = piecesOf(query);
    expect(pieces).toHaveLength(3);
    const replies = await Promise.all(
      pieces.map(async (one) => (await answerQueries(served, [one.query]))[0]),
    );
    const [whole] = await answerQueries(served, [query]);
    expect(joinReplies(query, replies)).toEqual(whole);
  });
});
