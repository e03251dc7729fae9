// A worker's turn: as many jobs as can be begun in a short while. The rest goes back to the queue, so that nobody waits long for a
// worker, whatever others have asked for.

import { answerOther, attempt, recommendAll, type Served } from './answer.js';
import type { BatchReply, Job, Reply } from './jobs.js';
import type { OneRequest } from './schema.js';

/** Milliseconds after which a worker begins nothing more in its turn, since others may wait. */
const TURN = 25;

function endOfTurn(): () => boolean {
  const began = performance.now();
  return () => performance.now() - began > TURN;
}

/**
 * Answers in the order of the jobs, at least one and what else can be begun in a turn; what is wrong with one does not touch the
 * others. A list takes a millisecond, how sure it is and why take tens: a turn is bounded by time, not by how many have asked.
 */
export async function answerJobs(
  served: Served,
  jobs: readonly Job[],
  isOver: () => boolean = endOfTurn(),
): Promise<Reply[]> {
  const single = jobs.map((job) => (job.kind === 'recommend' ? job.request : undefined));
  const replies: Reply[] = [];
  while (replies.length < jobs.length) {
    const job = jobs[replies.length];
    if (replies.length > 0 && isOver()) replies.push({ done: [] });
    else if (job.kind === 'recommend') {
      const lists = await recommendAll(served, nextTogether(single, replies.length));
      for (const answer of lists) replies.push('problem' in answer ? answer : { value: answer });
    } else if (job.kind === 'batch') replies.push(await answerBatch(served, job.requests, isOver));
    else replies.push(await attempt(async () => answerOther(served, job)));
  }
  return replies;
}

/** The next requests that are worked on at once: plain ones, which are ranked in one product, or one that costs more. */
function nextTogether(requests: readonly (OneRequest | undefined)[], from: number): OneRequest[] {
  const isPlain = (request: OneRequest | undefined) =>
    request !== undefined && !request.confidence && !request.explain && !request.include;
  let to = from;
  while (to < requests.length && isPlain(requests[to])) to++;
  return requests.slice(from, Math.max(to, from + 1)).filter((request) => request !== undefined);
}

/** A batch, or as much of it as can be begun in the turn. */
async function answerBatch(
  served: Served,
  requests: readonly OneRequest[],
  isOver: () => boolean,
): Promise<Reply> {
  const answers: BatchReply[number][] = [];
  do {
    for (const list of await recommendAll(served, nextTogether(requests, answers.length))) {
      answers.push(
        'problem' in list ? { error: list.detail, ...(list.field && { field: list.field }) } : list,
      );
    }
  } while (answers.length < requests.length && !isOver());
  return answers.length < requests.length ? { done: answers } : { value: { answers } };
}
