import { afterAll, describe, expect, it } from 'vitest';
import { createRecommender } from '../../src/predict/recommender.js';
import { titleBook } from '../../src/predict/titles.js';
import { type Finished, type Job, joined, piecesOf, type Reply, turnOf } from '../../src/serve/jobs.js';
import { createQueue } from '../../src/serve/queue.js';
import type { OneRequest } from '../../src/serve/schema.js';
import { answerJobs } from '../../src/serve/turns.js';
import { smallModel } from '../predict/recommend-model.js';

const model = smallModel();
const recommender = createRecommender(model);
const served = { recommender, titles: titleBook(model.items.ids, []) };
const user = (u: number) => model.users.ids.at(u);
const over = () => true;
const never = () => false;

afterAll(() => recommender.close());

/** How many requests of a batch are answered in a turn that is over as soon as anything is done. */
async function inShortTurn(requests: readonly OneRequest[]): Promise<number> {
  const [reply] = await answerJobs(served, [{ kind: 'batch', requests }], over);
  if ('done' in reply) return reply.done.length;
  return ((reply as { value: unknown }).value as { answers: unknown[] }).answers.length;
}

describe('the turn of a worker', () => {
  it('holds plain lists that are ranked together, but one that is explained, sure or chosen from', async () => {
    const requests = Array.from({ length: 8 }, (_, u): OneRequest => ({ user: user(u), n: 3 }));
    expect(await inShortTurn(requests)).toBe(8);
    expect(await inShortTurn(requests.map((one) => ({ ...one, confidence: true })))).toBe(1);
    expect(await inShortTurn(requests.map((one) => ({ ...one, explain: true })))).toBe(1);
    expect(await inShortTurn(requests.map((one) => ({ ...one, include: [model.items.ids.at(1)] })))).toBe(1);
    expect(await inShortTurn(requests.map((one, i) => ({ ...one, confidence: i === 3 })))).toBe(3);
  });

  it('ends before single requests that it did not come to', async () => {
    const jobs = [true, false, false].map(
      (confidence, u): Job => ({ kind: 'recommend', request: { user: user(u), n: 2, confidence } }),
    );
    const replies = await answerJobs(served, jobs, over);
    expect(replies.map((reply) => 'value' in reply)).toEqual([true, false, false]);
    expect(replies.slice(1)).toEqual([{ done: [] }, { done: [] }]);
    expect(turnOf(jobs[1], replies[1])).toEqual({ reply: undefined, left: { job: jobs[1], weight: 1 } });
  });

  it('a batch of many turns has the answers of one, and a single request waits for one turn of it', async () => {
    const requests = Array.from(
      { length: 20 },
      (_, i): OneRequest => ({
        user: i === 7 ? 'nobody' : user(i % 12),
        n: 3,
        confidence: i % 3 > 0,
        explain: i % 4 === 1,
      }),
    );
    const job: Job = { kind: 'batch', requests };
    const [whole] = await answerJobs(served, [job], never);
    const turns: string[] = [];
    const worker = (jobs: readonly Job[]): Promise<Reply[]> => {
      turns.push(jobs[0].kind);
      return answerJobs(served, jobs, over);
    };
    const queue = createQueue<Job, Reply>([worker], { most: 10, together: 16, turnOf });
    const batch = queue.ask(piecesOf(job), { deadline: 60_000 });
    await queue.ask([{ job: { kind: 'popular', n: 1 }, weight: 1 }], { deadline: 60_000 });
    expect(turns.slice(0, 2)).toEqual(['batch', 'popular']);
    expect(joined(await batch)).toEqual(whole as Finished);
    expect(turns.length).toBeGreaterThan(12);
  });
});
