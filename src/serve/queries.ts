// Queries that the HTTP thread sends to the workers, and their replies: plain values that cross threads. A long query is
// cut into pieces, and a worker answers in short time slices, so that no query keeps the others waiting.

import { type Access, ANSWERS, orRefusal, recommendAll, type Served } from './answers.js';
import type { ModelEndpoint, RequestOf } from './endpoints.js';
import type { Answered, OneRequest } from './http-schema.js';
import type { ProblemKind } from './problems.js';
import type { Piece, Slice } from './work-queue.js';

/** Requests that a worker answers in one blocked product, a row each. With more rows a batch takes longer, and a request costs no less. */
export const BATCH_SIZE = 16;
/** Candidates of one piece of a ranking with explanations. */
const RANK_PIECE = 128;

export type Query = {
  readonly [E in ModelEndpoint]: {
    readonly endpoint: E;
    readonly request: RequestOf<E>;
    readonly access?: Access | undefined;
  };
}[ModelEndpoint];

/** Why one query failed. The others of its batch are not affected. */
export interface Refusal {
  readonly problem: ProblemKind;
  readonly detail: string;
  readonly field?: string | undefined;
}

export type Finished = {
  readonly value: unknown;
  /** Characters of the value as JSON; counted for batches. */
  readonly size?: number;
};

/** What a worker answered of a batch before its time slice ended. Of another query: nothing, as it was not started. */
interface Unfinished {
  readonly done: readonly BatchEntry[];
  readonly size?: number;
}

export type Reply = Finished | Refusal | Unfinished;

type BatchEntry = Answered | { readonly error: string; readonly field?: string | undefined };

/** A query in the pieces that the queue takes. */
export function piecesOf(query: Query): Piece<Query>[] {
  if (query.endpoint === 'batch') return inPieces(query.request.requests, BATCH_SIZE).map(batchPiece);
  if (query.endpoint === 'rank') {
    const { candidates, explain, confidence } = query.request;
    // Confidence is computed once for all candidates.
    if (explain && !confidence && candidates.length > RANK_PIECE) {
      return inPieces(candidates, RANK_PIECE).map((some) => ({
        query: { ...query, request: { ...query.request, candidates: some } },
        weight: BATCH_SIZE,
        bulk: true,
      }));
    }
  }
  return [{ query, weight: 1 }];
}

function inPieces<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) =>
    list.slice(i * size, (i + 1) * size),
  );
}

function batchPiece(requests: OneRequest[]): Piece<Query> {
  return { query: { endpoint: 'batch', request: { requests } }, weight: requests.length, bulk: true };
}

/** What is left of a query after a worker's time slice. */
export function sliceOf(query: Query, reply: Reply): Slice<Query, Reply> {
  if (!('done' in reply)) return { reply, size: 'size' in reply ? reply.size : 0 };
  if (query.endpoint !== 'batch') return { reply: undefined, left: { query, weight: 1 } };
  return {
    reply: { value: { answers: reply.done } },
    size: reply.size,
    left: batchPiece(query.request.requests.slice(reply.done.length)),
  };
}

/** One reply from the replies to the pieces of a query. */
export function joinReplies(query: Query, replies: readonly Reply[]): Finished | Refusal {
  const values: unknown[] = [];
  for (const reply of replies) {
    if ('done' in reply) throw new Error('a query was left unfinished');
    if (replies.length === 1 || !('value' in reply)) return reply;
    values.push(reply.value);
  }
  if (query.endpoint === 'batch') {
    const answers = (values as { readonly answers: readonly BatchEntry[] }[]).flatMap((one) => one.answers);
    return { value: { answers } };
  }
  const ranked = values as Answered[];
  const items = new Map(ranked.flatMap((one) => one.items).map((entry) => [entry.item, entry]));
  return { value: { ...ranked[0], items: [...items.values()].sort((a, b) => b.score - a.score) } };
}

/** Milliseconds after which a worker starts nothing more in a time slice. */
const SLICE = 25;

function endOfSlice(): () => boolean {
  const began = performance.now();
  return () => performance.now() - began > SLICE;
}

/**
 * Answers queries in order: at least one, and as many as it can start in a time slice. A list takes a millisecond, its
 * confidence and explanations tens, so time bounds a slice and not the number of queries.
 */
export async function answerQueries(
  served: Served,
  queries: readonly Query[],
  isOver: () => boolean = endOfSlice(),
): Promise<Reply[]> {
  const lists = queries.map((query) => (query.endpoint === 'recommend' ? query.request : undefined));
  const replies: Reply[] = [];
  while (replies.length < queries.length) {
    const query = queries[replies.length];
    if (replies.length > 0 && isOver()) replies.push({ done: [] });
    else if (query.endpoint === 'recommend') {
      for (const answer of await recommendAll(served, nextGroup(lists, replies.length))) {
        replies.push('problem' in answer ? answer : { value: answer });
      }
    } else if (query.endpoint === 'batch') {
      replies.push(await answerBatch(served, query.request.requests, isOver));
    } else {
      const answer = ANSWERS[query.endpoint] as (s: Served, r: unknown, a: Access) => unknown;
      const { request, access = { users: false } } = query;
      replies.push(await orRefusal(async () => ({ value: await answer(served, request, access) })));
    }
  }
  return replies;
}

/** The next requests to compute together: plain ones, which are ranked in one product, or one that costs more. */
function nextGroup(requests: readonly (OneRequest | undefined)[], from: number): OneRequest[] {
  const isPlain = (request: OneRequest | undefined) =>
    request !== undefined && !request.confidence && !request.explain && !request.include;
  let to = from;
  while (to < requests.length && isPlain(requests[to])) to++;
  return requests.slice(from, Math.max(to, from + 1)).filter((request) => request !== undefined);
}

/** A batch, or as much of it as fits into the time slice. */
async function answerBatch(
  served: Served,
  requests: readonly OneRequest[],
  isOver: () => boolean,
): Promise<Reply> {
  const answers: BatchEntry[] = [];
  do {
    for (const list of await recommendAll(served, nextGroup(requests, answers.length))) {
      answers.push('problem' in list ? { error: list.detail, field: list.field } : list);
    }
  } while (answers.length < requests.length && !isOver());
  const size = JSON.stringify(answers).length;
  return answers.length < requests.length ? { done: answers, size } : { value: { answers }, size };
}
