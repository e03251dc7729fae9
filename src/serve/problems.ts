// Problem documents (RFC 9457): every answer that is not a success is one.

import type { z } from '@hono/zod-openapi';
import type { Context } from 'hono';

/** Every kind of problem with its status and title. Clients may rely on `type`, which ends with the kind. */
export const PROBLEMS = {
  'bad-request': { status: 400, title: 'The request is wrong' },
  unauthorized: { status: 401, title: 'A key is needed' },
  forbidden: { status: 403, title: 'This key is not allowed to do this' },
  'not-found': { status: 404, title: 'Not found' },
  'not-enabled': { status: 404, title: 'The server was started without this' },
  'method-not-allowed': { status: 405, title: 'This method is not allowed here' },
  'not-json': { status: 415, title: 'The body must be JSON' },
  'too-large': { status: 413, title: 'The body is too large' },
  'wrong-host': { status: 421, title: 'This server does not answer for this host name' },
  'cannot-do': { status: 422, title: 'The model cannot answer this' },
  'too-much': { status: 422, title: 'The answer would be too large' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  gone: { status: 499, title: 'The client is gone' },
  failed: { status: 500, title: 'The server failed' },
  'no-model': { status: 503, title: 'No model is loaded' },
  store: { status: 503, title: 'The store cannot be used now' },
  busy: { status: 503, title: 'The server is busy' },
  late: { status: 503, title: 'Not answered in time' },
  draining: { status: 503, title: 'The server is stopping' },
} as const;

export type ProblemKind = keyof typeof PROBLEMS;

/** An error that is sent to the client. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly kind: ProblemKind;
  /** The wrong field of the request, as in 'likes.3'. */
  readonly field: string | undefined;
  /** Seconds after which the client may ask again. */
  readonly retryAfter: number | undefined;

  constructor(
    kind: ProblemKind,
    detail: string,
    more: { field?: string | undefined; retryAfter?: number } = {},
  ) {
    super(detail);
    this.kind = kind;
    this.field = more.field;
    this.retryAfter = more.retryAfter;
  }

  get status(): number {
    return PROBLEMS[this.kind].status;
  }
}

/** The queue is full. */
export function tooBusy(waiting: number): Problem {
  const detail = `the queue is full (${waiting} waiting); ask again in a second`;
  return new Problem('busy', detail, { retryAfter: 1 });
}

/** What is wrong, and where; `keys` are fields that the schema lacks. */
interface WrongField {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
}

/** What is wrong with a value that may have several forms: the problem in the form that it resembles most. */
function innermost(issue: z.core.$ZodIssue): WrongField {
  if (issue.code !== 'invalid_union') return issue;
  const firsts = issue.errors.flatMap(([first]) => first ?? []);
  const inner: WrongField[] = firsts.map(innermost);
  const deepest = inner.reduce((best, one) => (one.path.length > best.path.length ? one : best), inner[0]);
  if (deepest?.path.length) return { ...deepest, path: [...issue.path, ...deepest.path] };
  const [first] = firsts;
  if (first && firsts.every(isMissing)) return { path: issue.path, message: first.message };
  // A list that is too long is of the right type.
  const ofType = firsts.filter(({ code }) => code !== 'invalid_type' && code !== 'invalid_union');
  return ofType.length === 1 ? { path: issue.path, message: ofType[0].message } : issue;
}

const isMissing = ({ message }: { readonly message: string }) => message.endsWith('received undefined');

const BOUNDS: Readonly<Record<string, string>> = {
  '>=': 'at least',
  '<=': 'at most',
  '>': 'more than',
  '<': 'less than',
};

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

/** Zod's "Too big: expected number to be <=1000" and "Invalid input: expected string, received number" in plain words. */
function inWords(message: string): string {
  const [, sign, bound] = /^Too (?:small|big): expected \w+ to (?:be|have) ([<>]=?)(.+)$/.exec(message) ?? [];
  if (sign !== undefined) return `expected ${BOUNDS[sign]} ${bound.replace(/^1 (\w+)s$/, '1 $1')}`;
  const [, wanted, sent] = /^Invalid input: expected (\w+), received (\w+)$/.exec(message) ?? [];
  if (wanted === undefined || !(wanted in TYPES)) return message;
  return `expected ${TYPES[wanted]}${sent in TYPES && wanted !== 'int' ? `, not ${TYPES[sent]}` : ''}`;
}

/** The problem of a request that does not fit its schema. */
export function wrongField(error: z.core.$ZodError): Problem {
  const { path, message, keys: [unknown] = [] } = innermost(error.issues[0]) as WrongField;
  const field = [...path, ...(unknown === undefined ? [] : [unknown])].join('.');
  const why =
    unknown !== undefined
      ? 'there is no such field; /docs lists all fields'
      : isMissing({ message })
        ? 'this field is missing'
        : inWords(message);
  return new Problem('bad-request', `${field || 'the body'}: ${why}`, { field: field || undefined });
}

export function problemDocument(problem: Problem, requestId: string) {
  const { status, title } = PROBLEMS[problem.kind];
  return {
    type: `/docs#${problem.kind}`,
    title,
    status,
    detail: problem.message,
    instance: `request:${requestId}`,
    field: problem.field,
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
