// What the HTTP side asks of the computing side, and what comes back: plain values that cross threads.

import type { ProblemKind } from './problems.js';
import type { Weighed } from './queue.js';
import type { Answered, Explain, OneRequest, Rank } from './schema.js';

/** Requests that go to a worker together: the rows of one blocked product. More would take longer and cost no less each. */
export const TOGETHER = 16;

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

export type Reply = { readonly value: unknown } | Refusal;

export type BatchReply = readonly (
  | Answered
  | { readonly error: string; readonly field?: string | undefined }
)[];

/** A job as the queue takes it: a batch in pieces, so that no worker is kept from others for long. */
export function piecesOf(job: Job): Weighed<Job>[] {
  if (job.kind !== 'batch') return [{ job, weight: 1 }];
  const { requests } = job;
  return Array.from({ length: Math.ceil(requests.length / TOGETHER) }, (_, i) => {
    const piece = requests.slice(i * TOGETHER, (i + 1) * TOGETHER);
    return { job: { kind: 'batch', requests: piece }, weight: piece.length, bulk: true };
  });
}

/** One reply of the replies to a job's pieces. */
export function joined(replies: readonly Reply[]): Reply {
  if (replies.length === 1) return replies[0];
  const answers: unknown[] = [];
  for (const reply of replies) {
    if (!('value' in reply)) return reply;
    answers.push(...(reply.value as { answers: BatchReply }).answers);
  }
  return { value: { answers } };
}
