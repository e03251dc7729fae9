// What the HTTP side asks of the computing side, and what comes back: plain values that cross threads.

import type { ProblemKind } from './problems.js';
import type { Turn, Weighed } from './queue.js';
import type { Answered, Explain, OneRequest, Rank } from './schema.js';

/** Requests that go to a worker together: the rows of one blocked product. More would take longer and cost no less each. */
export const BATCH_SIZE = 16;

export type Job =
  | { readonly kind: 'recommend'; readonly request: OneRequest }
  | { readonly kind: 'batch'; readonly requests: readonly OneRequest[] }
  | { readonly kind: 'rank'; readonly request: Rank }
  | { readonly kind: 'explain'; readonly request: Explain }
  | { readonly kind: 'similar'; readonly item: string; readonly n: number }
  | { readonly kind: 'popular'; readonly n: number }
  | { readonly kind: 'search'; readonly text: string; readonly n: number }
  | { readonly kind: 'features'; readonly n: number; readonly feature: number | undefined };

/** What went wrong with one job; the others of its batch are not touched. */
export interface Refusal {
  readonly problem: ProblemKind;
  readonly detail: string;
  readonly field?: string | undefined;
}

export type Finished = { readonly value: unknown } | Refusal;

/** What a worker answered of a batch before its turn was over, in order; of other jobs, that it did not begin with them. */
export interface Unfinished {
  readonly done: BatchReply;
}

export type Reply = Finished | Unfinished;

export type BatchReply = readonly (
  | Answered
  | { readonly error: string; readonly field?: string | undefined }
)[];

/** A job as the queue takes it: a batch in pieces for all workers, none of which keeps a worker longer than a turn. */
export function piecesOf(job: Job): Weighed<Job>[] {
  if (job.kind !== 'batch') return [{ job, weight: 1 }];
  const { requests } = job;
  return Array.from({ length: Math.ceil(requests.length / BATCH_SIZE) }, (_, i) =>
    pieceOf(requests.slice(i * BATCH_SIZE, (i + 1) * BATCH_SIZE)),
  );
}

function pieceOf(requests: readonly OneRequest[]): Weighed<Job> {
  return { job: { kind: 'batch', requests }, weight: requests.length, bulk: true };
}

/** What is left of a job after a worker's turn. */
export function turnOf(job: Job, reply: Reply): Turn<Job, Reply> {
  if (!('done' in reply)) return { reply };
  if (job.kind !== 'batch') return { reply: undefined, left: { job, weight: 1 } };
  return { reply: { value: { answers: reply.done } }, left: pieceOf(job.requests.slice(reply.done.length)) };
}

/** One reply of the replies to a job's pieces. */
export function joined(replies: readonly Reply[]): Finished {
  const answers: BatchReply[number][] = [];
  for (const reply of replies) {
    if ('done' in reply) throw new Error('a job was left unfinished');
    if (replies.length === 1 || !('value' in reply)) return reply;
    answers.push(...(reply.value as { answers: BatchReply }).answers);
  }
  return { value: { answers } };
}
