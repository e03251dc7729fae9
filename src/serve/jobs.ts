// What the HTTP side asks of the computing side, and what comes back: plain values that cross threads.

import type { ProblemKind } from './problems.js';
import type { Answered, Explain, OneRequest, Rank } from './schema.js';

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

export function weightOf(job: Job): number {
  return job.kind === 'batch' ? job.requests.length : 1;
}
