// What went wrong, as RFC 9457 has it: every answer that is no success is a problem document.

import type { Context } from 'hono';

/** Every kind of problem: its status and its title. A client may rely on `type`, the name after `#`. */
export const PROBLEMS = {
  'bad-request': { status: 400, title: 'The request is not as it should be' },
  unauthorized: { status: 401, title: 'A key is needed' },
  forbidden: { status: 403, title: 'This key may not do that' },
  'not-found': { status: 404, title: 'Not found' },
  'method-not-allowed': { status: 405, title: 'Not with this method' },
  'not-json': { status: 415, title: 'The body must be JSON' },
  'too-large': { status: 413, title: 'The body is too large' },
  'wrong-host': { status: 421, title: 'This server does not answer for that host name' },
  'cannot-do': { status: 422, title: 'The model cannot answer that' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  gone: { status: 499, title: 'The client has gone' },
  failed: { status: 500, title: 'The server failed' },
  'no-model': { status: 503, title: 'No model is loaded' },
  busy: { status: 503, title: 'The server is busy' },
  late: { status: 503, title: 'Not answered in time' },
  draining: { status: 503, title: 'The server is stopping' },
} as const;

export type ProblemKind = keyof typeof PROBLEMS;

/** An answer that is no success. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly kind: ProblemKind;
  /** The field of the request that is wrong, as in 'likes.3'. */
  readonly field: string | undefined;
  /** Seconds after which it is worth asking again. */
  readonly retryAfter: number | undefined;

  constructor(kind: ProblemKind, detail: string, more: { field?: string; retryAfter?: number } = {}) {
    super(detail);
    this.kind = kind;
    this.field = more.field;
    this.retryAfter = more.retryAfter;
  }

  get status(): number {
    return PROBLEMS[this.kind].status;
  }
}

/** More is asked than can be answered soon. */
export function busy(waiting: number): Problem {
  const who = waiting === 1 ? '1 request is' : `${waiting} requests are`;
  return new Problem('busy', `${who} waiting already; come back in a moment`, { retryAfter: 1 });
}

export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly field?: string | undefined;
}

export function problemDocument(problem: Problem, requestId: string): ProblemDocument {
  const { status, title } = PROBLEMS[problem.kind];
  return {
    type: `/docs#${problem.kind}`,
    title,
    status,
    detail: problem.message,
    instance: `request:${requestId}`,
    ...(problem.field === undefined ? {} : { field: problem.field }),
  };
}

export function problemHeaders(problem: Problem): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/problem+json' };
  if (problem.retryAfter !== undefined) headers['retry-after'] = String(problem.retryAfter);
  if (problem.kind === 'unauthorized') headers['www-authenticate'] = 'Bearer';
  return headers;
}

export function answerProblem(c: Context, problem: Problem, requestId: string): Response {
  const document = JSON.stringify(problemDocument(problem, requestId));
  return c.body(document, problem.status as 400, problemHeaders(problem));
}
