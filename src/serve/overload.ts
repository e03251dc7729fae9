// Refuses requests before the app reads them while the queue is full. Under overload most requests end here: refusing
// them in the app would cost nearly as much as an answer.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { LIMITS } from './limits.js';
import { type Problem, problemDocument, problemHeaders } from './problems.js';
import { answerHeaders, type RequestLog } from './request-log.js';
import { routeOf } from './routes.js';

interface OverloadOptions {
  /** Why a request for `path` is refused now; undefined: it is not. */
  readonly refusal: (path: string, method: string) => Problem | undefined;
  readonly requestLog: RequestLog;
  readonly draining: () => boolean;
  readonly app: RequestListener;
}

export function refuseOverload({ refusal, requestLog, draining, app }: OverloadOptions): RequestListener {
  return (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0];
    const problem = refusal(path, request.method ?? '');
    if (!problem) return app(request, response);
    const requestId = randomUUID();
    const began = performance.now();
    // A small body is read and discarded, and the connection is kept. The server does not wait for a large or endless one.
    const close = draining() || !isSmall(request);
    const body = JSON.stringify(problemDocument(problem, requestId));
    response.writeHead(problem.status, {
      ...answerHeaders(requestId, close),
      ...problemHeaders(problem),
      'content-length': String(Buffer.byteLength(body)),
    });
    response.end(body);
    requestLog.record({
      requestId,
      method: request.method ?? '',
      route: routeOf(path) ?? 'none',
      status: problem.status,
      milliseconds: performance.now() - began,
      key: undefined,
      model: undefined,
      problem: problem.kind,
    });
  };
}

function isSmall({ headers }: IncomingMessage): boolean {
  if (headers['transfer-encoding'] !== undefined) return false;
  return Number(headers['content-length'] ?? 0) <= LIMITS.discarded;
}
