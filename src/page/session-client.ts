// The page's side of the session: requests with progress and cancellation. The worker starts with the first request, so
// that the first screen loads no engine.

import { AbortError, unpackError } from '../errors.js';
import type { Progress } from '../progress.js';
import type { Api, Method, Reply, Request } from './protocol.js';

/** The path of the built session; scripts/page.js defines it. */
declare const SESSION: string;

export interface Asked<M extends Method> {
  readonly answer: Promise<Api[M][1]>;
  cancel(): void;
}

interface Listener<M extends Method> {
  readonly onProgress?: (progress: Progress) => void;
  readonly onPartial?: (partial: Api[M][2]) => void;
}

interface Waiting extends Listener<Method> {
  resolve(output: unknown): void;
  reject(error: Error): void;
}

let session: Worker | undefined;
let nextId = 0;
const waiting = new Map<number, Waiting>();

function start(): Worker {
  const worker = new Worker(new URL(SESSION, document.baseURI), {
    type: 'module',
    name: 'graphex-session',
  });
  worker.onmessage = ({ data }: MessageEvent<Reply>) => {
    const asked = waiting.get(data.id);
    if (!asked) return;
    if ('progress' in data) asked.onProgress?.(data.progress);
    else if ('partial' in data) asked.onPartial?.(data.partial as never);
    else {
      waiting.delete(data.id);
      if ('error' in data) asked.reject(unpackError(data.error));
      else asked.resolve(data.output);
    }
  };
  worker.onerror = (event) => {
    event.preventDefault();
    // What it holds would stay in memory beside the next session.
    worker.terminate();
    session = undefined;
    const error = new Error(
      `The part of the page that computes has stopped (${event.message || 'it could not be loaded'}). Load the data again; a smaller share of them may fit.`,
    );
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  return worker;
}

/** Requests that a server answers, about its own model. */
export type ServerAnswers = {
  readonly [M in Method]?: (input: Api[M][0], signal: AbortSignal) => Promise<Api[M][1]>;
};

let serverAnswers: ServerAnswers = {};

export function answerBy(answers: ServerAnswers): void {
  serverAnswers = answers;
}

/** Sends a request. A cancelled request is rejected immediately, and nothing that it sends later is heard. */
export function ask<M extends Method>(method: M, input: Api[M][0], listener: Listener<M> = {}): Asked<M> {
  const answerOfServer = serverAnswers[method];
  if (answerOfServer) {
    const controller = new AbortController();
    return { answer: answerOfServer(input, controller.signal), cancel: () => controller.abort() };
  }
  session ??= start();
  const worker = session;
  const id = nextId++;
  const post = (request: Request) => worker.postMessage(request);
  const answer = new Promise<unknown>((resolve, reject) => {
    waiting.set(id, { ...(listener as Listener<Method>), resolve, reject });
    post({ id, method, input });
  });
  const cancel = () => {
    waiting.get(id)?.reject(new AbortError());
    waiting.delete(id);
    post({ id, cancel: true });
  };
  return { answer: answer as Promise<Api[M][1]>, cancel };
}
