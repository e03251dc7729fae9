// The door before the app: whoever comes while more is asked than can be answered is told so at once. In overload most of the
// requests end here, and saying it through the app would cost nearly as much as an answer.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { LIMITS } from './limits.js';
import { type Problem, problemDocument, problemHeaders } from './problems.js';
import { answerHeaders, type Recorder } from './recorder.js';

export interface DoorOptions {
  /** What whoever asks for `path` now is told, where nothing more is taken. */
  readonly turnAway: (path: string) => Problem | undefined;
  readonly recorder: Recorder;
  readonly draining: () => boolean;
  readonly app: RequestListener;
}

export function createDoor({ turnAway, recorder, draining, app }: DoorOptions): RequestListener {
  return (request, response) => {
    const problem = turnAway(request.url ?? '');
    if (!problem) return app(request, response);
    const requestId = randomUUID();
    const began = performance.now();
    // A small body is read and forgotten, and the connection serves again; a large or endless one is not waited for.
    const close = draining() || !isSmall(request);
    const headers = [...answerHeaders(requestId, close), ...Object.entries(problemHeaders(problem))];
    answer(response, problem.status, headers, JSON.stringify(problemDocument(problem, requestId)));
    recorder.record({
      requestId,
      method: request.method ?? '',
      route: '/v1/*',
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
  return Number(headers['content-length'] ?? 0) <= LIMITS.forgotten;
}

function answer(response: ServerResponse, status: number, headers: [string, string][], body: string): void {
  response.writeHead(
    status,
    Object.fromEntries([...headers, ['content-length', String(Buffer.byteLength(body))]]),
  );
  response.end(body);
}
